package policies

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/scopes"
)

// Rules let administrators destroy, and nobody change something outside.
func Rules(log *slog.Logger) authz.Authorizer {
	outside := authz.AuthorizerFunc(func(_ context.Context, r authz.Request) error {
		if r.World != "closed" && r.Effect != "read" {
			return fmt.Errorf("%s changes something outside: %w", r.ID, authz.ErrDenied)
		}
		return nil
	})
	all := authz.All(scopes.ForEffect("destroy", "admin"), outside)
	return authz.Observed(all, authz.LogDecisions(log))
}
