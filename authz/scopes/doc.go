// Package scopes helps with the scopes of a subject: reading them from the
// forms that tokens have, and authorizers that decide by them alone. It must
// never know a token, a verifier or what a capability declares: that a subject
// has the scopes of the manifest is checked before any authorizer is asked.
//
//	granted, err := scopes.Parse("records:read records:write")
//	subject.Scopes = granted
//
//	// The manifest lets all who may write delete, this host does not.
//	policy := authz.All(scopes.ForEffect("destroy", "records:admin"), rules)
package scopes
