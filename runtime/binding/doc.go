// Package binding is what a worker knows of the capabilities it may call:
// names, parameters, kinds, bounds, defaults and the shape of the result. It
// must never know a handler, a subject or a policy.
//
// The generator writes one JSON text per capability into generated code; the
// host joins those of the enabled set into a Table; the worker looks one up
// when a program first names it.
package binding
