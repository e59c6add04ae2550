package govern

import (
	"context"
	"errors"
	"fmt"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/store"
)

// Recovered is what a recovery has come to.
type Recovered struct {
	// Ended are the plans whose landing has come to its end now, with the state in
	// which it did.
	Ended map[string]string
	// Waiting are those that go on with their requester: a call that has not
	// begun, a change whose root is not here, a call that is being made.
	Waiting []string
	// Jobs are the runs that were settled now, with the state that they are in.
	Jobs map[string]string
	// Elsewhere are the runs of other hosts, which only those look after, with the
	// ids of those: see Operator.GiveUp.
	Elsewhere map[string]string
}

// Recover brings to its end what a crash has interrupted. A change goes on by
// what is on disk; one that has not become visible before its plan expired is
// aborted. A call that may have run is recorded as unknown, and not made again.
// Others may recover, and land, at the same time. It goes on after an error with
// the next one, and returns all of them.
func (s *Service) Recover(ctx context.Context) (Recovered, error) {
	out := Recovered{Ended: map[string]string{}}
	jobs, err := s.settleJobs(ctx)
	s.noteAltered(ctx, jobs.strange)
	out.Jobs, out.Elsewhere = jobs.moved, jobs.elsewhere
	errs := []error{err}
	after := ""
	for {
		const page = 100
		var list []store.ListedExecution
		err := s.o.Store.View(ctx, func(tx *store.Tx) (err error) {
			list, err = tx.Unfinished(after, page)
			return err
		})
		if err != nil {
			return out, errors.Join(append(errs, err)...)
		}
		before := after
		for _, e := range list {
			after = max(after, e.Plan)
			if e.Kind == store.KindRun {
				continue // settled, or known to be altered, already
			}
			var state string
			err := e.Err
			if err == nil {
				state, err = s.recoverOne(ctx, e.Plan)
			} else {
				err = s.recordAltered(ctx, e.Plan, altered(err.Error()))
			}
			switch {
			case err != nil:
				errs = append(errs, fmt.Errorf("%s: %w", e.Plan, err))
			case state == "":
				out.Waiting = append(out.Waiting, e.Plan)
			default:
				out.Ended[e.Plan] = stateWord(state)
			}
		}
		if len(list) < page || after == before {
			return out, errors.Join(errs...)
		}
	}
}

// recoverOne is the state in which an execution has ended, empty if it has not.
func (s *Service) recoverOne(ctx context.Context, id string) (state string, err error) {
	var p opened
	var e store.Execution
	err = s.o.Store.View(ctx, func(tx *store.Tx) (err error) {
		if p, err = s.any(tx, id); err != nil {
			return err
		}
		var ok bool
		if e, ok, err = s.execution(tx, p); err == nil && !ok {
			err = altered("its execution is gone")
		}
		return err
	})
	if err != nil {
		return "", s.recordAltered(ctx, id, err)
	}
	if e.Kind == store.KindCall {
		return s.recoverCall(ctx, p)
	}
	if _, here := s.o.Roots[p.Change.Root]; !here {
		return "", nil
	}
	if e.State != string(change.Applied) {
		var refused *Refusal
		if err := s.finishChange(ctx, p, e); err != nil && !(errors.As(err, &refused) && (refused.Code == StaleState || refused.Code == ConflictCode || refused.Code == TokenReplayed || refused.Code == ApprovalRequired)) {
			return "", err
		}
	}
	return s.cleaned(ctx, p)
}

// cleaned is the state of a change that has ended, with what it displaced gone.
func (s *Service) cleaned(ctx context.Context, p opened) (string, error) {
	l, done, err := s.change(p)
	if err != nil {
		return "", err
	}
	defer done()
	if err := s.ended(ctx, p); err != nil {
		return "", err
	}
	state, err := l.Clean(ctx, journal{s, context.WithoutCancel(ctx), p, firstEpoch})
	return string(state), err
}

// recoverCall ends a call that is not being made and will not be.
func (s *Service) recoverCall(ctx context.Context, p opened) (string, error) {
	unlock, err := s.alone(ctx, p.ID)
	if errors.Is(err, context.Canceled) {
		return "", nil // somebody makes it
	}
	if err != nil {
		return "", err
	}
	e, err := s.settle(context.WithoutCancel(ctx), p)
	unlock(err == nil && over(e.State))
	if err != nil || !over(e.State) {
		return "", err
	}
	return e.State, nil
}

// recordAltered keeps in the trail that a row was found that nobody here wrote.
func (s *Service) recordAltered(ctx context.Context, id string, err error) error {
	g := audit.Governed{Event: eventRow, Actor: s.system()}
	if plan.ValidID(id) {
		g.Plan = id
	}
	return s.refused(ctx, g, err)
}
