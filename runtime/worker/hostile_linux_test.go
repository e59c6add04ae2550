package worker_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/worker"
)

// script writes an executable shell script.
func script(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "worker")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

// fakeWorker is this test binary in one of its fake modes.
func fakeWorker(t *testing.T, mode string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return script(t, fmt.Sprintf("export %s='%s'\nexec '%s'", worker.FakeVariable, mode, self))
}

// strict answers with 1, if the arguments are what an honest worker sends.
func strict(_ context.Context, c worker.Call) worker.Reply {
	r := canon.NewWireReader(c.Arguments, limits().Depth)
	r.Skip()
	if err := r.End(); err != nil && !c.BindFailure {
		return worker.Reply{Broken: "arguments: " + err.Error()}
	}
	return worker.Reply{Value: []byte{1}}
}

// stuck answers when the execution is over.
func stuck(ctx context.Context, _ worker.Call) worker.Reply {
	<-ctx.Done()
	return worker.Reply{}
}

func TestLyingWorkers(t *testing.T) {
	for mode, message := range map[string]string{
		"empty frame":            "an empty frame",
		"huge frame":             "too large",
		"flood":                  "",
		"half a frame":           "ended before",
		"no frame":               "ended before",
		"not wire":               "",
		"unknown kind":           "unknown message kind",
		"kind of the host":       "the host's",
		"ready twice":            "out of place",
		"trailing bytes":         "a body of 1 bytes",
		"sequence":               "call 1 came as call 2",
		"same sequence":          "call 2 came as call 1",
		"no capability":          "a call of no capability",
		"too many calls at once": "more than 8 calls on the way",
		"early result":           "a result while 1 calls were on the way",
		"ends early":             "ended before",
		"deep arguments":         "arguments",
		"large arguments":        "arguments of",
		"bad arguments":          "arguments",
		"calls without end":      "more than 1000 calls",
		"deep result":            "result",
		"large result":           "a result of",
		"empty result":           "result",
		"two results":            "bytes after its result",
		"denied":                 "a fault of class permission_denied",
		"bad text":               "UTF-8",
		"printed result":         "prints of 1 bytes",
		"printed fault":          "prints of 0 bytes",
		"long prints":            "prints of 32768 bytes",
		"not ready":              "instead of ready",
		"version":                "protocol",
		"digest":                 "another binding table",
	} {
		t.Run(mode, func(t *testing.T) {
			s := pool(t, worker.Config{Executable: fakeWorker(t, mode)})
			j := job("1")
			j.Call, j.Prints = strict, mode == "long prints"
			if strings.Contains(mode, "at once") || strings.Contains(mode, "early") {
				j.Call = stuck
			}
			began := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			_, err := s.Run(ctx, j)
			wantFault(t, err, fault.WorkerLost, message)
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("took %v", took)
			}
			gone(t)
		})
	}
}

func TestStepsAreNotBelieved(t *testing.T) {
	s := pool(t, worker.Config{Executable: fakeWorker(t, "many steps")})
	r, err := s.Run(context.Background(), job("1"))
	if err != nil || r.Steps != limits().Steps {
		t.Errorf("%+v, %v", r, err)
	}
}

// A worker may die anywhere: between two frames, and within one.
func TestWorkerThatDies(t *testing.T) {
	for frames := range 6 {
		for _, bytes := range []int{0, 2, 5} {
			t.Run(fmt.Sprint(frames, bytes), func(t *testing.T) {
				s := pool(t, worker.Config{Executable: fakeWorker(t, fmt.Sprintf("dies after %d frames and %d bytes", frames, bytes))})
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				j := job("1")
				j.Call = strict
				_, err := s.Run(ctx, j)
				if frames == 0 && err != nil && strings.HasPrefix(err.Error(), "worker: start: ") {
					return // it never became one
				}
				wantFault(t, err, fault.WorkerLost, "ended before")
			})
		}
	}
}

// A worker that its memory did not suffice for says so with its status and its
// last words, however much it says.
func TestWorkerWithoutMemory(t *testing.T) {
	for mode, class := range map[string]fault.Class{
		"out of memory":         fault.Limit,
		"out of memory at once": fault.Limit,
		"says out of memory":    fault.WorkerLost,
		"panics":                fault.WorkerLost,
	} {
		t.Run(mode, func(t *testing.T) {
			s := pool(t, worker.Config{Executable: fakeWorker(t, mode)})
			_, err := s.Run(context.Background(), job("1"))
			f := wantFault(t, err, class, "")
			if limit := f.Limit == fault.WorkerMemory && f.Bound == 256<<20; limit != (class == fault.Limit) {
				t.Errorf("%+v", f)
			}
		})
	}
}

