package runtime

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/worker"
)

// leavingRunner ends its run while a call of it is on the way, as a runner
// does whose context has ended.
type leavingRunner struct {
	leave   chan struct{} // the run ends
	returns chan struct{} // the call has been answered
}

func (r *leavingRunner) Run(_ context.Context, job worker.Job) (worker.Result, error) {
	go func() {
		defer close(r.returns)
		// The call's own context is still alive: the end of the execution and
		// the dispatch are concurrent.
		call := worker.Call{Sequence: 1, Capability: "rec-1", Arguments: lookupArguments()}
		job.Begin(call)
		job.Call(context.Background(), call)
	}()
	<-r.leave
	return worker.Result{}, &fault.Fault{Class: fault.Cancelled, Message: "the execution was cancelled"}
}

func (r *leavingRunner) Close() error { return nil }

func lookupArguments() []byte {
	return arguments(func(w *canon.Writer) {
		w.BeginObject(1)
		w.Key("key")
		w.String("a", 0, 9)
		w.EndObject()
	})
}

// What a receipt calls not_dispatched is not dispatched later.
func TestNoHandlerStartsAfterTheReceipt(t *testing.T) {
	var ran atomic.Bool
	handle := func(context.Context, lookupInput) (record, error) { ran.Store(true); return record{}, nil }
	catalog, errs := newCatalog([]Capability{NewCapability(lookupInfo(), handle)}, nil)
	if errs != nil {
		t.Fatal(errs)
	}
	limits, _ := Limits{}.withDefaults()
	runner := &leavingRunner{leave: make(chan struct{}), returns: make(chan struct{})}
	decide := make(chan struct{})
	slow := authz.AuthorizerFunc(func(context.Context, authz.Request) error {
		close(runner.leave)
		<-decide
		return nil
	})
	s := newServer(Options{Authorizer: slow}, limits, catalog, runner)
	x, err := s.Execute(t.Context(), authz.Local(), "")
	if err == nil || len(x.Receipt.Calls) != 1 || x.Receipt.Calls[0].State != CallNotDispatched {
		t.Fatalf("%v, calls %+v", err, x.Receipt.Calls)
	}
	close(decide)
	<-runner.returns
	if ran.Load() {
		t.Error("the handler ran after the receipt said that it did not")
	}
}

// unkind is an error whose methods panic or end the goroutine.
type unkind struct{ act func() }

func (u unkind) Error() string   { return "unkind" }
func (u unkind) Is(error) bool   { u.act(); return true }
func (u unkind) As(any) bool     { u.act(); return true }
func (u unkind) Unwrap() []error { u.act(); return nil }

