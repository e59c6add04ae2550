// Package worker runs each program in a process of its own: on the host's side
// it starts, feeds, watches, kills and reaps that process; on the worker's
// side it is the process's entry. It must never know a subject, an authorizer
// or a handler: native calls go to a function the host gives.
//
// The first statement of main, and of every TestMain of a package whose tests
// build a server, is
//
//	worker.ServeWorkerAndExit()
//
// because a worker is the host's own executable started again. Then
//
//	pool, err := worker.NewPool(worker.Config{Table: table, Processes: 8, Idle: 4})
//	…
//	result, err := pool.Run(ctx, worker.Job{Source: source, Limits: limits, Call: call})
//
// # Trust
//
// A worker runs hostile code, so all that it sends is hostile. The host checks
// each frame's size, form and order, counts calls and bytes again, and kills
// the process at the first violation. A fault that a worker reports can only
// be of a class that a program can cause, or of one the host itself has sent
// it during that execution.
//
// # Lifetime
//
// Run returns after its process was killed, which is reaped soon after. A
// worker whose host dies ends by itself: it sees the end of its input when it
// reads, its output when it writes, and from ready on a watcher polls for the
// hangup (on Unix; elsewhere a program then runs to its step limit).
//
// # Sandbox
//
// Before it says ready, a worker enters the layers of package sandbox, and says
// in the ready frame which hold. Config.Sandbox is what the host does about
// those that do not. On systems without layers the process is no boundary
// against a hostile kernel interface, and its memory is not bounded.
package worker
