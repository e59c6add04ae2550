package govern

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// trivial is a candidate that does nothing.
const trivial = "1"

// BenchmarkRun is the way of a trivial Starlark candidate from the call of its
// start: until that returns, until its supervisor begins, and until it has
// succeeded. The figures are medians, and ratios to the control in each round:
// the candidate's process alone, from spawn to reap.
func BenchmarkRun(b *testing.B) {
	dir := benchDir(b)
	s, err := onDiskRuns(dir, scenery{}, func() error { return nil }, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.db.Close()
	r, err := runner.Starlark()
	if err != nil {
		b.Skip(err)
	}
	alone := newControl(b, r)
	s.o.Runners = []runner.Runner{r}
	s.o.Tiers = func(context.Context) Tiers {
		return Tiers{Sandbox: []confine.Tier{confine.Worker}, Scope: []scope.Tier{scope.Tree}}
	}
	terms := evaluateHere()
	terms.Runner, terms.Sandbox, terms.Limits.Memory = r.Name, string(confine.Worker), 256<<20
	var control, returned, begun, succeeded []time.Duration
	for b.Loop() {
		control = append(control, alone(b))
		p, err := PrepareRun(as("alice"), s.Service, terms, []byte(`{}`), "k"+strconv.Itoa(len(control)), func(context.Context) (Run, error) {
			return Run{Summary: "nothing", Files: []File{{Path: r.Entry, Content: []byte(trivial)}}}, nil
		})
		if err != nil {
			b.Fatal(err)
		}
		envelope := s.sign(b, ada, p.Plan, func(st *approve.Statement) { st.Issued = whole(s.o.Now()) })
		if err := s.Operator(cli).AddEnvelope(bg(), p.Plan, envelope); err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		j, err := StartRun(as("alice"), s.Service, terms, keyed(p, p.Plan))
		if err != nil {
			b.Fatal(err)
		}
		returned = append(returned, time.Since(start))
		ended := s.endedJob(b, j.Job)
		if ended.State != "SUCCEEDED" {
			b.Fatalf("%+v", ended)
		}
		// By the wall clock, which supervisor and store note.
		begun = append(begun, ended.Started.Sub(start))
		succeeded = append(succeeded, ended.Ended.Sub(start))
	}
	b.ReportMetric(0, "ns/op") // with all that is not looked at here
	unit := median(control)
	b.ReportMetric(float64(unit.Microseconds()), "control-us")
	for name, all := range map[string][]time.Duration{"returned": returned, "begun": begun, "succeeded": succeeded} {
		b.ReportMetric(float64(median(all))/float64(unit), name+"-controls")
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// newControl runs a runner's process in a box of its own, as often as it is
// called, and tells how long that took.
func newControl(b *testing.B, r runner.Runner) func(*testing.B) time.Duration {
	b.Helper()
	box := b.TempDir()
	for _, name := range []string{"code", "out", "tmp"} {
		if err := os.Mkdir(filepath.Join(box, name), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	for name, text := range map[string]string{"arguments.json": "{}", "code/" + r.Entry: trivial} {
		if err := os.WriteFile(filepath.Join(box, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return func(b *testing.B) time.Duration {
		b.Helper()
		c := exec.CommandContext(b.Context(), r.Path)
		c.Args, c.Env, c.Dir = r.Args, r.Env, box
		start := time.Now()
		out, err := c.CombinedOutput()
		took := time.Since(start)
		if err != nil {
			b.Skipf("the candidate cannot run here, as where the binary links C code: %v: %s", err, out)
		}
		for _, name := range []string{"result.json", "progress"} {
			if err := os.Remove(filepath.Join(box, "out", name)); err != nil && !os.IsNotExist(err) {
				b.Fatal(err)
			}
		}
		return took
	}
}
