package operate

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/job/runner"
)

// told collects what doctor says.
type told struct{ strings.Builder }

func (t *told) line(name, format string, args ...any) {
	fmt.Fprintf(t, "%s|%s\n", name, fmt.Sprintf(format, args...))
}

// An account that is somebody's is not one for candidates.
func TestAccountsThatAreTaken(t *testing.T) {
	own := os.Geteuid()
	for _, c := range []struct {
		r     accountRange
		agent int
		want  string
		ok    bool
	}{
		{accountRange{}, -1, "none: candidates have the server's own", true},
		{accountRange{3_000_000_000, 2}, -1, "3000000000-3000000001, 2 candidates", true},
		{accountRange{3_000_000_000, 2}, 3_000_000_001, "MISSING 3000000001 is the agents' account", false},
		{accountRange{max(own, 1), 1}, -1, fmt.Sprintf("MISSING %d ", max(own, 1)), false}, // 1 has a name where root tests
	} {
		s := Setup{accounts: c.r}
		s.flags.agentUID = c.agent
		var out told
		if ok := s.doctorAccounts(out.line); ok != c.ok || !strings.Contains(out.String(), c.want) {
			t.Errorf("%+v: %t\n%s", c, ok, out.String())
		}
	}
}

// A program that is not there makes a runner none.
func TestRunnersThatAreMissing(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out told
	if !doctorRunners([]runner.Runner{{Name: "test", Path: self, Args: []string{"test", "code/main"}, Entry: "main"}}, out.line) || !strings.Contains(out.String(), "test: "+self+", SHA-256 ") {
		t.Errorf("%s", out.String())
	}
	if doctorRunners([]runner.Runner{{Name: "gone", Path: "/none", Args: []string{"gone"}, Entry: "main"}}, out.line) || !strings.Contains(out.String(), "MISSING gone: ") {
		t.Errorf("%s", out.String())
	}
}

// A supervisor that nobody has seen for a while is pointed out.
func TestSilentSupervisors(t *testing.T) {
	silent := govern.Job{Job: "job_1", State: "RUNNING", Progress: "half", Heartbeat: time.Now().Add(-25 * time.Second)}
	if got := join(unseen(silent), note(silent)); got != "not seen for 25s; says \"half\"" && got != "not seen for 26s; says \"half\"" {
		t.Errorf("%q", got)
	}
	seen := silent
	seen.Heartbeat = time.Now()
	if got := join(unseen(seen), note(seen)); got != "says \"half\"" {
		t.Errorf("%q", got)
	}
	var out told
	if doctorJobs(govern.Facts{OldestJob: &seen, Unseen: []govern.Job{silent}}, out.line); !strings.Contains(out.String(), "job_1: its supervisor was not seen for 2") {
		t.Errorf("%s", out.String())
	}
}
