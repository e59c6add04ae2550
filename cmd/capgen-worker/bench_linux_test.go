package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/worker"
)

// BenchmarkStart is from spawn to reap of a worker that is ready in between:
// this binary and the reference server's own, each with and without the
// sandbox, in turn. The figures are medians, in microseconds: of the time, and
// of the processor time, which is the steadier one on a machine that does much
// else. What the sandbox costs is the difference.
func BenchmarkStart(b *testing.B) {
	own := filepath.Join(b.TempDir(), "workspace")
	c := exec.Command("go", "build", "-trimpath", "-o", own, "../workspace")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	thin := built(b)
	kinds := []struct {
		name, path string
		sandbox    worker.Sandbox
		time, cpu  []time.Duration
	}{
		{name: "thin", path: thin},
		{name: "thin-bare", path: thin, sandbox: worker.SandboxOff},
		{name: "workspace", path: own},
		{name: "workspace-bare", path: own, sandbox: worker.SandboxOff},
	}
	for b.Loop() {
		for i := range kinds {
			k := &kinds[i]
			config := worker.Config{Executable: k.path, Table: binding.EncodeTable(nil), Processes: 1, Sandbox: k.sandbox}
			used, began := childTime(b), time.Now()
			if _, err := worker.Probe(context.Background(), config); err != nil {
				b.Fatal(err)
			}
			k.time = append(k.time, time.Since(began))
			k.cpu = append(k.cpu, childTime(b)-used)
		}
	}
	for _, k := range kinds {
		b.ReportMetric(float64(median(k.time).Microseconds()), k.name+"-us")
		b.ReportMetric(float64(median(k.cpu).Microseconds()), k.name+"-cpu-us")
	}
}

// childTime is the processor time of all children that were reaped.
func childTime(b *testing.B) time.Duration {
	b.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
