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
// What is not bounded yet: the work and memory of one builtin (a large
// repetition, a deep str()). The process is the net below: it is killed when
// its time is over.
package program
