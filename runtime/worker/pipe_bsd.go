//go:build unix && !linux

package worker

import "syscall"

// pipe returns a reading and a writing descriptor that children do not
// inherit: the lock keeps a fork out between the two steps.
func pipe() (r, w int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		return 0, 0, err
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	return fds[0], fds[1], nil
}
