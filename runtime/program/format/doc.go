// Package format writes numbers and texts as Python does: repr of a float, the
// format specification mini-language, and the pieces of % and str.format
// templates. It knows Go values only, and neither Starlark nor the program.
//
//	spec, err := format.Parse(">10,.2f")
//	text, err := spec.Float(1234.5) // "  1,234.50"
//
// The rules are those of CPython 3.12's library reference, "Format
// Specification Mini-Language", "Format String Syntax" and "printf-style
// String Formatting". Every error is a *format.Error with the name of CPython's
// exception.
package format
