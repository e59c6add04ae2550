package mcphttp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"

	"github.com/capgen/capgen/authz"
)

// MinSharedTokenBytes is the least length of a shared token.
const MinSharedTokenBytes = 16

// SharedToken verifies one token that all clients know: whoever has it is the
// subject authz.Demo(). It is an error if the token is shorter than
// MinSharedTokenBytes, or is none that a header can carry (RFC 6750, section
// 2.1). The error does not hold the token.
func SharedToken(token string) (Shared, error) {
	switch {
	case len(token) < MinSharedTokenBytes:
		return Shared{}, fmt.Errorf("mcphttp: the shared token has %d bytes, at least %d are needed", len(token), MinSharedTokenBytes)
	case !isToken(token):
		return Shared{}, errors.New("mcphttp: the shared token may hold letters, digits and -._~+/ only, with = at its end")
	}
	return Shared{subject: authz.Demo(), hash: sha256.Sum256([]byte(token))}, nil
}

// Shared is the authz.Verifier of a shared token. The zero Shared verifies
// none.
type Shared struct {
	subject authz.Subject
	// hash is the SHA-256 of the token, so that comparing takes the same time
	// whatever is compared.
	hash [sha256.Size]byte
}

// WithScopes is t, whose subject has these scopes instead of all.
func (t Shared) WithScopes(s authz.Scopes) Shared {
	t.subject.Scopes = s
	return t
}

// Verify implements authz.Verifier.
func (t Shared) Verify(_ context.Context, token string) (authz.Subject, error) {
	got := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(got[:], t.hash[:]) != 1 {
		return authz.Subject{}, authz.ErrUnauthenticated
	}
	return t.subject, nil
}
