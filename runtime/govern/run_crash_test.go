package govern

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/fault"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/store"
)

// runStory is one run's way from prepare to its start, as its requester and its
// approver go it, who try again after a crash.
type runStory struct {
	prepared Prepared // what the requester was told; zero before
	approved []byte   // what the approver signed
	started  bool     // the requester was told so
	machine  *machine // the processes that there are: a crash of the server leaves them
}

func (y *runStory) tell(s *scene) error {
	if y.prepared.Plan == "" {
		p, err := PrepareRun(as("alice"), s.Service, evaluate, []byte(`{}`), "k1", candidate)
		if err != nil {
			return err
		}
		y.prepared = p
	}
	if y.approved == nil {
		body, err := s.Operator(cli).Body(bg(), y.prepared.Plan)
		if err != nil {
			return err
		}
		st, err := s.statement(ada, body)
		if err != nil {
			return err
		}
		if y.approved, err = approve.Sign(bg(), ada, st); err != nil {
			return err
		}
	}
	if err := s.Operator(cli).AddEnvelope(bg(), y.prepared.Plan, y.approved); err != nil && code(err) != ConflictCode {
		return err
	}
	_, err := StartRun(as("alice"), s.Service, evaluate, claimOf(y.prepared))
	y.started = y.started || err == nil
	return err
}

// run tells the story until the server stops.
func (y *runStory) run(with scenery) error {
	s, err := with.open()
	if err != nil {
		return err
	}
	defer s.db.Close()
	y.machine.step = with.disk.Step
	defer func() { y.machine.step = nil }()
	s.on(y.machine)
	return y.tell(s)
}

// again recovers from a crash, tells the story to its end, and says what is wrong
// then.
func (y runStory) again(t testing.TB, found scenery) string {
	y.machine = y.machine.clone()
	s, err := found.open()
	if err != nil {
		return err.Error()
	}
	defer s.db.Close()
	s.on(y.machine)
	if _, err := s.Recover(bg()); err != nil {
		return "recovery: " + err.Error()
	}
	if y.started { // what the requester was told is durable
		if _, err := s.Job(as("alice"), jobOf(y.prepared)); err != nil {
			return "after it was told: " + err.Error()
		}
	}
	if err := y.tell(s); err != nil {
		return "told again: " + err.Error()
	}
	for range 2 {
		if err := s.Watch(bg()); err != nil {
			return err.Error()
		}
	}
	id := jobOf(y.prepared)
	j, err := s.Job(as("alice"), id)
	if err != nil {
		return err.Error()
	}
	// A claim that nothing came of is over, since nobody can tell.
	switch n := y.machine.count(id); {
	case n > 1 || n == 1 && j.State != string(job.Starting) || n == 0 && j.State != string(job.Orphaned):
		return fmt.Sprintf("started %d times, and %s", n, j.State)
	}
	all := strings.Join(s.trail(t), " ") + " "
	if landed, queued := strings.Count(all, "plan.land "), strings.Count(all, "run.queued "); landed != 1 || queued != 1 {
		return fmt.Sprintf("approvals were spent %d times, and it was queued %d times", landed, queued)
	}
	return ""
}

// TestRunCrash stops the server at every step, on disk, of the database and of
// starting a supervisor, and takes every disk that may be found after it: the job
// is started once, or is over without a start.
func TestRunCrash(t *testing.T) {
	singleThreaded(t)
	base := scenery{disk: newDisk(t), dir: tempDir(t), runs: true, program: tempDir(t)}
	stride := 5
	if *soak {
		stride = 1
	}
	stops, disks := 0, 0
	for n := 1; ; n += stride {
		with := scenery{disk: cloned(t, base.disk), dir: copyDB(t, base.dir), runs: true, program: base.program}
		with.disk.StopAt(n)
		told := runStory{machine: newMachine()}
		if err := told.run(with); err != nil && !errors.Is(err, fault.ErrStopped) {
			t.Fatalf("stopped at step %d: %v", n, err)
		}
		stops++
		stopped := with.disk.Step() != nil
		for after := range with.disk.Crashes() {
			disks++
			found := scenery{disk: after, dir: copyDB(t, with.dir), runs: true, program: base.program}
			if wrong := told.again(t, found); wrong != "" {
				t.Fatalf("stopped at step %d: %s", n, wrong)
			}
		}
		if !stopped {
			break
		}
	}
	t.Logf("%d stops, %d disks", stops, disks)
	if stops < 30/stride {
		t.Errorf("only %d stops", stops)
	}
}

