package gauge

import (
	"sync"
	"time"
)

// Gauge is a count that can be waited for, unlike a sync.WaitGroup's not
// longer than one wants to. The zero Gauge is zero; it is safe for concurrent
// use.
type Gauge struct {
	mu   sync.Mutex
	n    int
	zero chan struct{} // closed at zero; nil while nobody waits
}

// Add counts one more.
func (g *Gauge) Add() {
	g.mu.Lock()
	g.n++
	g.mu.Unlock()
}

// Done counts one less.
func (g *Gauge) Done() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n--; g.n == 0 && g.zero != nil {
		close(g.zero)
		g.zero = nil
	}
}

// Drain waits until the count is zero, or that long, and returns the count.
func (g *Gauge) Drain(most time.Duration) int {
	g.mu.Lock()
	if g.n == 0 {
		g.mu.Unlock()
		return 0
	}
	if g.zero == nil {
		g.zero = make(chan struct{})
	}
	zero := g.zero
	g.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-zero:
	case <-timer.C:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.n
}
