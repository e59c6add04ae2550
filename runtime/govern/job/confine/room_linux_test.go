package confine_test

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// rooms take room on the disk that the size of a file does not show, each by another
// way: fallocate, and what file systems had before it (linux/falloc.h).
func rooms(path string) (ways []func() error) {
	const mib = 1 << 20
	in := func(take func(fd int) error) func() error {
		return func() error {
			fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
			if err != nil {
				return err
			}
			defer unix.Unlink(path)
			defer unix.Close(fd)
			return take(fd)
		}
	}
	ways = append(ways, in(func(fd int) error { return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, mib, mib) }))
	for _, request := range []uintptr{0x40305828, 0x4030582a} {
		ways = append(ways, in(func(fd int) error {
			space := struct {
				kind, whence  int16
				start, length int64
				_             [6]int32
			}{start: mib, length: mib}
			_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(&space)))
			if errno != 0 {
				return errno
			}
			return nil
		}))
	}
	return ways
}

// roomTaken reports whether the file system of a directory has any of that.
func roomTaken(dir string) bool {
	for _, way := range rooms(dir + "/room") {
		if way() == nil {
			return true
		}
	}
	return false
}
