//go:build unix

package worker

import (
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// hostPipe is the host's end of a pipe to or from a worker. Its descriptor is
// not in the runtime's poller: a wait is one poll(2) of a thread, which measured
// faster, and which ends although a process that the worker left behind might
// hold the other end. The worker's end blocks.
//
// Read and Write belong to one goroutine; stop and release may come from any.
type hostPipe struct {
	fd      int
	stopped atomic.Bool
	blocks  bool // reads wait in read(2) itself
}

// tickMillis bounds how long a wait does not notice stop. The kill of a worker
// ends a wait at once; the tick is for when that does not help.
const tickMillis = 50

// newPipe returns a pipe whose ends are not inherited: one for the host, and
// one to hand to a worker.
func newPipe(hostReads bool) (*hostPipe, *os.File, error) {
	r, w, err := pipe()
	if err != nil {
		return nil, nil, err
	}
	host, child := w, r
	if hostReads {
		host, child = r, w
	}
	if err := unix.SetNonblock(host, true); err != nil {
		unix.Close(host)
		unix.Close(child)
		return nil, nil, err
	}
	return &hostPipe{fd: host}, os.NewFile(uintptr(child), "worker"), nil
}

func (p *hostPipe) Read(b []byte) (int, error) {
	for {
		// Look first: the answer is hardly ever there already.
		if !p.blocks {
			if err := p.wait(unix.POLLIN); err != nil {
				return 0, err
			}
		}
		n, err := unix.Read(p.fd, b)
		switch {
		case p.stopped.Load():
			return 0, errStopped
		case err == unix.EAGAIN || err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

func (p *hostPipe) Write(b []byte) (int, error) {
	written := 0
	for written < len(b) {
		n, err := unix.Write(p.fd, b[written:])
		switch {
		case err == unix.EAGAIN:
			if err := p.wait(unix.POLLOUT); err != nil {
				return written, err
			}
		case err == unix.EINTR:
		case err != nil:
			return written, err
		default:
			written += n
		}
	}
	return written, nil
}

func (p *hostPipe) wait(events int16) error {
	poll := [1]unix.PollFd{{Fd: int32(p.fd), Events: events}}
	for {
		if p.stopped.Load() {
			return errStopped
		}
		n, err := unix.Poll(poll[:], tickMillis)
		if err != nil && err != unix.EINTR {
			return err
		}
		if n > 0 {
			return nil
		}
	}
}

// stirred reports, without waiting, whether there is something to read: bytes,
// or the end.
func (p *hostPipe) stirred() bool {
	poll := [1]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	n, _ := unix.Poll(poll[:], 0)
	return n > 0
}

// hungUp reports, without waiting, whether nobody holds the other end.
func (p *hostPipe) hungUp() bool {
	poll := [1]unix.PollFd{{Fd: int32(p.fd)}}
	n, _ := unix.Poll(poll[:], 0)
	return n > 0
}

// stop makes Read and Write return soon.
func (p *hostPipe) stop() { p.stopped.Store(true) }

// Close may be called once, by the goroutine that reads or writes.
func (p *hostPipe) Close() error {
	fd := p.fd
	p.fd = -1
	return unix.Close(fd)
}
