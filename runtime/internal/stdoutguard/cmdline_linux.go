package stdoutguard

import "syscall"

// servesStdio reports whether the first argument is stdio.
func servesStdio() bool {
	fd, err := syscall.Open("/proc/self/cmdline", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer syscall.Close(fd)
	// The program's own name may be as long as a path; the argument follows it.
	var text [8192]byte
	n := 0
	for n < len(text) {
		m, err := syscall.Read(fd, text[n:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || m <= 0 {
			break
		}
		n += m
	}
	return firstArgument(text[:n]) == "stdio"
}

// firstArgument returns the second of the NUL-terminated texts in cmdline.
func firstArgument(cmdline []byte) string {
	start := -1
	for i, c := range cmdline {
		if c != 0 {
			continue
		}
		if start >= 0 {
			return string(cmdline[start:i])
		}
		start = i + 1
	}
	return ""
}
