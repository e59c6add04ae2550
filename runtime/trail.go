package runtime

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/fault"
)

// trail records what becomes of one native call. A nil trail, of a server
// without Options.Audit, records nothing.
type trail struct {
	sink  audit.Sink
	log   *slog.Logger
	event audit.Event
	start time.Time // of the dispatch, once it is recorded
}

// trail begins the trail of call i.
func (x *execution) trail(i int) *trail {
	sink := x.server.audit
	if sink == nil {
		return nil
	}
	return &trail{sink: sink, log: x.server.log, event: audit.Event{
		Execution: x.id,
		Call:      i + 1,
		Subject:   x.subject.String(),
	}}
}

// called notes which capability the call is of.
func (t *trail) called(id string) {
	if t != nil {
		t.event.Capability = id
	}
}

// with notes the arguments that have bound, by a copy: an authorizer may write
// on its own.
func (t *trail) with(canonical []byte) {
	if t != nil {
		t.event.Arguments = bytes.Clone(canonical)
	}
}

// dispatching records that the handler will be called, and is a fault if that
// cannot be recorded.
func (t *trail) dispatching(ctx context.Context) *fault.Fault {
	if t == nil {
		return nil
	}
	t.event.Decision, t.start = audit.Allowed, time.Now()
	if err := t.record(ctx); err != nil {
		t.event.Decision, t.start = "", time.Time{}
		t.log.ErrorContext(ctx, "call refused, because it could not be recorded", "capability", t.event.Capability, "error", err)
		return &fault.Fault{Class: fault.PolicyFailure, Message: "the call could not be recorded, and was not made"}
	}
	return nil
}

// decided notes why a call was not let through, before a limit that this
// reaches becomes the reason.
func (t *trail) decided(o outcome) {
	if t != nil && t.event.Decision == "" {
		t.event.Decision = decisionOf(o)
	}
}

// decisionOf says whether the call with this outcome was let through, as long
// as no limit that it reaches has become the reason.
func decisionOf(o outcome) audit.Decision {
	switch {
	case o.state != CallNotDispatched:
		return audit.Allowed
	case o.broken != "" || o.fault != nil && o.fault.Class == fault.InvalidArguments:
		return audit.Unbound
	case o.fault != nil && o.fault.Class == fault.Denied:
		return audit.Denied
	}
	return audit.Refused
}

// recordGrace bounds a record about what has happened already.
const recordGrace = 5 * time.Second

// ended records the call that was let through, or why it was not.
func (t *trail) ended(ctx context.Context, o outcome) {
	if t == nil {
		return
	}
	t.decided(o)
	if o.fault != nil {
		t.event.Error = string(o.fault.Class)
	}
	if t.event.Decision == audit.Allowed {
		t.event.Outcome, t.event.Duration = outcomeOf(o.state), time.Since(t.start)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordGrace)
	defer cancel()
	if err := t.record(ctx); err != nil {
		t.log.ErrorContext(ctx, "what became of a call could not be recorded", "capability", t.event.Capability, "error", err)
	}
}

func outcomeOf(s CallState) audit.Outcome {
	switch s {
	case CallDone:
		return audit.Done
	case CallFailed:
		return audit.Failed
	case CallNotDispatched:
		return audit.NotCalled
	}
	return audit.Unknown
}

// record contains a panic of the sink.
func (t *trail) record(ctx context.Context) (err error) {
	defer contain(&err)
	return t.sink.Record(ctx, t.event)
}
