//go:build unix

package worker

import (
	"os"
	"syscall"
)

// attributes puts a worker into a process group of its own: a signal from the
// terminal is for the host, which then ends its workers.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killTree kills the worker and what it may have started.
func killTree(p *os.Process) {
	if syscall.Kill(-p.Pid, syscall.SIGKILL) != nil {
		p.Kill()
	}
}
