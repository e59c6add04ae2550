package runtime

import (
	"context"
	"errors"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/fault"
)

const lookupSchema = `{"type":"object","properties":{"key":{"type":"string"},"limit":{"type":"integer"}},"required":["key"],"additionalProperties":false}`

// direct is lookup as a tool of its own.
func direct(change func(*Info), handle lookupFunc) Capability {
	info := lookupInfo()
	info.Tool = &DirectTool{Name: "records_lookup", Input: lookupSchema}
	if change != nil {
		change(&info)
	}
	return NewCapability(info, handle)
}

func failure(t *testing.T, err error) fault.Fault {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("no *Error: %v", err)
	}
	return e.Fault()
}

func TestCall(t *testing.T) {
	s := build(t, Options{}, direct(nil, lookup), named("records.other", lookup))
	x, err := s.Call(t.Context(), authz.Local(), "rec-1", []byte(` {"limit": 1e1, "key": "a\u0062"} `))
	if err != nil || string(x.Result) != `{"count":10,"key":"ab","text":""}` {
		t.Errorf("%s, %v", x.Result, err)
	}
	want := []CallRecord{{Sequence: 1, ID: "rec-1", Name: "records.lookup", State: CallDone, DurationMicros: x.Receipt.Calls[0].DurationMicros}}
	if diff := cmp.Diff(want, x.Receipt.Calls); diff != "" || x.Receipt.Execution == "" || x.Receipt.Catalog != s.Catalog() || x.Receipt.Steps != 0 {
		t.Errorf("receipt: %+v\n%s", x.Receipt, diff)
	}
	tools := s.Tools()
	if len(tools) != 1 || tools[0].Name != "records_lookup" || tools[0].ID != "rec-1" || !tools[0].Hints.ReadOnly || tools[0].Hints.Destructive ||
		!slices.Equal(tools[0].Scopes, []string{"records:read"}) || tools[0].Description != "Look up one record by key." {
		t.Errorf("tools: %+v", tools)
	}
}

// Arguments are read as strictly as anybody's: what is wrong has its path.
func TestCallArguments(t *testing.T) {
	called := 0
	s := build(t, Options{Limits: Limits{MaxValueBytes: 4096}}, direct(nil, func(ctx context.Context, in lookupInput) (record, error) {
		called++
		return lookup(ctx, in)
	}))
	for arguments, want := range map[string]struct{ path, message string }{
		``:                         {"key", "required"},
		`{}`:                       {"key", "required"},
		`null`:                     {"", "expected object"},
		`[]`:                       {"", "expected object"},
		`{"key":1}`:                {"key", "expected string"},
		`{"key":"a","key":"a"}`:    {"key", "twice"},
		`{"key":"a","limit":101}`:  {"limit", "expected"},
		`{"key":"a","limit":1.5}`:  {"limit", "expected"},
		`{"key":"a","limit":"1"}`:  {"limit", "expected"},
		`{"key":"a","limit":null}`: {"limit", "expected"},
		`{"key":"a","more":1}`:     {"more", "unknown member"},
		`{"key":"a"} {}`:           {"", ""},
		`{"key":"` + "\xff" + `"}`: {"key", ""},
		`{"key":"\ud800"}`:         {"key", ""},
		`{"key":`:                  {"key", ""},
		"\x81\xa3key\xa1a":         {"", ""}, // what a worker would send
		`{"key":"a","limit":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`: {"limit", ""},
	} {
		x, err := s.Call(t.Context(), authz.Local(), "rec-1", []byte(arguments))
		f := failure(t, err)
		if f.Class != fault.InvalidArguments || f.Capability != "records.lookup" || !strings.Contains(f.Message, want.message) || want.path != "" && f.Path != want.path {
			t.Errorf("%s: %+v, want %+v", arguments, f, want)
		}
		if len(x.Receipt.Calls) != 1 || x.Receipt.Calls[0].State != CallNotDispatched {
			t.Errorf("%s: %+v", arguments, x.Receipt.Calls)
		}
	}
	_, err := s.Call(t.Context(), authz.Local(), "rec-1", []byte(`{"key":"`+strings.Repeat("a", 4096)+`"}`))
	if f := failure(t, err); f.Limit != fault.MaxValueBytes || f.Bound != 4096 {
		t.Errorf("too long: %+v", f)
	}
	if called != 0 {
		t.Errorf("the handler ran %d times", called)
	}
}

// What the manifest fixes is unknown to a caller, and there all the same.
func TestCallFixed(t *testing.T) {
	s := build(t, Options{}, direct(func(i *Info) { i.Call.Fixed = []string{"limit"} }, lookup))
	_, err := s.Call(t.Context(), authz.Local(), "rec-1", []byte(`{"key":"a","limit":20}`))
	if f := failure(t, err); f.Class != fault.InvalidArguments || f.Path != "limit" || f.Message != "unknown member" {
		t.Errorf("%+v", f)
	}
	if x, err := s.Call(t.Context(), authz.Local(), "rec-1", []byte(`{"key":"a"}`)); err != nil || !strings.Contains(string(x.Result), `"count":20`) {
		t.Errorf("%s, %v", x.Result, err)
	}
}

