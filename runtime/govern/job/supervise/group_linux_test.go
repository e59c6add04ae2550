package supervise

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/capgen/capgen/internal/cgrouptest"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/worker/cgroup"
)

// A job whose candidate meets a bound of its group, without an account of its own,
// says that it was one, whichever process of it has met it.
func TestGroupBounds(t *testing.T) {
	group, err := cgrouptest.Dir(t, cgroup.ForMemory, cgroup.ForProcesses)
	if err != nil {
		t.Skip(err)
	}
	file := fmt.Sprintf("/dev/shm/capgen-test-%d", os.Getpid())
	defer os.Remove(file)
	for _, c := range []struct {
		name, script string
		state        job.State
		failure      job.Failure
		message      string
		output       string // the end of what it wrote
	}{
		{"within them", `dd if=/dev/zero of=/dev/null bs=16M count=1; ` + answers, job.Succeeded, "", "", ""},
		{"memory of one", answers + `exec dd if=/dev/zero of=/dev/null bs=96M count=1`, job.Failed, job.FailLimit, "killed", ""},
		{"memory of four", answers + `for i in 1 2 3 4; do (setsid dd if=/dev/zero bs=20M count=1 || kill $$) | sleep 1000 & done; wait`,
			job.Failed, job.FailLimit, "one of its processes was ended for memory", ""},
		// What it can do without, it may come to its result without.
		{"memory of another", `dd if=/dev/zero of=/dev/null bs=96M count=1 || ` + answers, job.Succeeded, "", "", ""},
		{"files in memory", answers + `exec dd if=/dev/zero of=` + file + ` bs=1M count=96`, job.Failed, job.FailLimit, "killed", ""},
		{"processes", answers + `i=0; while [ $i -lt 100 ]; do i=$((i+1)); setsid sleep 1000 & echo $i; done; exit 0`,
			job.Failed, job.FailCandidate, "status", "\n18\n19\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, scope.Cgroup, group, c.script)
			s.Memory, s.Processes = 48<<20, 20
			r := s.run(t)
			last := r.Moves[len(r.Moves)-1]
			out, err := Tail(s.Dir, Stdout, 1000)
			errs, _ := Tail(s.Dir, Stderr, 1000)
			if r.State != c.state || last.Failure != c.failure || !strings.Contains(last.Message, c.message) || err != nil || !strings.HasSuffix(out.Text, c.output) {
				t.Errorf("%s: %+v; it says %q, %q, %v", r.State, last, out.Text, errs.Text, err)
			}
		})
	}
}
