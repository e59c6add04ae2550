//go:build unix

package worker

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/internal/stdoutguard"
)

// lowestPrivate keeps the protocol's descriptors away from those that a stray
// close or write might hit.
const lowestPrivate = 100

// takeStreams makes descriptors 0 and 1 private and leaves harmless ones in
// their place: whoever reads gets the end, whoever prints writes to standard
// error.
func takeStreams() (streams, error) {
	from := 1
	if saved, ok := stdoutguard.Stdout(); ok {
		from = saved
	}
	write, err := private(from)
	if err != nil {
		return streams{}, err
	}
	if from != 1 {
		unix.Close(from)
	} else if err := replace(2, 1); err != nil {
		// Without standard error, a print fails.
		unix.Close(1)
	}
	read, err := private(0)
	if err != nil {
		return streams{}, err
	}
	if null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
		err = replace(null, 0)
		unix.Close(null)
		if err != nil {
			unix.Close(0)
		}
	} else {
		unix.Close(0)
	}
	return streams{
		in:     descriptor(read),
		out:    descriptor(write),
		keep:   []int{read, write},
		hangup: func() { awaitHangup(read) },
	}, nil
}

// private is a copy of fd beyond lowestPrivate, or beyond standard error in a
// process that may not open that many.
func private(fd int) (int, error) {
	if high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, lowestPrivate); err == nil {
		return high, nil
	}
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
}

// descriptor is a blocking descriptor.
type descriptor int

func (d descriptor) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(d), b)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

func (d descriptor) Write(b []byte) (int, error) {
	written := 0
	for written < len(b) {
		n, err := unix.Write(int(d), b[written:])
		if err != nil && err != unix.EINTR {
			return written, err
		}
		written += max(n, 0)
	}
	return written, nil
}

// awaitHangup returns as soon as nobody holds the other end of a pipe that is
// read from, also while a program spins: the runtime preempts it within 10 ms.
func awaitHangup(fd int) {
	poll := [1]unix.PollFd{{Fd: int32(fd)}}
	for poll[0].Revents == 0 {
		_, err := unix.Poll(poll[:], -1)
		if err != nil && err != unix.EINTR && err != unix.EAGAIN {
			select {} // reads and writes still notice
		}
	}
}
