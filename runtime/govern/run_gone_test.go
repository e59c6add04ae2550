package govern

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/job/supervise"
	"github.com/capgen/capgen/runtime/govern/root"
)

// TestGiveUp: the jobs of a host that is gone are ended by an operator, and by
// nobody else.
func TestGiveUp(t *testing.T) {
	s, m := newRunScene(t, anywhere())
	s.o.MaxJobs = 8
	terms := evaluate
	terms.Limits.Parallel = 8
	run := func(key string) Prepared {
		t.Helper()
		p, err := PrepareRun(as("alice"), s.Service, terms, []byte(`{}`), key, candidate)
		if err != nil {
			t.Fatal(err)
		}
		s.approve(t, ada, p.Plan)
		if _, err := StartRun(as("alice"), s.Service, terms, keyed(p, p.Plan)); err != nil {
			t.Fatal(err)
		}
		return p
	}
	gone := s.host
	starting, running, cancelled := run("k1"), run("k2"), run("k3")
	s.begins(t, running.Plan)
	s.begins(t, cancelled.Plan)
	if _, err := s.Operator(cli).CancelJob(bg(), jobOf(cancelled), ""); err != nil {
		t.Fatal(err)
	}
	s.launch = func(context.Context, supervise.Job, supervise.Journal) (job.State, error) {
		return job.Queued, errors.New("not now")
	}
	queued := run("k4")
	s.on(m)
	s.host = strings.Repeat("ab", 16) // as after its directory of jobs was lost
	own := run("k5")

	r, err := s.Recover(bg())
	if err != nil || len(r.Elsewhere) != 4 || r.Elsewhere[jobOf(queued)] != gone || len(r.Jobs) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	for host, want := range map[string]Code{s.host: InvalidRequest, "x": InvalidRequest, strings.Repeat("0", 32): "ok"} {
		if ended, err := s.Operator(cli).GiveUp(bg(), host); code(err) != want || len(ended) != 0 {
			t.Errorf("%s: %v, %v", host, ended, err)
		}
	}
	ended, err := s.Operator(cli).GiveUp(bg(), gone)
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]string{
		jobOf(queued): "CANCELLED", jobOf(starting): "ORPHANED", jobOf(running): "ORPHANED", jobOf(cancelled): "ORPHANED",
	}, ended); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if kept := s.kept(t, own.Plan); kept.RunState().Ended() {
		t.Errorf("a job of another host is %s", kept.State)
	}
	if again, err := s.Operator(cli).GiveUp(bg(), gone); err != nil || len(again) != 0 {
		t.Errorf("again: %v, %v", again, err)
	}
}

// TestNotForThisProcess: a job that waits for its start is left to a process that
// has been told of what it takes.
func TestNotForThisProcess(t *testing.T) {
	for name, forget := range map[string]func(*scene){
		"its account":     func(s *scene) { s.o.JobUIDs = UIDs{} },
		"its group":       func(s *scene) { s.o.Cgroup = "" },
		"its results":     func(s *scene) { s.o.Results = nil },
		"any supervisors": func(s *scene) { s.o.Supervisor = nil },
	} {
		s, m := newRunScene(t, anywhere())
		s.o.JobUIDs, s.o.Cgroup = UIDs{70_000, 4}, "/sys/fs/cgroup/here"
		s.o.Tiers = func(context.Context) Tiers {
			return Tiers{Sandbox: []confine.Tier{confine.Namespaces}, Scope: []scope.Tier{scope.Cgroup}}
		}
		p := s.approvedRun(t, "alice", "k1")
		s.launch = func(context.Context, supervise.Job, supervise.Journal) (job.State, error) {
			return job.Queued, errors.New("not now")
		}
		s.startRun(t, "alice", p)
		s.on(m)
		before := s.o
		forget(s)
		if name != "any supervisors" && name != "its results" { // without them nothing is asked for
			s.startRun(t, "alice", p)
		}
		if _, err := s.Recover(bg()); err != nil || s.kept(t, p.Plan).State != string(job.Queued) || m.count(jobOf(p)) != 0 {
			t.Errorf("without %s: %s, started %d times, %v", name, s.kept(t, p.Plan).State, m.count(jobOf(p)), err)
		}
		s.o = before
		if _, err := s.Recover(bg()); err != nil || m.count(jobOf(p)) != 1 {
			t.Errorf("with %s: started %d times, %v", name, m.count(jobOf(p)), err)
		}
	}
}

// TestUnready: only what is another thing than was approved is the input's fault.
func TestUnready(t *testing.T) {
	for err, want := range map[error]job.Failure{
		runner.ErrChanged: job.FailInput, fs.ErrNotExist: job.FailInput, cas.ErrCorrupt: job.FailInput,
		cas.ErrLarge: job.FailInput, root.ErrConfined: job.FailInput, syscall.EIO: job.FailInfrastructure,
		errors.New("an account that is not for candidates"): job.FailInfrastructure,
	} {
		if got, text := unready(err); got != want || text == "" {
			t.Errorf("%v: %s, %q", err, got, text)
		}
	}
}
