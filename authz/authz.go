package authz

import (
	"context"
	"errors"
)

// ErrDenied is what an Authorizer wraps to refuse a call. Any other error is a
// policy failure: the call is refused too, but for another reason.
var ErrDenied = errors.New("authz: denied")

// ErrUnauthenticated: no subject could be established.
var ErrUnauthenticated = errors.New("authz: unauthenticated")

// Kind tells how a subject was established.
type Kind string

const (
	KindLocal       Kind = "local"       // owner of the local process (stdio)
	KindDemo        Kind = "demo"        // shared token
	KindDevelopment Kind = "development" // unauthenticated loopback
	KindOIDC        Kind = "oidc"
)

// Subject is who a request comes from. The zero Subject is nobody.
type Subject struct {
	Kind       Kind
	Issuer, ID string
	Scopes     Scopes
}

// String is the flat form: local, shared-token, development, oidc:<issuer>#<sub>.
func (s Subject) String() string { panic("stub") }

// IsZero reports whether s is nobody.
func (s Subject) IsZero() bool { panic("stub") }

// Local is the subject of a stdio session: all scopes.
func Local() Subject { panic("stub") }

// Scopes is an immutable set of scopes. The zero Scopes is empty.
type Scopes struct { /* … */
}

func AllScopes() Scopes               { panic("stub") }
func ScopesOf(names ...string) Scopes { panic("stub") }
func (s Scopes) Has(name string) bool { panic("stub") }

// Request is one native call to be decided.
type Request struct {
	Subject Subject
	// ID and Name of the capability.
	ID, Name string
	// Arguments are the canonical bytes (RFC 8785), a private copy.
	Arguments []byte
	// View returns the arguments as maps, slices, string, bool, int64 and
	// float64, a private copy built at each call.
	View func() (map[string]any, error)
}

// Authorizer decides native calls. It must be safe for concurrent use and
// honour ctx. nil allows; an error that wraps ErrDenied denies; any other
// error, and a panic, is a policy failure.
type Authorizer interface {
	Authorize(ctx context.Context, r Request) error
}

// AllowAll permits every call of every subject.
func AllowAll() Authorizer { panic("stub") }

// SubjectResolver establishes who a request comes from, from host-owned
// context only.
type SubjectResolver interface {
	Subject(ctx context.Context) (Subject, error)
}

// StaticSubject resolves every request to s.
func StaticSubject(s Subject) SubjectResolver { panic("stub") }

// ContextSubject resolves to what WithSubject put into the context.
func ContextSubject() SubjectResolver { panic("stub") }

func WithSubject(ctx context.Context, s Subject) context.Context { panic("stub") }
func SubjectFromContext(ctx context.Context) (Subject, bool)     { panic("stub") }
