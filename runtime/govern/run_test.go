package govern

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/job/supervise"
	"github.com/capgen/capgen/runtime/govern/plan"
)

// TestRun: from a plan to a result, whatever is asked again.
func TestRun(t *testing.T) {
	s, m := newRunScene(t, anywhere())
	p := s.prepareRun(t, "alice", "k1")
	again, err := PrepareRun(as("alice"), s.Service, evaluate, []byte(`{"model":"m"}`), "k1", func(context.Context) (Run, error) {
		return Run{}, errors.New("planned twice")
	})
	if err != nil || again.Plan != p.Plan {
		t.Errorf("the same key: %+v, %v", again, err)
	}
	run := s.body(t, p.Plan).Run
	want := &plan.Run{
		Runner:  plan.Runner{Name: "fake", Path: run.Runner.Path, SHA256: run.Runner.SHA256, Args: []string{"fake", "code/main"}, Env: []string{"LANG=C"}, Read: []string{"/lib"}, Entry: "main"},
		Code:    run.Code,
		Summary: "rate momentum", Sandbox: "namespaces", Scope: "namespace",
		Limits: plan.Limits{Wall: time.Minute, CPU: time.Minute, Memory: 256 << 20, Output: 1 << 20, Result: 64 << 10, Processes: 8, Parallel: 2},
	}
	if diff := cmp.Diff(want, run); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if tree, err := s.tree(run.Code); err != nil || len(tree.Nodes) != 3 {
		t.Errorf("%+v, %v", tree, err)
	}
	if _, err := StartRun(as("alice"), s.Service, evaluate, claimOf(p)); code(err) != ApprovalRequired {
		t.Fatalf("without an approval: %v", err)
	}
	s.approve(t, ada, p.Plan)
	if j, err := s.Job(as("alice"), jobOf(p)); code(err) != NotFound {
		t.Errorf("before its start: %+v, %v", j, err)
	}
	for range 2 {
		j := s.startRun(t, "alice", p)
		if j != (Started{jobOf(p), p.Plan, "STARTING"}) {
			t.Errorf("%+v", j)
		}
	}
	if _, err := StartRun(as("alice"), s.Service, evaluate, keyed(p, "a2")); code(err) != TokenReplayed || !strings.Contains(err.Error(), "started with another key") {
		t.Errorf("another key: %v", err)
	}
	if _, err := s.JobResult(as("alice"), jobOf(p)); code(err) != ConflictCode || !strings.Contains(err.Error(), "run.logs") {
		t.Errorf("a result too early: %v", err)
	}
	s.clock.pass(time.Second)
	s.succeeds(t, p.Plan, `{"error":0.25}`)
	if j := s.startRun(t, "alice", p); j.State != "SUCCEEDED" || m.count(jobOf(p)) != 1 {
		t.Errorf("the same key: %+v, started %d times", j, m.count(jobOf(p)))
	}
	j, err := s.Job(as("alice"), jobOf(p))
	began := s.clock.Wall
	wantJob := Job{
		Job: jobOf(p), Plan: p.Plan, Owner: "oidc:https://issuer.example#alice", Capability: evaluate.Name, State: "SUCCEEDED", Progress: "halfway",
		Created: began.Add(-time.Second), Started: began, Ended: began, Heartbeat: began, Runner: "fake", Sandbox: "namespaces", Scope: "namespace",
	}
	if diff := cmp.Diff(wantJob, j); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	r, err := s.JobResult(as("alice"), jobOf(p))
	if err != nil || string(r.Result) != `{"error":0.25}` || r.SHA256 != s.kept(t, p.Plan).Result.String() || !strings.Contains(r.Report, jobOf(p)) {
		t.Errorf("%+v, %v", r, err)
	}
	if got := s.events(t, ""); got != "plan.prepare plan.land!approval_required plan.approve run.queued plan.land plan.land!token_replayed run.started run.succeeded" {
		t.Error(got)
	}
	if v, err := s.Show(as("alice"), p.Plan); err != nil || v.State != "SUCCEEDED" || v.Summary != "rate momentum" || v.Sandbox != "namespaces" || v.Runner != "fake" {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestRunRefusals: what cannot run as it has to is not planned, what cannot any
// more is not started; nothing is spent on either.
func TestRunRefusals(t *testing.T) {
	none := func(*scene, *Terms, *Run) {}
	program := func(s *scene) string { return filepath.Join(s.dir, "interpreter") }
	reads := func(s *scene, to string) { // by a link
		link := filepath.Join(s.dir, "library")
		os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			t.Error(err)
		}
		s.o.Runners[0].Read = []string{link}
	}
	for name, c := range map[string]struct {
		prepare func(*scene, *Terms, *Run)
		start   func(*scene, *Terms)
		want    Code
	}{
		"no runner":            {func(_ *scene, t *Terms, _ *Run) { t.Runner = "other" }, nil, Internal},
		"an altered program":   {func(s *scene, _ *Terms, _ *Run) { os.Chmod(program(s), 0o777) }, nil, Internal},
		"no check":             {func(s *scene, _ *Terms, _ *Run) { s.o.Results = nil }, nil, Internal},
		"no entry":             {func(_ *scene, _ *Terms, r *Run) { r.Files[0].Path = "other" }, nil, InvalidRequest},
		"an entry of files":    {func(_ *scene, _ *Terms, r *Run) { r.Files[0].Path = "main/x" }, nil, InvalidRequest},
		"a path outside":       {func(_ *scene, _ *Terms, r *Run) { r.Files[1].Path = "../x" }, nil, InvalidRequest},
		"a file twice":         {func(_ *scene, _ *Terms, r *Run) { r.Files[1].Path = "main" }, nil, InvalidRequest},
		"a summary":            {func(_ *scene, _ *Terms, r *Run) { r.Summary = "a\nb" }, nil, InvalidRequest},
		"no arguments":         {func(_ *scene, _ *Terms, r *Run) { r.Arguments = []byte(`[1]`) }, nil, InvalidRequest},
		"a stronger tier":      {func(s *scene, t *Terms, _ *Run) { s.o.Tiers = weak; t.Sandbox = "landlock" }, nil, SandboxUnavailable},
		"no tier said":         {func(s *scene, t *Terms, _ *Run) { s.o.Tiers = weak; t.Sandbox = "" }, nil, SandboxUnavailable},
		"no such tier":         {func(_ *scene, t *Terms, _ *Run) { t.Sandbox = "best" }, nil, SandboxUnavailable},
		"native in a worker":   {func(_ *scene, t *Terms, _ *Run) { t.Sandbox = "worker" }, nil, SandboxUnavailable},
		"no scope":             {func(s *scene, _ *Terms, _ *Run) { s.o.Tiers = loose }, nil, SandboxUnavailable},
		"nobody else may":      {func(s *scene, _ *Terms, _ *Run) { *s.trust = newApprover(agent).line() }, nil, Forbidden},
		"it reads the state":   {func(s *scene, _ *Terms, _ *Run) { reads(s, filepath.Dir(s.o.Path)) }, nil, Internal},
		"it comes to read it":  {func(s *scene, _ *Terms, _ *Run) { reads(s, "/lib") }, func(s *scene, _ *Terms) { reads(s, s.o.Path) }, Internal},
		"another program":      {none, func(s *scene, _ *Terms) { os.WriteFile(program(s), []byte("interprets otherwise"), 0o755) }, StaleState},
		"other arguments":      {none, func(s *scene, _ *Terms) { s.o.Runners[0].Args = []string{"fake", "-x", "code/main"} }, StaleState},
		"another environment":  {none, func(s *scene, _ *Terms) { s.o.Runners[0].Env = nil }, StaleState},
		"other paths":          {none, func(s *scene, _ *Terms) { s.o.Runners[0].Read = []string{"/home"} }, StaleState},
		"the tier is gone":     {none, func(s *scene, _ *Terms) { s.o.Tiers = weak }, SandboxUnavailable},
		"the scope is gone":    {none, func(s *scene, _ *Terms) { s.o.Tiers = loose }, SandboxUnavailable},
		"another contract":     {none, func(_ *scene, t *Terms) { t.Contract = strings.Repeat("00", 32) }, StaleState},
		"the code is gone":     {none, func(s *scene, _ *Terms) { s.objects.Remove(cas.Of([]byte("more")).String()) }, Internal},
		"the runner is gone":   {none, func(s *scene, _ *Terms) { s.o.Runners = nil }, Internal},
		"nobody supervises":    {none, func(s *scene, _ *Terms) { s.o.Supervisor = nil }, Internal},
		"the approver revoked": {none, func(s *scene, _ *Terms) { *s.trust = bob.line() }, ApprovalRequired},
	} {
		t.Run(name, func(t *testing.T) {
			s, m := newRunScene(t, scenery{})
			terms := evaluate
			run, _ := candidate(bg())
			c.prepare(s, &terms, &run)
			p, err := PrepareRun(as("alice"), s.Service, terms, []byte(`{}`), "k1", func(context.Context) (Run, error) { return run, nil })
			if c.start == nil {
				if code(err) != c.want || strings.Contains(fmt.Sprint(err), s.dir) {
					t.Fatalf("%v, want %s", err, c.want)
				}
				if got := s.last(t, 1); got != "plan.prepare!"+string(c.want) {
					t.Error(got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s.approve(t, ada, p.Plan)
			c.start(s, &terms)
			if _, err = StartRun(as("alice"), s.Service, terms, claimOf(p)); code(err) != c.want || strings.Contains(fmt.Sprint(err), s.dir) {
				t.Fatalf("%v, want %s", err, c.want)
			}
			if got := s.last(t, 1); got != "plan.land!"+string(c.want) || m.count(jobOf(p)) != 0 {
				t.Errorf("%s, started %d times", got, m.count(jobOf(p)))
			}
			if v, err := s.Status(as("alice"), p.Plan); err != nil || v.Status != "prepared" {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}

// TestRunKeys: a key is its subject's and its capability's own, and there is no
// request without one.
func TestRunKeys(t *testing.T) {
	s, _ := newRunScene(t, scenery{})
	other := evaluate
	other.ID, other.Name = "candidates.try", "candidates.try"
	s.o.Results[other.ID] = s.o.Results[evaluate.ID]
	plans := map[string]bool{}
	for _, who := range []string{"alice", "bob"} {
		for _, terms := range []Terms{evaluate, other} {
			p, err := PrepareRun(as(who), s.Service, terms, []byte(`{}`), "k1", candidate)
			if err != nil {
				t.Fatal(err)
			}
			plans[p.Plan] = true
		}
	}
	if len(plans) != 4 {
		t.Errorf("%d plans", len(plans))
	}
	p := s.approvedRun(t, "alice", "k2")
	for _, key := range []string{"", "a\nb", strings.Repeat("k", MaxKeyBytes+1)} {
		if _, err := PrepareRun(as("alice"), s.Service, evaluate, []byte(`{}`), key, candidate); code(err) != InvalidRequest {
			t.Errorf("prepare with %.20q: %v", key, err)
		}
		if _, err := StartRun(as("alice"), s.Service, evaluate, keyed(p, key)); code(err) != InvalidRequest {
			t.Errorf("start with %.20q: %v", key, err)
		}
	}
}

func weak(context.Context) Tiers {
	return Tiers{Sandbox: []confine.Tier{confine.None}, Scope: []scope.Tier{scope.Tree}}
}

func loose(context.Context) Tiers {
	return Tiers{Sandbox: []confine.Tier{confine.Namespaces}}
}

// TestTiers: the strongest one that there is, of the runner's kind, and never less
// than was asked for.
func TestTiers(t *testing.T) {
	all := Tiers{Sandbox: confine.Tiers(), Scope: scope.Tiers()}
	for _, c := range []struct {
		have   Tiers
		least  string
		worker bool
		want   string
	}{
		{all, "landlock", false, "namespaces cgroup"},
		{all, "none", false, "namespaces cgroup"},
		{all, "", false, "namespaces cgroup"},
		{all, "namespaces", false, "namespaces cgroup"},
		{all, "worker", true, "worker cgroup"},
		{all, "none", true, "worker cgroup"},
		{all, "namespaces", true, "worker cgroup"},
		{all, "worker", false, ""},
		{all, "vm", false, ""},
		{Tiers{[]confine.Tier{confine.None, confine.Landlock}, []scope.Tier{scope.Tree}}, "none", false, "landlock tree"},
		{Tiers{[]confine.Tier{confine.None}, []scope.Tier{scope.Tree}}, "none", false, "none tree"},
		{Tiers{[]confine.Tier{confine.None, confine.Landlock}, []scope.Tier{scope.Tree}}, "namespaces", false, ""},
		{Tiers{[]confine.Tier{confine.Namespaces}, nil}, "none", false, ""},
		{Tiers{[]confine.Tier{confine.Namespaces}, scope.Tiers()}, "worker", true, ""},
	} {
		hint := "native code under a server that is root needs accounts for candidates (--job-uids)"
		if c.worker {
			hint = "a server that links C code cannot confine itself (build it with CGO_ENABLED=0)"
		}
		sandbox, hold, err := c.have.choose(c.least, c.worker)
		got := strings.TrimSpace(string(sandbox) + " " + string(hold))
		if got != c.want || (code(err) == SandboxUnavailable) != (c.want == "") || err != nil && !strings.Contains(err.Error(), "doctor why; "+hint) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

// TestCandidateIsGiven: what the handler says, or else the capability's own
// arguments, and what its tier takes.
func TestCandidateIsGiven(t *testing.T) {
	s, _ := newRunScene(t, scenery{})
	s.o.JobUIDs, s.o.Cgroup = UIDs{5001, 2}, "/sys/fs/cgroup/x"
	work := func(key string, run Run) (supervise.Work, Prepared) {
		t.Helper()
		p, err := PrepareRun(as("alice"), s.Service, evaluate, []byte(`{"token":"t"}`), key, func(context.Context) (Run, error) { return run, nil })
		if err != nil {
			t.Fatal(err)
		}
		s.approve(t, ada, p.Plan)
		s.startRun(t, "alice", p)
		v, err := s.seeJob(bg(), s.any, jobOf(p))
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.work(v)
		if err != nil {
			t.Fatal(err)
		}
		return w, p
	}
	own, _ := candidate(bg())
	other := own
	other.Arguments = []byte(`{"b": 2, "a": 1}`)
	w, p := work("k1", own)
	if string(w.Arguments) != `{"token":"t"}` {
		t.Errorf("%s", w.Arguments)
	}
	c := w.Command
	if c.Confine == nil || c.Confine.UID != 5001 || c.Confine.GID != 5001 || c.Confine.Box != filepath.Join(s.o.Path, "jobs", jobOf(p), "box") || string(c.Confine.Tier) != "namespaces" || c.Confine.Apart != s.o.Path ||
		c.Limits.Processes != 8 || c.Limits.Memory != 256<<20 || c.Limits.File != 1<<20 || w.Scope.Cgroup != s.o.Cgroup || w.Scope.Tier != scope.Namespace {
		t.Errorf("%+v, %+v", c, w.Scope)
	}
	if len(w.Files) != 2 || w.Files[0].Path != "lib/more" {
		t.Errorf("%+v", w.Files)
	}
	if content, err := w.Read(bg(), w.Files[0].SHA256, w.Files[0].Size); err != nil || string(content) != "more" {
		t.Errorf("%s, %v", content, err)
	}
	if _, err := w.Read(bg(), w.Files[0].SHA256, 1); !errors.Is(err, supervise.ErrInput) {
		t.Errorf("larger than it was: %v", err)
	}
	if _, err := w.Read(bg(), [32]byte{1}, 1); !errors.Is(err, supervise.ErrInput) {
		t.Errorf("not there any more: %v", err)
	}
	// Without an account of its own its processes are bounded where they alone count.
	for tier, want := range map[confine.Tier]int{confine.Namespaces: 8, confine.None: 0} {
		v, err := s.seeJob(bg(), s.any, jobOf(p))
		if err != nil {
			t.Fatal(err)
		}
		v.job.UID, v.Run.Sandbox = 0, string(tier)
		if c, _ := s.candidate(v); c.Limits.Processes != want {
			t.Errorf("%s: %d processes, want %d", tier, c.Limits.Processes, want)
		}
	}
	w, _ = work("k2", other)
	if string(w.Arguments) != `{"a":1,"b":2}` || w.Command.Confine.UID != 5002 {
		t.Errorf("%s, account %d", w.Arguments, w.Command.Confine.UID)
	}
	// An account that a row names, and the server does not give.
	for _, uid := range []int64{1, 5000, 5003} {
		v, err := s.seeJob(bg(), s.any, jobOf(p))
		v.job.UID = uid
		if _, made := s.work(v); err != nil || made == nil {
			t.Errorf("a candidate gets account %d: %v", uid, err)
		}
	}
	// Every account is in use, until a job has ended.
	q := s.approvedRun(t, "bob", "k3")
	s.o.MaxJobs = 9
	s.succeeds(t, p.Plan, `{}`)
	if j := s.startRun(t, "bob", q); j.State != "STARTING" || s.kept(t, q.Plan).UID != 5001 {
		t.Errorf("%+v, account %d", j, s.kept(t, q.Plan).UID)
	}
}
