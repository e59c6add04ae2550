package job

import (
	"time"

	"github.com/capgen/capgen/runtime/govern/token"
)

// Deadlines are until when a run may be in a state. Both count from moments that
// its row has from its first commit on, so that there is no state without one.
type Deadlines struct {
	// Start is how long after it was created the candidate may begin.
	Start time.Duration
	// Wall is how long after the candidate began it may go on.
	Wall time.Duration
	// Grace is what a watchdog leaves the supervisor beyond both, to end it and to
	// say so.
	Grace time.Duration
}

// Times are moments of a run. Begun is the zero Instant before RUNNING.
type Times struct{ Created, Begun token.Instant }

// until is the deadline of a run in s, if it has one.
func (d Deadlines) until(s State, t Times) (token.Instant, bool) {
	switch s {
	case Queued, Starting:
		return t.Created.Later(d.Start), true
	case Running:
		if t.Begun == (token.Instant{}) { // a row that nobody here wrote: count from what there is
			return t.Created.Later(d.Start + d.Wall), true
		}
		return t.Begun.Later(d.Wall), true
	}
	return token.Instant{}, false
}

// Late reports whether a run in s has outstayed its deadline at now, as a
// supervisor sees it. While the kernel is the same, the clock counts that nobody
// sets. A cancellation has no deadline of its own: it is in hand, and a watchdog
// holds it to the one of the state before.
func (d Deadlines) Late(s State, t Times, now token.Instant) bool {
	end, has := d.until(s, t)
	return has && end.Reached(now)
}

// ToBegin is how long a run may still wait for its beginning.
func (d Deadlines) ToBegin(t Times, now token.Instant) time.Duration {
	return t.Created.Later(d.Start).Left(now)
}

// Overdue is Late as a watchdog sees it: with grace.
func (d Deadlines) Overdue(s State, t Times, now token.Instant) bool {
	end, has := d.until(s, t)
	return has && end.Later(d.Grace).Reached(now)
}
