package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
)

// usage is what a process holds.
type usage struct{ descriptors, goroutines, threads, resident int }

func used(t *testing.T) usage {
	t.Helper()
	runtime.GC()
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, resident int
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return usage{len(descriptors), runtime.NumGoroutine(), len(threads), resident * os.Getpagesize()}
}

// Executions of every outcome leave nothing behind: no descriptor, goroutine
// or process, and no memory.
func TestExecutionsLeaveNothing(t *testing.T) {
	executions, clients := 400, 4
	if *soak {
		executions = 10_000
	}
	stuck := make(chan struct{})
	s := build(t, Options{IdleWorkers: 4, Limits: Limits{MaxExecutionTime: 2 * time.Second, MaxSteps: 100_000}},
		NewCapability(lookupInfo(), lookup),
		named("records.fails", func(context.Context, lookupInput) (record, error) { return record{}, errors.New("no") }),
		named("records.panics", func(context.Context, lookupInput) (record, error) { panic("no") }),
		named("records.large", func(context.Context, lookupInput) (record, error) {
			return record{Text: strings.Repeat("x", 300_000)}, nil
		}),
		named("records.stuck", func(ctx context.Context, _ lookupInput) (record, error) {
			select {
			case <-ctx.Done():
			case <-stuck:
			}
			return record{}, nil
		}))
	programs := []string{
		lookups(0), lookups(3), lookups(30),
		"def main():\n    return records.large(key = 'a')\n",
		"def main():\n    return records.fails(key = 'a')\n",
		"def main():\n    return records.panics(key = 'a')\n",
		"def main():\n    return records.lookup(key = 1)\n",
		"def main():\n    return records.nothing()\n",
		"def main():\n    return 'x' * 1000000\n",
		"def main():\n    while True:\n        pass\n",
		"def main(:\n",
		"def main():\n    return records.stuck(key = 'a')\n", // until its context ends
	}
	run := func(n int) {
		var group sync.WaitGroup
		for client := range clients {
			group.Go(func() {
				for i := client; i < n; i += clients {
					ctx, cancel := context.WithCancel(t.Context())
					if source := programs[i%len(programs)]; strings.Contains(source, "stuck") {
						ctx, cancel = context.WithTimeout(ctx, time.Duration(1+i%5)*time.Millisecond)
					}
					x, err := s.Execute(ctx, authz.Local(), programs[i%len(programs)])
					if errors.Is(err, ErrInternal) && i%len(programs) != 5 || errors.Is(err, ErrWorkerLost) || x.Receipt.Execution == "" {
						t.Errorf("%s: %v", programs[i%len(programs)], err)
					}
					cancel()
				}
			})
		}
		group.Wait()
		for began := time.Now(); len(ownChildren(t)) != 4; time.Sleep(time.Millisecond) {
			if time.Since(began) > 10*time.Second {
				t.Fatalf("the processes %v instead of four that wait", ownChildren(t))
			}
		}
	}
	run(executions / 4) // until everything has been used once
	before, began := used(t), time.Now()
	run(executions)
	after := used(t)
	t.Logf("%d executions in %v: %+v before, %+v after", executions, time.Since(began).Round(time.Millisecond), before, after)
	if after.descriptors > before.descriptors+4 || after.goroutines > before.goroutines+4 || after.threads > before.threads+8 {
		t.Error("something is left")
	}
	if after.resident > before.resident+16<<20 {
		t.Errorf("grew by %d MiB", (after.resident-before.resident)>>20)
	}
}
