package runtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/google/go-cmp/cmp"
)

const lookupProgram = "def main():\n    return records.lookup(key = 'a').count\n"

func TestExecuteAnswersWithTheResultAndAReceipt(t *testing.T) {
	s := build(t, Options{}, NewCapability(lookupInfo(), lookup))
	x, err := s.Execute(t.Context(), authz.Local(), "def main():\n    r = records.lookup(key = 'a', limit = 7)\n    return {'r': r, 'n': r.count + 1}\n")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(x.Result), `{"r":{"key":"a","count":7,"text":""},"n":8}`; got != want {
		t.Errorf("result %s, want %s", got, want)
	}
	r := x.Receipt
	if len(r.Execution) != 32 || r.Deployment != "default" || r.Catalog != s.Catalog() || r.Steps <= 0 || r.DurationMicros <= 0 {
		t.Errorf("receipt %+v", r)
	}
	if len(r.Calls) != 1 || r.Calls[0].ID != "rec-1" || r.Calls[0].Name != "records.lookup" || r.Calls[0].State != CallDone || r.Calls[0].Sequence != 1 {
		t.Errorf("calls %+v", r.Calls)
	}
}

func TestExecuteKeepsTheOrderOfAuthority(t *testing.T) {
	var mu sync.Mutex
	var steps []string
	step := func(s string) { mu.Lock(); steps = append(steps, s); mu.Unlock() }
	authorizer := authz.AuthorizerFunc(func(_ context.Context, r authz.Request) error {
		view, err := r.View()
		if err != nil {
			return err
		}
		step(fmt.Sprintf("authorize %s %s %s %s %v", r.Subject, r.ID, r.Name, r.Arguments, view))
		// What it was given is a private copy.
		r.Arguments[2] = 'X'
		view["key"] = "changed"
		return nil
	})
	s := build(t, Options{Authorizer: authorizer}, NewCapability(lookupInfo(), func(_ context.Context, in lookupInput) (record, error) {
		step(fmt.Sprintf("handle %+v", in))
		return record{Key: in.Key}, nil
	}))
	if _, err := s.Execute(t.Context(), authz.Local(), lookupProgram); err != nil {
		t.Fatal(err)
	}
	// A subject without the scope is refused before the authorizer is asked.
	nobody := authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "u1", Scopes: authz.ScopesOf("records:write")}
	x, err := s.Execute(t.Context(), nobody, lookupProgram)
	if !errors.Is(err, ErrPermissionDenied) || !strings.Contains(err.Error(), "records:read") {
		t.Errorf("missing scope: %v", err)
	}
	if len(x.Receipt.Calls) != 1 || x.Receipt.Calls[0].State != CallNotDispatched || x.Receipt.Calls[0].Error != fault.Denied {
		t.Errorf("calls %+v", x.Receipt.Calls)
	}
	want := []string{
		`authorize local rec-1 records.lookup {"key":"a","limit":20} map[key:a limit:20]`,
		`handle {Key:a Limit:20}`,
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
}

