package worker

import (
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What touch gives pages to has some, and holds what it held.
func TestTouch(t *testing.T) {
	b := make([]byte, 4*touched) // of which no page was used
	b[0] = 7
	page := uintptr(unix.Getpagesize())
	from := uintptr(unsafe.Pointer(&b[0])) &^ (page - 1)
	resident := func() int {
		var pages [touched / 4096]byte
		if _, _, errno := unix.Syscall(unix.SYS_MINCORE, from, touched, uintptr(unsafe.Pointer(&pages))); errno != 0 {
			t.Skip("mincore: ", errno)
		}
		return len(slices.DeleteFunc(pages[:], func(p byte) bool { return p&1 == 0 }))
	}
	if _, _, errno := unix.Syscall(unix.SYS_MADVISE, from, page, unix.MADV_POPULATE_WRITE); errno != 0 {
		t.Skip("before Linux 5.14: ", errno)
	}
	touch(b)
	if n, want := resident(), touched/int(page); n < want {
		t.Errorf("%d of %d pages are there", n, want)
	}
	if b[0] != 7 || slices.Max(b[1:]) != 0 {
		t.Error("bytes have changed")
	}
}
