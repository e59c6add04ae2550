package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
)

const (
	// between is the time between two executions of one client: the pool
	// starts another worker meanwhile.
	between = 10 * time.Millisecond
	// samples are the executions of each kind whose median counts.
	samples = 60
	// busy is how long four clients keep a server busy.
	busy    = 2 * time.Second
	clients = 4
)

func (b *bench) gates() []gate {
	list := []gate{
		{name: "full host's time, of the pool's, no call", atLeast: 20, measure: b.latency(0, b.full)},
		{name: "full host's time, of the pool's, 1 call", atLeast: 15, measure: b.latency(1, b.full)},
		{name: "full host's time, of the pool's, 10 calls", atLeast: 8, measure: b.latency(10, b.full)},
		{name: "full host's time, of the pool's, 100 calls", atLeast: 3.5, measure: b.latency(100, b.full)},
		{name: "a native call, of one in process", most: 6, measure: b.nativeCall},
		{name: "50 calls of 20 ms at once, of one", most: 1.5, measure: b.parallel(func() *runtime.Server { return b.wide })},
		{name: "50 calls of 20 ms, 8 at once, of one", most: 7.5, measure: b.parallel(func() *runtime.Server { return b.pool })},
	}
	list = append(list, gate{name: "pool's time, no call, of an echo's", measure: b.floor}) // shown, not bounded
	if b.workspace != "" {                                                                  // shown, not bounded
		list = append(list, gate{name: "workspace's time, of the pool's, no call", measure: b.latency(0, b.host)})
	}
	if b.thin != "" {
		list = append(list,
			gate{name: "thin worker's processor time, of the full host's", most: 0.45, measure: b.processor},
			gate{name: "pool's executions a second, of the full host's", atLeast: 2, measure: b.saturation})
	}
	return list
}

// serve builds a server with the one capability.
func serve(ctx context.Context, o runtime.Options) (*runtime.Server, error) {
	o.Authorizer = authz.AllowAll()
	b := runtime.NewBuilder(o)
	b.Register(pauseCapability())
	return b.Build(ctx)
}

func execute(ctx context.Context, s *runtime.Server, source string) (time.Duration, error) {
	began := time.Now()
	_, err := s.Execute(ctx, authz.Local(), source)
	return time.Since(began), err
}

// calling is a program of n native calls.
func calling(n int) string {
	return fmt.Sprintf("def main():\n    for i in range(%d):\n        bench.pause()\n    return 1\n", n)
}

// latency compares medians of executions of the pool and another server that
// alternate.
func (b *bench) latency(calls int, other *runtime.Server) func(context.Context) (figures, error) {
	return func(ctx context.Context) (figures, error) {
		var pool, full []time.Duration
		for range samples {
			for _, s := range []struct {
				server *runtime.Server
				times  *[]time.Duration
			}{{b.pool, &pool}, {other, &full}} {
				time.Sleep(between)
				took, err := execute(ctx, s.server, calling(calls))
				if err != nil {
					return figures{}, err
				}
				*s.times = append(*s.times, took)
			}
		}
		p, f := median(pool), median(full)
		return figures{float64(f), float64(p), fmt.Sprintf("%v of %v", f.Round(time.Microsecond), p.Round(time.Microsecond))}, nil
	}
}

// parallel compares a program of 50 calls at once with one of a single call.
func (b *bench) parallel(server func() *runtime.Server) func(context.Context) (figures, error) {
	const one = "def main():\n    return bench.pause(ms = 20)\n"
	const many = "def main():\n    return parallel([lambda: bench.pause(ms = 20)] * 50)\n"
	return func(ctx context.Context) (figures, error) {
		var single, all []time.Duration
		for range samples / 5 {
			for _, p := range []struct {
				source string
				times  *[]time.Duration
			}{{one, &single}, {many, &all}} {
				time.Sleep(between)
				took, err := execute(ctx, server(), p.source)
				if err != nil {
					return figures{}, err
				}
				*p.times = append(*p.times, took)
			}
		}
		s, a := median(single), median(all)
		return figures{float64(a), float64(s), fmt.Sprintf("%v of %v", a.Round(time.Microsecond), s.Round(time.Microsecond))}, nil
	}
}

// processor compares the processor time of an execution with its worker's
// start, host and worker together.
func (b *bench) processor(ctx context.Context) (figures, error) {
	each := func(s *runtime.Server) (time.Duration, error) {
		before := processorTime()
		for range samples {
			if _, err := execute(ctx, s, calling(0)); err != nil {
				return 0, err
			}
		}
		return (processorTime() - before) / samples, nil
	}
	thin, err := each(b.lean)
	if err != nil {
		return figures{}, err
	}
	full, err := each(b.full)
	return figures{float64(thin), float64(full), fmt.Sprintf("%v of %v", thin.Round(time.Microsecond), full.Round(time.Microsecond))}, err
}

// processorTime is what this process and its reaped children have used.
func processorTime() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			panic(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// saturation compares what four clients get done without a pause.
func (b *bench) saturation(ctx context.Context) (figures, error) {
	each := func(s *runtime.Server) (float64, error) {
		var done atomic.Int64
		var failure atomic.Pointer[error]
		end := time.Now().Add(busy)
		var group sync.WaitGroup
		for range clients {
			group.Go(func() {
				for time.Now().Before(end) {
					if _, err := execute(ctx, s, calling(1)); err != nil {
						failure.Store(&err)
						return
					}
					done.Add(1)
				}
			})
		}
		group.Wait()
		if err := failure.Load(); err != nil {
			return 0, *err
		}
		return float64(done.Load()) / busy.Seconds(), nil
	}
	pool, err := each(b.pool)
	if err != nil {
		return figures{}, err
	}
	full, err := each(b.full)
	return figures{pool, full, strings.TrimSpace(fmt.Sprintf("%.0f of %.0f a second", pool, full))}, err
}
