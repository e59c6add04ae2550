package token

import "time"

// MaxAhead is how far in the future, by the wall clock, a token may have been
// issued: what two clocks may differ by.
const MaxAhead = 300 * time.Second

// Instant is a moment by two clocks. The zero Boot is none: then the wall clock
// alone counts.
type Instant struct {
	Wall time.Time
	// Boot identifies the running kernel, and Up is for how long it has run,
	// suspension included (CLOCK_BOOTTIME). Nobody sets that clock.
	Boot string
	Up   time.Duration
}

// Reached reports whether i has come at now: by the clock that nobody sets while
// the kernel is the same, by the wall clock otherwise. The instant itself counts
// as reached.
func (i Instant) Reached(now Instant) bool { return i.Left(now) <= 0 }

// Left is how long it is from now to i, by the same clock.
func (i Instant) Left(now Instant) time.Duration {
	if i.Boot != "" && i.Boot == now.Boot {
		return i.Up - now.Up
	}
	return i.Wall.Sub(now.Wall)
}

// Later is the instant d after i.
func (i Instant) Later(d time.Duration) Instant {
	i.Wall = i.Wall.Add(d)
	i.Up += d
	return i
}
