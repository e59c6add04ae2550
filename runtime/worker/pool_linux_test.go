package worker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/worker"
)

// dead is true when the last thread of a process has ended, and with it its
// hold on its pipes.
func dead(pid int) bool {
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return !running(pid) && len(threads) <= 1
}

// count is how many processes that this one has started and not reaped there
// are at one moment: those of two lists, between which the moment lies.
func count(t *testing.T) (n int) {
	t.Helper()
	first := list(t)
	for pid := range list(t) {
		if first[pid] {
			n++
		}
	}
	return n
}

func list(t *testing.T) map[string]bool {
	t.Helper()
	threads, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(threads) == 0 {
		t.Fatalf("the kernel does not list children: %v", err)
	}
	all := map[string]bool{}
	for _, name := range threads {
		text, _ := os.ReadFile(name) // a thread may end
		for _, pid := range strings.Fields(string(text)) {
			all[pid] = true
		}
	}
	return all
}

// eventually waits until f is true.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for began := time.Now(); !f(); time.Sleep(time.Millisecond) {
		if time.Since(began) > 20*time.Second {
			t.Fatalf("%s: not after 20 s", what)
		}
	}
}

func ready(t *testing.T, p *worker.Pool, n int) {
	t.Helper()
	eventually(t, "idle workers", func() bool { return p.Idle() == n })
}

func mustRun(t *testing.T, p *worker.Pool) {
	t.Helper()
	if _, err := p.Run(context.Background(), job("1")); err != nil {
		t.Error(err)
	}
}

// An execution takes a worker that is ready, which serves no other; another is
// started in its place.
func TestPool(t *testing.T) {
	p := pool(t, worker.Config{Processes: 4, Idle: 2})
	used := map[int]bool{}
	for range 3 {
		ready(t, p, 2)
		idle, _ := children(t, os.Getpid())
		if len(idle) != 2 {
			t.Fatalf("%d processes", len(idle))
		}
		j := job("test.echo(text = \"a\")")
		j.Call = func(ctx context.Context, c worker.Call) worker.Reply {
			// While it runs, none is started, however long that takes.
			time.Sleep(300 * time.Millisecond)
			if all, _ := children(t, os.Getpid()); len(all) != 2 {
				t.Errorf("%d processes while a program runs", len(all))
			}
			if n := p.Idle(); n != 1 {
				t.Errorf("%d idle workers while a program runs", n)
			}
			return echo(ctx, c)
		}
		if _, err := p.Run(context.Background(), j); err != nil {
			t.Fatal(err)
		}
		ready(t, p, 2)
		left, _ := children(t, os.Getpid())
		for _, pid := range idle {
			if !running(pid) {
				used[pid] = true
			}
		}
		if len(left) > 2 {
			t.Errorf("%d processes after a program ran", len(left))
		}
	}
	if len(used) != 3 {
		t.Errorf("3 executions used up %d workers", len(used))
	}
}

// A program that runs long does not keep others from finding workers ready: the
// end of one has them started, whatever else runs.
func TestPoolFillsUpBesideLongRuns(t *testing.T) {
	p := pool(t, worker.Config{Processes: 4, Idle: 1})
	ready(t, p, 1)
	entered, release := make(chan struct{}), make(chan struct{})
	j := job("test.echo(text = \"a\")")
	j.Call = func(ctx context.Context, c worker.Call) worker.Reply {
		close(entered)
		<-release
		return echo(ctx, c)
	}
	var long sync.WaitGroup
	long.Go(func() {
		if _, err := p.Run(context.Background(), j); err != nil {
			t.Error(err)
		}
	})
	<-entered
	mustRun(t, p)
	ready(t, p, 1)
	close(release)
	long.Wait()
}

// Idle workers, those that run a program, those that start and those that end
// are never more than Processes.
func TestPoolNeverHasMoreProcesses(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, executable := range map[string]string{
		"all start":      self,
		"some start not": script(t, "[ $(($$ % 3)) = 0 ] && exit 1\nexec '"+self+"'"),
		"none start":     script(t, "[ -e '"+broken+"' ] && exec '"+self+"'\nexit 1"),
	} {
		t.Run(name, func(t *testing.T) {
			const most = 3
			p := pool(t, worker.Config{Executable: executable, Processes: most, Idle: 2})
			stop, sampled := make(chan struct{}), make(chan struct{})
			highest, samples := 0, 0
			go func() {
				defer close(sampled)
				for {
					select {
					case <-stop:
						return
					default:
					}
					highest = max(highest, count(t))
					samples++
				}
			}()
			var served, failed atomic.Int32
			var clients sync.WaitGroup
			for range 6 {
				clients.Go(func() {
					for range 20 {
						if _, err := p.Run(context.Background(), job("1")); err != nil {
							failed.Add(1)
						} else {
							served.Add(1)
						}
					}
				})
			}
			clients.Wait()
			time.Sleep(50 * time.Millisecond) // it fills up again
			close(stop)
			<-sampled
			t.Logf("%d served, %d failed, %d samples, at most %d processes", served.Load(), failed.Load(), samples, highest)
			if highest > most || highest < most && served.Load() > 0 {
				t.Errorf("%d processes, %d are allowed", highest, most)
			}
			if name == "all start" && failed.Load() > 0 || name == "none start" && served.Load() > 0 {
				t.Error("served or failed when it should not have")
			}
		})
	}
}

