package supervise

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/internal/cgrouptest"
	"github.com/capgen/capgen/internal/testdir"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

var soak = flag.Bool("soak", false, "stop at every step in every tier, and the watchdog too")

// helperMark is the variable that makes the test binary another process of a job:
// what it does, and where its scene is.
const helperMark = "CAPGEN_TEST_SUPERVISE"

// candidateMark is the variable that all processes of a scene's candidate have.
const candidateMark = "CAPGEN_TEST_CANDIDATE"

func TestMain(m *testing.M) {
	scope.ServeKeeperAndExit()
	role, path, ok := strings.Cut(os.Getenv(helperMark), " ")
	if !ok {
		// They wait for processes more than they compute.
		flag.Set("test.parallel", "8")
		os.Exit(m.Run())
	}
	if err := help(role, path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// scene is one job, as a file tells it to all of its processes.
type scene struct {
	Mark    string
	Dir     string
	Journal fileJournal
	Limits  Limits
	Tier    scope.Tier
	Cgroup  string
	Command scope.Command
	// Memory and Processes bound its control group.
	Memory    int64
	Processes int
	Files     map[string]string
	Spoil     bool // an input is not what it was
	Deaths    []death
	Fail      int    // the journal's call of a supervisor that fails, from 1
	After     bool   // and only after it has done what it was asked for
	Clogged   string // a log that is a full pipe until the candidate has exited
	Hang      bool   // and only when nobody waits for it any more
	Read      string // an input cannot be read: gone, broken, or hangs

	path string
	gate sync.RWMutex // held by who uses the journal: nobody stops while it has its lock
}

// death is what happens to a process at its n-th step.
type death struct {
	Role   string // launch, supervise, settle
	Step   int    // from 1
	Stop   bool   // and not kill
	Both   bool   // the launcher too
	Keeper bool   // the keeper too
}

// job is the scene's, for the process that is role.
func (s *scene) job(role string) Job {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	j := Job{
		ID: "job_1", Dir: s.Dir, Limits: s.Limits, Now: now,
		Supervisor: Program{Path: self, Args: []string{"supervisor"}, Env: []string{helperMark + "=supervise " + s.path}},
	}
	n := 0
	j.step = func(name string) {
		n++
		if s.Clogged != "" && name == "exited" {
			unclog(s.Clogged)
		}
		for _, d := range s.Deaths {
			if d.Role == role && d.Step == n {
				s.die(d, role, name)
			}
		}
	}
	return j
}

// pipeSize is how many bytes a pipe takes (pipe(7)).
const pipeSize = 64 << 10

func unclog(pipe string) {
	f, err := os.Open(pipe)
	if err == nil {
		_, err = io.ReadFull(f, make([]byte, pipeSize))
		f.Close()
	}
	if err != nil {
		panic(err)
	}
}

// die is the end of this process, which leaves word of it.
func (s *scene) die(d death, role, name string) {
	if err := os.WriteFile(s.path+".died."+role, []byte(name), 0o600); err != nil {
		panic(err)
	}
	if d.Both {
		if text, err := os.ReadFile(s.path + ".launcher"); err == nil {
			pid, _ := strconv.Atoi(string(text))
			unix.Kill(pid, unix.SIGKILL) // which the test has not waited for
		}
	}
	if d.Keeper {
		if r, err := s.Journal.read(); err == nil && !r.Handle.None() {
			unix.Kill(r.Handle.Scope.Keeper.PID, unix.SIGKILL) // a child that was not waited for
		}
	}
	if d.Stop {
		s.gate.Lock()
		defer s.gate.Unlock()
		runtime.LockOSThread() // and its own thread: another may take its time to meet it
		defer runtime.UnlockOSThread()
		unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP)
		return
	}
	unix.Kill(os.Getpid(), unix.SIGKILL)
	select {}
}

func (s *scene) work() Work {
	w := Work{
		Command: s.Command, Scope: scope.Options{Tier: s.Tier, Cgroup: s.Cgroup, Memory: s.Memory, Processes: s.Processes},
		Arguments: []byte(`{"n":1}`), Check: check,
		Statuses: map[int]job.Failure{102: job.FailLimit, 103: job.FailInfrastructure},
	}
	content := map[[32]byte]string{}
	for path, text := range s.Files {
		d := sha256.Sum256([]byte(text))
		content[d] = text
		w.Files = append(w.Files, File{Path: path, Size: int64(len(text)), SHA256: d})
	}
	w.Read = func(ctx context.Context, digest [32]byte, max int64) ([]byte, error) {
		switch s.Read {
		case "gone":
			return nil, fmt.Errorf("%w: %w", ErrInput, os.ErrNotExist)
		case "broken":
			return nil, unix.EIO
		case "hangs":
			<-ctx.Done()
			return nil, ctx.Err()
		}
		text := []byte(content[digest])
		if s.Spoil {
			text = bytes.ToUpper(text)
		}
		return text, nil
	}
	return w
}

// check takes what is an object of one number. That of 0 is long in canonical form.
func check(text []byte) ([]byte, error) {
	var r struct{ Answer *int }
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, err
	}
	if r.Answer == nil {
		return nil, errors.New("there is no answer")
	}
	if *r.Answer == 0 {
		return fmt.Appendf(nil, `{"answer":0%2000s}`, ""), nil
	}
	return fmt.Appendf(nil, `{"answer":%d}`, *r.Answer), nil
}

