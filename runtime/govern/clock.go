package govern

import (
	"time"

	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/token"
)

// maxRegress is how far the wall clock may be behind the latest time that was
// ever committed: more, and nothing is prepared or landed.
const maxRegress = 300 * time.Second

// moment is now, unless the clock was set back.
func (s *Service) moment(tx *store.Tx) (token.Instant, error) {
	at := s.o.Now()
	high, err := tx.HighWater()
	if err != nil {
		return at, err
	}
	if behind := time.UnixMicro(high).Sub(at.Wall); behind > maxRegress {
		return at, refuse(ClockRegressed, "the clock is %s behind a time at which something was done here", behind.Round(time.Second)).
			suggest("an operator sets it right")
	}
	return at, nil
}

// whole is an instant in microseconds, as plans and rows keep it.
func whole(i token.Instant) token.Instant {
	i.Wall, i.Up = time.UnixMicro(i.Wall.UnixMicro()).UTC(), i.Up.Truncate(time.Microsecond)
	return i
}
