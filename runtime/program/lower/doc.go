// Package lower turns a program's tree into Starlark that does what CPython
// would: it knows both grammars, and nothing of values, capabilities or the
// host.
//
//	module, _ := python.Parse("n = 1\nn + 1")
//	program, err := lower.Lower(module, lower.Options{})
//	// program.File holds one function, program.Entry, which returns 2
//
// What Starlark does not have, or does otherwise, is written as uses of
// helpers, whose names no program can spell. There are three ways to use one:
//
//	($+ - x) - y      an operator of two operands: the first subtraction keeps x
//	$iter - x         an operator of one operand
//	$slice(x, 1, 2)   a function
//
// An operator costs less than a call, which copies its arguments and pushes a
// frame. Helper names the full list; whoever runs the file defines each.
//
// # Variables
//
// A Starlark function cannot assign to a variable of the function around it. A
// variable that has to be assigned from more than one Starlark function (by
// nonlocal or global, within try, by :=) or that del may empty lives in a cell:
// x becomes $x.v, or $x@.g at the top level, where $x is what $cell - "x" returned. The interpreter names a
// variable that has no value yet: those of the top level are x@ and those of a
// function f are x'f, for they are missed in other words.
//
// # try
//
//	def $body$1(): …
//	$1 = $try($body$1)            # None, a signal, or what was caught
//	if $caught - $1:
//	    if ($matches - $1) - E: …
//	    else: $reraise - $1
//
// break, continue and return leave such a body as signals.
package lower