// help is another process of a job.
func help(role, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s := &scene{path: path}
	if err := json.Unmarshal(text, s); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	switch role {
	case "launch":
		if err := os.WriteFile(path+".launcher", []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			return err
		}
		if _, err := Launch(ctx, s.job(role), s.Journal); err != nil {
			return err
		}
		for _, d := range s.Deaths {
			for d.Both { // the supervisor kills it
				if r, err := s.Journal.read(); err != nil || r.State.Ended() {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
	case "supervise":
		_, err = Run(ctx, s.job(role), s.work(), &failing{Journal: s.Journal, gate: &s.gate, at: s.Fail, after: s.After, hang: s.Hang})
	case "settle":
		_, err = Settle(ctx, s.job(role), s.Journal)
	}
	return err
}

// soon is what bounds a test that waits, on a machine that is very busy.
func soon(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(stop)
	return ctx
}

// tiers are those that can be had here, each with its control group.
func tiers(t *testing.T) map[scope.Tier]string {
	t.Helper()
	list := map[scope.Tier]string{}
	for _, tier := range scope.Tiers() {
		group := ""
		if tier == scope.Cgroup {
			var err error
			if group, err = cgrouptest.Dir(t); err != nil {
				t.Log("tier cgroup: ", err)
				continue
			}
		}
		if err := scope.Probe(soon(t), scope.Options{Tier: tier, Cgroup: group}); err != nil {
			t.Log(err)
			continue
		}
		list[tier] = group
	}
	if len(list) == 0 {
		t.Fatal("no tier can be had here")
	}
	return list
}

// newScene is a job in a tier whose candidate is a script of sh. It notes its
// start in a file outside of its box. The scene's processes are ended with the
// test.
func newScene(t *testing.T, tier scope.Tier, group, script string) *scene {
	t.Helper()
	dir := testdir.Open(t)
	s := &scene{
		Mark: strconv.FormatInt(time.Now().UnixNano(), 36), Dir: filepath.Join(dir, "job"), Journal: newJournal(t),
		Limits: Limits{Start: 30 * time.Second, Wall: 30 * time.Second, Grace: 10 * time.Second, Output: 1 << 20, Result: 1 << 10, Disk: 1 << 24, Entries: 1000},
		Tier:   tier, Cgroup: group,
		Files: map[string]string{"main.sh": script, "lib/deep/x.txt": "x"},
		path:  filepath.Join(dir, "scene"),
	}
	s.Command = scope.Command{
		Path: "/bin/sh", Args: []string{"sh", "-c", "echo started >> " + s.starts() + "; . ./code/main.sh"},
		Env: []string{"PATH=/usr/bin:/bin", candidateMark + "=" + s.Mark},
	}
	t.Cleanup(func() { s.sweep(t) })
	return s
}

// save writes the scene for its other processes.
func (s *scene) save(t *testing.T) {
	t.Helper()
	text, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(s.path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// helper is another process of the job, in no way this one's to keep.
func (s *scene) helper(t *testing.T, role string) *exec.Cmd {
	t.Helper()
	c := exec.Command("/proc/self/exe")
	c.Env = []string{helperMark + "=" + role + " " + s.path}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// launch launches from this process.
func (s *scene) launch(t *testing.T) {
	t.Helper()
	s.save(t)
	state, err := Launch(soon(t), s.job("test"), s.Journal)
	if err != nil || state != job.Starting {
		t.Fatalf("%s, %v", state, err)
	}
}

// ended is the job once it has ended, with what a watchdog does.
func (s *scene) ended(t *testing.T) record {
	t.Helper()
	ctx := soon(t)
	for ctx.Err() == nil {
		state, err := Settle(ctx, s.job("test"), s.Journal)
		if err != nil {
			t.Fatal(err)
		}
		if state.Ended() {
			return s.record(t)
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("it does not end: %+v", s.record(t))
	return record{}
}

// until waits until the job is in one of the states.
func (s *scene) until(t *testing.T, done func(record) bool) record {
	t.Helper()
	for ctx := soon(t); ctx.Err() == nil; time.Sleep(2 * time.Millisecond) {
		if r := s.record(t); done(r) {
			return r
		}
	}
	t.Fatalf("it does not come to that: %+v", s.record(t))
	return record{}
}

func (s *scene) record(t *testing.T) record {
	t.Helper()
	r, err := s.Journal.read()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// run is the job after a launch that nobody disturbs.
func (s *scene) run(t *testing.T) record {
	t.Helper()
	s.launch(t)
	r := s.ended(t)
	s.sound(t, r)
	return r
}

func (s *scene) starts() string { return filepath.Join(filepath.Dir(s.Dir), "starts") }

// sound is what holds of every job that has ended.
func (s *scene) sound(t *testing.T, r record) {
	t.Helper()
	if text, err := os.ReadFile(s.starts()); err == nil && len(text) > len("started\n") {
		t.Errorf("it was started %d times", bytes.Count(text, []byte("\n")))
	}
	if left := processes(t, candidateMark+"="+s.Mark); len(left) > 0 {
		t.Errorf("%s, and %d of its processes are left", r.State, len(left))
	}
	at := job.Queued
	for _, m := range r.Moves {
		if at.Ended() {
			t.Errorf("%s was overwritten by %s", at, m.Event)
		}
		at, _ = job.Next(m.From, m.Event, m.By, m.Empty)
	}
	if at != r.State || !at.Ended() {
		t.Errorf("%s, by its moves %s", r.State, at)
	}
	s.gone(t)
}

// gone waits until the supervisor has exited, which it does after it has said how
// the job ended.
func (s *scene) gone(t *testing.T) {
	t.Helper()
	for ctx := soon(t); len(processes(t, helperMark+"=supervise "+s.path)) > 0; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatal("the supervisor does not exit")
		}
	}
}

// sweep kills what a test may have left.
func (s *scene) sweep(t *testing.T) {
	for range 1000 {
		left := 0
		for _, mark := range []string{helperMark + "=supervise " + s.path, helperMark + "=settle " + s.path, candidateMark + "=" + s.Mark} {
			for _, pid := range processes(t, mark) {
				left++
				unix.Kill(pid, unix.SIGKILL)
			}
		}
		if left == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("its processes cannot be killed")
}

// died is the step at which a process has, "" if it has not.
func (s *scene) died(role string) string {
	text, _ := os.ReadFile(s.path + ".died." + role)
	return string(text)
}

// signal sends a signal to the supervisor.
func (s *scene) signal(t *testing.T, sig unix.Signal) {
	t.Helper()
	for _, pid := range processes(t, helperMark+"=supervise "+s.path) {
		unix.Kill(pid, sig)
	}
}

// processes are those with a variable in their environment, zombies not among
// them.
func processes(t *testing.T, variable string) (pids []int) {
	t.Helper()
	list, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		env, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+variable+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}