// Nothing that an authorizer or a handler does to its goroutine, or brings in
// its error, hangs an execution, allows a call or is told to the client.
func TestUnkindHostCodeIsContained(t *testing.T) {
	const secret = "swordfish"
	panics, ends := func() { panic(secret) }, runtime.Goexit
	nested := func() { defer func() { panic(secret + " again") }(); panic(secret) }
	allow := authz.AllowAll()
	asks := func(act func()) authz.Authorizer {
		return authz.AuthorizerFunc(func(context.Context, authz.Request) error { act(); return nil })
	}
	answers := func(err error) authz.Authorizer {
		return authz.AuthorizerFunc(func(context.Context, authz.Request) error { return err })
	}
	handles := func(act func(), err error) lookupFunc {
		return func(context.Context, lookupInput) (record, error) { act(); return record{}, err }
	}
	nothing := func() {}
	for name, test := range map[string]struct {
		authorizer authz.Authorizer
		handle     lookupFunc
		want       error
		state      CallState
	}{
		"authorizer panics":         {asks(panics), lookup, ErrPolicyFailure, CallNotDispatched},
		"authorizer panics twice":   {asks(nested), lookup, ErrPolicyFailure, CallNotDispatched},
		"authorizer ends goroutine": {asks(ends), lookup, ErrInternal, CallNotDispatched},
		"authorizer's error panics": {answers(unkind{panics}), lookup, ErrPolicyFailure, CallNotDispatched},
		"authorizer's error ends":   {answers(unkind{ends}), lookup, ErrInternal, CallNotDispatched},
		"handler panics twice":      {allow, handles(nested, nil), ErrCapabilityFailed, CallFailed},
		"handler ends goroutine":    {allow, handles(ends, nil), ErrInternal, CallFailed},
		"handler's error panics":    {allow, handles(nothing, unkind{panics}), ErrCapabilityFailed, CallFailed},
		"handler's error ends":      {allow, handles(nothing, unkind{ends}), ErrInternal, CallFailed},
	} {
		t.Run(name, func(t *testing.T) {
			var ran atomic.Bool
			s := build(t, Options{Authorizer: test.authorizer}, NewCapability(lookupInfo(), func(ctx context.Context, in lookupInput) (record, error) {
				ran.Store(true)
				return test.handle(ctx, in)
			}))
			began := time.Now()
			x, err := s.Execute(t.Context(), authz.Local(), lookupProgram)
			if !errors.Is(err, test.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("took %v", took)
			}
			if ran.Load() != (test.state == CallFailed) {
				t.Errorf("the handler ran: %t", ran.Load())
			}
			if c := x.Receipt.Calls; len(c) != 1 || c[0].State != test.state || c[0].Error == "" {
				t.Errorf("calls %+v", c)
			}
		})
	}
}

// A server that is closed says so, and nothing of its own failure.
func TestExecuteOnAClosedServerIsCancelled(t *testing.T) {
	started := make(chan struct{})
	s := build(t, Options{}, NewCapability(lookupInfo(), func(ctx context.Context, _ lookupInput) (record, error) {
		close(started)
		<-ctx.Done()
		return record{}, ctx.Err()
	}))
	go func() {
		<-started
		s.Close()
	}()
	if _, err := s.Execute(t.Context(), authz.Local(), lookupProgram); !errors.Is(err, ErrCancelled) || !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("running: %v", err)
	}
	for range 20 {
		if _, err := s.Execute(t.Context(), authz.Local(), lookupProgram); !errors.Is(err, ErrCancelled) {
			t.Fatalf("new: %v", err)
		}
	}
}

// A worker that died has used too much of something; its client is told what
// that may be.
func TestALostWorkerHasAHint(t *testing.T) {
	catalog, _ := newCatalog([]Capability{NewCapability(lookupInfo(), lookup)}, nil)
	limits, _ := Limits{}.withDefaults()
	s := newServer(Options{Authorizer: authz.AllowAll()}, limits, catalog, &lyingRunner{fault: &fault.Fault{Class: fault.WorkerLost, Message: "the worker broke its protocol: x", Hint: "y"}})
	_, err := s.Execute(t.Context(), authz.Local(), "")
	var e *Error
	if !errors.As(err, &e) || e.Fault().Class != fault.WorkerLost || !strings.Contains(e.Fault().Hint, "memory") || strings.Contains(e.Fault().Message, "protocol") {
		t.Errorf("%+v", err)
	}
}

// TestHandlersKnowTheSubject: it is the one that the call was authorized for,
// whatever the context said before.
func TestHandlersKnowTheSubject(t *testing.T) {
	var got authz.Subject
	s := build(t, Options{}, NewCapability(lookupInfo(), func(ctx context.Context, in lookupInput) (record, error) {
		got, _ = authz.SubjectFromContext(ctx)
		return record{Key: in.Key}, nil
	}))
	ctx := authz.WithSubject(t.Context(), authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "other"})
	if _, err := s.Execute(ctx, authz.Local(), "def main():\n    return records.lookup(key = 'a')\n"); err != nil {
		t.Fatal(err)
	}
	if got.String() != "local" {
		t.Errorf("the handler was told %q", got)
	}
}
