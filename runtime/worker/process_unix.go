//go:build unix

package worker

import (
	"os"
	"syscall"
)

// attributes puts a worker into a process group of its own: a signal from the
// terminal is for the host, which then ends its workers.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killTree kills the worker and what it may have started. Both, always: a
// worker may have left its group, which lives on as long as a child of it does.
func killTree(p *os.Process) {
	syscall.Kill(-p.Pid, syscall.SIGKILL)
	p.Kill()
}
