package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/worker"
)

// built builds the binary.
func built(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), worker.BinaryName)
	c := exec.Command("go", "build", "-trimpath", "-o", path, ".")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

//capgenvet:allow workerentry the workers of this test run the binary that it builds
func TestWorker(t *testing.T) {
	path := built(t)
	config := worker.Config{Executable: path, Table: binding.EncodeTable(nil), Processes: 2}
	c, err := worker.Probe(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("layers: %s", c)
	if runtime.GOOS == "linux" && len(c.Layers) < 5 {
		t.Errorf("layers %s, missing %q", c, c.Missing)
	}
	pool, err := worker.NewPool(config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	r, err := pool.Run(context.Background(), worker.Job{
		Source: "def main():\n  return [i * i for i in range(4)]\n",
		Limits: worker.Limits{Steps: 1000, Calls: 1, Depth: 10, ValueBytes: 1000, ResultBytes: 1000, SourceBytes: 1000, Parallel: 1},
		Call:   func(context.Context, worker.Call) worker.Reply { return worker.Reply{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	if text, _, err := canon.WireToJSON(nil, r.Value, 10); err != nil || string(text) != "[0,1,4,9]" {
		t.Errorf("%s, %v", text, err)
	}
}

// Who types its name learns that it is nothing to type.
func TestStartedByHand(t *testing.T) {
	out, err := exec.Command(built(t)).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "for a host, which starts it") {
		t.Errorf("%v: %s", err, out)
	}
}
