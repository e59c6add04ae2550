package worker_test

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

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/internal/noisy"
	"github.com/capgen/capgen/runtime/worker"
)

// TestMain is what every host does, and it has the modes of the fakes: this
// binary is also a binary that never heard of workers.
//
//capgenvet:allow workerentry the modes of the fakes come before, and none of them sees a hostile program
func TestMain(m *testing.M) {
	if noisy.Printed == 0 {
		panic("the noisy dependency did not print")
	}
	if len(os.Args) > 1 && os.Args[1] == hostArgument {
		spinAsHost()
	}
	fakeMain()
	worker.ServeWorkerAndExit()
	os.Exit(m.Run())
}

func limits() worker.Limits {
	return worker.Limits{Steps: 50_000_000, Calls: 1000, Depth: 32, ValueBytes: 1 << 20, ResultBytes: 8 << 20, SourceBytes: 64 << 10, Parallel: 8}
}

// table holds one capability, test.echo(text: str) -> str.
func table() []byte {
	text := binding.Shape{Kind: binding.String, MaxLength: 2 << 20}
	c := binding.Capability{ID: "test.echo", Name: "test.echo", Output: text, Input: []binding.Field{{Name: "text", Shape: text, Required: true}}}
	return binding.EncodeTable([]binding.Entry{{Name: c.Name, ID: c.ID, Binding: string(c.AppendJSON(nil))}})
}

