package govern

import (
	"context"
	"errors"
	"slices"

	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
)

// Facts are what a doctor says of a service. Nothing is written to find them
// out.
type Facts struct {
	Store      string // its id
	Approvers  []approve.Approver
	TrustError error // why the trust root cannot be relied on
	Roots      []RootFact
	// ClockRegressed says that the clock is behind what was done here.
	ClockRegressed bool
	Plans          map[string]int // by status, of the newest MaxPage
	Unfinished     []string       // plans whose landing is not at its end, altered ones among them, at most MaxPage
	Jobs           map[string]int // by state, of the newest MaxPage
	OldestJob      *Job           // of those that have not ended; nil if all have
	Unseen         []Job          // those whose supervisor was not seen for a while
}

// RootFact is one root.
type RootFact struct {
	Name string
	// Left are the names beside targets that landings have left.
	Left []string
	Err  error // nil if it can be read
}

// Facts finds out how the service is set up.
func (o *Operator) Facts(ctx context.Context) (Facts, error) {
	s := o.s
	f := Facts{Store: s.o.Store.ID(), Plans: map[string]int{}, Jobs: map[string]int{}}
	trust, err := s.trust()
	if err != nil {
		var r *Refusal
		if errors.As(err, &r) {
			err = r.Cause()
		}
		f.TrustError = err
	} else {
		f.Approvers = trust.Approvers()
	}
	for _, name := range s.Roots() {
		f.Roots = append(f.Roots, rootFact(name, s.o.Roots[name]))
	}
	at := s.o.Now()
	err = s.o.Store.View(ctx, func(tx *store.Tx) error {
		_, err := s.moment(tx)
		var r *Refusal
		if f.ClockRegressed = errors.As(err, &r); err != nil && !f.ClockRegressed {
			return err
		}
		rows, err := tx.Plans(store.Filter{Everyone: true, Limit: MaxPage})
		if err != nil {
			return err
		}
		for _, row := range rows {
			p, err := s.listed(row)
			if err != nil {
				f.Plans["altered"]++
				continue
			}
			f.Plans[s.status(p, at)]++
		}
		list, err := tx.Unfinished("", MaxPage)
		for _, e := range list {
			if e.Kind != store.KindRun && plan.ValidID(e.Plan) {
				f.Unfinished = append(f.Unfinished, e.Plan)
			}
		}
		return errors.Join(err, s.jobFacts(tx, &f))
	})
	if err != nil {
		return f, s.refusal(ctx, err)
	}
	return f, nil
}

// jobFacts counts jobs, and finds the oldest that has not ended.
func (s *Service) jobFacts(tx *store.Tx, f *Facts) error {
	for _, filter := range []store.JobFilter{{Everyone: true, Limit: MaxPage}, {Everyone: true, Active: true, Limit: store.MaxPage}} {
		rows, err := tx.Jobs(filter)
		if err != nil {
			return err
		}
		for _, row := range rows {
			j, err := s.listedJob(tx, row)
			switch {
			case errors.Is(err, errAltered):
				j = Job{State: statusAltered}
			case err != nil:
				return err
			}
			if !filter.Active {
				f.Jobs[j.State]++
			} else if j.Job != "" {
				f.OldestJob = &j
				if j.Unseen(s.o.Now().Wall) > 0 {
					f.Unseen = append(f.Unseen, j)
				}
			}
		}
	}
	return nil
}

func rootFact(name string, d root.Dir) RootFact {
	const most = 10_000
	f := RootFact{Name: name}
	entries, err := d.Entries(most)
	f.Err = err
	for _, e := range entries {
		if len(e.Name) > len(ownPrefix) && e.Name[:len(ownPrefix)] == ownPrefix {
			f.Left = append(f.Left, e.Name)
		}
	}
	slices.Sort(f.Left)
	return f
}
