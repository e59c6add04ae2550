package worker

import (
	"os"

	"golang.org/x/sys/unix"
)

// wait reaps the process. From then on its id may be another's, so that no
// kill may be on its way: first it is left a zombie, then reaped under the
// lock that kill takes.
func (p *process) wait() *os.ProcessState {
	for unix.Waitid(unix.P_PID, p.os.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	// Wait fails only for a process that is not a child or was waited for.
	state, _ := p.os.Wait()
	return state
}
