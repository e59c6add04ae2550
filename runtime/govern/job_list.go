package govern

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/store"
)

// stateActive is what a filter calls all states that are no end.
const stateActive = "active"

// Jobs are those of the subject in ctx. One of which the rows are not what was
// written is left out, and kept in the audit trail.
func (s *Service) Jobs(ctx context.Context, f JobFilter) (JobPage, error) {
	if s.rehearsal != nil {
		return s.rehearsal.jobs(f), nil
	}
	owner, err := subject(ctx)
	if err != nil {
		return JobPage{}, err
	}
	page, err := s.jobPage(ctx, store.JobFilter{Owner: owner}, f)
	page.Jobs = slices.DeleteFunc(page.Jobs, func(j Job) bool { return j.State == statusAltered })
	return page, err
}

// Jobs are those of all subjects, those of altered rows among them.
func (o *Operator) Jobs(ctx context.Context, f JobFilter) (JobPage, error) {
	return o.s.jobPage(ctx, store.JobFilter{Everyone: true}, f)
}

func (s *Service) jobPage(ctx context.Context, of store.JobFilter, f JobFilter) (JobPage, error) {
	if f.Limit == 0 {
		f.Limit = DefaultPage
	}
	if f.Limit < 1 || f.Limit > MaxPage {
		return JobPage{}, refuse(InvalidRequest, "a page is of 1 to %d jobs", MaxPage)
	}
	switch state := job.State(f.State); {
	case f.State == stateActive:
		of.Active = true
	case f.State == "" || state.Known():
		of.State = state
	default:
		var states []string
		for _, state := range job.States() {
			states = append(states, string(state))
		}
		return JobPage{}, refuse(InvalidRequest, "no job has the state %q: it is one of %s, or %s", f.State, strings.Join(states, ", "), stateActive)
	}
	if f.After != "" {
		var ok bool
		if of.After, ok = planOf(f.After); !ok {
			return JobPage{}, unknownJob()
		}
	}
	of.Capability, of.Limit = f.Capability, f.Limit+1
	page := JobPage{Jobs: []Job{}}
	var strange []strangeRow
	err := s.o.Store.View(ctx, func(tx *store.Tx) error {
		rows, err := tx.Jobs(of)
		if err != nil {
			return err
		}
		if len(rows) > f.Limit {
			rows = rows[:f.Limit]
			page.Next = lastJob(rows)
		}
		for _, row := range rows {
			one, err := s.listedJob(tx, row)
			if errors.Is(err, errAltered) {
				strange = append(strange, strangeRow{row.Plan, err})
				one, err = Job{State: statusAltered}, nil
				if plan.ValidID(row.Plan) {
					one.Job, one.Plan = jobID(row.Plan), row.Plan
				}
			}
			if err != nil {
				return err
			}
			page.Jobs = append(page.Jobs, one)
		}
		return nil
	})
	if err != nil {
		return JobPage{}, s.jobRefusal(ctx, err)
	}
	s.noteAltered(ctx, strange)
	return page, nil
}

// listedJob is a job of a list.
func (s *Service) listedJob(tx *store.Tx, row store.ListedJob) (Job, error) {
	if row.Err != nil {
		return Job{}, altered(row.Err.Error())
	}
	p, err := s.any(tx, row.Plan)
	if err != nil {
		return Job{}, err
	}
	if p.Run == nil || p.row.Status != store.Consumed {
		return Job{}, altered("it has a job, and is no run that was landed")
	}
	return startedRun{p, row.Job}.view(), nil
}

// lastJob is the id after which the next page begins; empty if none is one.
func lastJob(rows []store.ListedJob) string {
	for _, row := range slices.Backward(rows) {
		if plan.ValidID(row.Plan) {
			return jobID(row.Plan)
		}
	}
	return ""
}
