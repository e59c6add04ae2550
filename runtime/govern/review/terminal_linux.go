package review

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalColumns is how wide a terminal is; 0 where nobody has told it.
func terminalColumns(tty *os.File) (n int) {
	raw, err := tty.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if size, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ); err == nil {
			n = int(size.Col)
		}
	})
	return n
}
