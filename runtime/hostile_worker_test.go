package runtime

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/worker"
)

// lyingRunner is a worker that was taken over: it sends the calls it likes and
// ends with the fault it likes.
type lyingRunner struct {
	calls  []worker.Call
	fault  *fault.Fault
	value  []byte
	report *worker.Report
	got    []worker.Reply
}

func (r *lyingRunner) Run(ctx context.Context, job worker.Job) (worker.Result, error) {
	for i, c := range r.calls {
		c.Sequence = uint32(i + 1)
		if job.Begin != nil {
			job.Begin(c)
		}
		r.got = append(r.got, job.Call(ctx, c))
	}
	if r.fault != nil {
		return worker.Result{}, r.fault
	}
	return worker.Result{Value: r.value, Report: r.report}, nil
}

func (r *lyingRunner) Close() error { return nil }

func arguments(write func(w *canon.Writer)) []byte {
	w := canon.NewWireWriter(nil)
	write(w)
	return w.Bytes()
}

func TestACallThatDoesNotBindIsNoCall(t *testing.T) {
	for name, call := range map[string]worker.Call{
		"unknown id":       {Capability: "rec-2"},
		"name for id":      {Capability: "records.lookup"},
		"disabled id":      {Capability: "secret"},
		"no bytes":         {Capability: "rec-1"},
		"garbage":          {Capability: "rec-1", Arguments: []byte{0xc1, 0xff}},
		"not an object":    {Capability: "rec-1", Arguments: arguments(func(w *canon.Writer) { w.String("a", 0, 9) })},
		"missing argument": {Capability: "rec-1", Arguments: arguments(func(w *canon.Writer) { w.BeginObject(0); w.EndObject() })},
		"unknown argument": {Capability: "rec-1", Arguments: arguments(func(w *canon.Writer) {
			w.BeginObject(2)
			w.Key("key")
			w.String("a", 0, 9)
			w.Key("subject")
			w.String("root", 0, 9)
			w.EndObject()
		})},
		"out of range": {Capability: "rec-1", Arguments: arguments(func(w *canon.Writer) {
			w.BeginObject(2)
			w.Key("key")
			w.String("a", 0, 9)
			w.Key("limit")
			w.Int(101, 0, 1000)
			w.EndObject()
		})},
	} {
		t.Run(name, func(t *testing.T) {
			ran := false
			handle := func(context.Context, lookupInput) (record, error) { ran = true; return record{}, nil }
			catalog, errs := newCatalog([]Capability{NewCapability(lookupInfo(), handle), named("secret.thing", handle)}, []string{"secret.thing"})
			if errs != nil {
				t.Fatal(errs)
			}
			limits, _ := Limits{}.withDefaults()
			runner := &lyingRunner{calls: []worker.Call{call}, value: arguments(func(w *canon.Writer) { w.Null() })}
			asked := authz.AuthorizerFunc(func(context.Context, authz.Request) error { t.Error("the authorizer was asked"); return nil })
			s := newServer(Options{Authorizer: asked, Logger: slog.New(slog.DiscardHandler)}, limits, catalog, runner)
			x, _ := s.Execute(t.Context(), authz.Local(), "")
			if ran {
				t.Error("the handler ran")
			}
			if runner.got[0].Broken == "" {
				t.Errorf("reply %+v", runner.got[0])
			}
			if len(x.Receipt.Calls) != 1 || x.Receipt.Calls[0].State != CallNotDispatched {
				t.Errorf("calls %+v", x.Receipt.Calls)
			}
		})
	}
}

func TestAWorkerCannotSpeakForTheHost(t *testing.T) {
	for _, class := range []fault.Class{fault.Denied, fault.PolicyFailure, fault.CapabilityFailed, fault.Unauthenticated, fault.Cancelled, fault.Internal, "new class"} {
		catalog, _ := newCatalog([]Capability{NewCapability(lookupInfo(), lookup)}, nil)
		limits, _ := Limits{}.withDefaults()
		runner := &lyingRunner{fault: &fault.Fault{Class: class, Message: "call +1 555 for access"}}
		s := newServer(Options{Authorizer: authz.AllowAll()}, limits, catalog, runner)
		_, err := s.Execute(t.Context(), authz.Local(), "")
		if !errors.Is(err, ErrInternal) || strings.Contains(err.Error(), "555") {
			t.Errorf("class %s: %v", class, err)
		}
	}
}

func TestAResultThatDoesNotReadIsInternal(t *testing.T) {
	catalog, _ := newCatalog([]Capability{NewCapability(lookupInfo(), lookup)}, nil)
	limits, _ := Limits{}.withDefaults()
	for _, value := range [][]byte{nil, {0xc1}, {0xc0, 0xc0}, {0x92, 0xc0}} {
		s := newServer(Options{Authorizer: authz.AllowAll()}, limits, catalog, &lyingRunner{value: value})
		if _, err := s.Execute(t.Context(), authz.Local(), ""); !errors.Is(err, ErrInternal) {
			t.Errorf("% x: %v", value, err)
		}
	}
}

// More than MaxDenials denied calls end an execution: what is called after
// that, by a worker that goes on all the same, is not even authorized.
func TestDenialsEndTheExecution(t *testing.T) {
	catalog, _ := newCatalog([]Capability{NewCapability(lookupInfo(), lookup)}, nil)
	limits, _ := Limits{MaxDenials: 3}.withDefaults()
	asked := 0
	deny := authz.AuthorizerFunc(func(context.Context, authz.Request) error { asked++; return authz.ErrDenied })
	call := worker.Call{Capability: "rec-1", Arguments: arguments(func(w *canon.Writer) {
		w.BeginObject(1)
		w.Key("key")
		w.String("a", 0, 9)
		w.EndObject()
	})}
	runner := &lyingRunner{calls: slices.Repeat([]worker.Call{call}, 6), value: arguments(func(w *canon.Writer) { w.Null() })}
	s := newServer(Options{Authorizer: deny}, limits, catalog, runner)
	x, _ := s.Execute(t.Context(), authz.Local(), "")
	if asked != 4 {
		t.Errorf("asked %d times", asked)
	}
	for i, r := range runner.got {
		want := fault.Denied
		if i >= 3 {
			want = fault.Limit
		}
		if r.Fault == nil || r.Fault.Class != want || i >= 3 && (r.Fault.Limit != fault.MaxDenials || r.Fault.Bound != 3) {
			t.Errorf("call %d: %+v", i+1, r.Fault)
		}
		if c := x.Receipt.Calls[i]; c.State != CallNotDispatched || c.Error != want {
			t.Errorf("record %d: %+v", i+1, c)
		}
	}
}

// Which of several failures of one class the program is about, the worker
// says; the words are the host's all the same.
func TestTheWorkerPointsAtAFailure(t *testing.T) {
	told := []*fault.Fault{
		{Class: fault.CapabilityFailed, Capability: "a.b", Code: "x", Message: "first", Hint: "one"},
		{Class: fault.CapabilityFailed, Capability: "a.b", Code: "x", Message: "second", Hint: "two"},
		{Class: fault.Denied, Capability: "a.b", Message: "first"},
	}
	x := &execution{told: told}
	for message, want := range map[string]*fault.Fault{"first": told[0], "second": told[1], "call +1 555": told[1]} {
		f := &fault.Fault{Class: fault.CapabilityFailed, Capability: "a.b", Code: "x", Message: message}
		if got := x.saying(f); got != want {
			t.Errorf("%s: %+v", message, got)
		}
	}
	if got := x.saying(&fault.Fault{Class: fault.PolicyFailure, Message: "first"}); got != nil {
		t.Errorf("got %+v", got)
	}
}
