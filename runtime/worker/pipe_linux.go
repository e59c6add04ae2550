package worker

import "golang.org/x/sys/unix"

// pipe returns a reading and a writing descriptor that children do not inherit.
func pipe() (r, w int, err error) {
	var fds [2]int
	err = unix.Pipe2(fds[:], unix.O_CLOEXEC)
	return fds[0], fds[1], err
}
