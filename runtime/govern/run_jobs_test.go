package govern

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/supervise"
)

// TestCapacity: no more run at a time than may, of a capability and in all,
// however many ask at once; who was refused starts with the same key when there
// is room.
func TestCapacity(t *testing.T) {
	s, m := newRunScene(t, anywhere())
	var plans []Prepared
	for i := range 8 {
		plans = append(plans, s.approvedRun(t, fmt.Sprint("user", i%3), fmt.Sprint("k", i)))
	}
	services := []*scene{s, s.another(t), s.another(t)}
	for _, other := range services[1:] {
		other.on(m)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var startedPlans, refused []Prepared
	for i, p := range plans {
		all.Go(func() {
			_, err := StartRun(as(fmt.Sprint("user", i%3)), services[i%3].Service, evaluate, keyed(p, p.Plan))
			mu.Lock()
			defer mu.Unlock()
			switch code(err) {
			case "ok":
				startedPlans = append(startedPlans, p)
			case Capacity:
				refused = append(refused, p)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	// Who looked before others had begun is refused in the transaction itself.
	for _, p := range refused {
		l := landing{Service: s.Service, owner: s.body(t, p.Plan).Owner, terms: evaluate, claim: keyed(p, p.Plan), ready: func(context.Context, opened) error { return nil }}
		if _, _, err := l.admit(bg()); code(err) != Capacity || strings.ContainsAny(err.Error(), "0123456789") {
			t.Errorf("%v, which is to say nothing of others", err)
		}
	}
	if len(startedPlans) != 2 || len(refused) != 6 {
		t.Fatalf("%d started, %d were refused", len(startedPlans), len(refused))
	}
	s.succeeds(t, startedPlans[0].Plan, `{}`)
	ok := 0
	for i, p := range plans {
		if _, err := StartRun(as(fmt.Sprint("user", i%3)), s.Service, evaluate, keyed(p, p.Plan)); err == nil {
			ok++
		}
	}
	if ok != 3 { // two are the same as before
		t.Errorf("%d may start", ok)
	}
	// In all.
	other := evaluate
	other.ID, other.Name = "candidates.try", "candidates.try"
	s.o.Results[other.ID] = s.o.Results[evaluate.ID]
	s.o.MaxJobs = 3
	for i, want := range []Code{"ok", Capacity} {
		p, err := PrepareRun(as("alice"), s.Service, other, []byte(`{}`), fmt.Sprint("o", i), candidate)
		if err != nil {
			t.Fatal(err)
		}
		s.approve(t, ada, p.Plan)
		if _, err := StartRun(as("alice"), s.Service, other, keyed(p, p.Plan)); code(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestCancelJob: what was not started has ended then; what was is told; what has
// ended stays.
func TestCancelJob(t *testing.T) {
	s, m := newRunScene(t, anywhere())
	queued := func(key string) Prepared {
		p := s.approvedRun(t, "alice", key)
		s.launch = func(context.Context, supervise.Job, supervise.Journal) (job.State, error) {
			return "", errors.New("not now")
		}
		defer s.on(m)
		if j := s.startRun(t, "alice", p); j.State != "QUEUED" {
			t.Fatalf("%+v", j)
		}
		return p
	}
	p := queued("k1")
	j, err := s.CancelJob(as("alice"), jobOf(p), "no more")
	if err != nil || j.State != "CANCELLED" || j.AlreadyEnded || j.Failure != "cancelled" || !strings.HasSuffix(j.Message, `: "no more"`) {
		t.Errorf("queued: %+v, %v", j, err)
	}
	if l, err := s.JobLogs(as("alice"), j.Job, 100); err != nil || len(l.Logs) != 0 {
		t.Errorf("logs of what never had any: %+v, %v", l, err)
	}
	if err := s.Watch(bg()); err != nil || m.count(jobOf(p)) != 0 {
		t.Errorf("%v, started %d times", err, m.count(jobOf(p)))
	}
	if j, err = s.CancelJob(as("alice"), jobOf(p), ""); err != nil || !j.AlreadyEnded || j.State != "CANCELLED" {
		t.Errorf("again: %+v, %v", j, err)
	}
	if kept := s.kept(t, p.Plan); kept.Reason != "no more" || kept.By != "oidc:https://issuer.example#alice" {
		t.Errorf("%+v", kept)
	}

	p = s.approvedRun(t, "alice", "k2")
	s.startRun(t, "alice", p)
	journal := s.begins(t, p.Plan)
	for range 2 {
		if j, err = s.CancelJob(as("alice"), jobOf(p), "wrong"); err != nil || j.State != "CANCEL_REQUESTED" || j.Message != `its end was asked for: "wrong"` || j.AlreadyEnded || !j.Deadline.IsZero() {
			t.Errorf("running: %+v, %v", j, err)
		}
	}
	if state, err := journal.Beat(bg(), ""); state != job.CancelRequested || err != nil {
		t.Errorf("the supervisor is told %s, %v", state, err)
	}
	if _, err := journal.Move(bg(), supervise.Move{From: job.Running, Event: job.EventSucceed, By: job.BySupervisor, Empty: true, Result: []byte(`{}`)}); !errors.Is(err, supervise.ErrMoved) {
		t.Errorf("a success after it: %v", err)
	}
	if _, err := journal.Move(bg(), supervise.Move{From: job.CancelRequested, Event: job.EventSucceed, By: job.BySupervisor, Empty: true, Result: []byte(`{}`)}); err == nil {
		t.Error("a cancellation was overwritten")
	}
	if state, err := journal.Move(bg(), supervise.Move{From: job.CancelRequested, Event: job.EventEmptied, By: job.BySupervisor, Empty: true}); state != job.Cancelled || err != nil {
		t.Errorf("%s, %v", state, err)
	}

	p = s.approvedRun(t, "alice", "k3")
	s.startRun(t, "alice", p)
	s.succeeds(t, p.Plan, `{}`)
	if j, err = s.Operator(cli).CancelJob(bg(), jobOf(p), "late"); err != nil || !j.AlreadyEnded || j.State != "SUCCEEDED" {
		t.Errorf("succeeded: %+v, %v", j, err)
	}
	if _, err := s.CancelJob(as("alice"), jobOf(p), "a\nb"); code(err) != InvalidRequest {
		t.Errorf("a reason of two lines: %v", err)
	}
	want := "run.queued run.cancelled run.queued run.started run.cancel_requested run.cancelled run.queued run.started run.succeeded run.cancel_requested!invalid_request"
	if got := s.events(t, "run."); got != want {
		t.Error(got)
	}
	if p := queued("k4"); p.Plan != "" {
		if j, err := s.Operator(cli).CancelJob(bg(), jobOf(p), ""); err != nil || j.State != "CANCELLED" || s.kept(t, p.Plan).By != "user2001" {
			t.Errorf("by an operator: %+v, %v", j, err)
		}
	}
}

// TestJobsOfOthers: another subject's job is answered as one that is not there, in
// every way; operators see it.
func TestJobsOfOthers(t *testing.T) {
	s, _ := newRunScene(t, anywhere())
	p := s.approvedRun(t, "alice", "k1")
	s.startRun(t, "alice", p)
	s.succeeds(t, p.Plan, `{}`)
	s.place(t, before)
	change := s.prepareChange(t) // no job
	ask := map[string]func(ctx context.Context, id string) error{
		"status": func(ctx context.Context, id string) error { _, err := s.Job(ctx, id); return err },
		"result": func(ctx context.Context, id string) error { _, err := s.JobResult(ctx, id); return err },
		"logs":   func(ctx context.Context, id string) error { _, err := s.JobLogs(ctx, id, 100); return err },
		"cancel": func(ctx context.Context, id string) error { _, err := s.CancelJob(ctx, id, ""); return err },
		"list":   func(ctx context.Context, id string) error { _, err := s.Jobs(ctx, JobFilter{After: id}); return err },
		"start": func(ctx context.Context, id string) error {
			c := claimOf(p)
			c.Plan = strings.Replace(id, "job_", "plan_", 1)
			_, err := StartRun(ctx, s.Service, evaluate, c)
			return err
		},
	}
	for name, ask := range ask {
		missing := ask(as("bob"), "job_"+store0)
		if code(missing) != NotFound {
			t.Errorf("%s: %v", name, missing)
		}
		ids := []string{jobOf(p), "job_" + strings.Repeat("g", 32), "", "x"}
		if name != "start" {
			ids = append(ids, p.Plan, jobOf(change))
		}
		for _, id := range ids {
			if name == "list" && id == "" {
				continue
			}
			if err := ask(as("bob"), id); err == nil || err.Error() != missing.Error() {
				t.Errorf("%s of %q: %v, want %v", name, id, err, missing)
			}
		}
		if name != "start" {
			if err := ask(bg(), jobOf(p)); code(err) != Forbidden {
				t.Errorf("%s, by nobody: %v", name, err)
			}
		}
	}
	if page, err := s.Jobs(as("bob"), JobFilter{}); err != nil || len(page.Jobs) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
	page, err := s.Operator(cli).Jobs(bg(), JobFilter{State: "SUCCEEDED"})
	if err != nil || len(page.Jobs) != 1 || page.Jobs[0].Job != jobOf(p) {
		t.Errorf("%+v, %v", page, err)
	}
	if j, err := s.Operator(cli).Job(bg(), jobOf(p)); err != nil || j.State != "SUCCEEDED" || !strings.Contains(j.Owner, "alice") {
		t.Errorf("%+v, %v", j, err)
	}
	if _, err := s.Operator(cli).Job(bg(), jobOf(change)); code(err) != NotFound {
		t.Errorf("%v", err)
	}
}

// TestJobPages: the newest first, by state, and what is not there to be listed.
func TestJobPages(t *testing.T) {
	s, _ := newRunScene(t, scenery{})
	s.o.MaxJobs = 100
	var want []string
	for i := range 5 {
		p := s.approvedRun(t, "alice", fmt.Sprint("k", i))
		s.startRun(t, "alice", p)
		want = append([]string{jobOf(p)}, want...)
		if i < 4 {
			s.succeeds(t, p.Plan, `{}`)
		}
		s.clock.pass(time.Second)
	}
	var got []string
	f := JobFilter{Limit: 2}
	for more := true; more; {
		page, err := s.Jobs(as("alice"), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range page.Jobs {
			got = append(got, j.Job)
		}
		f.After = page.Next
		more = page.Next != ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for state, n := range map[string]int{"active": 1, "SUCCEEDED": 4, "FAILED": 0} {
		if page, err := s.Jobs(as("alice"), JobFilter{State: state, Capability: evaluate.ID}); err != nil || len(page.Jobs) != n {
			t.Errorf("%s: %d jobs, %v", state, len(page.Jobs), err)
		}
	}
	for _, f := range []JobFilter{{State: "running"}, {Limit: MaxPage + 1}, {Limit: -1}} {
		if _, err := s.Jobs(as("alice"), f); code(err) != InvalidRequest {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if f, err := s.Operator(cli).Facts(bg()); err != nil || f.Jobs["SUCCEEDED"] != 4 || f.Jobs["STARTING"] != 1 || f.OldestJob == nil || f.OldestJob.Job != want[0] || len(f.Unfinished) != 0 {
		t.Errorf("%+v, %v", f, err)
	}
	began := s.clock.Wall
	s.begins(t, strings.Replace(want[0], "job_", "plan_", 1))
	for _, c := range []struct {
		after time.Duration
		n     int
	}{{unseenAfter, 0}, {time.Second, 1}} {
		s.clock.pass(c.after)
		if f, err := s.Operator(cli).Facts(bg()); err != nil || len(f.Unseen) != c.n {
			t.Errorf("%v after its heartbeat: %+v, %v", s.clock.Wall.Sub(began), f.Unseen, err)
		}
	}
	// Rows that somebody else wrote to keep no other away.
	s.exec(t, `UPDATE jobs SET failure = 'candidate' WHERE plan = ?`, strings.Replace(want[2], "job_", "plan_", 1))
	if page, err := s.Jobs(as("alice"), JobFilter{}); err != nil || len(page.Jobs) != 4 {
		t.Errorf("%+v, %v", page, err)
	}
	if got := s.last(t, 1); got != "plan.altered!internal" {
		t.Error(got)
	}
	if page, err := s.Operator(cli).Jobs(bg(), JobFilter{}); err != nil || len(page.Jobs) != 5 || page.Jobs[2].State != "altered" || page.Jobs[2].Job != want[2] {
		t.Errorf("%+v, %v", page, err)
	}
	if _, err := s.Job(as("alice"), want[2]); code(err) != Internal {
		t.Errorf("%v", err)
	}
}

// TestSettle: what was committed and not started is started, once, or expires;
// what has lost its supervisor, or is overdue, is ended; a job of another host is
// left alone.
func TestSettle(t *testing.T) {
	queued := func(t *testing.T) (*scene, *machine, Prepared) {
		s, m := newRunScene(t, anywhere())
		p := s.approvedRun(t, "alice", "k1")
		s.launch = func(context.Context, supervise.Job, supervise.Journal) (job.State, error) {
			return "", errors.New("the server was killed")
		}
		s.startRun(t, "alice", p)
		s.on(m)
		return s, m, p
	}
	for name, c := range map[string]struct {
		then    func(t *testing.T, s *scene, m *machine, p Prepared)
		want    string
		started int
		events  string
	}{
		"in time":  {func(*testing.T, *scene, *machine, Prepared) {}, "STARTING", 1, ""},
		"too late": {func(_ *testing.T, s *scene, _ *machine, _ Prepared) { s.clock.pass(jobStart + jobGrace) }, "TIMED_OUT", 0, "run.recovered run.timed_out"},
		"lost before it began": {func(t *testing.T, s *scene, m *machine, p Prepared) {
			s.Watch(bg())
			m.alive = map[string]bool{}
		}, "ORPHANED", 1, "run.recovered run.orphaned"},
		"lost": {func(t *testing.T, s *scene, m *machine, p Prepared) {
			s.Watch(bg())
			s.begins(t, p.Plan)
			m.alive = map[string]bool{}
		}, "ORPHANED", 1, "run.started run.recovered run.orphaned"},
		"lost and cancelled": {func(t *testing.T, s *scene, m *machine, p Prepared) {
			s.Watch(bg())
			s.begins(t, p.Plan)
			s.CancelJob(as("alice"), jobOf(p), "")
			m.alive = map[string]bool{}
		}, "CANCELLED", 1, "run.started run.cancel_requested run.recovered run.cancelled"},
		"overdue": {func(t *testing.T, s *scene, m *machine, p Prepared) {
			s.Watch(bg())
			s.begins(t, p.Plan)
			s.clock.pass(time.Minute + jobGrace)
		}, "TIMED_OUT", 1, "run.started run.recovered run.timed_out"},
		"of another host": {func(t *testing.T, s *scene, m *machine, p Prepared) {
			s.exec(t, `UPDATE jobs SET host = ?`, store0)
			s.clock.pass(time.Hour)
		}, "QUEUED", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, m, p := queued(t)
			c.then(t, s, m, p)
			r, err := s.Recover(bg())
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := s.Watch(bg()); err != nil {
					t.Error(err)
				}
			}
			j, err := s.Job(as("alice"), jobOf(p))
			if err != nil || j.State != c.want || m.count(jobOf(p)) != c.started {
				t.Errorf("%+v, %v, started %d times", j, err, m.count(jobOf(p)))
			}
			if moved := r.Jobs[jobOf(p)]; c.want != "QUEUED" && moved != c.want {
				t.Errorf("told as %q", moved)
			}
			if got := s.events(t, "run."); got != strings.TrimSpace("run.queued "+c.events) {
				t.Error(got)
			}
			if j := s.startRun(t, "alice", p); j.State != c.want || m.count(jobOf(p)) != c.started {
				t.Errorf("the same key: %+v", j)
			}
		})
	}
}

// TestStartedBefore: a keeper of approvals remembers that a job was started, and
// that one was cancelled before: an older copy of the database starts neither. One
// that does not answer keeps jobs from starting.
func TestStartedBefore(t *testing.T) {
	for name, ends := range map[string]func(t *testing.T, s *scene, p Prepared){
		"started":   func(t *testing.T, s *scene, p Prepared) { s.Watch(bg()) },
		"cancelled": func(t *testing.T, s *scene, p Prepared) { s.CancelJob(as("alice"), jobOf(p), "") },
		"expired":   func(t *testing.T, s *scene, p Prepared) { s.clock.pass(time.Hour); s.Watch(bg()) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDaemon()
			s, m := newRunScene(t, scenery{sources: []approve.Source{d}})
			s.o.MaxJobs = 9
			p := s.approvedRun(t, "alice", "k1")
			d.down = true
			if _, err := StartRun(as("alice"), s.Service, evaluate, claimOf(p)); err == nil {
				t.Fatal("it started without the keeper of approvals")
			}
			d.down = false
			launch := s.launch
			s.launch = func(ctx context.Context, j supervise.Job, to supervise.Journal) (job.State, error) {
				d.down = true
				defer func() { d.down = false }()
				return launch(ctx, j, to)
			}
			if j := s.startRun(t, "alice", p); j.State != "QUEUED" || m.count(j.Job) != 0 {
				t.Fatalf("%+v", j)
			}
			s.launch = launch
			old := copyDB(t, s.dir)
			at := *s.clock
			ends(t, s, p)
			started := m.count(jobOf(p))
			again, err := scenery{disk: s.disk, dir: old, clock: &at, trust: s.trust, sources: []approve.Source{d}, runs: true, program: s.dir}.open()
			if err != nil {
				t.Fatal(err)
			}
			defer again.db.Close()
			again.on(m)
			if _, err := again.Recover(bg()); err != nil {
				t.Error(err)
			}
			if n := m.count(jobOf(p)); n != started {
				t.Errorf("the older copy has started it: %d times in all", n)
			}
			if j, err := again.Job(as("alice"), jobOf(p)); err != nil || j.State != "FAILED" || j.Failure != "infrastructure" {
				t.Errorf("%+v, %v", j, err)
			}
		})
	}
}

// TestCancelledInLaunch: a cancellation that comes between a look and the claim is
// no replay, though the keeper of approvals knows of an end by then: the trail has
// no refusal.
func TestCancelledInLaunch(t *testing.T) {
	s, m := newRunScene(t, scenery{sources: []approve.Source{newDaemon()}})
	p := s.approvedRun(t, "alice", "k1")
	m.step = func() error {
		m.step = nil
		_, err := s.CancelJob(as("alice"), jobOf(p), "")
		return err
	}
	if j := s.startRun(t, "alice", p); j.State != "CANCELLED" || m.count(j.Job) != 0 {
		t.Errorf("%+v, started %d times", j, m.count(j.Job))
	}
	if all := strings.Join(s.trail(t), " "); strings.Contains(all, "!") {
		t.Errorf("in the trail: %s", all)
	}
}

// failingEnd is a keeper of approvals that does not remember ends, after it has
// done something.
type failingEnd struct {
	*daemon
	first func()
}

func (f failingEnd) End(context.Context, string) error {
	f.first()
	return errors.New("down")
}

// TestClaimFails: a claim that the keeper of approvals does not remember, and of
// which the failure cannot be noted either, is an error, and starts nothing.
func TestClaimFails(t *testing.T) {
	keeper := &failingEnd{daemon: newDaemon(), first: func() {}}
	s, m := newRunScene(t, scenery{sources: []approve.Source{keeper}})
	p := s.approvedRun(t, "alice", "k1")
	keeper.first = func() { s.step = func() error { return errors.New("the disk is full") } }
	j := s.startRun(t, "alice", p)
	if j.State != "STARTING" || m.count(j.Job) != 0 {
		t.Errorf("%+v, started %d times", j, m.count(j.Job))
	}
	s.step = func() error { return nil }
	if err := s.Watch(bg()); err != nil || s.kept(t, p.Plan).State != "ORPHANED" || m.count(j.Job) != 0 {
		t.Errorf("%v, %+v", err, s.kept(t, p.Plan))
	}
}

// TestCleanJobs: what jobs that ended long ago have left goes; the rows go with
// their plans.
func TestCleanJobs(t *testing.T) {
	s, _ := newRunScene(t, scenery{})
	p := s.approvedRun(t, "alice", "k1")
	s.startRun(t, "alice", p)
	s.clock.pass(24 * time.Hour) // the plan moved a day before its job ended
	s.succeeds(t, p.Plan, `{"a":1}`)
	o := s.Operator(cli)
	s.clock.pass(time.Hour)
	if got, err := o.Clean(bg(), 2*time.Hour); err != nil || got.Objects != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.JobResult(as("alice"), jobOf(p)); err != nil {
		t.Error(err)
	}
	s.clock.pass(2 * time.Hour)
	if got, err := o.Clean(bg(), 2*time.Hour); err != nil || got.Objects != 4 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.JobResult(as("alice"), jobOf(p)); code(err) != ConflictCode {
		t.Errorf("%v", err)
	}
	if j, err := s.Job(as("alice"), jobOf(p)); err != nil || j.State != "SUCCEEDED" {
		t.Errorf("%+v, %v", j, err)
	}
	s.clock.pass(Retention)
	if got, err := o.Clean(bg(), 0); err != nil || got.Forgotten != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.Job(as("alice"), jobOf(p)); code(err) != NotFound {
		t.Errorf("%v", err)
	}
}

// TestMessages: what a candidate says is one line that can be seen, without paths.
func TestMessages(t *testing.T) {
	s, _ := newRunScene(t, scenery{})
	p := s.approvedRun(t, "alice", "k1")
	s.startRun(t, "alice", p)
	j := s.begins(t, p.Plan)
	if _, err := j.Beat(bg(), "a\x1b[2J\u202e /etc/passwd \xff"+strings.Repeat("é", 2000)); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Move(bg(), supervise.Move{From: job.Running, Event: job.EventFail, By: job.BySupervisor, Empty: true, Failure: job.FailCandidate, Message: "it\nfailed in /srv/state"}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Job(as("alice"), jobOf(p))
	if err != nil || got.Message != `it\u000afailed in <path>` || !strings.HasPrefix(got.Progress, `a\u001b[2J\u202e <path>`) || len(got.Progress) > maxProgress || !strings.HasSuffix(got.Progress, "…") {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.JobResult(as("alice"), jobOf(p)); code(err) != ConflictCode || !strings.Contains(err.Error(), "run.logs") || !strings.Contains(err.Error(), "candidate") {
		t.Errorf("%v", err)
	}
}

// TestUnseen: a job is not seen where it has begun, has not ended, and its last
// heartbeat is some time ago.
func TestUnseen(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, c := range []struct {
		job  Job
		want time.Duration
	}{
		{Job{Created: ago(time.Hour)}, 0},
		{Job{Heartbeat: ago(unseenAfter)}, 0},
		{Job{Heartbeat: ago(-time.Hour)}, 0},
		{Job{Started: ago(time.Minute)}, time.Minute},
		{Job{Heartbeat: ago(25*time.Second + 300*time.Millisecond)}, 25 * time.Second},
		{Job{Heartbeat: ago(time.Hour), Ended: ago(time.Minute)}, 0},
	} {
		if got := c.job.Unseen(now); got != c.want {
			t.Errorf("%+v: %v", c.job, got)
		}
	}
}
