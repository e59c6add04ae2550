package supervise

import (
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/token"
)

// A cancellation is overdue when its supervisor is silent, and also when its signs
// of life are of a time that the wall clock has not come to again: then by the
// clock that nobody sets.
func TestOverdue(t *testing.T) {
	created := token.Instant{Wall: time.UnixMicro(1_780_000_000_000_000).UTC(), Boot: "boot", Up: time.Hour}
	begun := created.Later(5 * time.Second)
	limits := Limits{Start: 10 * time.Second, Wall: time.Minute, Grace: 15 * time.Second}
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		state job.State
		begun token.Instant
		beat  time.Duration // after created, by the wall clock; 0 is never
		after time.Duration // it is looked at, after created
		set   time.Duration // by how much the wall clock was set
		want  bool
	}{
		"running":                         {job.Running, begun, 60 * time.Second, 79 * time.Second, 0, false},
		"runs for too long":               {job.Running, begun, 79 * time.Second, 80 * time.Second, 0, true},
		"cancelled, and seen":             {job.CancelRequested, begun, 29 * time.Second, 30 * time.Second, 0, false},
		"cancelled, and silent":           {job.CancelRequested, begun, 29 * time.Second, 44 * time.Second, 0, true},
		"cancelled, the clock set back":   {job.CancelRequested, begun, 29 * time.Second, 79 * time.Second, -day, false},
		"and its time over":               {job.CancelRequested, begun, 29 * time.Second, 80 * time.Second, -day, true},
		"and seen all the same":           {job.CancelRequested, begun, 79 * time.Second, 80 * time.Second, 0, true},
		"seen in the future":              {job.CancelRequested, begun, day, 80 * time.Second, 0, true},
		"before it began, not yet":        {job.CancelRequested, token.Instant{}, day, 24 * time.Second, 0, false},
		"before it began, seen in future": {job.CancelRequested, token.Instant{}, day, 25 * time.Second, 0, true},
		"waits":                           {job.Queued, token.Instant{}, 0, 24 * time.Second, -day, false},
		"waits for too long":              {job.Queued, token.Instant{}, 0, 25 * time.Second, -day, true},
		"starting for too long":           {job.Starting, token.Instant{}, 0, 25 * time.Second, -day, true},
	} {
		now := created.Later(c.after)
		now.Wall = now.Wall.Add(c.set)
		v := View{State: c.state, Times: job.Times{Created: created, Begun: c.begun}}
		if c.beat > 0 {
			v.Beat = token.Instant{Wall: created.Wall.Add(c.beat)}
		}
		j := Job{Limits: limits, Now: func() token.Instant { return now }}
		if got := j.overdue(v); got != c.want {
			t.Errorf("%s: overdue: %v", name, got)
		}
	}
}
