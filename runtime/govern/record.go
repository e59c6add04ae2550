package govern

import (
	"context"
	"encoding/json"
	"errors"
	"syscall"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
)

// Events in the audit trail. Each is one that was done, or with a code one that
// was refused.
const (
	eventPrepare = "plan.prepare"
	eventApprove = "plan.approve"
	eventReject  = "plan.reject"
	eventLand    = "plan.land"
	eventCancel  = "plan.cancel"
	eventExpire  = "plan.expire"
	eventRow     = "plan.altered" // a row is not what was written
	eventChange  = "change"       // with its end: .applied, .conflict, .aborted
	eventCall    = "call"         // with its end: .done, .failed, .unknown, .aborted
	eventRun     = "run"          // with what becomes of it: .queued, .started, .cancel_requested, its end, .recovered
	eventKeys    = "keys.rotate"
	eventClean   = "clean"
)

// details are a JSON object of what else an event says. Values are marshalled by
// encoding/json, and are never arguments.
type details map[string]any

func (s *Service) record(tx *store.Tx, g audit.Governed, d details) error {
	if len(d) > 0 {
		text, err := json.Marshal(d)
		if err != nil {
			return err
		}
		g.Details = text
	}
	return tx.Audit(g)
}

// refused keeps a refusal in the trail, in a transaction of its own, together
// with what it does to the plan. What it returns is for the program.
func (s *Service) refused(ctx context.Context, g audit.Governed, err error) error {
	r := s.refusal(ctx, err)
	g.Refused = string(r.Code)
	// The refusal is kept even if the caller does not wait for it any more.
	kept := s.update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		if r.ends != "" {
			if err := s.end(tx, g.Plan, r.ends, r.reason, r.by); err != nil && !errors.Is(err, store.ErrState) {
				return err
			}
		}
		return s.record(tx, g, nil)
	})
	if kept != nil {
		s.o.Logger.ErrorContext(ctx, "a refusal could not be recorded", "event", g.Event, "plan", g.Plan, "code", r.Code, "error", kept)
		if r.Code != Full {
			return refuse(Internal, "what was refused could not be recorded").because(errors.Join(r, kept))
		}
	}
	return r
}

// refusal is what programs see of err.
func (s *Service) refusal(ctx context.Context, err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		if cause := r.Cause(); cause != nil {
			s.o.Logger.WarnContext(ctx, "refused", "code", r.Code, "message", r.Message, "error", cause)
		}
		return r
	}
	switch {
	case disclosed(err):
		return refuse(Internal, "the capability says no").because(err)
	case errors.Is(err, store.ErrNotFound):
		return unknownPlan()
	case diskFull(err):
		r = refuse(Full, "the disk is full").suggest("make room, and try again with the same key")
	case errors.Is(err, root.ErrConfined):
		r = refuse(Confinement, "something there is neither a directory nor a file of its own, and stays untouched")
	case errors.Is(err, store.ErrBusy), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		r = refuse(Internal, "others kept it busy for too long").suggest("try again with the same key")
	default:
		r = refuse(Internal, "it could not be done").suggest("try again with the same key, or ask an operator")
	}
	s.o.Logger.ErrorContext(ctx, "failed", "code", r.Code, "error", err)
	return r.because(err)
}

// diskFull tells whether err is of a disk without room.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, store.ErrFull)
}

// disclosed tells whether a handler lets programs see err. What package govern
// refuses by itself is none of those.
func disclosed(err error) bool {
	var r *Refusal
	return !errors.As(err, &r) && runtime.Disclosed(err)
}

// unknownPlan is the one answer for plans that are not there and for those of
// others.
func unknownPlan() *Refusal { return refuse(NotFound, "there is no such plan") }
