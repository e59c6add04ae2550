package govern

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/job/supervise"
	"github.com/capgen/capgen/runtime/govern/store/sqlite"
)

const (
	// candidateIn is the variable that makes the test binary a candidate. It names
	// a file in which each start is a line.
	candidateIn = "CAPGEN_TEST_GOVERN_CANDIDATE"
	// superviseIn is the first argument of a supervisor; the directory of its scene
	// and the job follow.
	superviseIn = "supervise"
)

// beAnother is what the test binary does as a candidate or a supervisor; false in
// one that is neither.
func beAnother() (bool, error) {
	if file := os.Getenv(candidateIn); file != "" {
		return true, beCandidate(file)
	}
	if len(os.Args) == 4 && os.Args[1] == superviseIn {
		s, err := onDiskRuns(os.Args[2], scenery{}, func() error { return nil }, nil)
		if err != nil {
			return true, err
		}
		return true, Supervise(bg(), s.o, os.Args[3])
	}
	if len(os.Args) == 7 && os.Args[1] == raceIn {
		return true, beRacer(os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6])
	}
	return false, nil
}

// beCandidate does what its code says.
func beCandidate(file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	fmt.Fprintln(f, "started")
	f.Close()
	what, err := os.ReadFile("code/main")
	if err != nil {
		return err
	}
	fmt.Println("it is to", string(what))
	switch string(what) {
	case "wait":
		time.Sleep(time.Minute)
	case "fail":
		return errors.New("as it was to")
	}
	given, err := os.ReadFile("arguments.json")
	if err != nil {
		return err
	}
	return os.WriteFile("out/result.json", fmt.Appendf(nil, `{"given": %s}`, given), 0o600)
}

// onDiskRuns is a scene on a real disk whose candidates are processes.
func onDiskRuns(dir string, with scenery, step func() error, sources []approve.Source) (*scene, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	with.real = true
	s, err := onDiskWith(dir, with, step, func(o *Options) {
		o.Sources, o.Path, o.Supervisor = sources, filepath.Join(dir, "state"), []string{exe, superviseIn, dir}
		o.Runners = []runner.Runner{{
			Name: "fake", Path: exe, Args: []string{"candidate", "code/main"}, Env: []string{candidateIn + "=" + filepath.Join(dir, "starts")}, Entry: "main",
		}}
		o.Results = map[string]func([]byte) ([]byte, error){evaluate.ID: func(b []byte) ([]byte, error) { return bytes.ReplaceAll(b, []byte(" "), nil), nil }}
		o.Tiers = func(context.Context) Tiers {
			return Tiers{Sandbox: []confine.Tier{confine.None}, Scope: []scope.Tier{scope.Tree}}
		}
		o.Now = now // deadlines are those of real processes
	})
	return s, err
}

// evaluateHere is the capability on a machine that confines nothing.
func evaluateHere() Terms {
	t := evaluate
	t.Sandbox, t.Limits.Memory = "none", 16<<30 // of addresses: it is a Go program
	return t
}

func doing(what string) func(context.Context) (Run, error) {
	return func(context.Context) (Run, error) {
		return Run{Summary: what, Files: []File{{Path: "main", Content: []byte(what)}}}, nil
	}
}

// landRun prepares, approves and starts a run, or goes on where that was
// interrupted.
func (s *scene) landRun(what string) (Prepared, Started, error) {
	terms := evaluateHere()
	p, err := PrepareRun(as("alice"), s.Service, terms, []byte(`{"model":"m"}`), what, doing(what))
	if err != nil && code(err) != ConflictCode {
		return p, Started{}, err
	}
	if err != nil { // it has begun: that is what the key stands for
		page, listed := s.List(as("alice"), Filter{})
		if listed != nil || len(page.Plans) != 1 {
			return p, Started{}, errors.Join(err, listed)
		}
		p.Plan = page.Plans[0].Plan
	} else {
		body, err := s.Operator(cli).Body(bg(), p.Plan)
		if err != nil {
			return p, Started{}, err
		}
		st, err := s.statement(ada, body)
		if err != nil {
			return p, Started{}, err
		}
		st.Issued = whole(s.o.Now())
		envelope, err := approve.Sign(bg(), ada, st)
		if err != nil {
			return p, Started{}, err
		}
		if err := s.Operator(cli).AddEnvelope(bg(), p.Plan, envelope); err != nil && code(err) != ConflictCode {
			return p, Started{}, err
		}
	}
	j, err := StartRun(as("alice"), s.Service, terms, keyed(p, what))
	return p, j, err
}

