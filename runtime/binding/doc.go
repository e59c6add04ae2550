// Package binding is what a worker knows of the capabilities it may call:
// names, parameters, kinds, bounds, defaults and the shape of the result. It
// must never know a handler, a subject or a policy.
//
// The generator writes one JSON text per capability into generated code; the
// host joins those of the enabled set into a Table; the worker looks one up
// when a program first names it:
//
//	bytes := binding.EncodeTable([]binding.Entry{{Name: "records.lookup", ID: "records.lookup", Binding: text}})
//	table, err := binding.ParseTable(bytes)
//	…
//	capability, err := table.Lookup("records.lookup")
//
// A table of thousands costs what its names cost: a capability's text is
// parsed at its first Lookup.
package binding
