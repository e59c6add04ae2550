package supervise

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// brief is a candidate that leaves something behind, and takes a while.
const brief = `(trap '' TERM HUP; setsid sleep 1000 &); sleep 0.05; ` + answers

// steps are those of a process that is not disturbed, as its own tests enumerate
// them.
var steps = map[string][]string{
	"launch":    {"queued", "made", "held", "claimed", "spawned"},
	"supervise": {"inherited", "built", "opened", "kept", "begun", "started", "exited", "ended", "read", "finished"},
}

// whole are the steps after which the death of the process changes nothing, or
// before which another one does all of it.
var whole = []string{"queued", "made", "held", "spawned", "finished"}

// Launcher, supervisor, or both are killed at each step that they have: the
// candidate is started once at most, what has ended stays so, and nothing runs
// afterwards. What the keeper ends by itself is proved, never given up.
func TestKilledAtEachStep(t *testing.T) {
	deaths := []death{{Role: "launch"}, {Role: "supervise"}, {Role: "supervise", Both: true}}
	for tier, group := range tiers(t) {
		if tier != scope.Tree && !*soak {
			continue
		}
		for _, d := range deaths {
			for n, name := range append(slices.Clone(steps[d.Role]), "") {
				d := d
				d.Step = n + 1
				t.Run(fmt.Sprintf("%s/%s, both %t/%s", tier, d.Role, d.Both, name), func(t *testing.T) {
					t.Parallel()
					s := newScene(t, tier, group, brief)
					s.Deaths = []death{d}
					s.save(t)
					s.helper(t, "launch").Wait()
					r := s.ended(t)
					s.sound(t, r)
					if got := s.died(d.Role); got != name {
						t.Fatalf("step %d is %q", d.Step, got)
					}
					last := r.Moves[len(r.Moves)-1]
					switch {
					case name == "", slices.Contains(whole, name):
						if r.State != job.Succeeded {
							t.Errorf("%s, %+v", r.State, last)
						}
					case last.Event != job.EventLose || last.Failure != job.FailOrphaned:
						t.Errorf("%s, %+v", r.State, last)
					}
				})
			}
		}
	}
}

// Supervisor and keeper are killed at each step from which on there is a keeper
// to be known: a group or a namespace is ended all the same, of a tree nobody
// claims to know.
func TestKeeperKilledToo(t *testing.T) {
	for tier, group := range tiers(t) {
		for n, name := range steps["supervise"][:6] {
			if n < 3 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", tier, name), func(t *testing.T) {
				t.Parallel()
				s := newScene(t, tier, group, brief+"sleep 1000")
				s.Deaths = []death{{Role: "supervise", Step: n + 1, Keeper: true}}
				s.launch(t)
				r := s.ended(t)
				if s.died("supervise") != name {
					t.Fatalf("it died at %q", s.died("supervise"))
				}
				last := r.Moves[len(r.Moves)-1]
				if tier == scope.Tree {
					if r.State != job.Orphaned || last.Event != job.EventAbandon || last.Empty {
						t.Errorf("%s, %+v", r.State, last)
					}
					return
				}
				s.sound(t, r)
				if r.State != job.Orphaned || last.Event != job.EventLose {
					t.Errorf("%s, %+v", r.State, last)
				}
			})
		}
	}
}

// No group is left of a supervisor that was killed before anybody else knew of it,
// nor after that.
func TestNoGroupLeft(t *testing.T) {
	group, ok := tiers(t)[scope.Cgroup]
	if !ok {
		t.Skip("no groups can be made here")
	}
	for n, name := range steps["supervise"][:9] {
		if n < 2 {
			continue
		}
		s := newScene(t, scope.Cgroup, group, brief)
		s.Deaths = []death{{Role: "supervise", Step: n + 1}}
		s.launch(t)
		s.sound(t, s.ended(t))
		if left, err := filepath.Glob(filepath.Join(group, "capgen-*")); err != nil || len(left) > 0 {
			t.Errorf("%s: %d are left, %v", name, len(left), err)
		}
	}
}

