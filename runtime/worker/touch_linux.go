package worker

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// touched is more of the heap than a small program uses, in bytes.
const touched = 128 << 10

// touch has the kernel give pages to the part of the heap that begins with b,
// which was just made: what the first program allocates comes next to it, and
// nobody waits for it then. It changes no bytes. A kernel before Linux 5.14
// refuses, and then the program waits.
func touch(b []byte) {
	page := uintptr(unix.Getpagesize())
	start := uintptr(unsafe.Pointer(&b[0])) &^ (page - 1)
	unix.Syscall(unix.SYS_MADVISE, start, touched, unix.MADV_POPULATE_WRITE)
}