func TestCallIsRefused(t *testing.T) {
	local := authz.Local()
	narrow := local
	narrow.Scopes = authz.ScopesOf("other")
	handlers := map[string]lookupFunc{
		"fails":  func(context.Context, lookupInput) (record, error) { return record{}, errors.New("secret") },
		"panics": func(context.Context, lookupInput) (record, error) { panic("secret") },
		"leaves": func(context.Context, lookupInput) (record, error) { goruntime.Goexit(); return record{}, nil },
		"breaks": func(context.Context, lookupInput) (record, error) { return record{Count: -1}, nil },
		"is large": func(context.Context, lookupInput) (record, error) {
			return record{Text: strings.Repeat("a", 1<<20)}, nil
		},
	}
	for _, c := range []struct {
		name       string
		options    Options
		handler    string
		subject    authz.Subject
		id         string
		with       []ExecuteOption
		class      fault.Class
		say        string
		dispatched bool
	}{
		{name: "nobody", subject: authz.Subject{}, class: fault.Unauthenticated},
		{name: "no such id", id: "rec-9", class: fault.NotFound, say: "no such tool"},
		{name: "no tool", id: "records.other", class: fault.NotFound, say: "no such tool"},
		{name: "by its name", id: "records.lookup", class: fault.NotFound},
		{name: "scope", subject: narrow, class: fault.Denied, say: "the scope records:read is required"},
		{name: "policy", options: Options{Authorizer: authz.AuthorizerFunc(func(context.Context, authz.Request) error { return authz.ErrDenied })}, class: fault.Denied},
		{name: "policy fails", options: Options{Authorizer: authz.AuthorizerFunc(func(context.Context, authz.Request) error { panic("secret") })}, class: fault.PolicyFailure},
		{name: "audit fails", options: Options{Audit: &eventSink{answer: func(audit.Event) error { return errors.New("full") }}}, class: fault.PolicyFailure},
		{name: "fails", handler: "fails", class: fault.CapabilityFailed, dispatched: true},
		{name: "panics", handler: "panics", class: fault.CapabilityFailed, dispatched: true},
		{name: "leaves", handler: "leaves", class: fault.Internal, dispatched: true},
		{name: "breaks", handler: "breaks", class: fault.CapabilityFailed, dispatched: true},
		{name: "is large", handler: "is large", class: fault.Limit, say: "too large", dispatched: true},
		{name: "all results", options: Options{Limits: Limits{MaxIntermediateValueBytes: 5}}, class: fault.Limit, say: "in all", dispatched: true},
		{name: "a key", with: []ExecuteOption{WithIdempotencyKey("k")}, class: fault.InvalidArguments, say: "no idempotency key"},
		{name: "data", with: []ExecuteOption{WithData([]byte(`{}`))}, class: fault.InvalidArguments, say: "no data"},
	} {
		t.Run(c.name, func(t *testing.T) {
			handle := handlers[c.handler]
			if handle == nil {
				handle = lookup
			}
			called := false
			s := build(t, c.options, named("records.other", lookup), direct(nil, func(ctx context.Context, in lookupInput) (record, error) {
				called = true
				return handle(ctx, in)
			}))
			if c.id == "" {
				c.id = "rec-1"
			}
			if c.subject.IsZero() && c.class != fault.Unauthenticated {
				c.subject = local
			}
			x, err := s.Call(t.Context(), c.subject, c.id, []byte(`{"key":"a"}`), c.with...)
			f := failure(t, err)
			if f.Class != c.class || !strings.Contains(f.Message, c.say) || strings.Contains(f.Message, "secret") || x.Result != nil {
				t.Errorf("%+v", f)
			}
			if called != c.dispatched || x.Receipt.Execution == "" {
				t.Errorf("called %t; %+v", called, x.Receipt)
			}
		})
	}
}

