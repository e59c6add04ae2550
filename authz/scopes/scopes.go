package scopes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/capgen/capgen/authz"
)

const (
	// MaxScope is the longest scope, in bytes, as in a manifest.
	MaxScope = 128
	// MaxScopes is how many scopes a list may have.
	MaxScopes = 1_000
)

// Parse reads the scope parameter of OAuth 2.0 (RFC 6749 section 3.3): tokens
// with a space between them. An empty text is the empty set. Anything else that
// is no such list is an error, and grants nothing.
func Parse(s string) (authz.Scopes, error) {
	if s == "" {
		return authz.Scopes{}, nil
	}
	if strings.Count(s, " ") >= MaxScopes {
		return authz.Scopes{}, fmt.Errorf("scopes: more than %d scopes", MaxScopes)
	}
	return Of(strings.Split(s, " ")...)
}

// Of is the set of the given scopes, each of which has the form that a
// manifest's have: 1 to 128 characters of RFC 6749's scope-token.
func Of(names ...string) (authz.Scopes, error) {
	if len(names) > MaxScopes {
		return authz.Scopes{}, fmt.Errorf("scopes: more than %d scopes", MaxScopes)
	}
	for _, name := range names {
		if !isScope(name) {
			return authz.Scopes{}, fmt.Errorf("scopes: %.140q is no scope: 1 to %d printable ASCII characters without space, quotation mark and backslash", name, MaxScope)
		}
	}
	return authz.ScopesOf(names...), nil
}

func isScope(s string) bool {
	return s != "" && len(s) <= MaxScope && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '"' || r == '\\'
	})
}

// Missing are those of names that the subject was not granted, in their order.
func Missing(s authz.Subject, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), s.Scopes.Has)
}

// Require is an Authorizer that allows a subject with all of names every call,
// and denies any other. Without names it is a policy failure: nothing was
// required.
func Require(names ...string) authz.Authorizer { return requirement{"", slices.Clone(names)} }

// ForEffect is an Authorizer that asks for names where a call has the effect,
// and has nothing against any other: it belongs into authz.All, with one that
// decides the rest.
func ForEffect(effect string, names ...string) authz.Authorizer {
	return requirement{effect, slices.Clone(names)}
}

type requirement struct {
	effect string // empty for every effect
	names  []string
}

func (q requirement) Authorize(_ context.Context, r authz.Request) error {
	if len(q.names) == 0 {
		return fmt.Errorf("scopes: a requirement without a scope")
	}
	if q.effect != "" && q.effect != r.Effect {
		return nil
	}
	if missing := Missing(r.Subject, q.names...); len(missing) > 0 {
		return fmt.Errorf("scopes: %s is required: %w", missing[0], authz.ErrDenied)
	}
	return nil
}
