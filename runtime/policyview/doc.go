// Package policyview builds the view of a call's arguments that policies see:
// maps, slices and scalars instead of generated types. It must never know a
// subject or a decision.
//
//	view := policyview.New(input, 33)
//	defer view.Close() // from then on Map answers ErrClosed
//	arguments, err := view.Map()
//
// It is the one place on the way of a call where map[string]any is used, and
// only when an authorizer asks for it.
package policyview