// A call is one of the executions: it waits for its turn, is refused where too
// many wait, and ends with its time or its client, whatever its handler does.
func TestCallTakesItsTurn(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s := build(t, Options{Limits: Limits{MaxConcurrentExecutions: 1, MaxQueuedPerSubject: 1, MaxExecutionTime: 20 * time.Second}},
		direct(nil, func(ctx context.Context, in lookupInput) (record, error) {
			if in.Key == "wait" {
				select {
				case entered <- struct{}{}:
				case <-ctx.Done():
				}
				<-release // and not for ctx
			}
			return lookup(ctx, in)
		}))
	call := func(ctx context.Context, key string, options ...ExecuteOption) (Execution, error) {
		return s.Call(ctx, authz.Local(), "rec-1", []byte(`{"key":"`+key+`"}`), options...)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var watched []CallRecord
	done := make(chan error, 2)
	go func() {
		x, err := call(ctx, "wait", WithWatch(func(c CallRecord) { watched = append(watched, c) }))
		if len(x.Receipt.Calls) != 1 || x.Receipt.Calls[0].State != CallUnknown {
			err = errors.Join(errors.New("no unknown call"), err)
		}
		done <- err
	}()
	<-entered
	go func() { _, err := call(t.Context(), "queued"); done <- err }()
	for s.waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := call(t.Context(), "refused"); failure(t, err).Class != fault.Limit {
		t.Errorf("beyond the line: %v", err)
	}
	if _, err := s.Execute(t.Context(), authz.Local(), "1"); failure(t, err).Class != fault.Limit {
		t.Errorf("a program beyond the line: %v", err)
	}
	cancel()
	if f := failure(t, <-done); f.Class != fault.Cancelled || !strings.Contains(f.Message, "while the call ran") {
		t.Errorf("cancelled: %+v", f)
	}
	if err := <-done; err != nil { // its place is free, although the handler still runs
		t.Errorf("queued: %v", err)
	}
	go func() {
		_, err := call(t.Context(), "wait", WithTimeout(50*time.Millisecond))
		done <- err
	}()
	var late error
	select {
	case <-entered:
		late = <-done
	case late = <-done: // before it came so far
	}
	if f := failure(t, late); f.Limit != fault.Timeout || f.Bound != 50 {
		t.Errorf("timed out: %+v", f)
	}
	close(release)
	s.dispatcher.late.Drain(time.Minute)
	if len(watched) != 1 || watched[0].Name != "records.lookup" {
		t.Errorf("watched: %+v", watched)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := call(t.Context(), "a"); failure(t, err).Class != fault.Cancelled {
		t.Errorf("closed: %v", err)
	}
}

func (s *Server) waiting() int {
	s.admission.mu.Lock()
	defer s.admission.mu.Unlock()
	return s.admission.waiting
}

// Close waits for a handler that its caller has left.
func TestCloseWaitsForCalls(t *testing.T) {
	entered, release, returned := make(chan struct{}), make(chan struct{}), false
	s := build(t, Options{}, direct(nil, func(ctx context.Context, in lookupInput) (record, error) {
		close(entered)
		<-release
		returned = true
		return lookup(ctx, in)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel(); time.Sleep(20 * time.Millisecond); close(release) }()
	if _, err := s.Call(ctx, authz.Local(), "rec-1", []byte(`{"key":"a"}`)); failure(t, err).Class != fault.Cancelled {
		t.Errorf("%v", err)
	}
	if err := s.Close(); err != nil || !returned {
		t.Errorf("%v; the handler has returned: %t", err, returned)
	}
}

// Each attempt of a call reads its arguments anew.
func TestCallIsRetried(t *testing.T) {
	n := 0
	s := build(t, Options{}, direct(func(i *Info) { i.Call.RetryOn, i.Call.RetryMax = []string{"busy"}, 2 }, func(ctx context.Context, in lookupInput) (record, error) {
		if n++; n == 1 {
			return record{}, Disclose("busy", "")
		}
		return lookup(ctx, in)
	}))
	x, err := s.Call(t.Context(), authz.Local(), "rec-1", []byte(`{"key":"a"}`))
	if err != nil || n != 2 || x.Receipt.Calls[0].Attempts != 2 {
		t.Errorf("%d attempts, %+v, %v", n, x.Receipt.Calls, err)
	}
}

func TestBuildChecksTools(t *testing.T) {
	for name, c := range map[string]struct {
		tool DirectTool
		want string
	}{
		"empty":      {DirectTool{Input: lookupSchema}, "the name of a tool"},
		"dots":       {DirectTool{Name: "records.lookup", Input: lookupSchema}, "the name of a tool"},
		"long":       {DirectTool{Name: strings.Repeat("a", 65), Input: lookupSchema}, "the name of a tool"},
		"twice":      {DirectTool{Name: "records_other", Input: lookupSchema}, "there twice"},
		"no input":   {DirectTool{Name: "a"}, "none of an object"},
		"no object":  {DirectTool{Name: "a", Input: `{"type":"string"}`}, "none of an object"},
		"no JSON":    {DirectTool{Name: "a", Input: `{`}, "none of an object"},
		"bad output": {DirectTool{Name: "a", Input: lookupSchema, Output: `{"oneOf":[]}`}, "none of an object"},
	} {
		b := NewBuilder(Options{Authorizer: authz.AllowAll()})
		b.Register(direct(func(i *Info) {
			*i = namedInfo(*i, "records.other")
			i.Tool = &DirectTool{Name: "records_other", Input: lookupSchema}
		}, lookup))
		b.Register(direct(func(i *Info) { i.Tool = &c.tool }, lookup))
		if _, err := b.Build(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func namedInfo(i Info, name string) Info {
	i.ID, i.Name = name, name
	i.Binding = strings.ReplaceAll(i.Binding, `"id":"rec-1","name":"records.lookup"`, `"id":"`+name+`","name":"`+name+`"`)
	return i
}
