package runtime

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/worker"
)

// withRules is records.lookup with rules for its calls.
func withRules(rules CallRules, handle lookupFunc) Capability {
	info := lookupInfo()
	info.Call = rules
	return NewCapability(info, handle)
}

// A capability's own timeout is told from the execution's deadline, and a
// handler that ignores it holds nobody.
func TestTimeout(t *testing.T) {
	released := make(chan struct{})
	const limit = 30 * time.Millisecond
	for name, test := range map[string]struct {
		handle lookupFunc
		state  CallState
		code   string
		text   string
	}{
		"obeys": {func(ctx context.Context, _ lookupInput) (record, error) {
			<-ctx.Done()
			return record{}, ctx.Err()
		}, CallFailed, TimeoutCode, "within its timeout of 30ms"},
		"ignores it": {func(context.Context, lookupInput) (record, error) {
			<-released
			return record{}, nil
		}, CallUnknown, TimeoutCode, "within its timeout of 30ms"},
		"says why": {func(ctx context.Context, _ lookupInput) (record, error) {
			<-ctx.Done()
			return record{}, Disclose("partial", "two of three were read")
		}, CallFailed, "partial", "two of three were read"},
		"fails before": {func(context.Context, lookupInput) (record, error) {
			return record{}, context.DeadlineExceeded
		}, CallFailed, "", "the capability failed"},
		"panics": {func(context.Context, lookupInput) (record, error) { panic("swordfish") }, CallFailed, "", "the capability failed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := build(t, Options{Limits: Limits{MaxExecutionTime: time.Minute}}, withRules(CallRules{Timeout: limit}, test.handle))
			t.Cleanup(func() {
				if name == "ignores it" {
					close(released)
				}
			})
			start := time.Now()
			x, err := s.Execute(t.Context(), authz.Local(), lookupProgram)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			var e *Error
			if !errors.As(err, &e) || !errors.Is(err, ErrCapabilityFailed) {
				t.Fatalf("error %v", err)
			}
			if f := e.Fault(); f.Code != test.code || !strings.Contains(f.Message, test.text) || f.Limit != "" {
				t.Errorf("fault %+v", f)
			}
			if calls := x.Receipt.Calls; len(calls) != 1 || calls[0].State != test.state || calls[0].Error != fault.CapabilityFailed {
				t.Errorf("calls %+v", calls)
			}
		})
	}
	t.Run("the execution's own", func(t *testing.T) {
		s := build(t, Options{Limits: Limits{MaxExecutionTime: 500 * time.Millisecond}}, withRules(CallRules{Timeout: time.Minute}, func(ctx context.Context, _ lookupInput) (record, error) {
			<-ctx.Done()
			return record{}, ctx.Err()
		}))
		_, err := s.Execute(t.Context(), authz.Local(), lookupProgram)
		if !errors.Is(err, ErrResourceLimit) || !strings.Contains(err.Error(), "MaxExecutionTime") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("in time", func(t *testing.T) {
		s := build(t, Options{}, withRules(CallRules{Timeout: time.Minute}, lookup))
		if x, err := s.Execute(t.Context(), authz.Local(), lookupProgram); err != nil || string(x.Result) != "20" {
			t.Errorf("%s, %v", x.Result, err)
		}
	})
}

// Close says what it left behind.
func TestCloseCountsHandlersBeyondTheirTimeout(t *testing.T) {
	s := build(t, Options{}, named("a.b", lookup))
	s.dispatcher.late.Add()
	defer s.dispatcher.late.Done()
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "1 handlers ignore") {
		t.Errorf("error %v", err)
	}
	s.dispatcher.late.Add() // Close of the test's end sees one that ends
	go s.dispatcher.late.Done()
}

func TestRetry(t *testing.T) {
	busy, gone := Disclose("busy", "try again"), Disclose("gone", "no more")
	for name, test := range map[string]struct {
		errs     []error // of the calls, one after another; nil answers
		rules    CallRules
		calls    int64
		state    CallState
		attempts int
		code     string
	}{
		"at once":            {nil, CallRules{RetryOn: []string{"busy"}, RetryMax: 2}, 1, CallDone, 0, ""},
		"the second time":    {[]error{busy}, CallRules{RetryOn: []string{"busy"}, RetryMax: 2}, 2, CallDone, 2, ""},
		"never":              {[]error{busy, busy, busy, busy}, CallRules{RetryOn: []string{"busy"}, RetryMax: 2}, 3, CallFailed, 3, "busy"},
		"another code":       {[]error{gone}, CallRules{RetryOn: []string{"busy"}, RetryMax: 2}, 1, CallFailed, 0, "gone"},
		"another code later": {[]error{busy, gone}, CallRules{RetryOn: []string{"busy"}, RetryMax: 2}, 2, CallFailed, 2, "gone"},
		"nothing disclosed":  {[]error{errors.New("busy")}, CallRules{RetryOn: []string{"busy"}, RetryMax: 2}, 1, CallFailed, 0, ""},
		"no rules":           {[]error{busy}, CallRules{}, 1, CallFailed, 0, "busy"},
		"a timeout":          {[]error{context.DeadlineExceeded}, CallRules{Timeout: 20 * time.Millisecond, RetryOn: []string{TimeoutCode}, RetryMax: 1}, 2, CallDone, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var calls, asked atomic.Int64
			authorizer := authz.AuthorizerFunc(func(context.Context, authz.Request) error { asked.Add(1); return nil })
			s := build(t, Options{Authorizer: authorizer, Limits: Limits{MaxExecutionTime: time.Minute}}, withRules(test.rules, func(ctx context.Context, in lookupInput) (record, error) {
				n := int(calls.Add(1))
				if n > len(test.errs) {
					return record{Key: in.Key}, nil
				}
				if test.errs[n-1] == context.DeadlineExceeded {
					<-ctx.Done()
				}
				return record{}, test.errs[n-1]
			}))
			x, err := s.Execute(t.Context(), authz.Local(), lookupProgram)
			code := ""
			var e *Error
			if errors.As(err, &e) {
				code = e.Fault().Code
			}
			if (err == nil) != (test.state == CallDone) || code != test.code {
				t.Errorf("error %v of code %q, want %q", err, code, test.code)
			}
			if calls.Load() != test.calls || asked.Load() != 1 {
				t.Errorf("%d calls, %d times authorized; want %d and 1", calls.Load(), asked.Load(), test.calls)
			}
			if r := x.Receipt.Calls; len(r) != 1 || r[0].State != test.state || r[0].Attempts != test.attempts {
				t.Errorf("receipt %+v", r)
			}
		})
	}
}

