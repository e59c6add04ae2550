package operate

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
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

// A group of a candidate's number is somebody's too, though no account has it.
func TestGroupsThatAreTaken(t *testing.T) {
	for id := 1; id < 1000; id++ {
		g, err := user.LookupGroupId(strconv.Itoa(id))
		if err != nil {
			continue
		}
		if _, err := user.LookupId(g.Gid); err == nil {
			continue
		}
		s := Setup{accounts: accountRange{id, 1}}
		s.flags.agentUID = -1
		var out told
		if want := fmt.Sprintf("MISSING %d is the number of a group, %s", id, g.Name); s.doctorAccounts(out.line) || !strings.Contains(out.String(), want) {
			t.Errorf("%s\n%s", want, out.String())
		}
		return
	}
	t.Skip("every group here has the number of an account")
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

// A runner that would have candidates read the state directory is none, whatever
// leads there; one that reads nothing is not asked.
func TestRunnersThatReadTheState(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(state), link); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		state  string
		reads  string
		worker bool
		ok     bool
	}{{state, link, false, false}, {"", link, false, true}, {state, link, true, true}, {state, filepath.Join(state, "none"), false, false}, {state, t.TempDir(), false, true}} {
		var out told
		s := Setup{state: c.state}
		ok := s.doctorReads([]runner.Runner{{Name: "test", Read: []string{c.reads}, Worker: c.worker}}, out.line)
		if ok != c.ok || ok == strings.Contains(out.String(), "MISSING test: ") {
			t.Errorf("%+v: %t\n%s", c, ok, out.String())
		}
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
