package exposition

import (
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriteTo(t *testing.T) {
	var set Set
	set.Gauge("open", "What is open.", func() float64 { return 2.5 })
	set.Gauge("odd", "No number.", func() float64 { return math.Inf(-1) })
	calls := set.Counters("calls_total", "Calls.", "tool", "outcome")
	set.Counters("none_total", "Never counted.")
	times := set.Histograms("seconds", "How long.", []float64{0.1, 1}, "tool")
	bare := set.Histograms("bare", "Without labels.", []float64{1})
	calls.Inc("b", "ok")
	calls.Inc("a", "ok")
	calls.Inc("b", "ok")
	calls.Inc("q\"\\\n\xff", "")
	for _, measured := range []float64{0.05, 0.1, 0.5, 7} {
		times.Observe(measured, "t")
	}
	bare.Observe(3)
	var b strings.Builder
	if _, err := set.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	const want = `# HELP open What is open.
# TYPE open gauge
open 2.5
# HELP odd No number.
# TYPE odd gauge
odd -Inf
# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{tool="a",outcome="ok"} 1
calls_total{tool="b",outcome="ok"} 2
calls_total{tool="q\"\\\n\ufffd",outcome=""} 1
# HELP none_total Never counted.
# TYPE none_total counter
# HELP seconds How long.
# TYPE seconds histogram
seconds_bucket{tool="t",le="0.1"} 2
seconds_bucket{tool="t",le="1"} 3
seconds_bucket{tool="t",le="+Inf"} 4
seconds_sum{tool="t"} 7.65
seconds_count{tool="t"} 4
# HELP bare Without labels.
# TYPE bare histogram
bare_bucket{le="1"} 0
bare_bucket{le="+Inf"} 1
bare_sum 3
bare_count 1
`
	if diff := cmp.Diff(strings.ReplaceAll(want, `\ufffd`, "\ufffd"), b.String()); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

func TestConcurrentUse(t *testing.T) {
	var set Set
	calls := set.Counters("calls_total", "Calls.", "tool")
	times := set.Histograms("seconds", "How long.", []float64{1}, "tool")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				calls.Inc("a")
				times.Observe(2, "a")
				var b strings.Builder
				_, _ = set.WriteTo(&b) // a builder takes all
			}
		})
	}
	group.Wait()
	var b strings.Builder
	_, _ = set.WriteTo(&b)
	for _, line := range []string{`calls_total{tool="a"} 800`, `seconds_count{tool="a"} 800`, `seconds_sum{tool="a"} 1600`} {
		if !strings.Contains(b.String(), line+"\n") {
			t.Errorf("no %s in\n%s", line, &b)
		}
	}
}

func TestNamesAreUsedOnce(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a name was added twice")
		}
	}()
	var set Set
	set.Counters("x", "")
	set.Gauge("x", "", func() float64 { return 0 })
}