// A supervisor stops at each step and does nothing any more, with and without a
// cancellation: a watchdog ends the job when it is overdue. If the supervisor goes
// on then, it starts nothing.
func TestStoppedAtEachStep(t *testing.T) {
	for tier, group := range tiers(t) {
		if tier != scope.Tree && !*soak {
			continue
		}
		for n, name := range steps["supervise"][:9] {
			for _, cancelled := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s, cancelled %t", tier, name, cancelled), func(t *testing.T) {
					t.Parallel()
					s := newScene(t, tier, group, brief)
					s.Limits.Start, s.Limits.Wall, s.Limits.Grace = time.Second, time.Second, time.Second
					s.Deaths = []death{{Role: "supervise", Step: n + 1, Stop: true}}
					s.launch(t)
					for ctx := soon(t); s.died("supervise") == ""; time.Sleep(time.Millisecond) {
						if ctx.Err() != nil || s.record(t).State.Ended() { // so slow that it was overdue before
							t.Skipf("it does not come to that step: %s", s.record(t).State)
						}
					}
					if cancelled {
						if _, err := s.Journal.cancel(); err != nil {
							t.Fatal(err)
						}
					}
					r := s.ended(t)
					if len(processes(t, candidateMark+"="+s.Mark)) > 0 {
						t.Errorf("%s, and something is left", r.State)
					}
					s.signal(t, unix.SIGCONT)
					s.sound(t, r)
					want := job.TimedOut
					if cancelled {
						want = job.Cancelled
					}
					if after := s.record(t); r.State != want || after.State != r.State {
						t.Errorf("%s, then %s, want %s", r.State, after.State, want)
					}
				})
			}
		}
	}
}

// The host has booted anew since a process was killed at any of its steps: what
// ran is over, whatever the numbers in the handle stand for now.
func TestRebooted(t *testing.T) {
	for tier, group := range tiers(t) {
		if tier != scope.Tree && !*soak {
			continue
		}
		for role, names := range steps {
			for n, name := range names {
				if slices.Contains(whole, name) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", tier, role, name), func(t *testing.T) {
					t.Parallel()
					s := newScene(t, tier, group, brief)
					s.Deaths = []death{{Role: role, Step: n + 1, Keeper: true}}
					s.save(t)
					s.helper(t, "launch").Wait()
					for ctx := soon(t); s.died(role) == ""; time.Sleep(time.Millisecond) {
						if ctx.Err() != nil {
							t.Fatal("it does not die")
						}
					}
					s.gone(t)
					s.sweep(t)
					canary := exec.Command("sleep", "1000")
					if err := canary.Start(); err != nil {
						t.Fatal(err)
					}
					defer canary.Wait()
					defer canary.Process.Kill()
					if err := s.Journal.change(func(r *record) error {
						for _, boot := range []*string{&r.Handle.Supervisor.Boot, &r.Handle.Scope.Keeper.Boot, &r.Times.Created.Boot, &r.Times.Begun.Boot} {
							if *boot != "" {
								*boot = "another"
							}
						}
						r.Handle.Supervisor.PID, r.Handle.Scope.Keeper.PID = canary.Process.Pid, canary.Process.Pid
						group := r.Handle.Scope.Cgroup
						t.Cleanup(func() { os.Remove(group) }) // which no reboot has removed
						return nil
					}); err != nil {
						t.Fatal(err)
					}
					r := s.ended(t)
					s.sound(t, r)
					if last := r.Moves[len(r.Moves)-1]; r.State != job.Orphaned || last.Event != job.EventLose {
						t.Errorf("%s, %+v", r.State, last)
					}
					if err := canary.Process.Signal(unix.Signal(0)); err != nil {
						t.Errorf("another process was ended: %v", err)
					}
				})
			}
		}
	}
}

