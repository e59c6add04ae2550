// Package cedar decides calls by Cedar policies, which it checks against the
// schema that capgen generates of a manifest. It must never know a handler, a
// transport or where policies are kept: texts go in, decisions come out.
//
//	policies, err := cedar.New(cedar.Options{
//		Schema:   schema, // generated/policy/capabilities.cedarschema
//		Policies: map[string][]byte{"readers.cedar": text},
//	})
//	if err != nil {
//		return err // a policy that the schema does not fit, with its place
//	}
//	b := runtime.NewBuilder(runtime.Options{Authorizer: policies, …})
//
// docs/reference/policy.md says how arguments look in a context.
package cedar
