package runtime

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/fault"
)

// Each way an execution can end has a class of its own, or the name and value
// of the limit that ended it; and each has a receipt.
func TestOutcomes(t *testing.T) {
	limits := Limits{
		MaxSourceBytes: 2000, MaxSteps: 5_000_000, MaxExecutionTime: 20 * time.Second, MaxNativeCalls: 60,
		MaxValueDepth: 5, MaxValueBytes: 10_000, MaxIntermediateValueBytes: 50_000, MaxDenials: 3, WorkerMemory: 128 << 20,
	}
	body := func(lines ...string) string { return "def main():\n  " + strings.Join(lines, "\n  ") + "\n" }
	for _, test := range []struct {
		name, source string
		class        fault.Class
		limit        string
		bound        int64
		states       string // of the calls
	}{
		{"program error", body("records.lookup(key = 'a')", "return 1 // 0"), fault.ProgramError, "", 0, "done"},
		{"source", strings.Repeat("#", 2001), fault.Limit, fault.MaxSourceBytes, 2000, ""},
		{"steps", body("records.lookup(key = 'a')", "while True: pass"), fault.Limit, fault.MaxSteps, 5_000_000, "done"},
		{"calls", body("for i in range(100): attempt(lambda: records.lookup(key = 1))"), fault.Limit, fault.MaxNativeCalls, 60, strings.TrimSpace(strings.Repeat("not_dispatched ", 60))},
		{"depth", body("records.lookup(key = 'a')", "return [[[[[[1]]]]]]"), fault.Limit, fault.MaxValueDepth, 5, "done"},
		{"value size", body("return records.large(key = '20000')"), fault.Limit, fault.MaxValueBytes, 10_000, "done"},
		{"cumulative results", body("for i in range(9): records.large(key = '9000')"), fault.Limit, fault.MaxIntermediateValueBytes, 50_000, "done done done done done done"},
		{"memory", body("x = []", "for i in range(400000): x.append(str(i) * 200)"), fault.Limit, fault.WorkerMemory, 128 << 20, ""},
		{"parallel", body("return parallel([lambda: records.lookup(key = 'a')] * 1001)"), fault.ProgramError, "", 0, ""},
		{"denials", body("for i in range(9): attempt(lambda: records.denied(key = 'a'))"), fault.Limit, fault.MaxDenials, 3, "not_dispatched not_dispatched not_dispatched not_dispatched"},
		{"worker lost", body("records.lookup(key = 'a')", "records.kill(key = 'a')"), fault.WorkerLost, "", 0, "done unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			deny := authz.AuthorizerFunc(func(_ context.Context, r authz.Request) error {
				if r.Name == "records.denied" {
					return authz.ErrDenied
				}
				return nil
			})
			s := build(t, Options{Authorizer: deny, Limits: limits}, NewCapability(lookupInfo(), lookup), named("records.denied", lookup),
				named("records.large", func(_ context.Context, in lookupInput) (record, error) {
					n, err := strconv.Atoi(in.Key)
					return record{Text: strings.Repeat("x", n)}, err
				}),
				named("records.kill", func(context.Context, lookupInput) (record, error) {
					for _, pid := range ownChildren(t) {
						pid, _ := strconv.Atoi(pid)
						syscall.Kill(pid, syscall.SIGKILL)
					}
					<-t.Context().Done() // longer than its own context
					return record{}, nil
				}))
			x, err := s.Execute(t.Context(), authz.Local(), test.source)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("result %s, error %v", x.Result, err)
			}
			f := e.Fault()
			if f.Class != test.class || f.Limit != test.limit || f.Bound != test.bound {
				t.Errorf("got %+v", f)
			}
			if test.limit != "" && !strings.Contains(f.Message, fmt.Sprintf("%s is %d", test.limit, test.bound)) {
				t.Errorf("the message does not name the limit: %s", f.Message)
			}
			var states []string
			for i, c := range x.Receipt.Calls {
				states = append(states, string(c.State))
				if c.Sequence != i+1 || c.ID == "" || c.DurationMicros < 0 {
					t.Errorf("record %+v", c)
				}
			}
			if got := strings.Join(states, " "); got != test.states {
				t.Errorf("calls %q, want %q", got, test.states)
			}
			if x.Receipt.Execution == "" || x.Receipt.DurationMicros <= 0 {
				t.Errorf("receipt %+v", x.Receipt)
			}
		})
	}
}

// An authorizer that ignores its context holds neither its caller beyond the
// deadline, nor a worker, nor the place of another subject.
func TestAuthorizerThatIgnoresItsContext(t *testing.T) {
	release := make(chan struct{})
	stuck := authz.AuthorizerFunc(func(_ context.Context, r authz.Request) error {
		if r.Name == "records.lookup" {
			<-release
		}
		return nil
	})
	s := build(t, Options{Authorizer: stuck, Limits: Limits{MaxExecutionTime: 300 * time.Millisecond, MaxConcurrentExecutions: 2}},
		NewCapability(lookupInfo(), lookup), named("records.quick", lookup))
	t.Cleanup(func() { close(release) })
	other := authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "u1", Scopes: authz.ScopesOf("records:read")}
	for _, source := range []string{lookupProgram, "def main():\n  return parallel([lambda: records.lookup(key = 'a')] * 8)\n"} {
		for range 2 {
			began := time.Now()
			x, err := s.Execute(t.Context(), authz.Local(), source)
			if !errors.Is(err, ErrResourceLimit) || !strings.Contains(err.Error(), "MaxExecutionTime is 300ms") {
				t.Errorf("got %v", err)
			}
			if took := time.Since(began); took > 6*time.Second {
				t.Errorf("took %v", took)
			}
			for _, c := range x.Receipt.Calls {
				if c.State != CallNotDispatched {
					t.Errorf("record %+v", c)
				}
			}
		}
	}
	if left := leftChildren(t); len(left) > 0 {
		t.Errorf("workers are held: %v", left)
	}
	if _, err := s.Execute(t.Context(), other, "def main():\n  return records.quick(key = 'a').key\n"); err != nil {
		t.Errorf("the other subject: %v", err)
	}
}

// Calls of callables have keys of their own, the same whichever is made first.
func TestCallKeysInParallel(t *testing.T) {
	program := "def main():\n  def f(i):\n    return lambda: [records.lookup(key = str(i)), records.lookup(key = str(i))]\n  return parallel([f(i) for i in range(4)])\n"
	collect := func() map[string]string {
		type pair struct{ key, call string }
		got := make(chan pair, 8)
		s := build(t, Options{HostKey: []byte(strings.Repeat("k", MinHostKeyBytes))}, NewCapability(lookupInfo(), func(ctx context.Context, in lookupInput) (record, error) {
			key, _ := CallKeyFromContext(ctx)
			got <- pair{key.Key, in.Key}
			time.Sleep(time.Duration(time.Now().UnixNano()%3) * time.Millisecond)
			return record{Key: in.Key}, nil
		}))
		if _, err := s.Execute(t.Context(), authz.Local(), program, WithIdempotencyKey("once")); err != nil {
			t.Fatal(err)
		}
		close(got)
		keys := map[string]string{}
		for p := range got {
			keys[p.key] = p.call
		}
		return keys
	}
	first := collect()
	if len(first) != 8 {
		t.Fatalf("8 calls have %d keys", len(first))
	}
	for key, call := range collect() {
		if first[key] != call {
			t.Errorf("the call of %s has another key", call)
		}
	}
}
