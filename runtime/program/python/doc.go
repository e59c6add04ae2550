// Package python reads the subset of Python that programs are written in:
// source text in, a tree with positions or one positioned error out. It knows
// nothing of values, capabilities or Starlark, and runs nothing.
//
//	module, err := python.Parse("total = sum(x.price for x in shop.list())\ntotal")
//	// module.Body[0] is an *python.Assign at 1:1
//
// The grammar is that of the Python 3.12 reference, chapters 2, 6, 7 and 8,
// without what a program cannot use; each such construct has an error of its
// own that says what to write instead.
package python
