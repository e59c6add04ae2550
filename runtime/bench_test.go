package runtime

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/worker"
)

// BenchmarkExecute is one program from source to JSON text in a worker of its
// own, by the number of its native calls.
func BenchmarkExecute(b *testing.B) {
	for _, calls := range []int{0, 1, 10, 100} {
		b.Run(fmt.Sprintf("calls=%d", calls), func(b *testing.B) {
			s := build(b, Options{}, NewCapability(lookupInfo(), lookup))
			source := fmt.Sprintf("def main():\n    for i in range(%d):\n        records.lookup(key = 'a')\n    return 1\n", calls)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Execute(b.Context(), authz.Local(), source); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNativeCall is one call of a running program: worker to host and
// back. Its control dispatches the same call in this process.
func BenchmarkNativeCall(b *testing.B) {
	unlimited := Limits{
		MaxNativeCalls: math.MaxInt32, MaxSteps: math.MaxInt64, MaxExecutionTime: time.Hour,
		MaxIntermediateValueBytes: math.MaxInt64,
	}
	b.Run("worker", func(b *testing.B) {
		s := build(b, Options{Limits: unlimited}, NewCapability(lookupInfo(), lookup))
		source := fmt.Sprintf("def main():\n    for i in range(%d):\n        records.lookup(key = 'a')\n", b.N)
		b.ReportAllocs()
		b.ResetTimer()
		if _, err := s.Execute(b.Context(), authz.Local(), source); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("in-process", func(b *testing.B) {
		s := build(b, Options{Limits: unlimited}, NewCapability(lookupInfo(), lookup))
		arguments := arguments(func(w *canon.Writer) {
			w.BeginObject(1)
			w.Key("key")
			w.String("a", 0, 128)
			w.EndObject()
		})
		b.ReportAllocs()
		for b.Loop() {
			o := s.dispatcher.dispatch(b.Context(), authz.Local(), worker.Call{Capability: "rec-1", Arguments: arguments}, func() bool { return true })
			if o.fault != nil {
				b.Fatal(o.fault)
			}
		}
	})
}
