// Package supervise runs one job in processes of its own: it builds the directory
// that a candidate works in, starts it once, watches it, ends it, and reads what
// it came to. It must never know a plan, a database or a transport: who calls it
// gives a [Job], the [Work] and a [Journal] that keeps what becomes of it.
//
//	state, err := supervise.Launch(ctx, j, journal)    // in a server: a supervisor runs from now on
//	state, err := supervise.Run(ctx, j, work, journal) // in that process, which Launch has started
//	state, err := supervise.Settle(ctx, j, journal)    // in any process: of a job whose supervisor may be gone
//
// Who holds the lock on the file alive of a job's directory lives: the server that
// launches, then the supervisor, then the scope's keeper, without a gap. A lock
// that nobody holds is the proof that all of them are gone. No process is ever
// signalled by a number alone.
package supervise
