package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Whose the sessions are: one user has many, the others few.
const (
	users      = 20
	fewEach    = 8
	loudest    = users - 1
	allClients = 200 // of which the loudest has 48
)

func userOf(client int) int { return min(client/fewEach, loudest) }

// generator makes calls of all sessions, in an order that a seed decides.
type generator struct {
	server   *loaded
	sessions []*session
	requests []*request
	random   *rand.Rand
}

// measured is what came of one phase.
type measured struct {
	span           time.Duration
	outcomes       []outcome
	byUser         [users]int // that succeeded within the span
	asked          [users]int
	within         int             // that succeeded within the span
	lag            []time.Duration // how much later than planned calls began
	client, server time.Duration   // processor time
}

// phase measures what run does, which gets a function that makes the next call.
func (g *generator) phase(span time.Duration, run func(call func(client int, planned time.Time), end time.Time)) *measured {
	m := &measured{span: span}
	var mu sync.Mutex
	// An answer that comes no more would keep the test for ever.
	ctx, cancel := context.WithTimeout(context.Background(), span+30*time.Second)
	defer cancel()
	client, server := ownProcessorTime(), g.server.processorTime()
	end := time.Now().Add(span)
	run(func(client int, planned time.Time) {
		s := g.sessions[client]
		mu.Lock()
		r := g.requests[g.random.IntN(len(g.requests))]
		m.asked[s.user]++
		mu.Unlock()
		lag := time.Since(planned)
		o := s.call(ctx, r)
		mu.Lock()
		defer mu.Unlock()
		m.outcomes, m.lag = append(m.outcomes, o), append(m.lag, lag)
		if o.how == succeeded && time.Now().Before(end) {
			m.within++
			m.byUser[s.user]++
		}
	}, end)
	m.client, m.server = ownProcessorTime()-client, g.server.processorTime()-server
	return m
}

// closed has so many calls on their way at once, for span: whoever has an
// answer asks again.
func (g *generator) closed(span time.Duration, outstanding int) *measured {
	return g.phase(span, func(call func(int, time.Time), end time.Time) {
		var all sync.WaitGroup
		order, next := g.random.Perm(len(g.sessions)), new(atomic.Int64)
		for range outstanding {
			all.Go(func() {
				for time.Now().Before(end) {
					call(order[int(next.Add(1))%len(order)], time.Now())
				}
			})
		}
		all.Wait()
	})
}

// open makes so many calls a second, whatever becomes of them.
func (g *generator) open(span time.Duration, rate float64) *measured {
	return g.phase(span, func(call func(int, time.Time), end time.Time) {
		var all sync.WaitGroup
		begin, order := time.Now(), g.random.Perm(len(g.sessions))
		for i := 0; ; i++ {
			planned := begin.Add(time.Duration(float64(i) / rate * float64(time.Second)))
			if !planned.Before(end) {
				break
			}
			time.Sleep(time.Until(planned))
			client := order[i%len(order)]
			all.Go(func() { call(client, planned) })
		}
		all.Wait()
	})
}

// burst has each session make so many calls at once.
func (g *generator) burst(each int) *measured {
	return g.phase(time.Minute, func(call func(int, time.Time), end time.Time) {
		var all sync.WaitGroup
		for range each {
			for client := range g.sessions {
				all.Go(func() { call(client, time.Now()) })
			}
		}
		all.Wait()
	})
}

func (m *measured) count(how string) (n int) {
	for _, o := range m.outcomes {
		if o.how == how {
			n++
		}
	}
	return n
}

// perSecond is what succeeded within the span.
func (m *measured) perSecond() float64 { return float64(m.within) / m.span.Seconds() }

// percentile of the times of calls that ended so.
func (m *measured) percentile(how string, p float64) time.Duration {
	var times []time.Duration
	for _, o := range m.outcomes {
		if o.how == how {
			times = append(times, o.took)
		}
	}
	return percentile(times, p)
}

func percentile(times []time.Duration, p float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(int(p/100*float64(len(times))), len(times)-1)].Round(10 * time.Microsecond)
}

// leastShare is the least of what users got, each of its fair share: what it
// asked for, or an equal part of what is left by those who asked for less.
func (m *measured) leastShare() (least float64, user int) {
	left, byDemand := float64(m.within), make([]int, users)
	for i := range byDemand {
		byDemand[i] = i
	}
	slices.SortFunc(byDemand, func(a, b int) int { return m.asked[a] - m.asked[b] })
	least = 1
	for i, u := range byDemand {
		share := min(float64(m.asked[u]), left/float64(users-i))
		left -= share
		if got := float64(m.byUser[u]) / share; share > 0 && got < least {
			least, user = got, u
		}
	}
	return least, user
}

// String is for a report.
func (m *measured) String() string {
	says := map[string]int{}
	for _, o := range m.outcomes {
		if o.how != succeeded {
			says[o.how+": "+o.says]++
		}
	}
	text := fmt.Sprintf("%d calls, %.0f a second succeeded, p50 %v, p99 %v; %d refused, p50 %v, p90 %v, p99 %v; late %d, failed %d; begun late by p50 %v, p99 %v; processors busy %.0f %%, the client's part %.0f %%",
		len(m.outcomes), m.perSecond(), m.percentile(succeeded, 50), m.percentile(succeeded, 99),
		m.count(refused), m.percentile(refused, 50), m.percentile(refused, 90), m.percentile(refused, 99),
		m.count(late), m.count(failed), percentile(m.lag, 50), percentile(m.lag, 99),
		100*(m.client+m.server).Seconds()/m.span.Seconds()/float64(runtime.NumCPU()), 100*m.client.Seconds()/max((m.client+m.server).Seconds(), 1e-9))
	for _, what := range slices.Sorted(maps.Keys(says)) {
		text += fmt.Sprintf("\n    %d %s", says[what], what)
	}
	return text
}
