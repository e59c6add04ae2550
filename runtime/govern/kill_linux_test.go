package govern

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/capgen/capgen/internal/testdir"
	"github.com/capgen/capgen/runtime/govern/fault"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/root"
)

// killIn is the variable that makes the test binary tell a story in the directory
// it names, and kill itself at a step. Its arguments are what to do, and the step.
const killIn = "CAPGEN_TEST_GOVERN"

func TestMain(m *testing.M) {
	scope.ServeKeeperAndExit()
	runner.ServeStarlarkAndExit()
	if is, err := beAnother(); is {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(killIn); dir != "" {
		if err := inChild(dir, os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// onDisk is a scene on a real disk, with step before each change of it.
func onDisk(dir string, step func() error) (*scene, error) {
	return onDiskWith(dir, scenery{}, step, func(*Options) {})
}

func onDiskWith(dir string, with scenery, step func() error, more func(*Options)) (*scene, error) {
	with.disk, with.dir, with.step = fault.NewDisk(), filepath.Join(dir, "db"), step
	for _, name := range []string{"state", "strategies"} { // not used
		if _, err := with.disk.Root().Make(name, 0o750); err != nil {
			return nil, err
		}
	}
	s, err := with.open()
	if err != nil {
		return nil, err
	}
	o := s.o
	state, err := root.Open(filepath.Join(dir, "state"))
	if err != nil {
		return nil, err
	}
	roots, err := root.Open(filepath.Join(dir, "strategies"))
	if err != nil {
		return nil, err
	}
	o.State, o.Roots = fault.Stepped(state, step), map[string]root.Dir{"strategies": fault.Stepped(roots, step)}
	more(&o)
	s.Service, err = open(o, step)
	s.state, s.roots = state, roots
	return s, err
}

func inChild(dir, what, at string) error {
	runtime.LockOSThread() // strace counts the calls of each thread
	kill, err := strconv.Atoi(at)
	if err != nil {
		return err
	}
	steps := 0
	step := func() error {
		if steps++; steps == kill {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
	if what == "run" {
		return inRunChild(dir, step)
	}
	s, err := onDisk(dir, step)
	if err != nil {
		return err
	}
	if _, err := s.Recover(bg()); err != nil || what == "recover" {
		return err
	}
	return (&story{call: what == "call"}).tell(s)
}

// killed runs a child that kills itself at a step, and tells whether it did.
func killed(t *testing.T, dir, what string, at int) bool {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe, what, strconv.Itoa(at))
	c.Env = append(os.Environ(), killIn+"="+dir)
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("%s, step %d: %v: %s", what, at, err, out)
	}
	return false
}

// TestKill kills the process of a change before its steps, on a real disk, and
// then one that recovers; the requester and the approver try again with the same
// keys.
func TestKill(t *testing.T) {
	stride := 7
	if *soak {
		stride = 1
	}
	for n := 1; ; n += stride {
		dir := beginning(t)
		dead := killed(t, dir, "change", n)
		if dead {
			killed(t, dir, "recover", n%6+1)
		}
		goesOn(t, dir, fmt.Sprint("step ", n))
		if !dead {
			if n < 30 {
				t.Errorf("only %d steps", n)
			}
			return
		}
	}
}

// beginning is a directory with a tree where changes land, and nothing else.
func beginning(t *testing.T) (dir string) {
	t.Helper()
	dir = testdir.Open(t)
	for _, name := range []string{"db", "state", "strategies"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	roots, err := root.Open(filepath.Join(dir, "strategies"))
	if err != nil {
		t.Fatal(err)
	}
	if err := place(roots, "momentum", little); err != nil {
		t.Fatal(err)
	}
	return dir
}

// goesOn recovers what a process left that was killed, and has requester and
// approver try again with the same keys.
func goesOn(t *testing.T, dir, at string) {
	t.Helper()
	s, err := onDisk(dir, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recover(t.Context()); err != nil {
		t.Fatalf("killed at %s: recovery: %v", at, err)
	}
	if there := s.there(t); there != treeHash(t, little) && there != treeHash(t, other) {
		t.Fatalf("killed at %s: neither the old tree nor the new one", at)
	}
	// Who comes back asks for the plan of the key. It may have landed: then that
	// is what the key stands for.
	err = (&story{}).tell(s)
	if err != nil && !(code(err) == ConflictCode && strings.Contains(s.last(t, 9), "change.applied")) {
		t.Fatalf("killed at %s, again: %v", at, err)
	}
	if s.there(t) != treeHash(t, other) || s.names(t) != "momentum" {
		t.Fatalf("killed at %s: it is not there, or something is left: %s", at, s.names(t))
	}
	all := strings.Join(s.trail(t), " ") + " "
	if begun, ended := strings.Count(all, "plan.land "), strings.Count(all, "change.applied "); begun != 1 || ended != 1 {
		t.Fatalf("killed at %s: approvals were spent %d times, and it was applied %d times", at, begun, ended)
	}
	s.db.Close()
}
