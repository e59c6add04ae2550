package authz

import "context"

// Verifier establishes a subject from a bearer token. A transport has taken
// the token from where it belongs (RFC 6750, section 2.1) and gives it to
// nobody else. It must be safe for concurrent use and honour ctx.
type Verifier interface {
	// Verify returns the subject with the scopes that it was granted; never
	// nobody. An error that wraps ErrUnauthenticated means that the token is
	// not good, and any other that it could not be judged; both refuse the
	// request. Clients never see the text of either, the log does: it must not
	// hold the token.
	Verify(ctx context.Context, token string) (Subject, error)
}
