package govern

import (
	"context"
	"errors"
	"fmt"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/supervise"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/store"
)

// GiveUp ends the jobs of a host that is gone: of a state directory with this id,
// which nobody has any more, so that nothing will ever tell what has become of
// them. Those that wait for their start are CANCELLED, the others ORPHANED. Where
// the host is still there after all, its supervisors end what they supervise, and
// nothing comes of it. The result is each job with the state that it has now. It
// is an error for this state directory's own id, and for one that is none.
func (o *Operator) GiveUp(ctx context.Context, host string) (map[string]string, error) {
	s := o.s
	switch {
	case s.jobs == nil:
		return nil, refuse(Internal, "nothing is set up here to run candidates with")
	case !plan.ValidStore(host):
		return nil, refuse(InvalidRequest, "the id of a host is 32 hexadecimal digits")
	case host == s.host:
		return nil, refuse(InvalidRequest, "that is this state directory's own id: its jobs are looked after")
	}
	ended := map[string]string{}
	var errs []error
	err := s.activeJobs(ctx, func(row store.ListedJob) {
		if row.Err != nil || row.Host != host {
			return
		}
		state, err := o.giveUp(ctx, row)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", jobID(row.Plan), err))
			return
		}
		ended[jobID(row.Plan)] = string(state)
	})
	return ended, errors.Join(append(errs, err)...)
}

func (o *Operator) giveUp(ctx context.Context, row store.ListedJob) (job.State, error) {
	const why = "its host was given up"
	if row.RunState() == job.Queued {
		j, err := o.CancelJob(ctx, jobID(row.Plan), why)
		return job.State(j.State), err
	}
	var p opened
	err := o.s.o.Store.View(ctx, func(tx *store.Tx) (err error) {
		if _, err = o.s.listedJob(tx, row); err == nil {
			p, err = o.s.any(tx, row.Plan)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	state, err := jobJournal{o.s, p}.Move(ctx, supervise.Move{
		From: row.RunState(), Event: job.EventAbandon, By: job.ByWatchdog, Failure: job.FailOrphaned, Message: why,
	})
	if errors.Is(err, supervise.ErrMoved) {
		err = nil
	}
	return state, err
}
