package mcpserver

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/fault"
)

// However a program orders its calls, the receipt of its failure has at most
// maxListedCalls records, and they stand for all calls and all of their time.
func TestFold(t *testing.T) {
	const many = 1000
	every := [...]runtime.CallState{"not_dispatched", "done", "failed", "unknown"}
	for name, test := range map[string]struct {
		calls int
		call  func(i int) runtime.CallRecord
		want  int // records
	}{
		"few":             {50, func(i int) runtime.CallRecord { return runtime.CallRecord{ID: fmt.Sprint(i % 2)} }, 50},
		"in a row":        {many, func(i int) runtime.CallRecord { return runtime.CallRecord{ID: fmt.Sprint(i / 500)} }, 2},
		"alternating":     {many, func(i int) runtime.CallRecord { return runtime.CallRecord{ID: fmt.Sprint(i % 2)} }, 2},
		"by outcome":      {many, func(i int) runtime.CallRecord { return runtime.CallRecord{Error: fault.Class(fmt.Sprint(i % 7))} }, 7},
		"as many as fit":  {many, func(i int) runtime.CallRecord { return runtime.CallRecord{ID: fmt.Sprint(i % 50)} }, 50},
		"one too many":    {many, func(i int) runtime.CallRecord { return runtime.CallRecord{ID: fmt.Sprint(i % 51)} }, 47},
		"each of its own": {many, func(i int) runtime.CallRecord { return runtime.CallRecord{ID: fmt.Sprint(i), State: every[i%4]} }, 50},
		"by attempts":     {many, func(i int) runtime.CallRecord { return runtime.CallRecord{ID: "a", Attempts: i, State: every[i%2]} }, 48},
	} {
		t.Run(name, func(t *testing.T) {
			r := runtime.Receipt{Execution: "x"}
			for i := range test.calls {
				c := test.call(i)
				c.Sequence, c.DurationMicros = i+1, int64(i)
				r.Calls = append(r.Calls, c)
			}
			f := fold(r)
			if n := len(f.Calls); n != test.want || n > maxListedCalls {
				t.Errorf("%d records, want %d", n, test.want)
			}
			calls, took, last := 0, int64(0), 0
			for _, c := range f.Calls {
				calls += max(c.Count, 1)
				took += c.DurationMicros
				if c.Sequence <= last {
					t.Errorf("record %d comes after record %d", c.Sequence, last)
				}
				last = c.Sequence
			}
			if want := int64(test.calls * (test.calls - 1) / 2); calls != test.calls || took != want {
				t.Errorf("they stand for %d calls and %d µs, want %d and %d", calls, took, test.calls, want)
			}
		})
	}
}

// Those that are told by their state alone name no capability.
func TestFoldTellsStates(t *testing.T) {
	r := runtime.Receipt{}
	for i := range 60 {
		r.Calls = append(r.Calls, runtime.CallRecord{Sequence: i + 1, ID: fmt.Sprint(i), Name: "n", State: runtime.CallDone, Error: "e", DurationMicros: 1})
	}
	calls := fold(r).Calls
	want := foldedCall{CallRecord: runtime.CallRecord{Sequence: 47, State: runtime.CallDone, DurationMicros: 14}, Count: 14}
	if d := cmp.Diff(want, calls[len(calls)-1]); d != "" {
		t.Error(d)
	}
}
