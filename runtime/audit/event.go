package audit

import (
	"context"
	"time"
)

// Sink keeps what happens to native calls. It must be safe for concurrent use.
type Sink interface {
	// Record keeps one event. Before a handler is called its server records
	// that it will be, and an error then keeps the call from being made; after
	// that, an error is for the log. The context ends with the execution
	// before the call, and after some seconds behind it. Record neither keeps
	// nor changes e.Arguments.
	Record(ctx context.Context, e Event) error
}

// Event is a decision about a native call or, with Outcome set, what came of
// one that was allowed. Both have the same Execution and Call.
type Event struct {
	// Execution is the id on the receipt; Call counts its native calls from 1,
	// in the program's order.
	Execution string
	Call      int
	// Subject is the flat form of who called (authz.Subject.String).
	Subject string
	// Capability is the id; empty when a worker named one that is not there.
	Capability string
	Decision   Decision
	// Arguments are the canonical arguments (RFC 8785), nil where none bound.
	Arguments []byte
	// Outcome is empty in an event about a decision.
	Outcome Outcome
	// Error is the class of the failure, if it is one: permission_denied, …
	Error string
	// Duration of the call on the host, set with Outcome.
	Duration time.Duration
}

// Decision says whether a call was let through to its handler.
type Decision string

// The decisions.
const (
	Allowed Decision = "allowed"
	Denied  Decision = "denied"  // a scope is missing, or the authorizer denied it
	Unbound Decision = "unbound" // its arguments, or its capability, do not bind
	Refused Decision = "refused" // anything else: a limit, a policy that could not decide, the end of the execution
)

// Outcome says what came of a call that was allowed.
type Outcome string

// The outcomes.
const (
	Done    Outcome = "done"    // the handler returned a value
	Failed  Outcome = "failed"  // it did not, or not a good one; what it had done stands
	Unknown Outcome = "unknown" // it still ran when its caller went on
	// NotCalled: the execution ended between the decision and the handler.
	NotCalled Outcome = "not_called"
)
