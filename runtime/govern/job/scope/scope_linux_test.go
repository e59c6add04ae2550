package scope

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// What candidates do to stay alive. Each says "ready" when it has done it.
var escapes = map[string]string{
	"waits":           `echo '"ready"'; sleep 1000`,
	"double-forks":    `(setsid sh -c '(setsid sleep 1000 &) ; sleep 1000' &); echo '"ready"'; sleep 1000`,
	"ignores signals": `trap '' TERM HUP INT QUIT; echo '"ready"'; while :; do sleep 1000; done`,
	"forks a lot": `f() { if [ $1 -gt 0 ]; then f $(($1-1)) & f $(($1-1)) & wait; else while :; do sleep 1000; done; fi; }
		f 5 & echo '"ready"'; wait`,
	"forks and ends, for ever": `f() { (f) & }; f; echo '"ready"'; while :; do sleep 1000; done`,
}

// Whatever a candidate does, in each tier nothing of it is left when End says so.
func TestEnds(t *testing.T) {
	for _, o := range tiers(t) {
		for name, text := range escapes {
			t.Run(string(o.Tier)+"/"+name, func(t *testing.T) {
				mark := newMark(t)
				out, theirs, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer out.Close()
				o.Stdout = theirs
				s, err := Open(o)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Start(soon(t), script(mark, text)); err != nil {
					t.Fatal(err)
				}
				theirs.Close()
				if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "\"ready\"\n" {
					t.Fatalf("%q, %v", line, err)
				}
				if len(marked(t, mark)) == 0 {
					t.Fatal("it does not run")
				}
				if err := s.Terminate(); err != nil {
					t.Error(err)
				}
				if name == "ignores signals" && len(marked(t, mark)) == 0 {
					t.Error("it has not ignored them")
				}
				if err := s.End(soon(t)); err != nil {
					t.Fatal(err)
				}
				if left := marked(t, mark); len(left) > 0 {
					t.Errorf("%d are left", len(left))
					kill(t, mark)
				}
			})
		}
	}
}

// What the first process leaves behind ends with it.
func TestLeftBehind(t *testing.T) {
	for _, o := range tiers(t) {
		mark := newMark(t)
		s, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(soon(t), script(mark, `(setsid sleep 1000 &); exit 3`)); err != nil {
			t.Fatal(err)
		}
		exit, err := s.Wait(soon(t))
		if err != nil || exit.Code != 3 || exit.Signal != 0 || exit.String() != "status 3" {
			t.Errorf("%s: %+v, %v", o.Tier, exit, err)
		}
		if err := s.End(soon(t)); err != nil {
			t.Errorf("%s: %v", o.Tier, err)
		}
		if left := marked(t, mark); len(left) > 0 {
			t.Errorf("%s: %d are left", o.Tier, len(left))
			kill(t, mark)
		}
	}
}

// A candidate of the same account stops or kills its keeper: where it reaches it
// at all, who supervises ends the scope without.
func TestKeeperMeddledWith(t *testing.T) {
	for _, o := range tiers(t) {
		for _, signal := range []string{"STOP", "KILL"} {
			mark := newMark(t)
			h := newHelper(t, o, script(mark, `(setsid sleep 1000 &); kill -`+signal+` $PPID; echo '"ready"'; sleep 1000`))
			h.ready(t)
			if len(marked(t, mark)) == 0 {
				t.Fatal("it does not run")
			}
			if err := h.in.Encode("end"); err != nil {
				t.Fatal(err)
			}
			if err := h.Cmd.Wait(); err != nil {
				t.Errorf("%s, %s: %v: %s", o.Tier, signal, err, h.stderr.String())
			}
			if left := marked(t, mark); len(left) > 0 {
				t.Errorf("%s, %s: %d are left", o.Tier, signal, len(left))
				kill(t, mark)
			}
		}
	}
}

