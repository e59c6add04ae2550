package authz

import (
	"context"
	"errors"
)

// ErrDenied is what an Authorizer wraps to refuse a call. Any other error is a
// policy failure: the call is refused too, and the client is told apart that
// the policy could not decide.
var ErrDenied = errors.New("authz: denied")

// Request is one native call to be decided. Everything in it is a private
// copy: changing it changes nothing but what the Authorizer sees.
type Request struct {
	Subject Subject
	// ID and Name are the capability's stable id and its dotted name.
	ID, Name string
	// Effect, Idempotency, World and Tags are what the manifest declares of
	// it: read, write or destroy; natural, key or none; closed or open.
	Effect, Idempotency, World string
	Tags                       []string
	// Arguments are the canonical arguments: RFC 8785 bytes with every default
	// filled in. The handler runs with exactly these, or not at all.
	Arguments []byte
	// View returns the arguments as map[string]any, []any, string, bool,
	// int64 and float64, built anew at each call. It answers only until
	// Authorize returns.
	View func() (map[string]any, error)
}

// Authorizer decides native calls, one at a time, after their arguments have
// been bound and canonicalized and their scopes checked. It must be safe for
// concurrent use and honour ctx.
//
// nil allows. An error that wraps ErrDenied denies. Any other error, and a
// panic, is a policy failure; the call is refused in every case but nil.
type Authorizer interface {
	Authorize(ctx context.Context, r Request) error
}

// AuthorizerFunc makes an Authorizer of a function. A nil AuthorizerFunc is
// refused when a server is built.
type AuthorizerFunc func(ctx context.Context, r Request) error

// Authorize calls f.
func (f AuthorizerFunc) Authorize(ctx context.Context, r Request) error { return f(ctx, r) }

// AllowAll permits every call of every subject. There is no default
// authorizer: a host that wants this one has to write it.
func AllowAll() Authorizer { return allowAll{} }

type allowAll struct{}

func (allowAll) Authorize(context.Context, Request) error { return nil }

func (allowAll) Preview(context.Context, Subject, string) Verdict { return Allow }
