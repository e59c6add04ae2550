package authz

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnauthenticated is returned by a SubjectResolver that cannot establish
// who a request comes from.
var ErrUnauthenticated = errors.New("authz: unauthenticated")

// Kind tells how a subject was established.
type Kind string

// The kinds of a subject.
const (
	KindLocal       Kind = "local"       // the owner of the local process (stdio)
	KindDemo        Kind = "demo"        // a shared token
	KindDevelopment Kind = "development" // unauthenticated, on a loopback address
	KindOIDC        Kind = "oidc"        // a verified OAuth 2.1 access token
)

// Subject is who a request comes from. The zero Subject is nobody and is
// refused everywhere, and so is one that has no flat form of its own: of another
// kind than those above, or of KindOIDC without issuer or id, or with an issuer
// that has a fragment, which no issuer may have (OpenID Connect Core 1.0,
// section 2).
type Subject struct {
	Kind Kind
	// Issuer and ID are set for KindOIDC only: the token's iss and sub, as
	// they stand there (RFC 7519 section 4.1).
	Issuer, ID string
	// Scopes are what the subject was granted; the zero value grants none.
	Scopes Scopes
}

// Local is the subject of a session with the owner of the process. It has all
// scopes.
func Local() Subject { return Subject{Kind: KindLocal, Scopes: AllScopes()} }

// Development is the subject of requests without credentials, where none are
// asked for. It has all scopes.
func Development() Subject { return Subject{Kind: KindDevelopment, Scopes: AllScopes()} }

// Demo is the subject of whoever holds a token that all clients share. It has
// all scopes.
func Demo() Subject { return Subject{Kind: KindDemo, Scopes: AllScopes()} }

// IsZero reports whether s is nobody.
func (s Subject) IsZero() bool { return s.String() == "" }

// String is the flat form that policies and records use: local, shared-token,
// development or oidc:<issuer>#<sub>; empty for nobody. A verified subject
// always has the long form, so that no token can be named like a reserved word.
func (s Subject) String() string {
	switch s.Kind {
	case KindLocal, KindDevelopment:
		return string(s.Kind)
	case KindDemo:
		return "shared-token"
	case KindOIDC:
		if s.Issuer != "" && s.ID != "" && !strings.Contains(s.Issuer, "#") {
			return "oidc:" + s.Issuer + "#" + s.ID
		}
	}
	return ""
}

// Scopes is an immutable set of scopes. The zero Scopes is empty.
type Scopes struct {
	all   bool
	names []string // sorted
}

// AllScopes holds every scope.
func AllScopes() Scopes { return Scopes{all: true} }

// ScopesOf holds exactly the given scopes.
func ScopesOf(names ...string) Scopes {
	names = slices.Clone(names)
	slices.Sort(names)
	return Scopes{names: slices.Compact(names)}
}

// Has reports whether the set holds name.
func (s Scopes) Has(name string) bool {
	if s.all {
		return true
	}
	_, ok := slices.BinarySearch(s.names, name)
	return ok
}

// All reports whether the set holds every scope.
func (s Scopes) All() bool { return s.all }

// Names are the scopes of a set that does not hold all, sorted; nil for one
// that does. The result is the caller's.
func (s Scopes) Names() []string { return slices.Clone(s.names) }

// SubjectResolver establishes who a request comes from. It looks at nothing
// but host-owned context: never at arguments, program source, request
// metadata or unverified headers. It must be safe for concurrent use.
type SubjectResolver interface {
	// Subject returns the subject, or an error that wraps ErrUnauthenticated.
	Subject(ctx context.Context) (Subject, error)
}

// StaticSubject resolves every request to s. It fits a transport whose every
// message comes from one party, such as stdio.
func StaticSubject(s Subject) SubjectResolver { return staticSubject{s} }

type staticSubject struct{ subject Subject }

func (r staticSubject) Subject(context.Context) (Subject, error) {
	if r.subject.IsZero() {
		return Subject{}, ErrUnauthenticated
	}
	return r.subject, nil
}

// ContextSubject resolves a request to what WithSubject put into its context.
// It fits a transport where a receiving middleware has verified each request.
func ContextSubject() SubjectResolver { return contextSubject{} }

type contextSubject struct{}

func (contextSubject) Subject(ctx context.Context) (Subject, error) {
	s, ok := SubjectFromContext(ctx)
	if !ok {
		return Subject{}, ErrUnauthenticated
	}
	return s, nil
}

type subjectKey struct{}

// WithSubject returns a context that carries s. Only code that has verified s
// may call it.
func WithSubject(ctx context.Context, s Subject) context.Context {
	return context.WithValue(ctx, subjectKey{}, s)
}

// SubjectFromContext returns the subject that WithSubject put into ctx, and
// whether there is one that is not nobody.
func SubjectFromContext(ctx context.Context) (Subject, bool) {
	s, _ := ctx.Value(subjectKey{}).(Subject)
	return s, !s.IsZero()
}

// ParseSubject is the subject whose String is text, without scopes.
func ParseSubject(text string) (Subject, error) {
	for _, s := range []Subject{{Kind: KindLocal}, {Kind: KindDevelopment}, {Kind: KindDemo}} {
		if text == s.String() {
			return s, nil
		}
	}
	rest, long := strings.CutPrefix(text, string(KindOIDC)+":")
	issuer, id, whole := strings.Cut(rest, "#") // no issuer has a fragment
	if s := (Subject{Kind: KindOIDC, Issuer: issuer, ID: id}); long && whole && !s.IsZero() {
		return s, nil
	}
	return Subject{}, fmt.Errorf("authz: %.300q is no subject: local, development, shared-token or oidc:<issuer>#<sub>", text)
}
