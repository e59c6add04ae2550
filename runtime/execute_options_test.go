package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/fault"
)

// A client can ask for less time than the limit, and never for more.
func TestTimeoutOfARequest(t *testing.T) {
	waits := func(ctx context.Context, _ lookupInput) (record, error) {
		<-ctx.Done()
		return record{}, ctx.Err()
	}
	const program = "records.lookup(key='a')"
	// short is long enough for a call to begin on a busy machine.
	const short = 2 * time.Second
	for _, tt := range []struct {
		limit, asked time.Duration
		want         string
		bound        int64
	}{
		{time.Minute, short, fault.Timeout, 2_000},
		{short, time.Minute, fault.MaxExecutionTime, 2_000},
		{short, 0, fault.MaxExecutionTime, 2_000},
		{short, -1, fault.MaxExecutionTime, 2_000},
	} {
		t.Run(fmt.Sprint(tt.limit, tt.asked), func(t *testing.T) {
			t.Parallel()
			s := build(t, Options{Limits: Limits{MaxExecutionTime: tt.limit}}, NewCapability(lookupInfo(), waits))
			x, err := s.Execute(t.Context(), authz.Local(), program, WithTimeout(tt.asked))
			var e *Error
			if !errors.As(err, &e) || e.Fault().Class != fault.Limit || e.Fault().Limit != tt.want || e.Fault().Bound != tt.bound || !strings.Contains(e.Error(), tt.want) {
				t.Errorf("%v", err)
			}
			if len(x.Receipt.Calls) != 1 || x.Receipt.Calls[0].State == CallDone {
				t.Errorf("%+v", x.Receipt)
			}
		})
	}
}

// Whoever watches hears of each call once, as the receipt has it.
func TestWatch(t *testing.T) {
	s := build(t, Options{}, NewCapability(lookupInfo(), lookup))
	var mu sync.Mutex
	var watched []CallRecord
	x, err := s.Execute(t.Context(), authz.Local(), `
def main():
    records.lookup(key="a")
    attempt(lambda: records.lookup(key=1))
    parallel([lambda: records.lookup(key="b"), lambda: records.lookup(key="c")])
    return records.lookup(key="d").count
`, WithWatch(func(c CallRecord) {
		mu.Lock()
		defer mu.Unlock()
		watched = append(watched, c)
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(watched) != 5 {
		t.Fatalf("watched %+v", watched)
	}
	bySequence := make([]CallRecord, len(watched))
	for _, c := range watched {
		bySequence[c.Sequence-1] = c
	}
	if diff := cmp.Diff(x.Receipt.Calls, bySequence); diff != "" {
		t.Errorf("receipt (-), watched (+): %s", diff)
	}
}

// Who surrounds calls brings their context, and hears what came of each: what
// the receipt has, the decision, and the code that a handler disclosed.
func TestAround(t *testing.T) {
	type key struct{}
	seen := make(chan any, 10)
	denyB := authz.AuthorizerFunc(func(ctx context.Context, r authz.Request) error {
		seen <- ctx.Value(key{})
		if strings.Contains(string(r.Arguments), `"b"`) {
			return authz.ErrDenied
		}
		return nil
	})
	handler := func(ctx context.Context, in lookupInput) (record, error) {
		seen <- ctx.Value(key{})
		if in.Key == "gone" {
			return record{}, Disclose("not_found", "no such record")
		}
		return lookup(ctx, in)
	}
	s := build(t, Options{Authorizer: denyB}, NewCapability(lookupInfo(), handler))
	var mu sync.Mutex
	var begun, ended []ObservedCall
	x, err := s.Execute(t.Context(), authz.Local(), `
def main():
    records.lookup(key="a")
    attempt(lambda: records.lookup(key=1))
    attempt(lambda: records.lookup(key="b"))
    attempt(lambda: records.lookup(key="gone"))
`, WithAround(func(ctx context.Context, c ObservedCall) (context.Context, func(ObservedCall)) {
		mu.Lock()
		defer mu.Unlock()
		begun = append(begun, c)
		return context.WithValue(ctx, key{}, c.Sequence), func(c ObservedCall) {
			mu.Lock()
			defer mu.Unlock()
			ended = append(ended, c)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	close(seen)
	var contexts []any
	for v := range seen {
		contexts = append(contexts, v)
	}
	if diff := cmp.Diff([]any{1, 1, 3, 4, 4}, contexts); diff != "" {
		t.Errorf("calls in the contexts of authorizer and handler (-want +got):\n%s", diff)
	}
	want := make([]ObservedCall, len(x.Receipt.Calls))
	for i, c := range x.Receipt.Calls {
		want[i] = ObservedCall{Execution: x.Receipt.Execution, CallRecord: c}
		if i < len(begun) && (begun[i].ID != c.ID || begun[i].Sequence != i+1 || begun[i].Execution != x.Receipt.Execution || begun[i].Decision != "") {
			t.Errorf("call %d began as %+v", i+1, begun[i])
		}
	}
	for i, d := range []audit.Decision{audit.Allowed, audit.Unbound, audit.Denied, audit.Allowed} {
		want[i].Decision = d
	}
	want[3].Code = "not_found"
	if diff := cmp.Diff(want, ended); diff != "" || len(begun) != 4 {
		t.Errorf("%d began, ended (-want +got):\n%s", len(begun), diff)
	}
}

// A panic of who surrounds a call ends it, and nothing else.
func TestAroundThatPanics(t *testing.T) {
	s := build(t, Options{}, NewCapability(lookupInfo(), lookup))
	for name, around := range map[string]func(context.Context, ObservedCall) (context.Context, func(ObservedCall)){
		"at the begin": func(context.Context, ObservedCall) (context.Context, func(ObservedCall)) { panic("x") },
		"at the end": func(ctx context.Context, _ ObservedCall) (context.Context, func(ObservedCall)) {
			return ctx, func(ObservedCall) { panic("x") }
		},
	} {
		x, err := s.Execute(t.Context(), authz.Local(), `records.lookup(key="a")`, WithAround(around))
		if !errors.Is(err, ErrInternal) || len(x.Receipt.Calls) != 1 {
			t.Errorf("%s: %v, %+v", name, err, x.Receipt.Calls)
		}
	}
	if _, err := s.Execute(t.Context(), authz.Local(), `records.lookup(key="a").count`); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// What a program prints comes back if that is asked for, whatever becomes of
// the program while its worker lives.
func TestWithPrints(t *testing.T) {
	s := build(t, Options{}, NewCapability(lookupInfo(), lookup))
	for source, want := range map[string]Prints{
		"print('a', records.lookup(key='b').count)\n1": {Text: "a 20\n"},
		"print('a')\n1 / 0":                            {Text: "a\n"},
		"print('a' * 20000)":                           {Text: strings.Repeat("a", MaxPrintBytes), Cut: true},
		"1":                                            {},
	} {
		asked, err := s.Execute(t.Context(), authz.Local(), source, WithPrints())
		if diff := cmp.Diff(want, asked.Prints); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", source, err, diff)
		}
		if x, _ := s.Execute(t.Context(), authz.Local(), source); x.Prints != (Prints{}) {
			t.Errorf("%s: %q without being asked for", source, x.Prints.Text)
		}
	}
}
