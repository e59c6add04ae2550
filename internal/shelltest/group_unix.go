//go:build unix

package shelltest

import (
	"os"
	"os/exec"
	"syscall"
)

func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill kills the group, which is there as long as one process of it is.
func kill(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }
