package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/mcpserver"
	"github.com/capgen/capgen/runtime/worker/sandbox"
)

// known is a server whose workers are as told.
type known struct {
	mcpserver.Runtime
	workers runtime.Workers
}

func (k known) Workers() runtime.Workers { return k.workers }
func (k known) Limits() runtime.Limits   { return runtime.Limits{WorkerMemory: 1 << 28} }

func TestDoctor(t *testing.T) {
	layers := []string{"descriptors", "seccomp"}
	missing := []string{"landlock: the kernel has none"}
	for _, c := range []struct {
		name    string
		workers runtime.Workers
		failure error
		exit    int
		want    []string
	}{
		{"all is well", runtime.Workers{Confinement: runtime.Confinement{Layers: layers}}, nil, ExitOK,
			[]string{"can be built", "worker         this executable", "sandbox        auto", "seccomp holds", "WorkerMemory 268435456 bytes"}},
		{"less, and that is allowed", runtime.Workers{Confinement: runtime.Confinement{Layers: layers, Missing: missing}}, nil, ExitOK,
			[]string{"descriptors holds", "MISSING landlock: the kernel has none"}},
		{"control groups", runtime.Workers{Cgroup: "/sys/fs/cgroup/x"}, nil, ExitOK, []string{"a control group each, below /sys/fs/cgroup/x"}},
		{"none", runtime.Workers{Sandbox: runtime.SandboxOff}, nil, ExitOK, []string{"sandbox        off", "no OS boundary"}},
		{"a binary of its own", runtime.Workers{Binary: runtime.WorkerBinary{Path: "/usr/bin/capgen-worker", SHA256: "abc"}}, nil, ExitOK,
			[]string{"worker         /usr/bin/capgen-worker", "SHA-256 abc"}},
		{"a binary that is passed over", runtime.Workers{Binary: runtime.WorkerBinary{Passed: errors.New("others may\nwrite")}}, nil, ExitOK,
			[]string{"this executable", `not used: others may\u000awrite`}},
		{"a layer is required", runtime.Workers{},
			fmt.Errorf("probe: %w", &runtime.UnconfinedError{Layer: "landlock", Reason: "the kernel has none", Confinement: runtime.Confinement{Layers: layers, Missing: missing}}),
			ExitFailed, []string{"cannot be built: probe: the layer landlock of the sandbox does not hold: the kernel has none", "seccomp holds", "MISSING landlock"}},
		{"something else is wrong", runtime.Workers{}, errors.New("no authorizer"), ExitFailed, []string{"cannot be built: no authorizer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, stderr strings.Builder
			p := program{
				options: Options{Name: "x", Version: "1.2.3"}, stdout: &out, stderr: &stderr,
				lookup: func(string) (string, bool) { return "", false },
				build: func(context.Context, Env) (mcpserver.Runtime, error) {
					if c.failure != nil {
						return nil, c.failure
					}
					return known{workers: c.workers}, nil
				},
			}
			if exit := p.run(context.Background(), []string{"doctor"}); exit != c.exit || stderr.Len() > 0 {
				t.Errorf("exit %d, %s", exit, stderr.String())
			}
			wants := append([]string{"x 1.2.3 (deployment default)"}, c.want...)
			for _, f := range sandbox.Facts() {
				wants = append(wants, f.Name, f.Value)
			}
			for _, want := range wants {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
			}
		})
	}
	p := program{options: Options{Name: "x"}, stderr: new(strings.Builder), lookup: func(string) (string, bool) { return "", false }}
	if exit := p.run(context.Background(), []string{"doctor", "extra"}); exit != ExitUsage {
		t.Errorf("an argument: exit %d", exit)
	}
}