// endedJob waits for the end of a job.
func (s *scene) endedJob(t testing.TB, id string) Job {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		j, err := s.Operator(cli).Job(bg(), id)
		if err != nil {
			t.Fatal(err)
		}
		if job.State(j.State).Ended() {
			return j
		}
		if time.Now().After(end) {
			l, _ := s.Operator(cli).JobLogs(bg(), id, 5000)
			t.Fatalf("it does not end: %+v, %+v", j, l)
		}
	}
}

// starts counts the candidates that were started.
func starts(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "starts"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "started\n")
}

// TestRealRuns: processes come to what the rows say.
func TestRealRuns(t *testing.T) {
	t.Parallel()
	dir := beginning(t)
	s, err := onDiskRuns(dir, scenery{}, func() error { return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.db.Close()
	_, j, err := s.landRun("work")
	if err != nil || j.State == "QUEUED" {
		t.Fatalf("%+v, %v", j, err)
	}
	if got := s.endedJob(t, j.Job); got.State != "SUCCEEDED" || got.Started.IsZero() {
		t.Errorf("%+v", got)
	}
	if r, err := s.JobResult(as("alice"), j.Job); err != nil || string(r.Result) != `{"given":{"model":"m"}}` {
		t.Errorf("%+v, %v", r, err)
	}
	if l, err := s.JobLogs(as("alice"), j.Job, 1000); err != nil || len(l.Logs) != 3 || l.Logs[0].Text != "it is to work\n" {
		t.Errorf("%+v, %v", l, err)
	}
	_, j, err = s.landRun("fail")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.endedJob(t, j.Job); got.State != "FAILED" || got.Failure != "candidate" {
		t.Errorf("%+v", got)
	}
	_, j, err = s.landRun("wait")
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); starts(t, dir) < 3 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if c, err := s.CancelJob(as("alice"), j.Job, "enough"); err != nil || c.AlreadyEnded || c.State != "CANCEL_REQUESTED" {
		t.Errorf("%+v, %v", c, err)
	}
	if got := s.endedJob(t, j.Job); got.State != "CANCELLED" {
		t.Errorf("%+v", got)
	}
	want := "run.queued run.started run.succeeded run.queued run.started run.failed run.queued run.started run.cancel_requested run.cancelled"
	if got := s.events(t, "run."); got != want || starts(t, dir) != 3 {
		t.Errorf("%s, %d starts", got, starts(t, dir))
	}
	// What they left goes.
	clean, err := s.Operator(cli).Clean(bg(), -time.Hour)
	if err != nil || clean.Jobs != 3 {
		t.Errorf("%+v, %v", clean, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "state", "jobs", "job_*")); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if l, err := s.JobLogs(as("alice"), j.Job, 1000); err != nil || len(l.Logs) != 0 {
		t.Errorf("%+v, %v", l, err)
	}
}

// steps is a keeper of approvals whose calls are steps: what is between a claim
// and the start of its supervisor.
type steps struct {
	*daemon
	step func() error
}

func (k steps) Begin(ctx context.Context, plan string) error {
	return errors.Join(k.step(), k.daemon.Begin(ctx, plan))
}

func (k steps) End(ctx context.Context, plan string) error {
	return errors.Join(k.step(), k.daemon.End(ctx, plan))
}

// inRunChild is the server that is killed.
func inRunChild(dir string, step func() error) error {
	d, err := daemonIn(dir)
	if err != nil {
		return err
	}
	s, err := onDiskRuns(dir, scenery{}, step, []approve.Source{steps{d, step}})
	if err != nil {
		return err
	}
	_, _, err = s.landRun("work")
	return err
}

// TestServerKilled kills the server before each step of a run's start. The next
// one starts the job, once, or ends it; what a supervisor has begun goes on
// without a server.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	stride := 6
	if *soak {
		stride = 1
	}
	ends := map[string]int{}
	for n := 1; ; n += stride {
		dir := beginning(t)
		dead := killed(t, dir, "run", n)
		d, err := daemonIn(dir)
		if err != nil {
			t.Fatal(err)
		}
		s, err := onDiskRuns(dir, scenery{}, func() error { return nil }, []approve.Source{d})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Recover(bg()); err != nil {
			t.Fatalf("step %d: %v", n, err)
		}
		_, j, err := s.landRun("work")
		if err != nil {
			t.Fatalf("step %d: again: %v", n, err)
		}
		got := s.endedJob(t, j.Job)
		ends[got.State]++
		switch ran := starts(t, dir); {
		case got.State == "SUCCEEDED" && ran == 1, got.State == "ORPHANED" && ran == 0:
		default:
			t.Errorf("step %d: %+v, %d starts", n, got, ran)
		}
		if again := s.events(t, "run.queued"); again != "run.queued" {
			t.Errorf("step %d: %s", n, again)
		}
		s.db.Close()
		if !dead {
			break
		}
	}
	t.Logf("ended as %v", ends)
	if *soak && ends["ORPHANED"] == 0 || ends["SUCCEEDED"] < 3 {
		t.Errorf("ended as %v", ends)
	}
}

