package worker_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
	"github.com/capgen/capgen/runtime/worker"
)

// inProcess is the control: the same engine without a process.
type inProcess struct{ reply worker.Reply }

func (p *inProcess) Call(id string, _ []uint32, arguments []byte) (uint32, *fault.Fault) {
	p.reply = echo(context.Background(), worker.Call{Sequence: 1, Capability: id, Arguments: arguments})
	return 1, nil
}

func (p *inProcess) Answer() (uint32, []byte, *fault.Fault) { return 1, p.reply.Value, p.reply.Fault }
func (p *inProcess) Refused(string) *fault.Fault            { return nil }

func benchmarkProcess(b *testing.B, source string) {
	s := pool(b, worker.Config{})
	for b.Loop() {
		if _, err := s.Run(context.Background(), job(source)); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkControl(b *testing.B, source string) {
	parsed, err := binding.ParseTable(table())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, f := program.Run(program.Program{Source: source, Limits: limits()}, parsed, &inProcess{}); f != nil {
			b.Fatal(f)
		}
	}
}

const emptyProgram = "def main():\n  return 1\n"

// BenchmarkExecuteEmpty is one execution from spawn to reap.
func BenchmarkExecuteEmpty(b *testing.B) {
	b.Run("process", func(b *testing.B) { benchmarkProcess(b, emptyProgram) })
	b.Run("control", func(b *testing.B) { benchmarkControl(b, emptyProgram) })
}

// BenchmarkNativeCall is one native call within a long execution: time per
// call, the spawn is not in it.
func BenchmarkNativeCall(b *testing.B) {
	calls := func(n int) string {
		return fmt.Sprintf("def main():\n  for i in range(%d):\n    test.echo(text = \"hello\")\n", n)
	}
	b.Run("process", func(b *testing.B) {
		s := pool(b, worker.Config{})
		j := job(calls(b.N))
		j.Limits.Calls, j.Limits.Steps, j.Limits.ResultBytes = int64(b.N), 1<<40, 1<<40
		started := false
		j.Call = func(ctx context.Context, c worker.Call) worker.Reply {
			if !started {
				started = true
				b.ResetTimer()
			}
			return echo(ctx, c)
		}
		if _, err := s.Run(context.Background(), j); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("control", func(b *testing.B) {
		parsed, err := binding.ParseTable(table())
		if err != nil {
			b.Fatal(err)
		}
		l := limits()
		l.Calls, l.Steps, l.ResultBytes = int64(b.N), 1<<40, 1<<40
		if _, f := inProcessRun(parsed, calls(b.N), l); f != nil {
			b.Fatal(f)
		}
	})
}

func inProcessRun(parsed *binding.Table, source string, l worker.Limits) (program.Result, *fault.Fault) {
	return program.Run(program.Program{Source: source, Limits: l}, parsed, &inProcess{})
}
