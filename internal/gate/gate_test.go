package gate

import (
	"testing"
	"time"
)

// A ratio that is far off is told from one that is far within, whatever else
// the machine does.
func TestRatio(t *testing.T) {
	work := func(n int) func() {
		return func() { time.Sleep(time.Duration(n) * time.Millisecond) }
	}
	if r := ratio(work(8), work(1)); r < 2 {
		t.Errorf("eight times the work is %.2f times the control", r)
	}
	if r := ratio(work(1), work(8)); r > 0.5 {
		t.Errorf("an eighth of the work is %.2f times the control", r)
	}
}

func TestMedian(t *testing.T) {
	if m := median([]time.Duration{9, 1, 5}); m != 5 {
		t.Errorf("median %d", m)
	}
}
