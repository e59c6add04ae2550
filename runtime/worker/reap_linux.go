package worker

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// await returns when the process has ended by itself, at the latest after so
// long.
func (p *process) await(most time.Duration) {
	for began := time.Now(); time.Since(began) < most; time.Sleep(time.Millisecond) {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, p.os.Pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
		if err != unix.EINTR && (err != nil || info.Signo != 0) {
			return
		}
	}
}

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