func TestExecuteTellsFailuresApart(t *testing.T) {
	const secret = "db password swordfish"
	deny := authz.AuthorizerFunc(func(context.Context, authz.Request) error { return fmt.Errorf("%s: %w", secret, authz.ErrDenied) })
	broken := authz.AuthorizerFunc(func(context.Context, authz.Request) error { return errors.New(secret) })
	panics := authz.AuthorizerFunc(func(context.Context, authz.Request) error { panic(secret) })
	handler := func(r record, err error) lookupFunc {
		return func(context.Context, lookupInput) (record, error) { return r, err }
	}
	small := Limits{MaxValueBytes: 1000, MaxIntermediateValueBytes: 1500, MaxNativeCalls: 3, MaxSteps: 10_000, MaxSourceBytes: 300}
	thrice := "def main():\n    for i in range(%d):\n        records.lookup(key = 'a')\n"
	tests := []struct {
		name       string
		authorizer authz.Authorizer
		handle     lookupFunc
		source     string
		want       error
		text       string // in the error
		state      CallState
	}{
		{"denied", deny, lookup, lookupProgram, ErrPermissionDenied, "permission denied", CallNotDispatched},
		{"policy failure", broken, lookup, lookupProgram, ErrPolicyFailure, "policy", CallNotDispatched},
		{"policy panic", panics, lookup, lookupProgram, ErrPolicyFailure, "policy", CallNotDispatched},
		{"handler error", nil, handler(record{}, errors.New(secret)), lookupProgram, ErrCapabilityFailed, "the capability failed", CallFailed},
		{"handler panic", nil, func(context.Context, lookupInput) (record, error) { panic(secret) }, lookupProgram, ErrCapabilityFailed, "the capability failed", CallFailed},
		{"disclosed", nil, handler(record{}, fmt.Errorf("%s: %w", secret, Disclose("not_found", "no record\x1b has\nthat key"))), lookupProgram, ErrCapabilityFailed, "no record  has that key", CallFailed},
		{"output above its maximum", nil, handler(record{Count: 1001}, nil), lookupProgram, ErrCapabilityFailed, "the capability failed", CallFailed},
		{"output that is not UTF-8", nil, handler(record{Text: "\xff"}, nil), lookupProgram, ErrCapabilityFailed, "the capability failed", CallFailed},
		{"value bytes", nil, handler(record{Text: strings.Repeat("x", 1000)}, nil), lookupProgram, ErrResourceLimit, "MaxValueBytes is 1000", CallDone},
		{"cumulative results", nil, handler(record{Text: strings.Repeat("x", 800)}, nil), fmt.Sprintf(thrice, 2), ErrResourceLimit, "MaxIntermediateValueBytes is 1500", CallDone},
		{"result as JSON", nil, lookup, "def main():\n    return '\\001' * 800\n", ErrResourceLimit, "4802 bytes as JSON, more than 4 times MaxValueBytes (MaxValueBytes is 1000)", ""},
		{"calls", nil, lookup, fmt.Sprintf(thrice, 4), ErrResourceLimit, "MaxNativeCalls", CallDone},
		{"steps", nil, lookup, "def main():\n    while True:\n        pass\n", ErrResourceLimit, "MaxSteps", ""},
		{"source bytes", nil, lookup, strings.Repeat("#", 301), ErrResourceLimit, "MaxSourceBytes is 300", ""},
		{"wrong argument", nil, lookup, "def main():\n    records.lookup(key = 1)\n", ErrInvalidArguments, "key", CallNotDispatched},
		{"syntax", nil, lookup, "def main(:\n", ErrInvalidProgram, "line 1", ""},
		{"runtime error", nil, lookup, "def main():\n    return 1 // 0\n", ErrProgramFailed, "line 2", ""},
		{"unknown capability", nil, lookup, "def main():\n    return records.lokup(key = 'a')\n", ErrCapabilityNotFound, "lookup", ""},
		{"returned function", nil, lookup, "def main():\n    return main\n", ErrInvalidProgram, "function", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := build(t, Options{Authorizer: test.authorizer, Limits: small}, NewCapability(lookupInfo(), test.handle))
			x, err := s.Execute(t.Context(), authz.Local(), test.source)
			if !errors.Is(err, test.want) {
				t.Fatalf("error %v, want %v", err, test.want)
			}
			if !strings.Contains(err.Error(), test.text) {
				t.Errorf("error %q lacks %q", err, test.text)
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Fatal("not an *Error")
			}
			if text := fmt.Sprintf("%+v", e.Fault()); strings.Contains(text, "swordfish") || strings.Contains(text, "goroutine") {
				t.Errorf("the client sees host text: %s", text)
			}
			var state CallState
			if n := len(x.Receipt.Calls); n > 0 {
				state = x.Receipt.Calls[n-1].State
			}
			if test.name != "calls" && state != test.state {
				t.Errorf("last call is %q, want %q", state, test.state)
			}
		})
	}
}

