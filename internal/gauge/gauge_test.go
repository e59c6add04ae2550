package gauge_test

import (
	"testing"
	"time"

	"github.com/capgen/capgen/internal/gauge"
)

func TestDrain(t *testing.T) {
	var g gauge.Gauge
	if n := g.Drain(time.Hour); n != 0 {
		t.Fatalf("%d at the start", n)
	}
	g.Add()
	g.Add()
	if n := g.Drain(time.Millisecond); n != 2 {
		t.Errorf("%d, want 2 that still run", n)
	}
	go func() {
		g.Done()
		g.Done()
	}()
	if n := g.Drain(time.Minute); n != 0 {
		t.Errorf("%d left", n)
	}
}
