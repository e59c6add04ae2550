package scope

import (
	"bufio"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Each bound holds for what was started, and says which it was.
func TestLimits(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name   string
		limits Limits
		text   string
		check  func(Exit) bool
	}{
		{"none", Limits{}, `exit 0`, func(e Exit) bool { return e.Code == 0 }},
		{"open files", Limits{Open: 17}, `[ $(ulimit -n) = 17 ] && [ $(ulimit -c) = 0 ]`, func(e Exit) bool { return e.Code == 0 }},
		{"file size", Limits{File: 4096}, `exec head -c 10000 /dev/zero > ` + dir + `/file`, func(e Exit) bool { return e.Signal == syscall.SIGXFSZ || e.Code == 1 }},
		{"processor time", Limits{CPU: time.Millisecond}, `while :; do :; done`, func(e Exit) bool {
			return (e.Signal == syscall.SIGXCPU || e.Signal == syscall.SIGKILL) && e.CPU >= 500*time.Millisecond
		}},
		{"memory", Limits{Memory: 64 << 20}, `[ $(ulimit -v) = 65536 ] && ! head -c 200000000 /dev/zero | { x=$(tr '\0' a); } 2>/dev/null`, func(e Exit) bool { return e.Code == 0 }},
	} {
		s, err := Open(Options{Tier: Tree})
		if err != nil {
			t.Fatal(err)
		}
		command := script(newMark(t), c.text)
		command.Limits = c.limits
		if err := s.Start(soon(t), command); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if exit, err := s.Wait(soon(t)); err != nil || !c.check(exit) {
			t.Errorf("%s: %v, %v", c.name, exit, err)
		}
		if err := s.End(soon(t)); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if info, err := os.Stat(dir + "/file"); err != nil || info.Size() > 4096 {
		t.Errorf("%v, %v", info, err)
	}
}

// What bounds a candidate shows in nothing that it can see of its environment.
func TestLimitsInEachTier(t *testing.T) {
	for _, o := range tiers(t) {
		out, theirs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		o.Stdout = theirs
		s, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		command := script(newMark(t), `ulimit -n; env | sort | tr '\n' ' '`)
		command.Limits.Open = 19
		if err := s.Start(soon(t), command); err != nil {
			t.Fatalf("%s: %v", o.Tier, err)
		}
		theirs.Close()
		line, _ := bufio.NewReader(out).ReadString(0)
		if !strings.HasPrefix(line, "19\nCAPGEN_TEST_MARK=") || strings.Contains(line, runMark) {
			t.Errorf("%s: %q", o.Tier, line)
		}
		out.Close()
		if err := s.End(soon(t)); err != nil {
			t.Errorf("%s: %v", o.Tier, err)
		}
	}
}