func TestExecuteDoesNotWaitForAHandlerThatIgnoresItsContext(t *testing.T) {
	for _, test := range []struct {
		name string
		ctx  func() (context.Context, context.CancelFunc)
		want error
	}{
		{"deadline", func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) }, ErrResourceLimit},
		{"caller's deadline", func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), 200*time.Millisecond)
		}, ErrCancelled},
	} {
		t.Run(test.name, func(t *testing.T) {
			release := make(chan struct{})
			stuck := func(context.Context, lookupInput) (record, error) { <-release; return record{}, nil }
			s := build(t, Options{Limits: Limits{MaxExecutionTime: 400 * time.Millisecond, MaxConcurrentExecutions: 1}}, NewCapability(lookupInfo(), stuck), named("records.quick", lookup))
			t.Cleanup(func() { close(release) }) // before the server closes, which waits for it
			ctx, cancel := test.ctx()
			defer cancel()
			start := time.Now()
			x, err := s.Execute(ctx, authz.Local(), lookupProgram)
			if took := time.Since(start); took > 8*time.Second {
				t.Errorf("took %v", took)
			}
			if !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if len(x.Receipt.Calls) != 1 || x.Receipt.Calls[0].State != CallUnknown {
				t.Errorf("calls %+v", x.Receipt.Calls)
			}
			// The stuck handler holds no worker and no slot.
			if _, err := s.Execute(t.Context(), authz.Local(), "def main():\n    return records.quick(key = 'a').key\n"); err != nil {
				t.Errorf("the next execution: %v", err)
			}
		})
	}
}

// An authorizer may take longer than the execution has: what it allowed then
// is not run any more.
func TestNothingRunsOnceTheExecutionIsOver(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	authorizer := authz.AuthorizerFunc(func(context.Context, authz.Request) error { cancel(); return nil })
	var ran atomic.Bool
	s := build(t, Options{Authorizer: authorizer}, NewCapability(lookupInfo(), func(context.Context, lookupInput) (record, error) {
		ran.Store(true)
		return record{}, nil
	}))
	x, err := s.Execute(ctx, authz.Local(), lookupProgram)
	if !errors.Is(err, ErrCancelled) {
		t.Errorf("error %v", err)
	}
	if len(x.Receipt.Calls) != 1 || x.Receipt.Calls[0].State != CallNotDispatched {
		t.Errorf("calls %+v", x.Receipt.Calls)
	}
	if err := s.Close(); err != nil { // waits for the call
		t.Error(err)
	}
	if ran.Load() {
		t.Error("the handler ran")
	}
}

// The handler did its work, but the program never saw the value: the receipt
// says both.
func TestReceiptSaysThatAResultWasTooLarge(t *testing.T) {
	for _, tt := range []struct {
		limits Limits
		limit  string
		calls  int
	}{
		{Limits{MaxValueBytes: 1000}, "MaxValueBytes is 1000", 1},
		{Limits{MaxIntermediateValueBytes: 2500}, "MaxIntermediateValueBytes is 2500", 3},
	} {
		s := build(t, Options{Limits: tt.limits}, NewCapability(lookupInfo(), func(context.Context, lookupInput) (record, error) {
			return record{Text: strings.Repeat("x", 1000)}, nil
		}))
		x, err := s.Execute(t.Context(), authz.Local(), "def main():\n    for i in range(9):\n        records.lookup(key = 'a')\n")
		if !errors.Is(err, ErrResourceLimit) || !strings.Contains(err.Error(), tt.limit) {
			t.Errorf("%s: %v", tt.limit, err)
		}
		if len(x.Receipt.Calls) != tt.calls {
			t.Fatalf("%s: %+v", tt.limit, x.Receipt.Calls)
		}
		if last := x.Receipt.Calls[tt.calls-1]; last.State != CallDone || last.Error != fault.Limit {
			t.Errorf("%s: %+v", tt.limit, last)
		}
	}
}

func TestExecuteRefusesNobody(t *testing.T) {
	s := build(t, Options{}, NewCapability(lookupInfo(), lookup))
	if _, err := s.Execute(t.Context(), authz.Subject{}, lookupProgram); !errors.Is(err, ErrUnauthenticated) {
		t.Errorf("execute: %v", err)
	}
	if _, err := s.Search(t.Context(), authz.Subject{}, SearchRequest{Query: "x"}); !errors.Is(err, ErrUnauthenticated) {
		t.Errorf("search: %v", err)
	}
	if _, err := s.Describe(t.Context(), authz.Subject{}, []string{"x.y"}); !errors.Is(err, ErrUnauthenticated) {
		t.Errorf("describe: %v", err)
	}
}