// A worker that cannot be started is tried again, less and less often, until
// it can.
func TestPoolBacksOff(t *testing.T) {
	dir := t.TempDir()
	attempts, mended := filepath.Join(dir, "attempts"), filepath.Join(dir, "mended")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	executable := script(t, "echo >>'"+attempts+"'\n[ -e '"+mended+"' ] || exit 1\nexec '"+self+"'")
	var told atomic.Int32
	p := pool(t, worker.Config{Executable: executable, Processes: 4, Idle: 2, Failed: func(error) { told.Add(1) }})
	time.Sleep(time.Second)
	text, _ := os.ReadFile(attempts)
	// After 0, 50, 150, 350 and 750 ms at the earliest.
	if n := len(text); n < 2 || n > 5 {
		t.Errorf("%d attempts in a second", n)
	}
	if n := int(told.Load()); n == 0 {
		t.Error("nobody was told")
	}
	if _, err := p.Run(context.Background(), job("1")); err == nil || errors.As(err, new(*fault.Fault)) {
		t.Errorf("a run without a worker: %v", err)
	}
	if err := os.WriteFile(mended, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ready(t, p, 2)
	mustRun(t, p)
}

// Idle workers that die are replaced; a program never gets one.
func TestPoolReplacesDeadWorkers(t *testing.T) {
	p := pool(t, worker.Config{Processes: 4, Idle: 2})
	for range 3 {
		ready(t, p, 2)
		idle, _ := children(t, os.Getpid())
		for _, pid := range idle {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		eventually(t, "death", func() bool { return dead(idle[0]) && dead(idle[1]) })
		mustRun(t, p)
	}
	ready(t, p, 2)
	idle, _ := children(t, os.Getpid())
	syscall.Kill(idle[0], syscall.SIGKILL)
	// Nobody runs anything, and it is noticed all the same.
	eventually(t, "replacement", func() bool {
		all, zombies := children(t, os.Getpid())
		return len(all) == 2 && zombies == 0 && all[0] != idle[0] && all[1] != idle[0]
	})
}

// A worker that was warmed with another table, or that talks while it waits,
// is killed and not used.
func TestPoolKillsWrongWorkers(t *testing.T) {
	for mode, want := range map[string]string{"digest": "another binding table", "version": "protocol", "talks": ""} {
		t.Run(mode, func(t *testing.T) {
			failures := make(chan error, 100)
			p := pool(t, worker.Config{Executable: fakeWorker(t, mode), Processes: 1, Idle: 1, Failed: func(err error) { failures <- err }})
			if want == "" {
				ready(t, p, 1)
				ready(t, p, 0)
			} else if err := <-failures; !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
			p.Close()
			if all, _ := children(t, os.Getpid()); len(all) > 0 {
				t.Errorf("%d processes are left", len(all))
			}
		})
	}
}

// A run beyond the last process waits, as long as its context.
func TestRunWaitsForAProcess(t *testing.T) {
	p := pool(t, worker.Config{Processes: 1, Idle: 1})
	entered, release := make(chan struct{}), make(chan struct{})
	j := job("test.echo(text = \"a\")")
	j.Call = func(ctx context.Context, c worker.Call) worker.Reply {
		close(entered)
		<-release
		return echo(ctx, c)
	}
	var runs sync.WaitGroup
	runs.Go(func() {
		if _, err := p.Run(context.Background(), j); err != nil {
			t.Error(err)
		}
	})
	<-entered
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := p.Run(ctx, job("1"))
	wantFault(t, err, fault.Limit, "time")
	runs.Go(func() { mustRun(t, p) })
	time.Sleep(20 * time.Millisecond)
	close(release)
	runs.Wait()
}

// Close leaves no process, whatever the pool is doing.
func TestPoolCloses(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 50 * time.Millisecond} {
		p := pool(t, worker.Config{Processes: 4, Idle: 4})
		var runs sync.WaitGroup
		for range 6 {
			runs.Go(func() {
				if _, err := p.Run(context.Background(), job("while True:\n  pass")); !errors.Is(err, worker.ErrClosed) {
					t.Errorf("got %v", err)
				}
			})
		}
		time.Sleep(after)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if all, zombies := children(t, os.Getpid()); len(all) > 0 {
			t.Errorf("closed after %v: %d processes are left, %d zombies", after, len(all), zombies)
		}
		runs.Wait()
	}
}