// An execution that ends is not waited out, and no attempt begins after it.
func TestRetryStaysWithinTheExecution(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var calls atomic.Int64
	rules := CallRules{RetryOn: []string{"busy"}, RetryMax: MaxRetries}
	s := build(t, Options{Limits: Limits{MaxExecutionTime: time.Minute}}, withRules(rules, func(context.Context, lookupInput) (record, error) {
		if calls.Add(1) == 2 {
			cancel()
		}
		return record{}, Disclose("busy", "")
	}))
	if _, err := s.Execute(ctx, authz.Local(), lookupProgram); !errors.Is(err, ErrCancelled) {
		t.Errorf("error %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := calls.Load(); n != 2 {
		t.Errorf("%d calls", n)
	}
	soon, cancel := context.WithTimeout(t.Context(), maxPause/2)
	defer cancel()
	if pause(soon, 6) || soon.Err() != nil {
		t.Error("waited for an attempt that could not begin")
	}
	// Nor does one begin when the receipt is closed already.
	arguments, err := canon.AppendWire(nil, &lookupInput{Key: "a", Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	calls.Store(10)
	asked := 0
	s.dispatcher.dispatch(t.Context(), authz.Local(), nil, nil, nativeCall{Call: worker.Call{Capability: "rec-1", Arguments: arguments}}, func() bool { asked++; return asked == 1 })
	if n := calls.Load(); n != 11 || asked != 2 {
		t.Errorf("%d calls, asked %d times", n-10, asked)
	}
}

// pointedInput is lookupInput with its key behind a slice.
type pointedInput struct {
	lookupInput
	keys []string
}

func (v *pointedInput) Decode(r *canon.Reader) error {
	err := v.lookupInput.Decode(r)
	v.keys = []string{v.Key}
	return err
}

// What one attempt does to its arguments the next does not see.
func TestRetryStartsAnew(t *testing.T) {
	var seen []string
	rules := CallRules{RetryOn: []string{"busy"}, RetryMax: 1}
	info := lookupInfo()
	info.Call = rules
	s := build(t, Options{}, NewCapability(info, func(_ context.Context, in pointedInput) (record, error) {
		seen = append(seen, in.keys[0])
		in.keys[0] = "changed"
		return record{}, Disclose("busy", "")
	}))
	if _, err := s.Execute(t.Context(), authz.Local(), lookupProgram); !errors.Is(err, ErrCapabilityFailed) {
		t.Fatal(err)
	}
	if len(seen) != 2 || seen[0] != "a" || seen[1] != "a" {
		t.Errorf("saw %q", seen)
	}
}

func TestCallRulesAreChecked(t *testing.T) {
	for name, test := range map[string]struct {
		rules  CallRules
		effect Effect
		want   string
	}{
		"negative": {CallRules{Timeout: -1}, EffectRead, "a timeout is at most"},
		"long":     {CallRules{Timeout: MaxTimeout + 1}, EffectRead, "a timeout is at most"},
		"often":    {CallRules{RetryOn: []string{"a"}, RetryMax: MaxRetries + 1}, EffectRead, "at most 5 times"},
		"never":    {CallRules{RetryOn: []string{"a"}}, EffectRead, "at most 5 times"},
		"after no": {CallRules{RetryMax: 1}, EffectRead, "after one code or more"},
		"writes":   {CallRules{RetryOn: []string{"a"}, RetryMax: 1}, EffectWrite, "is not called again"},
	} {
		t.Run(name, func(t *testing.T) {
			info := lookupInfo()
			info.Call, info.Effect = test.rules, test.effect
			if test.effect == EffectWrite {
				info.Idempotency = IdempotencyNone
			}
			b := NewBuilder(Options{Authorizer: authz.AllowAll()})
			b.Register(NewCapability(info, lookup))
			if _, err := b.Build(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
