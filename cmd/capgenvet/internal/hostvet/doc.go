// Package hostvet holds the analyzers of capgenvet. It must never load a
// package, run one, or read a file: the go command keeps the results of an
// analysis for as long as the Go files are the same, so nothing else may
// decide them.
//
//	multichecker.Main(hostvet.Analyzers()...)
//
// One analyzer, reach, reads each package once, dependencies included, and
// keeps as facts what each function can reach: the first call of each kind
// that a rule is about, and the way to it. The rules ask it and report. What
// the standard library does is in a table, not analyzed.
//
// A function reaches what it calls, what it takes the value of (a method value
// is on its way to a call), and the methods of a value that it converts to an
// interface, as far as the interface has them. It does not reach what is
// called through an interface or a function value that came from elsewhere:
// whoever made the value is the one that reaches it.
package hostvet
