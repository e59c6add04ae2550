//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// closeDescriptors closes what is open but for the standard streams, keep and
// what the runtime waits with. The runtime may have made its poller before,
// for a package initialization that opened a pipe or set a timer, and dies
// without it; it holds nothing that was opened before once those are closed.
func closeDescriptors(keep []int) error {
	open, err := openBelow(many)
	if err == nil {
		// The runtime's poller is not that far up.
		err = unix.CloseRange(many, math.MaxUint32, 0)
	}
	if err != nil { // before Linux 5.9
		if open, err = openDescriptors(); err != nil {
			return err
		}
	}
	for _, fd := range open {
		if fd <= 2 || slices.Contains(keep, fd) || waits(fd) {
			continue
		}
		if err := unix.Close(fd); err != nil && err != unix.EBADF {
			return fmt.Errorf("close descriptor %d: %w", fd, err)
		}
	}
	return nil
}

// many is more descriptors than a program has open that only begins.
const many = 256

// openBelow lists the process's descriptors below most, but for 0, 1 and 2. It
// asks the kernel for each, and not a file system: poll would ask for all at once,
// and knows none that was opened for its path alone.
func openBelow(most int) (list []int, err error) {
	for fd := 3; fd < most; fd++ {
		switch _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err {
		case nil:
			list = append(list, fd)
		case unix.EBADF:
		default:
			return nil, fmt.Errorf("descriptor %d: %w", fd, err)
		}
	}
	return list, nil
}

const ownDescriptors = "/proc/self/fd"

// openDescriptors lists the process's descriptors, by bare system calls: a
// file of package os would be one more, in the poller.
func openDescriptors() ([]int, error) {
	dir, err := unix.Open(ownDescriptors, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ownDescriptors, err)
	}
	defer unix.Close(dir)
	var list []int
	buf := make([]byte, 4096)
	for {
		n, err := unix.Getdents(dir, buf)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ownDescriptors, err)
		}
		if n <= 0 {
			return list, nil
		}
		_, _, names := unix.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			if fd, err := strconv.Atoi(name); err == nil && fd != dir {
				list = append(list, fd)
			}
		}
	}
}

// waits reports whether fd is one that a Go runtime waits with. Those have no
// type in their mode.
func waits(fd int) bool {
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) == nil && stat.Mode&unix.S_IFMT != 0 {
		return false
	}
	var target [64]byte
	n, err := unix.Readlink(ownDescriptors+"/"+strconv.Itoa(fd), target[:])
	if err != nil {
		return false
	}
	kind, ok := strings.CutPrefix(string(target[:n]), "anon_inode:")
	return ok && (kind == "[eventpoll]" || kind == "[eventfd]")
}
