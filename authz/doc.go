// Package authz says who calls and what they may do: subjects, scopes and the
// authorizer seam. It must never know a transport, a handler or how a server
// is built.
//
//	readersOnly := authz.AuthorizerFunc(func(ctx context.Context, r authz.Request) error {
//		if r.Subject.Kind == authz.KindLocal || strings.HasPrefix(r.ID, "records.") {
//			return nil
//		}
//		return fmt.Errorf("%s: %w", r.ID, authz.ErrDenied)
//	})
//
// There is no default: a host that allows everything writes AllowAll.
package authz
