//go:build unix

package stdoutguard

import "syscall"

// lowest is the first descriptor that is neither input, output nor error.
const lowest = 3

// divert moves descriptor 1 to a private one and points it at descriptor 2. On
// any failure it leaves descriptor 1 alone and returns -1.
func divert() int {
	fd, err := syscall.Dup(1)
	if err != nil {
		return -1
	}
	// Dup takes the lowest free descriptor, which is below 3 in a process
	// started with one of them closed.
	var low []int
	for fd < lowest {
		low = append(low, fd)
		if fd, err = syscall.Dup(1); err != nil {
			break
		}
	}
	for _, l := range low {
		syscall.Close(l)
	}
	if err != nil {
		return -1
	}
	syscall.CloseOnExec(fd)
	if replace(2, 1) != nil {
		syscall.Close(fd)
		return -1
	}
	return fd
}
