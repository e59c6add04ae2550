// Package job says what becomes of a governed run: candidate code that people
// approved and that runs once. It holds the states, who may move a run between
// them and on what proof, and the kinds of failure. It must never know a plan, a
// database or a transport: who keeps a run asks it for the next state.
//
//	to, err := job.Next(row.State, job.EventSucceed, job.BySupervisor, scopeIsEmpty)
//	if errors.Is(err, job.ErrEnded) {
//		return err // what a run has ended with is never overwritten
//	}
//
// [Transitions] is all of it: what is not in the table cannot happen. A run whose
// cancellation was asked for can only become cancelled, or, where nobody can
// prove any more that nothing of it runs, orphaned.
//
// Package scope below holds the processes of one run and ends them all.
package job
