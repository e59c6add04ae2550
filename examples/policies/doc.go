// Package policies shows authorizers: rules in Go, and Cedar policies over the
// capabilities of the reference server. It must never know how a server is
// built or who calls it: docs/how-to/write-a-policy.md explains it.
//
//	policy, err := policies.FromFolder(os.DirFS("."), "generated", "examples/policies")
//	b := runtime.NewBuilder(runtime.Options{Authorizer: authz.All(policies.Rules(logger), policy), …})
package policies
