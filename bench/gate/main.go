// Command gate measures executions against bounds that are ratios of two
// figures of one run, and exits with status 1 when one does not hold in any of
// three tries. Figures without a bound are shown beside them.
//
//	gate FULLHOST [THIN [WORKSPACE]]
//
// FULLHOST is the executable of bench/fullhost, THIN that of the thin worker;
// without it, the pool's workers are this program. WORKSPACE is the reference
// server, whose binary is shown beside the full host's. It runs in the directory of
// the module capgen, one of whose benchmarks it runs.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/capgen/capgen/runtime"
)

const tries = 3

func main() {
	runtime.ServeWorkerAndExit()
	if len(os.Args) == 2 && os.Args[1] == echoArgument {
		echo()
	}
	if len(os.Args) < 2 || len(os.Args) > 4 {
		fmt.Fprintln(os.Stderr, "usage: gate FULLHOST [THIN [WORKSPACE]]")
		os.Exit(2)
	}
	b := bench{fullhost: os.Args[1]}
	if len(os.Args) > 2 {
		b.thin = os.Args[2]
	}
	if len(os.Args) > 3 {
		b.workspace = os.Args[3]
	}
	if err := b.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "gate:", err)
		os.Exit(1)
	}
}

// bench is what the measurements share.
type bench struct {
	fullhost, thin, workspace string

	pool *runtime.Server // workers wait, sandbox on
	full *runtime.Server // each execution starts the full host, no sandbox
	wide *runtime.Server // as pool, with 50 calls at once
	host *runtime.Server // each execution starts the workspace, sandbox on; or this program
	lean *runtime.Server // each execution starts the pool's kind of worker, sandbox on
}

func (b *bench) run(ctx context.Context) (err error) {
	for _, file := range []*string{&b.fullhost, &b.thin, &b.workspace} {
		if *file == "" {
			continue
		}
		if *file, err = filepath.Abs(*file); err != nil {
			return err
		}
	}
	for _, s := range []struct {
		server  **runtime.Server
		options runtime.Options
	}{
		{&b.pool, runtime.Options{WorkerExecutable: b.thin}},
		{&b.full, runtime.Options{WorkerExecutable: b.fullhost, IdleWorkers: runtime.NoIdleWorkers, Sandbox: runtime.SandboxOff}},
		{&b.wide, runtime.Options{WorkerExecutable: b.thin, Limits: runtime.Limits{MaxParallelCalls: 50}}},
		{&b.host, runtime.Options{WorkerExecutable: b.workspace, IdleWorkers: runtime.NoIdleWorkers}},
		{&b.lean, runtime.Options{WorkerExecutable: b.thin, IdleWorkers: runtime.NoIdleWorkers}},
	} {
		if *s.server, err = serve(ctx, s.options); err != nil {
			return err
		}
		defer (*s.server).Close()
	}
	workers := b.pool.Workers()
	fmt.Printf("workers: %s; sandbox: %s\n\n", workers.Binary, workers.Confinement)
	failed := 0
	for _, g := range b.gates() {
		if !g.hold(ctx) {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d bounds do not hold", failed)
	}
	return nil
}

// gate is one bound: a ratio of two figures, at least or at most.
type gate struct {
	name          string
	atLeast, most float64 // one is zero
	measure       func(context.Context) (figures, error)
}

// figures are two measurements of one run, and how to write them.
type figures struct {
	over, under float64
	text        string
}

// hold measures until the bound holds, tries times at most.
func (g gate) hold(ctx context.Context) bool {
	bound := fmt.Sprintf("≥ %.3g", g.atLeast)
	if g.most > 0 {
		bound = fmt.Sprintf("≤ %.3g", g.most)
	}
	for try := 1; ; try++ {
		f, err := g.measure(ctx)
		ratio := f.over / f.under
		ok := err == nil && (g.most > 0 && ratio <= g.most || g.most == 0 && ratio >= g.atLeast)
		word := "holds"
		if !ok {
			word = "FAILS"
		}
		if err != nil {
			f.text = err.Error()
		}
		fmt.Printf("%-5s %-46s %6.2f × (%s)  %s\n", word, g.name, ratio, bound, f.text)
		if ok || try == tries {
			return ok
		}
	}
}
