//go:build linux && (amd64 || arm64)

package worker_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/worker"
	"github.com/capgen/capgen/runtime/worker/sandbox"
)

// During a call, the kernel says of each thread of the worker what holds.
func TestWorkerIsConfined(t *testing.T) {
	layers := worker.Available(t)
	c, err := worker.Probe(context.Background(), worker.Config{Table: table()})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(layers, c.Layers); d != "" {
		t.Errorf("the probe reports (-want +got):\n%s", d)
	}
	_, err = worker.Probe(context.Background(), worker.Config{Table: table(), Sandbox: worker.SandboxRequired})
	if complete := len(layers) == len(sandbox.Layers()); complete != (err == nil) || !complete && !strings.Contains(err.Error(), "landlock") {
		t.Errorf("required, with %v: %v", layers, err)
	}
	for mode, want := range map[worker.Sandbox]string{worker.SandboxAuto: "NoNewPrivs: 1 Seccomp: 2", worker.SandboxOff: "NoNewPrivs: 0 Seccomp: 0"} {
		t.Run(mode.String(), func(t *testing.T) {
			s := pool(t, worker.Config{Sandbox: mode})
			j := job("test.echo(text = \"a\")")
			j.Call = func(ctx context.Context, c worker.Call) worker.Reply {
				workers, _ := children(t, os.Getpid())
				if len(workers) != 1 {
					t.Errorf("%d workers", len(workers))
					return echo(ctx, c)
				}
				threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", workers[0]))
				if len(threads) < 2 {
					t.Errorf("%d threads", len(threads))
				}
				for _, name := range threads {
					text, err := os.ReadFile(name)
					if err != nil {
						t.Error(err)
					}
					var found []string
					for _, m := range regexp.MustCompile(`(?m)^(NoNewPrivs|Seccomp):\t(\d+)$`).FindAllStringSubmatch(string(text), -1) {
						found = append(found, m[1]+": "+m[2])
					}
					if got := strings.Join(found, " "); got != want {
						t.Errorf("%s: got %s, want %s", name, got, want)
					}
				}
				return echo(ctx, c)
			}
			if _, err := s.Run(context.Background(), j); err != nil {
				t.Error(err)
			}
		})
	}
}

// A worker that holds less than its host asks for is not used.
func TestMissingLayer(t *testing.T) {
	less := worker.Config{Table: table(), Sandbox: worker.SandboxOff, Layers: []string{"seccomp"}}
	const want = "the layer seccomp of the sandbox does not hold: it is not reported"
	if _, err := worker.Probe(context.Background(), less); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("probe: %v", err)
	}
	if _, err := pool(t, less).Run(context.Background(), job("1")); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("run: %v", err)
	}
	silent := worker.Config{Executable: fakeWorker(t, "no layers"), Table: table(), Sandbox: worker.SandboxRequired}
	if _, err := worker.Probe(context.Background(), silent); err == nil || !strings.Contains(err.Error(), "the layer descriptors of the sandbox does not hold: /proc is not mounted") {
		t.Errorf("a worker that says why: %v", err)
	}
}

// The kernel's own list of a worker's limits, soft and hard.
func TestWorkerLimits(t *testing.T) {
	s := pool(t, worker.Config{CPU: 5 * time.Second, Memory: 200 << 20})
	j := job("test.echo(text = \"a\")")
	j.Call = func(ctx context.Context, c worker.Call) worker.Reply {
		workers, _ := children(t, os.Getpid())
		if len(workers) != 1 {
			t.Errorf("%d workers", len(workers))
			return echo(ctx, c)
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", workers[0]))
		if err != nil {
			t.Error(err)
		}
		for name, most := range map[string][2]int{
			"Max cpu time":       {6, 8},
			"Max core file size": {0, 0},
			"Max file size":      {0, 0},
			"Max open files":     {16, 16},
			"Max locked memory":  {0, 0},
			"Max msgqueue size":  {0, 0},
			"Max address space":  {200 << 20, 1 << 62}, // over what a Go process reserves
		} {
			m := regexp.MustCompile(`(?m)^` + name + ` +(\d+) +(\d+) `).FindStringSubmatch(string(text))
			if m == nil || m[1] != m[2] {
				t.Errorf("%s: %q", name, m)
				continue
			}
			if n, err := strconv.Atoi(m[1]); err != nil || n < most[0] || n > most[1] {
				t.Errorf("%s is %d, want %d to %d", name, n, most[0], most[1])
			}
		}
		return echo(ctx, c)
	}
	if _, err := s.Run(context.Background(), j); err != nil {
		t.Error(err)
	}
	for _, bad := range []worker.Config{{Memory: worker.MinMemory - 1}, {Memory: -1}, {CPU: -1}, {Sandbox: 7}} {
		bad.Table, bad.Processes = table(), 1
		if _, err := worker.NewPool(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
