package gate

import (
	"slices"
	"testing"
	"time"
)

// How a ratio is found.
const (
	// tries are made until one is within the bound: a machine that does other
	// work makes a ratio worse for a while, never better for good.
	tries = 3
	// rounds of both, one after the other, in a try.
	rounds = 9
	// round is how long the control runs at least in a round.
	round = 20 * time.Millisecond
)

// Ratio runs measured and control in turn and fails b when the median time of
// measured is more than most times that of control, in each of three tries. It
// reports the best ratio as the metric "ratio". Both are called many times, by
// one goroutine, and must do the same work each time.
func Ratio(b *testing.B, most float64, measured, control func()) {
	b.Helper()
	best := ratio(measured, control)
	for try := 1; try < tries && best > most; try++ {
		best = min(best, ratio(measured, control))
	}
	for b.Loop() {
		measured()
	}
	b.ReportMetric(best, "ratio")
	if best > most {
		b.Fatalf("%.2f times the control, at most %.2f", best, most)
	}
}

// ratio of the median times of one call.
func ratio(measured, control func()) float64 {
	calls := 1
	for timed(control, calls) < round {
		calls *= 2
	}
	var of, to []time.Duration
	for range rounds {
		of = append(of, timed(measured, calls))
		to = append(to, timed(control, calls))
	}
	return float64(median(of)) / float64(median(to))
}

func timed(f func(), calls int) time.Duration {
	start := time.Now()
	for range calls {
		f()
	}
	return time.Since(start)
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}
