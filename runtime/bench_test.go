package runtime

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
	"github.com/capgen/capgen/runtime/worker"
)

// BenchmarkExecute is one program from source to JSON text in a worker of its
// own, by the number of its native calls.
func BenchmarkExecute(b *testing.B) {
	for _, calls := range []int{0, 1, 10, 100} {
		b.Run(fmt.Sprintf("calls=%d", calls), func(b *testing.B) {
			s := build(b, Options{}, NewCapability(lookupInfo(), lookup))
			source := lookups(calls)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Execute(b.Context(), authz.Local(), source); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// lookups is a program of n native calls.
func lookups(n int) string {
	return fmt.Sprintf("def main():\n    for i in range(%d):\n        records.lookup(key = 'a')\n    return 1\n", n)
}

// inProcess answers the calls of a program that runs in this process.
type inProcess struct {
	ctx context.Context
	x   *execution
	n   uint32
	r   worker.Reply
}

func (p *inProcess) Call(id string, path []uint32, arguments []byte) (uint32, *fault.Fault) {
	p.n++
	c := worker.Call{Sequence: p.n, Capability: id, Path: path, Arguments: arguments}
	p.x.begin(c)
	p.r = p.x.call(p.ctx, c)
	return p.n, nil
}

func (p *inProcess) Answer() (uint32, []byte, *fault.Fault) { return p.n, p.r.Value, p.r.Fault }
func (*inProcess) Refused(string) *fault.Fault              { return nil }

// runInProcess runs a program as a worker would, but here.
func runInProcess(b *testing.B, s *Server, source string) {
	table, err := binding.ParseTable(s.catalog.table)
	if err != nil {
		b.Fatal(err)
	}
	caller := &inProcess{ctx: b.Context(), x: &execution{server: s, subject: authz.Local()}}
	if _, f := program.Run(program.Program{Source: source, Limits: s.workerLimits()}, table, caller); f != nil {
		b.Fatal(f)
	}
}

// BenchmarkNativeCall is one call of a running program: worker to host and
// back. Its control is the same program in this process; dispatch is the host's
// part of it alone.
func BenchmarkNativeCall(b *testing.B) {
	unlimited := Limits{
		MaxNativeCalls: math.MaxInt32, MaxSteps: math.MaxInt64, MaxExecutionTime: time.Hour,
		MaxIntermediateValueBytes: math.MaxInt64,
	}
	b.Run("worker", func(b *testing.B) {
		s := build(b, Options{Limits: unlimited}, NewCapability(lookupInfo(), lookup))
		b.ReportAllocs()
		b.ResetTimer()
		if _, err := s.Execute(b.Context(), authz.Local(), lookups(b.N)); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("in-process", func(b *testing.B) {
		s := build(b, Options{Limits: unlimited}, NewCapability(lookupInfo(), lookup))
		b.ReportAllocs()
		b.ResetTimer()
		runInProcess(b, s, lookups(b.N))
	})
	b.Run("dispatch", func(b *testing.B) {
		s := build(b, Options{Limits: unlimited}, NewCapability(lookupInfo(), lookup))
		arguments := arguments(func(w *canon.Writer) {
			w.BeginObject(1)
			w.Key("key")
			w.String("a", 0, 128)
			w.EndObject()
		})
		b.ReportAllocs()
		for b.Loop() {
			o := s.dispatcher.dispatch(b.Context(), authz.Local(), nil, nil, nativeCall{Call: worker.Call{Capability: "rec-1", Arguments: arguments}}, func() bool { return true })
			if o.fault != nil {
				b.Fatal(o.fault)
			}
		}
	})
}
