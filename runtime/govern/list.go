package govern

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/token"
)

// Filter chooses plans of a subject.
type Filter struct {
	Status     string // as in View; empty is any
	Capability string // id; empty is any
	After      string // Page.Next of the page before
	Limit      int    // 1 to MaxPage; zero is DefaultPage
}

// Bounds of a page of plans.
const (
	DefaultPage = 50
	MaxPage     = 100
)

// Page is a part of a list of plans, newest first.
type Page struct {
	Plans []Summary
	Next  string // Filter.After for what follows; empty at the end
}

// Summary is a plan in a list. Operators are told of a row that is not what was
// written: its status is "altered", and of the rest only the id is told, if it is
// one.
type Summary struct {
	Plan, Owner, Capability, Status, State, Summary string
	Created, Expires                                time.Time
}

// statusAltered is no status of a plan.
const statusAltered = "altered"

// List are plans of the subject in ctx. One of which the row is not what was
// written is left out, and kept in the audit trail.
func (s *Service) List(ctx context.Context, f Filter) (Page, error) {
	if s.rehearsal != nil {
		return s.rehearsal.list(f), nil
	}
	owner, err := subject(ctx)
	if err != nil {
		return Page{}, err
	}
	page, err := s.list(ctx, store.Filter{Owner: owner}, f)
	page.Plans = slices.DeleteFunc(page.Plans, func(one Summary) bool { return one.Status == statusAltered })
	return page, err
}

func (s *Service) list(ctx context.Context, of store.Filter, f Filter) (Page, error) {
	if f.Limit == 0 {
		f.Limit = DefaultPage
	}
	if f.Limit < 1 || f.Limit > MaxPage {
		return Page{}, refuse(InvalidRequest, "a page is of 1 to %d plans", MaxPage)
	}
	switch store.PlanStatus(f.Status) {
	case "", store.Prepared, store.Consumed, store.Expired, store.Rejected, store.Superseded, store.Cancelled:
	default:
		return Page{}, refuse(InvalidRequest, "no plan has the status %q", f.Status)
	}
	if f.After != "" && !plan.ValidID(f.After) {
		return Page{}, unknownPlan()
	}
	of.Status, of.Capability, of.After, of.Limit = store.PlanStatus(f.Status), f.Capability, f.After, f.Limit+1
	page := Page{Plans: []Summary{}}
	var strange []strangeRow
	at := s.o.Now()
	err := s.o.Store.View(ctx, func(tx *store.Tx) error {
		rows, err := tx.Plans(of)
		if err != nil {
			return err
		}
		if len(rows) > f.Limit {
			rows = rows[:f.Limit]
			page.Next = lastID(rows)
		}
		for _, row := range rows {
			one, err := s.summary(tx, row, at)
			if errors.Is(err, errAltered) {
				strange = append(strange, strangeRow{row.ID, err})
				one, err = Summary{Status: statusAltered}, nil
				if plan.ValidID(row.ID) {
					one.Plan = row.ID
				}
			}
			if err != nil {
				return err
			}
			page.Plans = append(page.Plans, one)
		}
		return nil
	})
	if err != nil {
		return Page{}, s.refusal(ctx, err)
	}
	s.noteAltered(ctx, strange)
	return page, nil
}

func (s *Service) summary(tx *store.Tx, row store.Listed, at token.Instant) (Summary, error) {
	p, err := s.listed(row)
	if err != nil {
		return Summary{}, err
	}
	e, _, err := s.execution(tx, p)
	if err != nil {
		return Summary{}, err
	}
	one := Summary{
		Plan: p.ID, Owner: p.Owner, Capability: p.Name, Status: s.status(p, at), State: seen{execution: e}.state(),
		Created: p.Created.Wall, Expires: p.Expires().Wall,
	}
	switch {
	case p.Change != nil:
		one.Summary = p.Change.Summary
	case p.Run != nil:
		one.Summary = p.Run.Summary
	}
	return one, nil
}

// lastID is the id after which the next page begins; empty if none is one.
func lastID(rows []store.Listed) string {
	for _, row := range slices.Backward(rows) {
		if plan.ValidID(row.ID) {
			return row.ID
		}
	}
	return ""
}

// strangeRow is a plan's row that is not what was written, and why.
type strangeRow struct {
	id  string
	err error
}

// noteAltered keeps in the trail that rows of a list are not what was written.
// The list goes on without that.
func (s *Service) noteAltered(ctx context.Context, rows []strangeRow) {
	if len(rows) == 0 {
		return
	}
	for _, row := range rows {
		s.o.Logger.WarnContext(ctx, "a row is not what was written", "plan", row.id, "error", row.err)
	}
	err := s.update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		for _, row := range rows {
			g := audit.Governed{Event: eventRow, Actor: s.system(), Refused: string(Internal)}
			if plan.ValidID(row.id) {
				g.Plan = row.id
			}
			if err := s.record(tx, g, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, store.ErrReadOnly) {
		s.o.Logger.ErrorContext(ctx, "altered rows could not be recorded", "error", err)
	}
}
