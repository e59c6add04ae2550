package scope

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/worker/cgroup"
)

// group is options for a scope in a group that can be had here.
func group(t *testing.T) Options {
	t.Helper()
	for _, o := range tiers(t) {
		if o.Tier == Cgroup {
			return o
		}
	}
	t.Skip("no groups can be made here")
	return Options{}
}

// A candidate with the account of who owns the group makes others in it. They do
// not keep it from having ended, and go with it; those that are too deep stay.
func TestGroupsInGroup(t *testing.T) {
	o := group(t)
	for name, c := range map[string]struct {
		script string
		stays  bool
	}{
		"flat": {`for i in 1 2 3 4 5 6 7 8 9; do mkdir $i $i/1 $i/2 && echo $$ > $i/2/cgroup.procs || exit 1; done`, false},
		"deep": {`for i in $(seq 110); do mkdir 1 && cd 1 || exit 1; done`, true},
	} {
		mark := newMark(t)
		s, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		command := script(mark, `(setsid sleep 1000 &); `+c.script)
		command.Dir = s.Handle().Cgroup
		if err := s.Start(soon(t), command); err != nil {
			t.Fatal(err)
		}
		if exit, err := s.Wait(soon(t)); err != nil || exit.Code != 0 {
			t.Errorf("%s: %v, %v", name, exit, err)
		}
		if err := s.End(soon(t)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if left := marked(t, mark); len(left) > 0 {
			t.Errorf("%s: %d are left", name, len(left))
			kill(t, mark)
		}
		if _, err := os.Stat(command.Dir); (err == nil) != c.stays {
			t.Errorf("%s: %v", name, err)
		}
		for n := 110; n >= 0; n-- {
			os.Remove(command.Dir + strings.Repeat("/1", n))
		}
	}
}

// A group that its owner has made one of threads cannot be killed: it has ended if
// nothing is in it.
func TestGroupOfThreads(t *testing.T) {
	o := group(t)
	parent, err := cgroup.Open(o.Cgroup)
	if err != nil {
		t.Fatal(err)
	}
	g, err := parent.Make(cgroup.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(g.Path())
	if err := os.WriteFile(filepath.Join(g.Path(), "cgroup.type"), []byte("threaded"), 0); err != nil {
		t.Skip(err)
	}
	if err := endGroup(soon(t), g); err != nil {
		t.Error(err)
	}
}

// A candidate that can write to the groups beside its own leaves it and stops its
// keeper, and who supervises is killed: the keeper goes on, and ends what has left
// the group as well.
func TestLeavesGroup(t *testing.T) {
	o := group(t)
	beside := filepath.Join(o.Cgroup, "beside")
	if err := os.Mkdir(beside, 0o755); err != nil {
		t.Fatal(err)
	}
	defer func() {
		for began := time.Now(); os.Remove(beside) != nil && time.Since(began) < 5*time.Second; {
			time.Sleep(time.Millisecond)
		}
	}()
	mark := newMark(t)
	h := newHelper(t, o, script(mark, `(setsid sleep 1000 &); echo $$ > `+beside+`/cgroup.procs && (setsid sleep 1000 &) && kill -STOP $PPID; echo '"ready"'; sleep 1000`))
	h.ready(t)
	h.Process.Kill()
	h.Cmd.Wait()
	if err := h.handle.End(soon(t), h.emptied); err != nil {
		t.Error(err)
	}
	if left := marked(t, mark); len(left) > 0 {
		t.Errorf("%d are left", len(left))
		kill(t, mark)
	}
}

// A keeper does not end in its time, as one that is stopped again and again: that
// of a tree is let live, and nothing is proved; a group is ended without.
func TestKeeperDoesNotEnd(t *testing.T) {
	for _, o := range tiers(t) {
		if o.Tier == Namespace {
			continue // it is killed at once
		}
		mark := newMark(t)
		s, err := Open(o) // whose keeper waits for this process
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(soon(t), script(mark, `sleep 1000`)); err != nil {
			t.Fatal(err)
		}
		err = s.Handle().end(soon(t), 10*time.Millisecond, func() (bool, error) { return false, nil })
		if tree := o.Tier == Tree; errors.Is(err, ErrUnproved) != tree || (err != nil) != tree {
			t.Errorf("%s: %v", o.Tier, err)
		}
		if got, want := unix.Kill(s.keeper.Pid, 0) == nil && len(marked(t, mark)) > 0, o.Tier == Tree; got != want {
			t.Errorf("%s: it lives: %t, want %t", o.Tier, got, want)
		}
		if err := s.End(soon(t)); err != nil {
			t.Errorf("%s: %v", o.Tier, err)
		}
	}
}
