package govern

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/job/supervise"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/store"
)

var evaluate = Terms{
	ID: "candidates.evaluate", Name: "candidates.evaluate", Effect: effectRun, Contract: strings.Repeat("ef", 32), Min: 1, TTL: 15 * time.Minute,
	Runner: "fake", Sandbox: "landlock",
	Limits: RunLimits{Wall: time.Minute, CPU: time.Minute, Memory: 256 << 20, Output: 1 << 20, Result: 64 << 10, Processes: 8, Parallel: 2},
}

// machine is what starts supervisors, and what becomes of them, without a process.
type machine struct {
	mu sync.Mutex
	// started counts the supervisors of each job, alive are those that run.
	started map[string]int
	alive   map[string]bool
	step    func() error // before and after each start; nil is none
}

func newMachine() *machine { return &machine{started: map[string]int{}, alive: map[string]bool{}} }

// clone is the machine with the processes that it has.
func (m *machine) clone() *machine {
	out := newMachine()
	for id, n := range m.started {
		out.started[id] = n
		out.alive[id] = m.alive[id]
	}
	return out
}

func (m *machine) stepped() error {
	if m.step == nil {
		return nil
	}
	return m.step()
}

// launch does what supervise.Launch says of itself.
func (m *machine) launch(ctx context.Context, j supervise.Job, to supervise.Journal) (job.State, error) {
	v, err := to.Look(ctx)
	if err != nil || v.State != job.Queued {
		return v.State, err
	}
	if err := m.stepped(); err != nil {
		return v.State, err
	}
	state, err := to.Move(ctx, supervise.Move{From: job.Queued, Event: job.EventClaim, By: job.ByServer})
	if errors.Is(err, supervise.ErrMoved) {
		return state, nil
	}
	if err == nil {
		err = m.stepped()
	}
	if err != nil {
		return state, err
	}
	m.mu.Lock()
	m.started[j.ID]++
	m.alive[j.ID] = true
	m.mu.Unlock()
	return state, m.stepped()
}

// settle does what supervise.Settle says of itself.
func (m *machine) settle(ctx context.Context, j supervise.Job, to supervise.Journal) (job.State, error) {
	v, err := to.Look(ctx)
	if err != nil {
		return v.State, err
	}
	late := j.Limits.Deadlines().Overdue(v.State, v.Times, j.Now())
	m.mu.Lock()
	alive := m.alive[j.ID]
	m.mu.Unlock()
	move := supervise.Move{From: v.State, By: job.ByWatchdog, Empty: true}
	switch {
	case v.State == job.Queued && !late && j.Supervisor.Path == "":
		return v.State, nil
	case v.State == job.Queued && !late:
		return m.launch(ctx, j, to)
	case v.State == job.Queued:
		move.Event, move.Failure = job.EventExpire, job.FailTimeout
	case alive && !late:
		return v.State, nil
	case v.State == job.CancelRequested:
		move.Event, move.Failure = job.EventEmptied, job.FailCancelled
	case late:
		move.Event, move.Failure = job.EventExpire, job.FailTimeout
	default:
		move.Event, move.Failure = job.EventLose, job.FailOrphaned
	}
	m.mu.Lock()
	m.alive[j.ID] = false
	m.mu.Unlock()
	state, err := to.Move(ctx, move)
	if errors.Is(err, supervise.ErrMoved) {
		err = nil
	}
	return state, err
}

func (m *machine) count(id string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.started[id]
}

// forRuns adds to options what runs take.
func forRuns(o *Options, dir, programs string) error {
	program := filepath.Join(programs, "interpreter")
	if _, err := os.Stat(program); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(program, []byte("interprets"), 0o755); err != nil {
			return err
		}
		if err := os.Chmod(program, 0o755); err != nil {
			return err
		}
	}
	o.Path, o.Supervisor = dir, []string{"/none/supervisor", "supervise"}
	o.Runners = []runner.Runner{{Name: "fake", Path: program, Args: []string{"fake", "code/main"}, Env: []string{"LANG=C"}, Read: []string{"/lib"}, Entry: "main"}}
	o.Results = map[string]func([]byte) ([]byte, error){evaluate.ID: func(b []byte) ([]byte, error) { return b, nil }}
	o.Tiers = func(context.Context) Tiers {
		return Tiers{Sandbox: []confine.Tier{confine.Namespaces, confine.Landlock, confine.None}, Scope: []scope.Tier{scope.Namespace, scope.Tree}}
	}
	return nil
}