// No signal ends the keeper from inside of its namespace, but for those that belong
// to C libraries, 32 to 34: Go has no handlers for them, and the kernel looks at
// what the first thread blocks, not at all of them.
func TestSignalsInNamespace(t *testing.T) {
	for _, o := range tiers(t) {
		if o.Tier != Namespace {
			continue
		}
		s, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(soon(t), script(newMark(t), `for n in $(seq 31) $(seq 35 64) $(seq 31) $(seq 35 64); do kill -$n 1 || exit 1; done; exit 7`)); err != nil {
			t.Fatal(err)
		}
		if exit, err := s.Wait(soon(t)); err != nil || exit.Code != 7 {
			t.Errorf("%v, %v", exit, err)
		}
		if err := s.End(soon(t)); err != nil {
			t.Error(err)
		}
	}
}

// Who supervises is killed: the keeper ends the scope, and any other process
// proves that it did.
func TestSupervisorKilled(t *testing.T) {
	for _, o := range tiers(t) {
		mark := newMark(t)
		h := newHelper(t, o, script(mark, `(setsid sleep 1000 &); trap '' TERM; echo '"ready"'; while :; do sleep 1000; done`))
		h.ready(t)
		if len(marked(t, mark)) == 0 {
			t.Fatal("it does not run")
		}
		h.Process.Kill()
		h.Cmd.Wait()
		for range 2 { // a second time, when nothing is there any more
			if err := h.handle.End(soon(t), h.emptied); err != nil {
				t.Errorf("%s: %v", o.Tier, err)
			}
		}
		if left := marked(t, mark); len(left) > 0 {
			t.Errorf("%s: %d are left", o.Tier, len(left))
			kill(t, mark)
		}
	}
}

// Both are killed: in a group or a namespace that is the end of it, of a tree
// nobody claims to know.
func TestBothKilled(t *testing.T) {
	for _, o := range tiers(t) {
		mark := newMark(t)
		h := newHelper(t, o, script(mark, `(setsid sleep 1000 &); echo '"ready"'; sleep 1000`))
		h.ready(t)
		keeper, err := h.handle.Keeper.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.PidfdSendSignal(keeper.fd, unix.SIGSTOP, nil, 0); err != nil {
			t.Fatal(err)
		}
		h.Process.Kill()
		h.Cmd.Wait()
		if err := keeper.Kill(); err != nil {
			t.Fatal(err)
		}
		keeper.Close()
		err = h.handle.End(soon(t), h.emptied)
		if o.Tier == Tree {
			if !errors.Is(err, ErrUnproved) {
				t.Errorf("tree: %v", err)
			}
			kill(t, mark)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", o.Tier, err)
		}
		if left := marked(t, mark); len(left) > 0 {
			t.Errorf("%s: %d are left", o.Tier, len(left))
			kill(t, mark)
		}
	}
}

// Who supervises is killed and the keeper stopped: neither a group nor a
// namespace needs it.
func TestKeeperStopped(t *testing.T) {
	for _, o := range tiers(t) {
		if o.Tier == Tree {
			continue // it needs its keeper
		}
		mark := newMark(t)
		h := newHelper(t, o, script(mark, `(setsid sleep 1000 &); echo '"ready"'; sleep 1000`))
		h.ready(t)
		keeper, err := h.handle.Keeper.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.PidfdSendSignal(keeper.fd, unix.SIGSTOP, nil, 0); err != nil {
			t.Fatal(err)
		}
		keeper.Close()
		h.Process.Kill()
		h.Cmd.Wait()
		if err := h.handle.End(soon(t), h.emptied); err != nil {
			t.Errorf("%s: %v", o.Tier, err)
		}
		if left := marked(t, mark); len(left) > 0 {
			t.Errorf("%s: %d are left", o.Tier, len(left))
			kill(t, mark)
		}
	}
}

