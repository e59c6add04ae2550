//go:build linux

package worker_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/worker"
)

func fakeMain() {
	if mode := os.Getenv(worker.FakeVariable); mode != "" {
		worker.RunFake(mode)
	}
}

// spinAsHost runs until it is killed, and says when its workers idle, and its
// program spins or waits for a call.
func spinAsHost() {
	s, err := worker.NewPool(worker.Config{Table: table(), Processes: 8, Idle: 2})
	if err != nil {
		panic(err)
	}
	mode := os.Args[2]
	if mode == "lines" {
		runLines(s)
	}
	for s.Idle() < 2 {
		time.Sleep(time.Millisecond)
	}
	if mode == "idle" {
		fmt.Fprintln(os.Stderr, "ready")
		select {}
	}
	source := "test.echo(text = \"\")\nwhile True:\n  pass"
	j := job(source)
	j.Limits.Steps = 1 << 60
	j.Call = func(ctx context.Context, c worker.Call) worker.Reply {
		fmt.Fprintln(os.Stderr, "ready")
		if mode == "call" {
			select {}
		}
		return echo(ctx, c)
	}
	_, err = s.Run(context.Background(), j)
	fmt.Fprintln(os.Stderr, "ended:", err)
	os.Exit(3)
}

// children returns the processes whose parent is pid, and those in the state
// that ps shows as Z.
func children(t testing.TB, pid int) (all []int, zombies int) {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range entries {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		after := string(text[strings.LastIndexByte(string(text), ')')+1:])
		fields := strings.Fields(after)
		if parent, _ := strconv.Atoi(fields[1]); parent == pid {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			all = append(all, child)
			if fields[0] == "Z" {
				zombies++
			}
		}
	}
	return all, zombies
}

// gone waits a moment for the last processes to be reaped.
func gone(t testing.TB) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		all, zombies := children(t, os.Getpid())
		if len(all) == 0 {
			return
		}
		if time.Since(began) > 2*time.Second {
			t.Errorf("%d processes are left, %d zombies", len(all), zombies)
			return
		}
	}
}

// running is false for a process that is gone, or that only init has not
// reaped yet.
func running(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	state := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))[0]
	return state != "Z" && state != "X"
}

// Workers do not outlive a host that was killed, whatever they do.
func TestHostKilled(t *testing.T) {
	for _, mode := range []string{"idle", "spin", "call"} {
		t.Run(mode, func(t *testing.T) {
			host := exec.Command(os.Args[0], hostArgument, mode)
			stderr, err := host.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := host.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(stderr)
			for lines.Scan() && lines.Text() != "ready" {
			}
			time.Sleep(30 * time.Millisecond)
			workers, _ := children(t, host.Process.Pid)
			if len(workers) != 2 { // one of two is used, and not replaced before it ends
				t.Fatalf("%d workers", len(workers))
			}
			if err := host.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			host.Wait()
			killed := time.Now()
			const most = 2 * time.Second // 20 times what it takes at most
			for began := killed; running(workers[0]) || running(workers[1]); time.Sleep(time.Millisecond) {
				if time.Since(began) > most {
					syscall.Kill(workers[0], syscall.SIGKILL)
					syscall.Kill(workers[1], syscall.SIGKILL)
					t.Fatalf("a worker lives %v after its host", most)
				}
			}
			t.Logf("gone after %v", time.Since(killed))
		})
	}
}

func TestWorkerKilledMidCall(t *testing.T) {
	s := pool(t, worker.Config{})
	j := job("test.echo(text = \"a\")")
	handler := make(chan error, 1)
	j.Call = func(ctx context.Context, c worker.Call) worker.Reply {
		all, _ := children(t, os.Getpid())
		for _, pid := range all {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		select {
		case <-ctx.Done():
			handler <- nil
		case <-time.After(10 * time.Second):
			handler <- context.DeadlineExceeded
		}
		return worker.Reply{}
	}
	began := time.Now()
	_, err := s.Run(context.Background(), j)
	wantFault(t, err, fault.WorkerLost, "ended before")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if err := <-handler; err != nil {
		t.Error("the call's context did not end")
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// 200 executions of all outcomes leave no process, descriptor or goroutine.
func TestNothingIsLeft(t *testing.T) {
	s := pool(t, worker.Config{})
	sources := []string{"1", "test.echo(text = \"a\")", "x = = 1", "[].x", "lambda: 1"}
	run := func(i int) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+i%7)*2*time.Millisecond)
		if i%4 != 0 {
			cancel()
			ctx, cancel = context.WithCancel(context.Background())
		}
		defer cancel()
		s.Run(ctx, job(sources[i%len(sources)]))
	}
	for i := range 10 {
		run(i)
	}
	gone(t)
	before, goroutines := descriptors(t), runtime.NumGoroutine()
	for i := range 200 {
		run(i)
	}
	gone(t)
	if after := descriptors(t); after > before+2 {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	for range 50 {
		if runtime.NumGoroutine() <= goroutines {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > goroutines+2 {
		t.Errorf("%d goroutines before, %d after", goroutines, after)
	}
}

// Close returns when every process is gone.
func TestCloseReaps(t *testing.T) {
	s := pool(t, worker.Config{})
	j := job("while True:\n  pass")
	j.Limits.Steps = 1 << 50
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() { s.Run(context.Background(), j) })
	}
	for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(time.Millisecond) {
		if all, _ := children(t, os.Getpid()); len(all) == 3 {
			break
		}
	}
	s.Close()
	if all, zombies := children(t, os.Getpid()); len(all) > 0 {
		t.Errorf("%d processes are left, %d zombies", len(all), zombies)
	}
	group.Wait()
}

// The worker's environment is fixed: its marker, and one processor.
func TestWorkerIsBare(t *testing.T) {
	t.Setenv("CAPGEN_TEST_SECRET", "x")
	s := pool(t, worker.Config{})
	j := job("test.echo(text = \"a\")")
	j.Call = func(ctx context.Context, c worker.Call) worker.Reply {
		all, _ := children(t, os.Getpid())
		if len(all) != 1 {
			t.Errorf("%d workers", len(all))
			return echo(ctx, c)
		}
		root := fmt.Sprintf("/proc/%d/", all[0])
		if env, err := os.ReadFile(root + "environ"); err != nil || string(env) != "CAPGEN_WORKER=3\x00GOMAXPROCS=1\x00" {
			t.Errorf("environment %q, %v", env, err)
		}
		if line, err := os.ReadFile(root + "cmdline"); err != nil || strings.Count(string(line), "\x00") != 1 {
			t.Errorf("command line %q, %v", line, err)
		}
		links, _ := filepath.Glob(root + "fd/*")
		pipes := map[string][]string{}
		for _, link := range links {
			target, _ := os.Readlink(link)
			if own, _ := os.Readlink("/proc/self/fd/" + filepath.Base(link)); own == target {
				continue // left open for all by whoever started the test
			}
			switch {
			case strings.HasPrefix(target, "pipe:"):
				pipes[target] = append(pipes[target], filepath.Base(link))
			case target == "/dev/null", strings.HasPrefix(target, "anon_inode:"), strings.HasPrefix(target, "/sys/fs/cgroup/"):
				// The runtime owns these.
			default:
				t.Errorf("descriptor %s is %s", filepath.Base(link), target)
			}
		}
		if len(pipes) != 3 {
			t.Errorf("%d pipes: %v", len(pipes), pipes)
		}
		return echo(ctx, c)
	}
	if _, err := s.Run(context.Background(), j); err != nil {
		t.Error(err)
	}
}
