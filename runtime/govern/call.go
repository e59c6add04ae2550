package govern

import (
	"context"
	"errors"
	"io/fs"

	"github.com/capgen/capgen/runtime/govern/store"
)

// same refuses a call whose preview is another one than approvers saw.
func (h handler) same(ctx context.Context, p opened) error {
	if (h.preview == nil) != (p.Preview == nil) {
		return refuse(StaleState, "the capability is another one than when the plan was prepared").suggest("prepare another one")
	}
	if h.preview == nil {
		return nil
	}
	now, err := h.preview(ctx, p.Plan)
	if err != nil {
		return err
	}
	d, err := digestOf(now)
	if err != nil {
		return err
	}
	if d != *p.Preview {
		return refuse(StaleState, "what the call would do is not what it was when the plan was prepared").suggest("prepare another one")
	}
	return nil
}

// finishCall makes the call of an execution that has not begun, and otherwise
// tells what came of it. Whether the handler ran is never guessed: one that may
// have is not called again.
func (s *Service) finishCall(ctx context.Context, p opened, began store.Execution, h handler) (e store.Execution, err error) {
	e = began
	if !over(e.State) {
		unlock, err := s.alone(ctx, p.ID)
		if err != nil {
			return e, refuse(ConflictCode, "the call is being made").suggest("ask for its status").because(err)
		}
		defer func() { unlock(over(e.State)) }()
		if e, err = s.settle(context.WithoutCancel(ctx), p); err != nil {
			return e, s.refusal(ctx, err)
		}
	}
	switch e.State {
	case stateIntent:
		e, err = s.make(ctx, p, e, h)
		return e, err
	case stateDone:
		return e, nil
	case stateFailed:
		return e, refuse(ConflictCode, "the call has failed, and is not made again").suggest("prepare another one")
	case stateAborted:
		return e, refuse(ConflictCode, "the call was not made in time").suggest("prepare another one")
	}
	return e, refuse(ConflictCode, "the process ended during the call: what it has done is not known").suggest("look, before you prepare another one")
}

// over tells whether a call's execution has ended.
func over(state string) bool { return state != stateIntent && state != stateCalled }

// alone keeps other calls of the plan, in this and other processes, from running
// while this one does. It does not wait. unlock is told whether the execution has
// ended: only then may the name go, as one who has it open may still look, and
// must find an end.
func (s *Service) alone(ctx context.Context, id string) (unlock func(ended bool), err error) {
	d, err := sub(s.running, id, 0o700)
	if errors.Is(err, fs.ErrNotExist) { // somebody removed it meanwhile
		d, err = sub(s.running, id, 0o700)
	}
	if err != nil {
		return nil, err
	}
	at, stop := context.WithCancel(context.WithoutCancel(ctx))
	stop() // look once
	free, err := d.Lock(at)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return func(ended bool) {
		if ended {
			s.running.Remove(id) // if not now, then by Clean
		}
		free()
		d.Close()
	}, nil
}

// settle is the execution as it is now, for whoever is alone with it: one that
// has been called and is not running any more has an unknown outcome.
func (s *Service) settle(ctx context.Context, p opened) (e store.Execution, err error) {
	err = s.o.Store.View(ctx, func(tx *store.Tx) (err error) {
		var ok bool
		if e, ok, err = s.execution(tx, p); err == nil && !ok {
			err = altered("its execution is gone")
		}
		return err
	})
	switch {
	case err != nil:
		return e, err
	case e.State == stateCalled:
		return s.finish(ctx, p, e, stateUnknown, nil)
	case e.State == stateIntent && p.Expires().Reached(s.o.Now()):
		return s.finish(ctx, p, e, stateAborted, nil)
	}
	return e, nil
}

// finish ends the execution of a call.
func (s *Service) finish(ctx context.Context, p opened, e store.Execution, to string, output []byte) (store.Execution, error) {
	err := s.update(ctx, func(tx *store.Tx) error {
		if err := tx.Finish(p.ID, e.State, to, e.Epoch, output); err != nil {
			return err
		}
		return s.record(tx, about(eventCall+"."+stateWord(to), s.system(), p.Plan), nil)
	})
	if err == nil {
		e.State, e.Outcome = to, output
	}
	return e, err
}

// make calls the handler: that it will is durable before, and what came of it is
// recorded after, whether or not somebody waits.
func (s *Service) make(ctx context.Context, p opened, e store.Execution, h handler) (store.Execution, error) {
	if err := h.same(ctx, p); err != nil {
		return e, s.refusal(ctx, err)
	}
	after := context.WithoutCancel(ctx)
	approvers, err := s.confirmed(ctx, p)
	switch {
	case never(err):
		not := err
		if e, err = s.finish(after, p, e, stateAborted, nil); err != nil {
			return e, s.refusal(ctx, err)
		}
		return e, s.refused(ctx, about(eventLand, s.system(), p.Plan), not)
	case err != nil:
		return e, s.interrupted(ctx, p, err)
	}
	err = s.update(after, func(tx *store.Tx) (err error) {
		if e, err = tx.TakeOver(p.ID); err != nil {
			return err
		}
		return tx.Advance(p.ID, stateIntent, stateCalled, e.Epoch)
	})
	if err != nil {
		return e, s.refusal(ctx, err)
	}
	e.State = stateCalled
	// From here on it is not made again, of whatever database somebody asks.
	if unmarked := s.ended(after, p); unmarked != nil {
		if e, err = s.finish(after, p, e, stateFailed, nil); err != nil {
			return e, s.refusal(ctx, err)
		}
		return e, refuse(Internal, "the keeper of approvals does not answer, and the call was not made").suggest("prepare another one").because(unmarked)
	}
	returned := false
	defer func() {
		if !returned { // it panics: nobody knows what it has done
			if _, err := s.finish(after, p, e, stateUnknown, nil); err != nil {
				s.o.Logger.ErrorContext(ctx, "what came of a call could not be recorded", "plan", p.ID, "error", err)
			}
		}
	}()
	output, failed := h.call(ctx, p.Plan, approvers)
	returned = true
	to := stateDone
	if failed != nil {
		to, output = stateFailed, nil
	}
	if e, err = s.finish(after, p, e, to, output); err != nil {
		return e, refuse(Internal, "the call has returned, and that could not be recorded").suggest("ask for its status").
			because(errors.Join(err, failed))
	}
	return e, failed
}