func TestExecuteConcurrently(t *testing.T) {
	s := build(t, Options{Limits: Limits{MaxConcurrentExecutions: 2, MaxExecutionTime: time.Minute}}, NewCapability(lookupInfo(), lookup))
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			x, err := s.Execute(t.Context(), authz.Local(), fmt.Sprintf("def main():\n    return records.lookup(key = 'k%d').key\n", i))
			if want := fmt.Sprintf(`"k%d"`, i); err != nil || string(x.Result) != want {
				t.Errorf("got %s %v, want %s", x.Result, err, want)
			}
		})
	}
	wg.Wait()
}

func TestIntegersBeyondJSONAreText(t *testing.T) {
	s := build(t, Options{}, NewCapability(lookupInfo(), lookup))
	x, err := s.Execute(t.Context(), authz.Local(), "def main():\n    return [1 << 53, (1 << 53) - 1, 1 << 80, -0.0, 1.0]\n")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(x.Result), `["9007199254740992",9007199254740991,"1208925819614629174706176",-0.0,1.0]`; got != want || !x.WideIntegers {
		t.Errorf("got %s (wide %v), want %s", got, x.WideIntegers, want)
	}
}

func TestNegativeZeroIsNormalisedBeforeItIsAuthorized(t *testing.T) {
	// What a result keeps, arguments lose: what was authorized is what runs.
	var authorized string
	var got float64
	authorizer := authz.AuthorizerFunc(func(_ context.Context, r authz.Request) error {
		authorized = string(r.Arguments)
		return nil
	})
	info := lookupInfo()
	info.Binding = `{"id":"rec-1","name":"records.lookup","input":[{"name":"x","kind":"number","required":true}],"output":{"kind":"number"}}`
	s := build(t, Options{Authorizer: authorizer}, NewCapability(info, func(_ context.Context, in numberInput) (numberOutput, error) {
		got = in.X
		return numberOutput(math.Copysign(0, -1)), nil
	}))
	x, err := s.Execute(t.Context(), authz.Local(), "def main():\n    return records.lookup(x = -0.0)\n")
	if err != nil {
		t.Fatal(err)
	}
	if authorized != `{"x":0}` || math.Signbit(got) || string(x.Result) != "-0.0" {
		t.Errorf("authorized %s, ran with %v, answered %s", authorized, got, x.Result)
	}
}

// An authorizer sees what the manifest declares of a capability, and cannot
// change it for the next call.
func TestAuthorizerSeesWhatIsDeclared(t *testing.T) {
	var seen []string
	authorizer := authz.AuthorizerFunc(func(_ context.Context, r authz.Request) error {
		seen = append(seen, strings.Join(append([]string{r.ID, r.Name, r.Effect, r.Idempotency, r.World}, r.Tags...), " "))
		r.Tags[0] = "changed"
		return nil
	})
	info := lookupInfo()
	info.Tags = []string{"bulk", "slow"}
	s := build(t, Options{Authorizer: authorizer}, NewCapability(info, lookup))
	if _, err := s.Execute(t.Context(), authz.Local(), "def main():\n    return [records.lookup(key = k).key for k in ['a', 'b']]\n"); err != nil {
		t.Fatal(err)
	}
	const want = "rec-1 records.lookup read natural closed bulk slow"
	if len(seen) != 2 || seen[0] != want || seen[1] != want {
		t.Error(seen)
	}
}

func TestEachExecutionHasAProcessOfItsOwn(t *testing.T) {
	s := build(t, Options{}, NewCapability(lookupInfo(), lookup))
	for range 2 { // what one program leaves in its globals, the next does not see
		x, err := s.Execute(t.Context(), authz.Local(), "seen = []\ndef main():\n    seen.append(1)\n    return len(seen)\n")
		if err != nil || string(x.Result) != "1" {
			t.Errorf("%s %v", x.Result, err)
		}
	}
}
