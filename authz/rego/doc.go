// Package rego decides calls by Rego policies, which the Open Policy Agent
// evaluates in the process. It must never know a handler, a transport or where
// policies are kept: texts go in, decisions come out. It is a module of its
// own, so that only hosts that want it get OPA's dependencies.
//
//	policies, err := rego.New(ctx, rego.Options{
//		Schema:   schema, // generated/policy/input.schema.json
//		Policies: map[string]string{"calls.rego": text},
//	})
//
// A policy allows a call with data.capgen.allow:
//
//	package capgen
//	allow if input.capability.effect == "read"
//
// docs/reference/policy.md says what input is.
package rego