// Numbers of processes that have ended are another's by now: that one lives
// through any number of recoveries, by who is gone and by who is overdue.
func TestNumbersOfOthers(t *testing.T) {
	rounds := 50
	if *soak {
		rounds = 1000
	}
	canary := exec.Command("sleep", "1000")
	if err := canary.Start(); err != nil {
		t.Fatal(err)
	}
	defer canary.Wait()
	defer canary.Process.Kill()
	self, err := scope.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	other := scope.Identity{Boot: self.Boot, PID: canary.Process.Pid, Start: 1}
	for n := range rounds {
		s := newScene(t, scope.Namespace, "", "")
		if err := makeDirectory(s.Dir); err != nil {
			t.Fatal(err)
		}
		if err := s.Journal.change(func(r *record) error {
			r.State, r.Times.Begun = job.Running, now()
			r.Handle = Handle{Supervisor: other, Scope: scope.Handle{Tier: scope.Namespace, Keeper: other}}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		want, step := job.Orphaned, func(string) {}
		if n%2 == 0 {
			held, err := hold(s.Dir)
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			s.Limits.Wall, s.Limits.Grace, want = 0, 0, job.TimedOut
			step = func(name string) {
				if name == "stopped" {
					held.Close()
				}
			}
		}
		j := s.job("test")
		j.step = step
		if state, err := Settle(soon(t), j, s.Journal); err != nil || state != want {
			t.Fatalf("%s, %v", state, err)
		}
	}
	if err := canary.Process.Signal(unix.Signal(0)); err != nil {
		t.Errorf("it was ended: %v", err)
	}
}

// A watchdog is killed at each of its steps too, after the supervisor was.
func TestWatchdogKilled(t *testing.T) {
	for tier, group := range tiers(t) {
		for n, name := range []string{"seen", "free", "proved"} {
			s := newScene(t, tier, group, brief)
			s.Deaths = []death{{Role: "supervise", Step: 6}, {Role: "settle", Step: n + 1}}
			s.launch(t)
			for s.gone(t); s.died("settle") == "" && !s.record(t).State.Ended(); {
				s.helper(t, "settle").Wait() // until the keeper has let go
			}
			if got := s.died("settle"); got != name {
				t.Errorf("%s: step %d is %q", tier, n+1, got)
			}
			r := s.ended(t)
			s.sound(t, r)
			if r.State != job.Orphaned {
				t.Errorf("%s: %s", tier, r.State)
			}
		}
	}
}

// The journal fails at any of the supervisor's calls, before or after it has done
// what it was asked for.
func TestJournalFails(t *testing.T) {
	for n := range 7 {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, after %t", n+1, after), func(t *testing.T) {
				t.Parallel()
				s := newScene(t, "tree", "", brief)
				s.Fail, s.After = n+1, after
				r := s.run(t)
				if last := r.Moves[len(r.Moves)-1]; r.State != job.Succeeded && last.Failure != job.FailInfrastructure {
					t.Errorf("%s, %+v", r.State, last)
				}
			})
		}
	}
}

// Several watchdogs and launchers at once start one supervisor.
func TestAtOnce(t *testing.T) {
	s := newScene(t, "tree", "", brief)
	s.save(t)
	var all []*exec.Cmd
	for range 4 {
		all = append(all, s.helper(t, "launch"), s.helper(t, "settle"))
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	if r := s.ended(t); r.State != job.Succeeded || len(r.Moves) != 3 {
		t.Errorf("%s, %+v", r.State, r.Moves)
	} else {
		s.sound(t, r)
	}
}

// A supervisor that cannot be started is the end of its job.
func TestNoSupervisor(t *testing.T) {
	for name, spoil := range map[string]func(*Job){
		"relative":   func(j *Job) { j.Supervisor.Path = "supervisor" },
		"no name":    func(j *Job) { j.Supervisor.Args = nil },
		"no program": func(j *Job) { j.Supervisor.Path = "/nowhere/at-all" },
	} {
		for _, cancelled := range []bool{false, true} {
			s := newScene(t, "tree", "", brief)
			j := s.job("test")
			spoil(&j)
			want := job.Failed
			if cancelled {
				want = job.Cancelled
				j.step = func(name string) {
					if name == "claimed" {
						if _, err := s.Journal.cancel(); err != nil {
							t.Error(err)
						}
					}
				}
			}
			state, err := Launch(soon(t), j, s.Journal)
			if err == nil || state != want {
				t.Errorf("%s: %s, %v", name, state, err)
			}
			s.sound(t, s.record(t))
		}
	}
}

// Who was not launched for the job does not run it.
func TestNotLaunched(t *testing.T) {
	s := newScene(t, "tree", "", brief)
	s.save(t)
	if err := makeDirectory(s.Dir); err != nil {
		t.Fatal(err)
	}
	held, err := hold(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	again, err := os.OpenFile(filepath.Join(s.Dir, aliveName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	other, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for want, file := range map[string]*os.File{"was not launched": nil, "was not launched for this job": other, ErrHeld.Error(): again} {
		c := exec.Command("/proc/self/exe")
		c.Env = []string{helperMark + "=supervise " + s.path}
		if file != nil {
			c.ExtraFiles = []*os.File{file}
		}
		text, err := c.CombinedOutput()
		if exit := new(exec.ExitError); !errors.As(err, &exit) || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, %s", want, err, text)
		}
	}
	if r := s.record(t); r.State != job.Queued {
		t.Errorf("%s", r.State)
	}
}