// on has the scene's jobs started by a machine.
func (s *scene) on(m *machine) {
	s.launch, s.settleJob, s.jobsThere = m.launch, m.settle, func() error { return nil }
}

func newRunScene(t testing.TB, with scenery) (*scene, *machine) {
	t.Helper()
	with.runs = true
	s, m := newScene(t, with), newMachine()
	s.on(m)
	return s, m
}

// candidate is code like any other.
func candidate(context.Context) (Run, error) {
	return Run{Summary: "rate momentum", Files: []File{{Path: "main", Content: []byte("code")}, {Path: "lib/more", Content: []byte("more")}}}, nil
}

func (s *scene) prepareRun(t testing.TB, who, key string) Prepared {
	t.Helper()
	p, err := PrepareRun(as(who), s.Service, evaluate, []byte(`{"model":"m"}`), key, candidate)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// approvedRun is a plan of somebody's that may start.
func (s *scene) approvedRun(t testing.TB, who, key string) Prepared {
	t.Helper()
	p := s.prepareRun(t, who, key)
	s.approve(t, ada, p.Plan)
	return p
}

func (s *scene) startRun(t testing.TB, who string, p Prepared) Started {
	t.Helper()
	j, err := StartRun(as(who), s.Service, evaluate, keyed(p, p.Plan))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// journal is what the supervisor of a job has.
func (s *scene) journal(t testing.TB, planID string) jobJournal {
	t.Helper()
	var p opened
	err := s.db.View(bg(), func(tx *store.Tx) (err error) {
		p, err = s.any(tx, planID)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return jobJournal{s.Service, p}
}

// begins brings a job that is STARTING to RUNNING, as its supervisor does.
func (s *scene) begins(t testing.TB, planID string) jobJournal {
	t.Helper()
	j := s.journal(t, planID)
	if err := j.Keep(bg(), supervise.Handle{Scope: scope.Handle{Tier: scope.Tree}}); err != nil {
		t.Fatal(err)
	}
	if state, err := j.Move(bg(), supervise.Move{From: job.Starting, Event: job.EventBegin, By: job.BySupervisor}); err != nil || state != job.Running {
		t.Fatal(state, err)
	}
	return j
}

// succeeds ends a running job, as its supervisor does.
func (s *scene) succeeds(t testing.TB, planID, result string) {
	t.Helper()
	j := s.begins(t, planID)
	if _, err := j.Beat(bg(), "halfway"); err != nil {
		t.Fatal(err)
	}
	state, err := j.Move(bg(), supervise.Move{From: job.Running, Event: job.EventSucceed, By: job.BySupervisor, Empty: true, Result: []byte(result)})
	if err != nil || state != job.Succeeded {
		t.Fatal(state, err)
	}
}

// kept is the row of a job.
func (s *scene) kept(t testing.TB, planID string) store.Job {
	t.Helper()
	j, err := s.journal(t, planID).kept(bg())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// body is what a plan says.
func (s *scene) body(t testing.TB, id string) plan.Plan {
	t.Helper()
	body, err := s.Operator(cli).Body(bg(), id)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (s *scene) events(t testing.TB, prefix string) string {
	t.Helper()
	var out []string
	for _, e := range s.trail(t) {
		if strings.HasPrefix(e, prefix) {
			out = append(out, e)
		}
	}
	return strings.Join(out, " ")
}

func jobOf(p Prepared) string { return jobID(p.Plan) }

func keyed(p Prepared, key string) Claim {
	c := claimOf(p)
	c.Key = key
	return c
}