func pool(t testing.TB, c worker.Config) *worker.Pool {
	t.Helper()
	c.Table = table()
	if c.Processes == 0 {
		c.Processes = 8
	}
	s, err := worker.NewPool(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// echo answers with the argument.
func echo(_ context.Context, c worker.Call) worker.Reply {
	if c.BindFailure {
		return worker.Reply{}
	}
	r := canon.NewWireReader(c.Arguments, 2)
	r.BeginObject()
	text := ""
	for r.NextMember() {
		text = r.String(0, 4<<20)
	}
	if err := r.End(); err != nil {
		return worker.Reply{Fault: &fault.Fault{Class: fault.Internal, Message: err.Error()}}
	}
	return worker.Reply{Value: wireString(text)}
}

func wireString(s string) []byte {
	w := canon.NewWireWriter(nil)
	w.String(s, 0, 8<<20)
	return w.Bytes()
}

func job(source string) worker.Job {
	return worker.Job{Source: source, Limits: limits(), Call: echo}
}

func json(t testing.TB, b []byte) string {
	t.Helper()
	text, _, err := canon.WireToJSON(nil, b, 40)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRun(t *testing.T) {
	s := pool(t, worker.Config{})
	for source, want := range map[string]string{
		"1 + 1": "2",
		"def main():\n  print(\"noise\")\n  return [test.echo(text = str(i)) for i in range(3)]": `["0","1","2"]`,
		"len(test.echo(text = \"x\" * 1000000))":                                                 "1000000",
		"\"x\" * 100000 == test.echo(text = \"x\" * 100000)":                                     "true",
	} {
		r, err := s.Run(context.Background(), job(source))
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got := json(t, r.Value); got != want {
			t.Errorf("%s: got %s, want %s", source, got, want)
		}
		if r.Steps <= 0 {
			t.Errorf("%s: no steps", source)
		}
	}
	r, err := s.Run(context.Background(), job("1 << 70"))
	if err != nil || !r.WideIntegers {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCallsAreNumberedAndBindFailuresReported(t *testing.T) {
	s := pool(t, worker.Config{})
	var calls []worker.Call
	j := job("test.echo(text = \"a\")\ntest.echo(text = \"b\")\ntest.echo(text = 1)")
	j.Call = func(ctx context.Context, c worker.Call) worker.Reply {
		calls = append(calls, c)
		return echo(ctx, c)
	}
	_, err := s.Run(context.Background(), j)
	wantFault(t, err, fault.InvalidArguments, "expected str, got int")
	if len(calls) != 3 || calls[0].Sequence != 1 || calls[2].Sequence != 3 || calls[0].Capability != "test.echo" ||
		calls[1].BindFailure || !calls[2].BindFailure || calls[2].Arguments != nil {
		t.Errorf("calls %+v", calls)
	}
}

func wantFault(t *testing.T, err error, class fault.Class, message string) *fault.Fault {
	t.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want a fault of class %s", err, class)
	}
	if f.Class != class || !strings.Contains(f.Message, message) {
		t.Fatalf("got %s %q, want %s with %q", f.Class, f.Message, class, message)
	}
	return f
}

func TestFaults(t *testing.T) {
	s := pool(t, worker.Config{})
	for _, c := range []struct {
		name, source string
		class        fault.Class
		message      string
		limit        string
	}{
		{"syntax", "x = = 1", fault.InvalidProgram, "invalid syntax: '='", ""},
		{"runtime", "[].x", fault.ProgramError, "'list' object has no attribute 'x'", ""},
		{"function", "lambda: 1", fault.InvalidProgram, "main returned a function", ""},
		{"unknown", "nothing.here()", fault.NotFound, "no capability nothing.here", ""},
		{"steps", "while True:\n  pass", fault.Limit, "", "MaxSteps"},
		{"calls", "while True:\n  test.echo(text = \"\")", fault.Limit, "", "MaxNativeCalls"},
		{"16 MB string", "x = \"x\" * (1 << 24)\nx", fault.Limit, "", "MaxValueBytes"},
		{"16 MB argument", "test.echo(text = \"x\" * (1 << 24))", fault.Limit, "", "MaxValueBytes"},
		{"intermediate", "for i in range(20):\n  test.echo(text = \"x\" * 1000000)", fault.Limit, "", "MaxIntermediateValueBytes"},
		{"depth", "x = []\nx.append(x)\nx", fault.Limit, "", "MaxValueDepth"},
		{"source", strings.Repeat(" ", 70_000), fault.Limit, "", "MaxSourceBytes"},
		{"recursion", "def f():\n  return f()\nf()", fault.ProgramError, "deep", ""},
		{"not utf-8", "x = \"\xff\"", fault.InvalidProgram, "UTF-8", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := s.Run(context.Background(), job(c.source))
			f := wantFault(t, err, c.class, c.message)
			if f.Limit != c.limit || (c.limit != "") != (f.Bound > 0) {
				t.Errorf("limit %s, bound %d", f.Limit, f.Bound)
			}
		})
	}
}

func TestHostFaultsReachTheProgramsAuthor(t *testing.T) {
	s := pool(t, worker.Config{})
	j := job("def main():\n  return test.echo(text = \"a\")")
	j.Call = func(context.Context, worker.Call) worker.Reply {
		return worker.Reply{Fault: &fault.Fault{Class: fault.Denied, Message: "not allowed"}}
	}
	_, err := s.Run(context.Background(), j)
	f := wantFault(t, err, fault.Denied, "not allowed")
	if f.Line != 2 || f.Capability != "test.echo" {
		t.Errorf("%+v", f)
	}
	j.Call = func(context.Context, worker.Call) worker.Reply { panic("secret") }
	_, err = s.Run(context.Background(), j)
	if f := wantFault(t, err, fault.Internal, "inside the host"); strings.Contains(f.Message, "secret") {
		t.Error("the panic's text got out")
	}
	j.Call = func(context.Context, worker.Call) worker.Reply {
		return worker.Reply{Value: wireString(strings.Repeat("x", 2<<20))}
	}
	_, err = s.Run(context.Background(), j)
	if f := wantFault(t, err, fault.Limit, "MaxValueBytes is 1048576"); f.Limit != "MaxValueBytes" {
		t.Errorf("%+v", f)
	}
}

func TestContextEndsEndlessLoop(t *testing.T) {
	s := pool(t, worker.Config{})
	j := job("while True:\n  pass")
	j.Limits.Steps = 1 << 50
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := s.Run(ctx, j)
	if f := wantFault(t, err, fault.Limit, "time"); f.Limit != "MaxExecutionTime" {
		t.Errorf("%+v", f)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %v", took)
	}
	ctx, cancel = context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = s.Run(ctx, j)
	wantFault(t, err, fault.Cancelled, "cancelled")

	cause := &fault.Fault{Class: fault.Limit, Message: "mine", Limit: "MaxExecutionTime", Bound: 50}
	ctx, cancel = context.WithTimeoutCause(context.Background(), 50*time.Millisecond, cause)
	defer cancel()
	if _, err = s.Run(ctx, j); err != error(cause) {
		t.Errorf("the cause got lost: %v", err)
	}
	// One builtin that no step counts.
	ctx, cancel = context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err = s.Run(ctx, job("sorted(range(1000000))\nmax(range(1 << 40))"))
	wantFault(t, err, fault.Limit, "time")
}

// Run does not wait for a handler that ignores its context; Close does.
func TestUncooperativeCall(t *testing.T) {
	s := pool(t, worker.Config{})
	release := make(chan struct{})
	entered := make(chan struct{})
	cancelled := make(chan struct{})
	j := job("test.echo(text = \"a\")")
	j.Call = func(ctx context.Context, _ worker.Call) worker.Reply {
		close(entered)
		<-ctx.Done()
		close(cancelled)
		<-release
		return worker.Reply{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-entered; cancel() }()
	began := time.Now()
	_, err := s.Run(ctx, j)
	wantFault(t, err, fault.Cancelled, "")
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	<-cancelled
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	select {
	case <-closed:
		t.Error("Close did not wait for the call")
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// Code of the host that ends its goroutine, as a test helper's FailNow does,
// answers the call too.
func TestCallThatEndsItsGoroutine(t *testing.T) {
	s := pool(t, worker.Config{})
	j := job("test.echo(text = \"a\")")
	j.Call = func(context.Context, worker.Call) worker.Reply {
		runtime.Goexit()
		return worker.Reply{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, err := s.Run(ctx, j)
	wantFault(t, err, fault.Internal, "inside the host")
}

func TestCloseEndsRuns(t *testing.T) {
	s := pool(t, worker.Config{})
	j := job("while True:\n  pass")
	j.Limits.Steps = 1 << 50
	done := make(chan error)
	go func() {
		_, err := s.Run(context.Background(), j)
		done <- err
	}()
	time.Sleep(50 * time.Millisecond)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, worker.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Run(context.Background(), job("1")); !errors.Is(err, worker.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestConcurrentRuns(t *testing.T) {
	s := pool(t, worker.Config{})
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			r, err := s.Run(context.Background(), job(fmt.Sprintf("test.echo(text = \"%d\")", i)))
			if err != nil {
				t.Error(err)
			} else if got, want := json(t, r.Value), fmt.Sprintf("%q", fmt.Sprint(i)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	group.Wait()
}

func TestBadJobs(t *testing.T) {
	s := pool(t, worker.Config{})
	for name, change := range map[string]func(*worker.Job){
		"zero limit":  func(j *worker.Job) { j.Limits.Calls = 0 },
		"huge value":  func(j *worker.Job) { j.Limits.ValueBytes = 1 << 40 },
		"no function": func(j *worker.Job) { j.Call = nil },
	} {
		j := job("1")
		change(&j)
		if _, err := s.Run(context.Background(), j); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := worker.NewPool(worker.Config{Table: []byte{0xFF}, Processes: 1}); err == nil {
		t.Error("a broken table was accepted")
	}
	gone := pool(t, worker.Config{Executable: "/does/not/exist"})
	if _, err := gone.Run(context.Background(), job("1")); err == nil {
		t.Error("a missing executable was accepted")
	}
}
