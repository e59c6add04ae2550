package runtime

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
)

// slow counts how many calls of it run at once.
type slow struct {
	now, most atomic.Int32
	delay     time.Duration
}

func (s *slow) lookup(ctx context.Context, in lookupInput) (record, error) {
	n := s.now.Add(1)
	defer s.now.Add(-1)
	for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
	}
	select {
	case <-time.After(s.delay):
	case <-ctx.Done():
		return record{}, ctx.Err()
	}
	if in.Key == "bad" {
		return record{}, Disclose("no_such", "no record has that key")
	}
	return record{Key: in.Key, Count: in.Limit, Text: strings.Repeat("x", int(in.Limit)*1000)}, nil
}

// Calls of callables in parallel are with the handler at once, as many as may
// be, and the receipt has them in the order in which the program made them.
func TestParallelCalls(t *testing.T) {
	const source = "def f(i):\n    return records.lookup(key = str(i), limit = i + 1).count\n" +
		"def main():\n    return parallel([lambda i = i: f(i) for i in range(20)])\n"
	for _, most := range []int{1, 8, 20} {
		s := &slow{delay: 20 * time.Millisecond}
		server := build(t, Options{Limits: Limits{MaxParallelCalls: most}}, NewCapability(lookupInfo(), s.lookup))
		x, err := server.Execute(t.Context(), authz.Local(), source)
		if err != nil || string(x.Result) != "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]" {
			t.Fatalf("%s, %v", x.Result, err)
		}
		if got := int(s.most.Load()); got != most {
			t.Errorf("%d handlers ran at once, %d may", got, most)
		}
		if len(x.Receipt.Calls) != 20 {
			t.Fatalf("%d calls in the receipt", len(x.Receipt.Calls))
		}
		for i, c := range x.Receipt.Calls {
			if c.Sequence != i+1 || c.State != CallDone {
				t.Errorf("call %d of the receipt: %+v", i+1, c)
			}
		}
	}
}

// What one callable comes to is its own; a limit is everybody's.
func TestParallelOutcomes(t *testing.T) {
	s := &slow{delay: time.Millisecond}
	server := build(t, Options{Limits: Limits{MaxNativeCalls: 50, MaxSteps: 1_000_000}}, NewCapability(lookupInfo(), s.lookup))
	for _, c := range []struct{ name, body, want string }{
		{"attempt keeps the rest", "return [r.value.key if r.ok else r.error.code for r in parallel([lambda k = k: attempt(records.lookup, key = k) for k in ['a', 'bad', 'c']])]", `["a","no_such","c"]`},
		{"binds that fail meanwhile", "return [r.ok for r in parallel([lambda k = k: attempt(records.lookup, key = k) for k in ['a', 1, 'c', 2, 'e']])]", `[true,false,true,false,true]`},
		{"large values both ways", "k = 'k' * 100\n    return len(parallel([lambda: records.lookup(key = k, limit = 100).text] * 40))", "40"},
		{"one fails", "return parallel([lambda k = k: records.lookup(key = k) for k in ['a', 'bad']])", "callable 1 of parallel: no record has that key"},
		{"too many calls", "return attempt(parallel, [lambda: attempt(records.lookup, key = 'a')] * 60)", "MaxNativeCalls is 50"},
		{"endless callables", "def f():\n        while True: pass\n    return parallel([f] * 8)", "MaxSteps is 1000000"},
		{"an endless callable among calls", "def f():\n        records.lookup(key = 'a')\n        while True: pass\n    return parallel([lambda: records.lookup(key = 'a'), f, lambda: records.lookup(key = 'a')])", "MaxSteps is 1000000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, err := server.Execute(t.Context(), authz.Local(), "def main():\n    "+c.body+"\n")
			got := string(x.Result)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// A cancel ends callables that wait, and no attempt holds it.
func TestParallelCancelled(t *testing.T) {
	s := &slow{delay: time.Minute}
	server := build(t, Options{}, NewCapability(lookupInfo(), s.lookup))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	x, err := server.Execute(ctx, authz.Local(), "def main():\n    parallel([lambda: attempt(records.lookup, key = 'a')] * 8)\n    return 1\n")
	if !errors.Is(err, ErrCancelled) {
		t.Errorf("%s, %v", x.Result, err)
	}
	for _, c := range x.Receipt.Calls {
		if c.State != CallUnknown && c.State != CallFailed {
			t.Errorf("%+v", c)
		}
	}
}

// BenchmarkParallel is 50 calls of 20 ms against one, in one execution each.
func BenchmarkParallel(b *testing.B) {
	for _, c := range []struct {
		name string
		most int
	}{{"at once", 50}, {"eight at once", 8}} {
		b.Run(c.name, func(b *testing.B) {
			s := &slow{delay: 20 * time.Millisecond}
			server := build(b, Options{Limits: Limits{MaxParallelCalls: c.most}}, NewCapability(lookupInfo(), s.lookup))
			took := func(n string) time.Duration {
				began := time.Now()
				if _, err := server.Execute(b.Context(), authz.Local(), "def main():\n    parallel([lambda: records.lookup(key = 'a')] * "+n+")\n    return 1\n"); err != nil {
					b.Fatal(err)
				}
				return time.Since(began)
			}
			var one, fifty time.Duration
			for b.Loop() {
				one += took("1")
				fifty += took("50")
			}
			b.ReportMetric(fifty.Seconds()/one.Seconds(), "×one")
		})
	}
}
