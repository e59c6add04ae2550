package cgroup

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/capgen/capgen/internal/cgrouptest"
)

// The kernel holds a group to its limits, all of its processes together, and says
// so of memory.
func TestKernelLimits(t *testing.T) {
	dir, err := cgrouptest.Dir(t, ForMemory, ForProcesses)
	if err != nil {
		t.Skip(err)
	}
	p, err := Open(dir, ForMemory, ForProcesses)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		script string
		killed bool // the shell, or what it has become
		memory bool
		forks  bool // the bound of processes was met
	}{
		{"within them", `dd if=/dev/zero of=/dev/null bs=16M count=1 2>/dev/null && sleep 0 & wait $!`, false, false, false},
		{"memory of one", `exec dd if=/dev/zero of=/dev/null bs=96M count=1 2>/dev/null`, true, true, false},
		// Each holds 20 MiB until its reader ends.
		{"memory of four", `for i in 1 2 3 4; do (dd if=/dev/zero bs=20M count=1 2>/dev/null || kill -KILL $$) | sleep 1000 & done; wait`, true, true, false},
		{"processes", `i=0; while [ $i -lt 100 ]; do sleep 1000 & i=$((i+1)); done 2>/dev/null; exit 0`, false, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := p.Make(Limits{Memory: 48 << 20, Processes: 20})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				err := g.Kill()
				for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(time.Millisecond) {
					if is, err := g.Populated(); err == nil && !is {
						break
					}
				}
				if err = errors.Join(err, g.Remove()); err != nil {
					t.Error(err)
				}
			}()
			command := exec.Command("/bin/sh", "-c", c.script)
			command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := g.Place(command.SysProcAttr); err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			late := time.AfterFunc(time.Minute, func() { g.Kill() })
			defer late.Stop()
			command.Wait()
			if status := command.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() != c.killed {
				t.Errorf("it ended with %v", command.ProcessState)
			}
			if g.OutOfMemory() != c.memory {
				t.Errorf("out of memory: %t", !c.memory)
			}
			if n, err := g.count("pids.events", "max"); err != nil || n > 0 != c.forks {
				t.Errorf("%d forks failed, %v", n, err)
			}
			text, err := os.ReadFile(g.dir + "/pids.current")
			if err != nil {
				t.Fatal(err)
			}
			if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err != nil || n > 20 || c.forks && n < 19 {
				t.Errorf("%d processes are left, %v", n, err)
			}
			if got := strings.TrimSpace(content(t, g.dir, fileSwap)); got != "0" {
				t.Errorf("it may have %s bytes of swap", got)
			}
		})
	}
}