// Calls of main that came together are answered one after the other.
func TestImpatientWorker(t *testing.T) {
	s := pool(t, worker.Config{Executable: fakeWorker(t, "impatient")})
	var running atomic.Int32
	j := job("1")
	j.Call = func(ctx context.Context, c worker.Call) worker.Reply {
		if running.Add(1) > 1 {
			t.Error("calls overlap")
		}
		time.Sleep(20 * time.Millisecond)
		running.Add(-1)
		return strict(ctx, c)
	}
	if _, err := s.Run(context.Background(), j); err != nil {
		t.Error(err)
	}
}

// Calls in parallel are begun in the program's order, run at once and are
// answered as they are done.
func TestRepliesComeInTheOrderOfCompletion(t *testing.T) {
	s := pool(t, worker.Config{Executable: fakeWorker(t, "out of order")})
	var begun []uint32
	var done [5]chan struct{}
	for i := range done {
		done[i] = make(chan struct{})
	}
	close(done[4])
	j := job("1")
	j.Begin = func(c worker.Call) { begun = append(begun, c.Sequence) }
	j.Call = func(_ context.Context, c worker.Call) worker.Reply {
		<-done[c.Sequence+1] // the third is done first
		time.AfterFunc(20*time.Millisecond, func() { close(done[c.Sequence]) })
		return worker.Reply{Value: []byte{1}}
	}
	r, err := s.Run(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	if got := json(t, r.Value); got != "[3,2,1]" || !slices.Equal(begun, []uint32{1, 2, 3}) {
		t.Errorf("answered %s, begun %v", got, begun)
	}
}

// A fault ends an execution also while calls are on the way; their context ends.
func TestFaultWhileCallsAreOnTheWay(t *testing.T) {
	s := pool(t, worker.Config{Executable: fakeWorker(t, "early fault")})
	j := job("1")
	j.Call = stuck
	_, err := s.Run(context.Background(), j)
	wantFault(t, err, fault.ProgramError, "abc")
}

// What a call's goroutine finds wrong may come when the worker has ended.
func TestLieThatComesLate(t *testing.T) {
	s := pool(t, worker.Config{Executable: fakeWorker(t, "lies and ends")})
	for i := range 20 {
		j := job("1")
		j.Call = func(context.Context, worker.Call) worker.Reply {
			time.Sleep(time.Duration(i) * 200 * time.Microsecond)
			return worker.Reply{Broken: "late"}
		}
		_, err := s.Run(context.Background(), j)
		wantFault(t, err, fault.WorkerLost, "")
	}
}

// Calls in parallel that ignore their context do not hold the run.
func TestUncooperativeParallelCalls(t *testing.T) {
	s := pool(t, worker.Config{Executable: fakeWorker(t, "reads no part")})
	release := make(chan struct{})
	j := job("1")
	j.Call = func(context.Context, worker.Call) worker.Reply {
		<-release
		return worker.Reply{Value: []byte{1}}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := s.Run(ctx, j)
	wantFault(t, err, fault.Limit, "time")
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("took %v", took)
	}
	close(release) // they answer a worker that is gone
}

// A worker that does not read cannot hold the host in a write.
func TestWorkerThatDoesNotRead(t *testing.T) {
	s := pool(t, worker.Config{Executable: fakeWorker(t, "reads nothing")})
	j := job("1")
	j.Call = func(context.Context, worker.Call) worker.Reply {
		return worker.Reply{Value: wireString(strings.Repeat("x", 1<<19))}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := s.Run(ctx, j)
	wantFault(t, err, fault.Limit, "time")
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}

// Nor can one that fills the pipes in both directions, or that sends a frame
// byte by byte, while calls in parallel are answered.
func TestWorkersThatDragOn(t *testing.T) {
	for _, mode := range []string{"fills both pipes", "dribbles"} {
		t.Run(mode, func(t *testing.T) {
			s := pool(t, worker.Config{Executable: fakeWorker(t, mode)})
			var answered atomic.Int32
			j := job("1")
			j.Call = func(context.Context, worker.Call) worker.Reply {
				answered.Add(1)
				return worker.Reply{Value: wireString(strings.Repeat("x", 1<<19))}
			}
			ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, err := s.Run(ctx, j)
			wantFault(t, err, fault.Limit, "time")
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("took %v", took)
			}
			if n := answered.Load(); n < 2 {
				t.Errorf("%d calls were answered meanwhile", n)
			}
			gone(t)
		})
	}
}

// Nor can a process it leaves behind, which holds the pipes.
func TestGrandchild(t *testing.T) {
	s := pool(t, worker.Config{Executable: fakeWorker(t, "grandchild")})
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := s.Run(ctx, job("1"))
	wantFault(t, err, fault.Limit, "time")
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}

// Nor can a worker that left its process group, in which a child of its stays,
// so that a kill of the group seems to succeed.
func TestWorkerThatLeavesItsGroup(t *testing.T) {
	s := pool(t, worker.Config{Executable: fakeWorker(t, "leaves group")})
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	j := job("1")
	j.Call = func(context.Context, worker.Call) worker.Reply {
		cancel()
		return worker.Reply{}
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, j)
		done <- err
	}()
	select {
	case err := <-done:
		wantFault(t, err, fault.Cancelled, "cancelled")
	case <-time.After(10 * time.Second):
		t.Error("the run hangs on a worker that was not killed")
		all, _ := children(t, os.Getpid())
		for _, pid := range all {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		<-done
	}
}

func probe(t *testing.T, executable string) error {
	t.Helper()
	_, err := worker.Probe(context.Background(), worker.Config{Executable: executable, Table: table()})
	if all, _ := children(t, os.Getpid()); len(all) > 0 {
		t.Errorf("%d processes are left", len(all))
	}
	return err
}

func TestProbe(t *testing.T) {
	if err := probe(t, ""); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, executable, want string }{
		{"no entry call", script(t, "exit 0"), "ended without an answer (exit status 0): main must call"},
		{"no entry call, fails", script(t, "exit 4"), "ended without an answer (exit status 4)"},
		{"prints", script(t, "echo hello world; cat"), `beginning with "hello world\n`},
		{"prints little", script(t, "printf hi"), `beginning with "hi"`},
		{"prints behind the guard", fakeWorker(t, "prints"), `beginning with "Welcome to the server\n"`},
		{"version", fakeWorker(t, "version"), "speaks protocol 4, this host speaks 3"},
		{"table", fakeWorker(t, "digest"), "did not read the binding table"},
		{"trailing", fakeWorker(t, "trailing"), "more than its answer"},
		{"late trailing", fakeWorker(t, "late trailing"), "more than its answer"},
		{"status", fakeWorker(t, "status"), "ended badly (exit status 3)"},
		{"missing", "/does/not/exist", "no such file"},
		{"not executable", "/dev/null", "permission denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := probe(t, c.executable)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	err := probe(t, fakeWorker(t, "complains"))
	if err == nil || !strings.Contains(err.Error(), "exit status 7") || !strings.Contains(err.Error(), "cannot open the license file") || len(err.Error()) > 5<<10 {
		t.Errorf("got %v", err)
	}
}

// A host that may open few descriptors has workers all the same.
func TestFewDescriptors(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := probe(t, script(t, "ulimit -n 32\nexec '"+self+"'")); err != nil {
		t.Error(err)
	}
}

func TestProbeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := worker.Probe(ctx, worker.Config{Executable: script(t, "exec sleep 30"), Table: table()})
	if err == nil || time.Since(began) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

func TestProbeTimeout(t *testing.T) {
	if testing.Short() {
		t.Skip("takes five seconds")
	}
	t.Parallel()
	for name, want := range map[string]string{
		script(t, "echo waiting >&2; exec sleep 30"): "did not answer within 5s: main must call ServeWorkerAndExit as its first statement, before it reads flags, prints or starts anything; its standard error says: waiting",
		fakeWorker(t, "lingering"):                   "did not end within 5s",
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			_, err := worker.Probe(context.Background(), worker.Config{Executable: name, Table: table()})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

// A worker refuses to start workers.
func TestForkGuard(t *testing.T) {
	t.Setenv("CAPGEN_WORKER", "1")
	if !worker.IsWorker() {
		t.Fatal("not a worker")
	}
	if _, err := worker.NewPool(worker.Config{Table: table(), Processes: 8}); err == nil || !strings.Contains(err.Error(), "ServeWorkerAndExit") {
		t.Errorf("got %v", err)
	}
	if _, err := worker.Probe(context.Background(), worker.Config{Table: table()}); err == nil {
		t.Error("a worker probed")
	}
}

// runWorker starts a worker as no host does.
func runWorker(t *testing.T, input string) (string, error) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = []string{"CAPGEN_WORKER=1"}
	c.Stdin = strings.NewReader(input)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if text := strings.ReplaceAll(stderr.String(), "a package init printed this\n", ""); text != "" {
		t.Errorf("diagnostics: %s", text)
	}
	return string(out), err
}

// A worker started by hand by something that is no host gets nowhere.
func TestBadHosts(t *testing.T) {
	for name, input := range map[string]string{
		"nothing":   "",
		"text":      "GET / HTTP/1.1\r\n\r\n",
		"empty":     "\x00\x00\x00\x00",
		"run first": "\x00\x00\x00\x03\x91\x02\x00",
	} {
		out, err := runWorker(t, input)
		if err == nil || out != "" {
			t.Errorf("%s: wrote %q, %v", name, out, err)
		}
	}
}
