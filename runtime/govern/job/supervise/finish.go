package supervise

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/token"
)

const (
	// maxMessage bounds what is said of a job's end, in bytes.
	maxMessage = 500
	// again is how long is waited before a journal is asked again that has failed.
	again = 200 * time.Millisecond
)

// ending is what a job comes to, unless somebody has asked for its end.
type ending struct {
	event   job.Event
	failure job.Failure
	message string
	result  []byte
}

// move is e as it happens to a job in from. A cancellation wins over it, but for
// an end that has no proof.
func (e ending) move(from job.State, by job.Actor) Move {
	if from == job.CancelRequested && e.event != job.EventAbandon {
		if by == job.ByServer { // which has started nothing, and holds the lock
			by = job.ByWatchdog
		}
		return Move{From: from, Event: job.EventEmptied, By: by, Empty: true, Failure: job.FailCancelled, Message: "it was cancelled"}
	}
	return Move{From: from, Event: e.event, By: by, Empty: e.event != job.EventAbandon, Failure: e.failure, Message: line(e.message), Result: e.result}
}

// finish moves a job to its end, whatever state it has come to meanwhile, for who
// has proved that nothing of it runs or ever will, unless e says the contrary. An
// end that it has already stays. A journal that fails is asked again until ctx
// ends.
func (j Job) finish(ctx context.Context, to Journal, by job.Actor, from job.State, e ending) (job.State, error) {
	for !from.Ended() {
		m := e.move(from, by)
		if _, err := job.Next(m.From, m.Event, m.By, m.Empty); err != nil {
			return from, err
		}
		state, err := to.Move(ctx, m)
		if err == nil {
			return state, nil
		}
		if !errors.Is(err, ErrMoved) { // it may have happened all the same
			v, err := lookAgain(ctx, to, err)
			if err != nil {
				return from, err
			}
			state = v.State
		}
		from = state
	}
	return from, nil
}

// lookAgain is the job after a journal has failed, as soon as it answers.
func lookAgain(ctx context.Context, to Journal, err error) (View, error) {
	for {
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return View{}, errors.Join(err, ctx.Err())
		}
		var v View
		if v, err = to.Look(ctx); err == nil {
			return v, nil
		}
	}
}

// line is text that may hold anything, as one line of bounded length without
// paths of the host.
func line(text string) string {
	text = visible.HidePaths(visible.Text(text))
	if len(text) <= maxMessage {
		return text
	}
	return visible.Text(text[:maxMessage-4]) + " ..." // a rune that was cut shows as such
}

func (j Job) at(step string) {
	if j.step != nil {
		j.step(step)
	}
}

func (j Job) now() token.Instant {
	if j.Now == nil {
		return token.Instant{Wall: time.Now()}
	}
	return j.Now()
}

// overdue reports whether a job has outstayed its time. One whose end was asked for
// has when it gives no sign of life, and at the latest when it would have without
// that: signs have the wall clock alone, which somebody may set.
func (j Job) overdue(v View) bool {
	state := v.State
	if state == job.CancelRequested {
		if j.silent(v) {
			return true
		}
		if state = job.Starting; v.Times.Begun != (token.Instant{}) {
			state = job.Running
		}
	}
	return j.Limits.Deadlines().Overdue(state, v.Times, j.now())
}

// silent reports whether a job whose end was asked for has gone without a sign of
// its supervisor for longer than that may take.
func (j Job) silent(v View) bool {
	last := v.Times.Created
	for _, i := range []token.Instant{v.Times.Begun, v.Beat} {
		if i != (token.Instant{}) {
			last = i
		}
	}
	return last.Later(cmp.Or(j.Limits.Grace, time.Second)).Reached(j.now())
}
