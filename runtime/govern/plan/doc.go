// Package plan is the form of what is asked for: one canonical document that
// says who wants which capability called, with which arguments or which tree in
// place of which other, and what approvals that takes. Its hash is what
// approvals sign. It must never know how a plan is kept, approved or landed.
//
//	body, err := plan.Plan{ID: id, Store: store, Owner: "local", …}.Encode()
//	...
//	p, err := plan.Parse(body) // the bytes that were hashed, and no others
//	hash := plan.HashOf(body)
//
// A body has one spelling, the canonical form of RFC 8785: Parse refuses every
// other, a member it does not know, and a value that Encode would not write.
// What can be computed from a body is not in it: the hash of the policy, and
// what a change does to each path, follow from the policy and the two trees.
package plan
