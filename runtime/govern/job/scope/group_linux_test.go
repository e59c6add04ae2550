package scope

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/capgen/capgen/internal/cgrouptest"
	"github.com/capgen/capgen/runtime/worker/cgroup"
)

// The bounds of a group hold for all that a candidate starts, however it starts
// it; End tells of memory.
func TestGroupBounds(t *testing.T) {
	dir, err := cgrouptest.Dir(t, cgroup.ForMemory, cgroup.ForProcesses)
	if err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		name, text string
		check      func(Exit) bool
		memory     bool
		forks      int // how many of them it comes to
	}{
		{"within them", `dd if=/dev/zero of=/dev/null bs=16M count=1 2>/dev/null`, func(e Exit) bool { return e.Code == 0 }, false, 0},
		{"memory of one", `exec dd if=/dev/zero of=/dev/null bs=96M count=1`, func(e Exit) bool { return e.Signal == syscall.SIGKILL }, true, 0},
		{"memory of four", `for i in 1 2 3 4; do (setsid dd if=/dev/zero bs=20M count=1 || kill $$) | sleep 1000 & done; wait`,
			func(e Exit) bool { return e.Signal == syscall.SIGTERM }, true, 0},
		{"memory of another", `dd if=/dev/zero of=/dev/null bs=96M count=1; exit 0`, func(e Exit) bool { return e.Code == 0 }, true, 0},
		{"processes", `i=0; while [ $i -lt 100 ]; do setsid sleep 1000 & echo fork; i=$((i+1)); done; exit 0`,
			func(e Exit) bool { return e.Code > 0 }, false, 19},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, theirs, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			s, err := Open(Options{Tier: Cgroup, Cgroup: dir, Memory: 48 << 20, Processes: 20, Stdout: theirs})
			if err != nil {
				t.Fatal(err)
			}
			mark := newMark(t)
			if err := s.Start(soon(t), script(mark, c.text)); err != nil {
				t.Fatal(err)
			}
			theirs.Close()
			if exit, err := s.Wait(soon(t)); err != nil || !c.check(exit) {
				t.Errorf("%v, %v", exit, err)
			}
			if err := s.End(soon(t)); err != nil {
				t.Fatal(err)
			}
			if s.OutOfMemory() != c.memory {
				t.Errorf("out of memory: %t", !c.memory)
			}
			if text, err := io.ReadAll(out); err != nil || strings.Count(string(text), "fork") != c.forks {
				t.Errorf("%q, %v", text, err)
			}
			if left := marked(t, mark); len(left) > 0 {
				t.Errorf("%d are left", len(left))
				kill(t, mark)
			}
		})
	}
}