// The keeper keeps Alive, and with it its lock, and leaves word in it.
func TestAlive(t *testing.T) {
	for _, o := range tiers(t) {
		path := filepath.Join(t.TempDir(), "alive")
		f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		lock := unix.Flock_t{Type: unix.F_WRLCK}
		if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock); err != nil {
			t.Fatal(err)
		}
		other, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		free := func() bool {
			lock := unix.Flock_t{Type: unix.F_WRLCK}
			if err := unix.FcntlFlock(other.Fd(), unix.F_OFD_GETLK, &lock); err != nil {
				t.Fatal(err)
			}
			return lock.Type == unix.F_UNLCK
		}
		o.Alive = f
		s, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(soon(t), script(newMark(t), "sleep 1000")); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if free() {
			t.Errorf("%s: the lock is gone while the keeper lives", o.Tier)
		}
		if err := s.End(soon(t)); err != nil {
			t.Fatal(err)
		}
		if !free() {
			t.Errorf("%s: the lock is held by nobody", o.Tier)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != Emptied {
			t.Errorf("%s: %q, %v", o.Tier, text, err)
		}
		other.Close()
	}
}

// The first process has its three streams and nothing else, and the environment
// that it was given.
func TestBare(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := Open(Options{Tier: Tree, Stdout: f, Stderr: f})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(soon(t), Command{Path: "/bin/sh", Args: []string{"sh", "-c", `ls /proc/$$/fd; env; pwd; kill -KILL $$`}, Dir: "/usr", Env: []string{"A=b"}}); err != nil {
		t.Fatal(err)
	}
	exit, err := s.Wait(soon(t))
	if err != nil || exit.Code != -1 || exit.Signal != syscall.SIGKILL {
		t.Errorf("%v, %v", exit, err)
	}
	if err := s.End(soon(t)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(text))
	got := strings.Join(lines, " ")
	if !strings.HasPrefix(got, "0 1 2 ") || strings.HasPrefix(got, "0 1 2 3") || strings.Contains(got, runMark) || !strings.Contains(got, "A=b") || !strings.Contains(got, " /usr") {
		t.Errorf("%s", got)
	}
}

func TestRefusals(t *testing.T) {
	if err := Probe(soon(t), Options{Tier: "cell"}); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	if err := Probe(soon(t), Options{Tier: Cgroup, Cgroup: t.TempDir()}); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	for name, c := range map[string]Command{
		"no such file":         {Path: "/nowhere/at-all", Args: []string{"x"}, Dir: "/"},
		"absolute paths":       {Path: "sh", Args: []string{"x"}, Dir: "/"},
		"a name it goes by":    {Path: "/bin/sh", Dir: "/"},
		"a command of 656":     {Path: "/bin/sh", Args: []string{strings.Repeat("x", maxCommand)}, Dir: "/"},
		"no such file or dire": {Path: "/bin/sh", Args: []string{"sh"}, Dir: "/nowhere/at-all"},
	} {
		s, err := Open(Options{Tier: Tree})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(soon(t), c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.End(soon(t)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Wait(soon(t)); err == nil {
			t.Errorf("%s: it has ended well", name)
		}
		if err := s.Start(soon(t), c); err == nil {
			t.Errorf("%s: started in a scope that has ended", name)
		}
	}
	another := Handle{Tier: Tree, Keeper: Identity{Boot: "another", PID: 1}}
	if err := another.End(soon(t), func() (bool, error) { return false, errors.New("asked") }); err != nil {
		t.Errorf("after a reboot: %v", err)
	}
	boot, err := bootID()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []Handle{{Tier: "cell", Keeper: Identity{Boot: boot}}, {Keeper: Identity{Boot: boot}}} {
		if err := h.End(soon(t), func() (bool, error) { return true, nil }); !errors.Is(err, ErrUnproved) {
			t.Errorf("%+v: %v", h, err)
		}
	}
	unreadable := Handle{Tier: Tree, Keeper: Identity{Boot: boot}}
	if err := unreadable.End(soon(t), func() (bool, error) { return false, fmt.Errorf("unreadable") }); err == nil || errors.Is(err, ErrUnproved) {
		t.Errorf("%v", err)
	}
}