// runStages are where somebody writes to the database.
func runStages() []struct {
	name  string
	begin func(t *testing.T, s *scene, m *machine) Prepared
	may   int // how often it may have been started then
} {
	begun := func(t *testing.T, s *scene, m *machine) Prepared {
		p := s.approvedRun(t, "alice", "k1")
		s.startRun(t, "alice", p)
		return p
	}
	return []struct {
		name  string
		begin func(t *testing.T, s *scene, m *machine) Prepared
		may   int
	}{
		{"prepared", func(t *testing.T, s *scene, m *machine) Prepared {
			p := s.prepareRun(t, "alice", "k1")
			s.approvedRun(t, "bob", "k1")
			return p
		}, 0},
		{"approved", func(t *testing.T, s *scene, m *machine) Prepared { return s.approvedRun(t, "alice", "k1") }, 1},
		{"queued", func(t *testing.T, s *scene, m *machine) Prepared {
			m.step = func() error { return fault.ErrStopped }
			defer func() { m.step = nil }()
			return begun(t, s, m)
		}, 1},
		{"starting", begun, 1},
		{"running", func(t *testing.T, s *scene, m *machine) Prepared {
			p := begun(t, s, m)
			s.begins(t, p.Plan)
			return p
		}, 1},
		{"succeeded", func(t *testing.T, s *scene, m *machine) Prepared {
			p := begun(t, s, m)
			s.succeeds(t, p.Plan, `{"a":1}`)
			q := s.approvedRun(t, "bob", "k1") // to take a result from
			s.startRun(t, "bob", q)
			s.succeeds(t, q.Plan, `{"secret":2}`)
			return p
		}, 1},
		{"cancelled", func(t *testing.T, s *scene, m *machine) Prepared {
			m.step = func() error { return fault.ErrStopped }
			p := begun(t, s, m)
			m.step = nil
			if _, err := s.CancelJob(as("alice"), jobOf(p), "no"); err != nil {
				t.Fatal(err)
			}
			return p
		}, 0},
	}
}

// TestForgedRuns: whatever column of whatever row is another one, nothing starts
// that was not approved, and nothing twice; and nobody else sees it.
func TestForgedRuns(t *testing.T) {
	singleThreaded(t)
	stride := 67
	if *soak {
		stride = 1
	}
	for _, at := range runStages() {
		t.Run(at.name, func(t *testing.T) {
			t.Parallel()
			base := scenery{disk: newDisk(t), dir: tempDir(t), runs: true, program: tempDir(t)}
			s, m := newRunScene(t, base)
			p := at.begin(t, s, m)
			list := forgeries(t, base.dir, "run", "QUEUED", "STARTING", "RUNNING", "CANCEL_REQUESTED", "SUCCEEDED", "FAILED", "ORPHANED", store0)
			tried := 0
			for i := 0; i < len(list); i += stride {
				with := scenery{disk: settled(t, base.disk), dir: copyDB(t, base.dir), runs: true, program: base.program}
				if list[i].write(t, with.dir) {
					tried++
					forgedRun(t, with, m.clone(), p, at.may, list[i])
				}
			}
			if tried*stride*4 < len(list) {
				t.Errorf("only %d of %d forgeries could be written", tried, len(list)/stride)
			}
		})
	}
}

// forgedRun tries all that could make use of a forgery.
func forgedRun(t *testing.T, with scenery, m *machine, p Prepared, may int, f forgery) {
	t.Helper()
	s, err := with.open()
	if err != nil {
		return // it does not even open
	}
	defer s.db.Close()
	s.on(m)
	s.Recover(bg())
	for _, who := range []string{"bob", "alice"} {
		for _, key := range []string{p.Plan, "a2"} {
			j, err := StartRun(as(who), s.Service, evaluate, keyed(p, key))
			switch {
			case err == nil && who == "bob":
				t.Errorf("%s: bob starts it: %+v", f.words, j)
			case err == nil && key == "a2" && may > 0 && m.count(jobOf(p)) > may:
				t.Errorf("%s: started with another key", f.words)
			case err != nil && f.table != "trail" && f.table != "meta" && !strings.Contains(s.last(t, 1), "!"):
				t.Errorf("%s: %v is not in the trail: %s", f.words, err, s.last(t, 1))
			}
		}
		if who == "bob" {
			for what, err := range map[string]error{"sees": second(s.Job(as(who), jobOf(p))), "reads": second(s.JobResult(as(who), jobOf(p))), "cancels": second(s.CancelJob(as(who), jobOf(p), ""))} {
				if code(err) != NotFound && code(err) != Internal {
					t.Errorf("%s: bob %s it: %v", f.words, what, err)
				}
			}
		}
		s.Jobs(as(who), JobFilter{})
	}
	s.Watch(bg())
	if n := m.count(jobOf(p)); n > may {
		t.Errorf("%s: started %d times", f.words, n)
	}
	// A result is the job's own, or none.
	if r, err := s.JobResult(as("alice"), jobOf(p)); err == nil && string(r.Result) != `{"a":1}` {
		t.Errorf("%s: the result is %s", f.words, r.Result)
	}
	s.CancelJob(as("alice"), jobOf(p), "")
	s.Watch(bg())
	s.db.View(bg(), func(tx *store.Tx) error {
		tx.Job(p.Plan)
		return nil
	})
}

func second[T any](_ T, err error) error { return err }
