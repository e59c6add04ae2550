package supervise

import (
	"context"
	"errors"
	"time"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/token"
)

// endPatience is how long the end of a scope may take before its proof is given
// up for this time.
const endPatience = 30 * time.Second

// exitPatience is how long a supervisor may take to end after it has let go of its
// lock, and how long somebody else who looks at the job may hold that after all that
// had it has ended.
const exitPatience = 2 * time.Second

// Settle looks at a job that has not ended, from any process of the host, and does
// what its supervisor cannot do any more: it launches what is QUEUED, where j has a
// Supervisor, ends what has lost its supervisor or is overdue, and returns the
// state. What is in order is left as it is. After an error it may be called again.
func Settle(ctx context.Context, j Job, to Journal) (job.State, error) {
	v, err := to.Look(ctx)
	if err != nil || v.State.Ended() {
		return v.State, err
	}
	overdue := j.overdue(v)
	if v.State == job.Queued {
		switch {
		case !overdue && j.Supervisor.Path == "":
			return v.State, nil
		case !overdue:
			return Launch(ctx, j, to)
		}
		state, err := to.Move(ctx, Move{From: v.State, Event: job.EventExpire, By: job.ByWatchdog,
			Failure: job.FailTimeout, Message: "it waited for its start for too long"})
		return moved(state, err)
	}
	j.at("seen")
	alive, err := hold(j.Dir)
	switch {
	case errors.Is(err, ErrHeld) && overdue:
		return j.overrun(ctx, to, v)
	case errors.Is(err, ErrHeld):
		return v.State, nil
	case err == nil:
		defer alive.Close()
	case !replaced(err):
		return v.State, err
	}
	// One that lives holds another file than this: the directory was copied or
	// removed, or the file replaced. What it looks after is not ours to end before its
	// time.
	switch lives, err := outlives(ctx, v.Handle); {
	case err != nil || lives && !overdue:
		return v.State, err
	case lives:
		alive.Close() // overrun looks whether somebody holds it
		return j.overrun(ctx, to, v)
	}
	// Whoever held the lock may have gone on until it was free.
	if v, err = to.Look(ctx); err != nil || v.State.Ended() {
		return v.State, err
	}
	j.at("free")
	return j.lost(ctx, to, v)
}

// lost ends a job whose supervisor and keeper are gone, by who holds its lock.
func (j Job) lost(ctx context.Context, to Journal, v View) (job.State, error) {
	e, err := j.end(ctx, v, ending{event: job.EventLose, failure: job.FailOrphaned, message: "its supervisor was lost"})
	if err != nil {
		return v.State, err
	}
	return j.finish(ctx, to, job.ByWatchdog, v.State, e)
}

// overrun ends a job whose supervisor does not end it.
func (j Job) overrun(ctx context.Context, to Journal, v View) (job.State, error) {
	e := ending{event: job.EventExpire, failure: job.FailTimeout, message: "it ran for too long"}
	if v.State == job.Starting {
		e.message = "it waited for its start for too long"
	}
	if v.Handle.None() {
		// There is no candidate before the job was moved from STARTING to RUNNING,
		// and if it is still where it was seen, there never will be one.
		e, err := j.end(ctx, v, e)
		if err != nil {
			return v.State, err
		}
		return moved(to.Move(ctx, e.move(v.State, job.ByWatchdog)))
	}
	if err := endProcess(ctx, v.Handle.Supervisor); err != nil {
		return v.State, err
	}
	j.at("stopped")
	e, err := j.end(ctx, v, e)
	if err == nil && e.event != job.EventAbandon {
		// For a process that does not see those of the job, as in another namespace of
		// process ids, all have ended. Their lock is seen from everywhere.
		if err = free(ctx, j.Dir); errors.Is(err, ErrHeld) {
			e, err = unproved(), nil
		}
	}
	if err != nil {
		return v.State, err
	}
	return j.finish(ctx, to, job.ByWatchdog, v.State, e)
}

// end ends what is left of a job by its handle, and returns e, or, where that
// cannot be proved any more, that the job is given up.
func (j Job) end(ctx context.Context, v View, e ending) (ending, error) {
	var err error
	switch {
	case !v.Handle.None():
		ending, stop := context.WithTimeout(ctx, endPatience)
		defer stop()
		err = v.Handle.Scope.End(ending, func() (bool, error) { return emptied(j.Dir) })
	case v.State == job.Running, v.Times.Begun != (token.Instant{}):
		err = scope.ErrUnproved // it began, and the journal knows no scope
	}
	j.at("proved")
	if errors.Is(err, scope.ErrUnproved) {
		return unproved(), nil
	}
	return e, err
}

// unproved is the end of a job of which nobody can tell whether something runs.
func unproved() ending {
	return ending{event: job.EventAbandon, failure: job.FailOrphaned, message: "its supervisor was lost, and nobody can prove any more that nothing of it runs"}
}

// outlives reports whether the very supervisor of a handle is still there a moment
// later.
func outlives(ctx context.Context, h Handle) (bool, error) {
	if h.None() {
		return false, nil
	}
	p, err := h.Supervisor.Open()
	if errors.Is(err, scope.ErrGone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer p.Close()
	waiting, stop := context.WithTimeout(ctx, exitPatience)
	defer stop()
	return p.Await(waiting) != nil, ctx.Err()
}

// endProcess kills the very process, and returns when it has ended.
func endProcess(ctx context.Context, i scope.Identity) error {
	p, err := i.Open()
	if errors.Is(err, scope.ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Kill(); err != nil && !errors.Is(err, scope.ErrGone) {
		return err
	}
	waiting, stop := context.WithTimeout(ctx, endPatience)
	defer stop()
	return p.Await(waiting)
}