// raceIn makes the test binary a server that starts a run, which others start at
// the same time: the first argument, then the directory, the schema, the plan, its
// token and a key.
const raceIn = "race"

// beRacer starts a run and says what came of it. Each start of a supervisor is a
// line in a file.
func beRacer(dir, schema, planID, token, key string) error {
	s, err := scenery{dir: dir, schema: schema}.openRacer(dir)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	var line string
	fmt.Scanln(&line)
	j, err := StartRun(as("alice"), s.Service, evaluate, Claim{Plan: planID, Token: token, Key: key})
	fmt.Println(code(err), j.State)
	return nil
}

// openRacer is a service over the rows, the objects and the keys that are in dir,
// whose machine is a file.
func (with scenery) openRacer(dir string) (*scene, error) {
	s, err := onDiskWith(dir, with, func() error { return nil }, func(o *Options) {
		if err := forRuns(o, filepath.Join(dir, "state"), dir); err != nil {
			panic(err)
		}
	})
	if err != nil {
		return nil, err
	}
	m := newMachine()
	s.launch = func(ctx context.Context, j supervise.Job, to supervise.Journal) (job.State, error) {
		state, err := m.launch(ctx, j, to)
		if m.count(j.ID) > 0 {
			f, err := os.OpenFile(filepath.Join(dir, "starts"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err != nil {
				return state, err
			}
			fmt.Fprintln(f, "started")
			f.Close()
		}
		return state, err
	}
	return s, nil
}

// TestManyStart: of 64 processes that start one run at once, with one key and with
// others, one does; those of the same key are told of the same job.
func TestManyStart(t *testing.T) {
	t.Parallel()
	const processes = 64
	dir := beginning(t)
	with := anywhere()
	s, err := with.openRacer(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.db.Close()
	p := s.prepareRun(t, "alice", "k1")
	s.approve(t, ada, p.Plan)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	type racer struct {
		cmd  *exec.Cmd
		in   interface{ Close() error }
		out  bytes.Buffer
		errs bytes.Buffer
	}
	var all []*racer
	for i := range processes {
		key := "shared"
		if i%2 == 1 {
			key = fmt.Sprint("own", i)
		}
		r := &racer{cmd: exec.CommandContext(t.Context(), exe, raceIn, dir, with.schema, p.Plan, p.Token, key)}
		r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.errs
		if r.in, err = r.cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := r.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	for _, r := range all {
		r.in.Close() // goes on
	}
	said := map[string]int{}
	for i, r := range all {
		if err := r.cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, r.errs.String())
		}
		answer := strings.TrimSpace(strings.TrimPrefix(r.out.String(), "ready\n"))
		said[answer]++
		if answer != "ok STARTING" && answer != "ok QUEUED" && answer != string(TokenReplayed) && answer != string(ConflictCode) {
			t.Errorf("process %d says %q", i, answer)
		}
	}
	// The winner is of the shared key, or one of the others.
	ok := said["ok STARTING"] + said["ok QUEUED"]
	if starts(t, dir) != 1 || ok != 1 && ok != processes/2 {
		t.Errorf("%d starts, %v", starts(t, dir), said)
	}
	if got := s.events(t, "run."); got != "run.queued" {
		t.Error(got)
	}
}

// TestJobsAreNotThere: where no supervisor could work, nothing is spent, and the
// same key starts it when one can.
func TestJobsAreNotThere(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(jobs string) error{
		"renamed":    func(string) error { return nil },
		"another":    func(jobs string) error { return os.Mkdir(jobs, 0o700) },
		"a file":     func(jobs string) error { return os.WriteFile(jobs, nil, 0o600) },
		"a link":     func(jobs string) error { return os.Symlink(jobs+".gone", jobs) },
		"for others": func(jobs string) error { return errors.Join(os.Rename(jobs+".old", jobs), os.Chmod(jobs, 0o755)) },
		"read-only":  func(jobs string) error { return errors.Join(os.Rename(jobs+".old", jobs), os.Chmod(jobs, 0o500)) },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "read-only" && os.Geteuid() == 0 {
				t.Skip("root writes whatever a mode says")
			}
			dir := beginning(t)
			s, err := onDiskRuns(dir, scenery{}, func() error { return nil }, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.db.Close()
			jobs := filepath.Join(dir, "state", jobsDir)
			if err := errors.Join(os.Rename(jobs, jobs+".old"), spoil(jobs)); err != nil {
				t.Fatal(err)
			}
			p, j, err := s.landRun("work")
			if code(err) != Internal || !strings.Contains(err.Error(), "jobs in the state directory") || strings.Contains(err.Error(), dir) {
				t.Fatalf("%+v, %v", j, err)
			}
			if v, err := s.Status(as("alice"), p.Plan); err != nil || v.Status != "prepared" {
				t.Errorf("%+v, %v", v, err)
			}
			_, moved := os.Stat(jobs + ".old")
			if moved == nil {
				err = errors.Join(os.RemoveAll(jobs), os.Rename(jobs+".old", jobs))
			} else {
				err = os.Chmod(jobs, 0o700)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, j, err = s.landRun("work"); err != nil {
				t.Fatal(err)
			}
			if got := s.endedJob(t, j.Job); got.State != "SUCCEEDED" {
				t.Errorf("%+v", got)
			}
			if left, err := filepath.Glob(filepath.Join(jobs, "try-*")); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
			for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) { // until its processes are gone
				if c, err := s.Operator(cli).Clean(bg(), -time.Hour); err != nil || time.Now().After(end) {
					t.Fatalf("%+v, %v", c, err)
				} else if c.Jobs == 1 {
					break
				}
			}
		})
	}
}

// TestReaderOfJobs: who may only read sees jobs and their logs, and changes
// nothing: not a byte, a name or a time.
func TestReaderOfJobs(t *testing.T) {
	t.Parallel()
	dir := beginning(t)
	s, err := onDiskRuns(dir, scenery{}, func() error { return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, j, err := s.landRun("work")
	if err != nil {
		t.Fatal(err)
	}
	s.endedJob(t, j.Job)
	o := s.o
	s.db.Close()
	s.Service.Close()
	listing := func() string {
		var all strings.Builder
		for _, top := range []string{"db", "state"} {
			err := filepath.WalkDir(filepath.Join(dir, top), func(path string, d os.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := d.Info()
				if err == nil {
					fmt.Fprintln(&all, path, info.Mode(), info.Size(), info.ModTime())
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return all.String()
	}
	// The supervisor may still close what it has.
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if first := listing(); first == listing() || time.Now().After(end) {
			break
		}
	}
	before := listing()
	if o.Store, err = sqlite.OpenReadOnly(bg(), filepath.Join(dir, "db")); err != nil {
		t.Fatal(err)
	}
	defer o.Store.Close()
	reader, done, err := OpenReadOnly(o)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if got, err := reader.Job(bg(), j.Job); err != nil || got.State != "SUCCEEDED" {
		t.Errorf("%+v, %v", got, err)
	}
	if page, err := reader.Jobs(bg(), JobFilter{State: "SUCCEEDED"}); err != nil || len(page.Jobs) != 1 {
		t.Errorf("%+v, %v", page, err)
	}
	if l, err := reader.JobLogs(bg(), j.Job, 1000); err != nil || len(l.Logs) != 3 || l.Logs[0].Size == 0 {
		t.Errorf("%+v, %v", l, err)
	}
	if f, err := reader.Facts(bg()); err != nil || f.Jobs["SUCCEEDED"] != 1 {
		t.Errorf("%+v, %v", f, err)
	}
	if c, err := reader.CancelJob(bg(), j.Job, ""); err != nil || !c.AlreadyEnded {
		t.Errorf("%+v, %v", c, err)
	}
	if after := listing(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}
