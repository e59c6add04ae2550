package authz

import "context"

// Verdict is what an authorizer can say of a capability before a call.
type Verdict string

// The verdicts.
const (
	Allow Verdict = "allow" // every call, whatever its arguments
	Deny  Verdict = "deny"  // no call
	// Depends: on the arguments, or on what only a call's time will tell.
	Depends Verdict = "depends"
)

// Previewer is an Authorizer that can say, without arguments, what it would
// say of a capability by id. Checks of programs ask it; calls never do, for
// Authorize decides them all. It must be safe for concurrent use, and change
// nothing.
type Previewer interface {
	Preview(ctx context.Context, s Subject, id string) Verdict
}
