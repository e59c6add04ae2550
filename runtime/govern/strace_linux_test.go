package govern

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

var bySystemCall = flag.Bool("strace", false, "have strace kill processes before their system calls")

// TestKillAtSystemCalls kills the process of a change, on a real disk, before a
// system call of each kind that makes something durable or visible: some of them,
// and all of them in the soak.
func TestKillAtSystemCalls(t *testing.T) {
	if !*bySystemCall {
		t.Skip("make strace runs it")
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	if out, err := exec.CommandContext(t.Context(), strace, "-f", "-o", os.DevNull, "-e", "trace=none", "true").CombinedOutput(); err != nil {
		t.Skipf("strace may trace nothing here: %v: %s", err, out)
	}
	kills := 0
	for _, call := range []string{"openat2", "mkdirat", "pwrite64", "write", "ftruncate", "fchmod", "fsync", "fdatasync", "renameat2", "unlinkat", "flock"} {
		for _, n := range []int{1, 6} {
			if stopped(t, strace, call, n) {
				kills++
			}
		}
		for n := 2; *soak && stopped(t, strace, call, n); n++ {
			kills++
		}
	}
	if kills < 8 {
		t.Errorf("only %d processes were killed", kills)
	}
	t.Logf("%d processes were killed", kills)
}

// stopped kills a process before its n-th call, if it makes so many, and looks
// what comes of its change.
func stopped(t *testing.T, strace, call string, n int) (dead bool) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := beginning(t)
	c := exec.CommandContext(t.Context(), strace, "-f", "-o", os.DevNull, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n), exe, "change", "0")
	c.Env = append(os.Environ(), killIn+"="+dir)
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		dead = true
	} else if err != nil {
		t.Fatalf("%s, call %d: %v: %s", call, n, err, out)
	}
	goesOn(t, dir, fmt.Sprintf("call %d of %s", n, call))
	return dead
}
