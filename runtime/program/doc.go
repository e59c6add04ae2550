// Package program is the Starlark engine that a worker runs: it parses one
// program, runs it, binds its native calls by the binding table and encodes
// what it returns. It must never know a subject, a policy, a handler or a
// process: native calls leave through a Caller.
//
// The source, and all that the program computes, is hostile. Run never
// panics, and whatever goes wrong becomes a *fault.Fault with a position.
//
//	table, err := binding.ParseTable(bytes)
//	…
//	result, fault := program.Run(program.Program{Source: source, Limits: limits}, table, caller)
//
// A program that defines main() runs main(); one without is a script, and its
// value is that of its last statement:
//
//	entry = records.lookup(key = "a")
//	entry.count + 1
//
// # Bounds
//
// Operators, builtins and methods whose work or result a program can make large
// are the engine's own: each sizes its result before it builds it, and charges
// steps for what it reads, copies or compares (meter.go). They are functions of
// values, such as engine.multiply(x, y), with which whatever lowers a program
// replaces the interpreter's; guard.go says how operators are replaced. The
// process is the net below: its memory is bounded, and it is killed when its
// time is over.
package program
