package runtime

import (
	"context"
	"fmt"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/worker"
)

// Decide says what would be decided of a call, and calls nothing: arguments,
// one JSON object as clients see the schema, are bound exactly and
// canonicalized, then scopes are checked, and at last the authorizer is asked,
// as on the way of every call. It is for tests of policies, by whoever may
// know them: Err of the decision is the authorizer's own, or that the first
// missing scope is required. Capability is a name or an id.
//
// An error wraps ErrUnauthenticated, ErrCapabilityNotFound or
// ErrInvalidArguments; the last with a *canon.Error where one is why.
func (s *Server) Decide(ctx context.Context, subject authz.Subject, capability string, arguments []byte) (authz.Decision, error) {
	if subject.IsZero() {
		return authz.Decision{}, ErrUnauthenticated
	}
	entry := s.catalog.byName(capability)
	if entry == nil {
		if entry = s.catalog.byID(capability); entry == nil {
			return authz.Decision{}, ErrCapabilityNotFound
		}
	}
	call, canonical, err := s.dispatcher.bind(entry, nativeCall{Call: worker.Call{Arguments: arguments}, text: true})
	if err != nil {
		return authz.Decision{}, fmt.Errorf("%w: %w", ErrInvalidArguments, err)
	}
	decision := authz.Decision{Subject: subject, ID: entry.info.ID, Name: entry.info.Name, Effect: string(entry.info.Effect), Outcome: authz.Allowed}
	begin := time.Now()
	denied := false
	if scope := missingScope(subject, entry); scope != "" {
		denied, decision.Err = true, fmt.Errorf("runtime: the scope %s is required: %w", scope, authz.ErrDenied)
	} else {
		denied, decision.Err = s.dispatcher.askOf(ctx, subject, entry, call, canonical)
	}
	switch decision.Duration = time.Since(begin); {
	case denied:
		decision.Outcome = authz.Denied
	case decision.Err != nil:
		decision.Outcome = authz.Failed
	}
	return decision, nil
}
