//go:build amd64 || arm64

package sandbox

import (
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// Both ways to list the open descriptors find the same ones, and know those
// that a runtime waits with.
func TestOpenDescriptors(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	poller, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(poller)
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(event)
	// One with a mode without a type that the runtime does not wait with.
	other, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(other)

	path, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(path)

	asked, err := openBelow(many)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := openDescriptors()
	if err != nil {
		t.Fatal(err)
	}
	listed = slices.DeleteFunc(listed, func(fd int) bool { return fd <= 2 })
	slices.Sort(listed)
	if !slices.Equal(asked, listed) {
		t.Errorf("the kernel has %v, its file system lists %v", asked, listed)
	}
	for fd, want := range map[int]bool{poller: true, event: true, other: false, path: false, int(file.Fd()): false} {
		if !slices.Contains(asked, fd) {
			t.Errorf("%d is not among %v", fd, asked)
		}
		if got := waits(fd); got != want {
			t.Errorf("waits(%d) is %v", fd, got)
		}
	}
}
