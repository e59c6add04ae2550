package supervise

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// Whoever looks at a copy of a state directory has its journal, and a lock that
// nobody holds: the job goes on where it runs.
func TestCopied(t *testing.T) {
	for tier, group := range tiers(t) {
		t.Run(string(tier), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, tier, group, `echo > out/progress; sleep 1000`)
			s.launch(t)
			s.until(t, func(r record) bool { return r.State == job.Running && len(r.Progress) > 0 })
			copied := s.job("test")
			copied.Dir = filepath.Join(t.TempDir(), "copy")
			if err := os.Mkdir(copied.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if state, err := Settle(soon(t), copied, s.Journal); state != job.Running || err != nil {
				t.Errorf("the copy's is %s, %v", state, err)
			}
			if len(processes(t, candidateMark+"="+s.Mark)) == 0 {
				t.Error("it was ended")
			}
			if _, err := s.Journal.cancel(); err != nil {
				t.Fatal(err)
			}
			r := s.ended(t)
			s.sound(t, r)
			if r.State != job.Cancelled {
				t.Errorf("%s", r.State)
			}
		})
	}
}

// hangs is a job of a tier whose supervisor has stopped after it has started the
// candidate.
func hangs(t *testing.T, tier scope.Tier, group string) *scene {
	t.Helper()
	s := newScene(t, tier, group, brief+`echo > out/progress; sleep 1000`)
	s.Limits.Wall, s.Limits.Grace = 500*time.Millisecond, time.Second
	s.Deaths = []death{{Role: "supervise", Step: 6, Stop: true}}
	s.launch(t)
	s.until(t, func(r record) bool {
		_, err := os.Stat(filepath.Join(s.Dir, "box", "out", "progress"))
		return err == nil && s.died("supervise") == "started"
	})
	return s
}

// A watchdog of another namespace of process ids sees no process of the job. It
// claims no end with a proof as long as the lock is held.
func TestOtherNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root makes a namespace of processes alone")
	}
	for tier, group := range tiers(t) {
		t.Run(string(tier), func(t *testing.T) {
			t.Parallel()
			s := hangs(t, tier, group)
			for ctx := soon(t); !s.record(t).State.Ended(); {
				c := exec.Command("/proc/self/exe")
				c.Env = []string{helperMark + "=settle " + s.path}
				c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID}
				if text, err := c.CombinedOutput(); err != nil || ctx.Err() != nil {
					t.Fatalf("%v: %s", err, text)
				}
			}
			held, err := hold(s.Dir)
			if !errors.Is(err, ErrHeld) {
				t.Errorf("nobody has it any more, which is no proof of anything: %v", err)
				held.Close()
			}
			r := s.record(t)
			if last := r.Moves[len(r.Moves)-1]; r.State != job.Orphaned || last.Event != job.EventAbandon || last.Empty {
				t.Errorf("%s, %+v", r.State, last)
			}
		})
	}
}

// The file alive is gone, or something else has its name, and the supervisor hangs:
// it has its time, and is ended then with all that it has started. Of a tree the
// word that nothing runs is lost with the file.
func TestReplaced(t *testing.T) {
	alive := func(make func(path string) error) func(*scene) error {
		return func(s *scene) error {
			path := filepath.Join(s.Dir, aliveName)
			if err := os.Remove(path); err != nil {
				return err
			}
			return make(path)
		}
	}
	for tier, group := range tiers(t) {
		for name, replace := range map[string]func(*scene) error{
			"removed":   alive(func(string) error { return nil }),
			"link":      alive(func(path string) error { return os.Symlink("logs", path) }),
			"directory": alive(func(path string) error { return os.Mkdir(path, 0o700) }),
			"pipe":      alive(func(path string) error { return unix.Mkfifo(path, 0o600) }),
			"all of it": func(s *scene) error { return os.Rename(s.Dir, s.Dir+".moved") }, // accounts that modes bind cannot remove it
		} {
			t.Run(string(tier)+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := hangs(t, tier, group)
				if err := replace(s); err != nil {
					t.Fatal(err)
				}
				early := s.job("test")
				early.Limits.Wall = time.Hour
				if state, err := Settle(soon(t), early, s.Journal); state != job.Running || err != nil {
					t.Errorf("in time: %s, %v", state, err)
				}
				r := s.ended(t)
				s.sound(t, r)
				want, event := job.TimedOut, job.EventExpire
				if tier == scope.Tree {
					want, event = job.Orphaned, job.EventAbandon
				}
				if last := r.Moves[len(r.Moves)-1]; r.State != want || last.Event != event {
					t.Errorf("%s, %+v", r.State, last)
				}
			})
		}
	}
}

// Who has no supervisor to start leaves what is queued to others, until it is too
// late.
func TestSettleWithoutSupervisor(t *testing.T) {
	s := newScene(t, scope.Tree, "", "true")
	j := s.job("test")
	j.Supervisor = Program{}
	if state, err := Settle(soon(t), j, s.Journal); state != job.Queued || err != nil {
		t.Errorf("%s, %v", state, err)
	}
	j.Limits.Start, j.Limits.Grace = 1, 1
	if state, err := Settle(soon(t), j, s.Journal); state != job.TimedOut || err != nil {
		t.Errorf("late: %s, %v", state, err)
	}
}
