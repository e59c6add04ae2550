//go:build unix

package worker

import (
	"os"

	"golang.org/x/sys/unix"
)

// lastWords hold what a worker writes to standard error: first what packages
// print while they are initialized, which is dropped, and then its runtime's
// report of its own end.
type lastWords struct {
	fd    int
	child *os.File // the worker's end, until settle
}

func newLastWords() (*lastWords, error) {
	r, w, err := pipe()
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(r, true); err != nil {
		unix.Close(r)
		unix.Close(w)
		return nil, err
	}
	return &lastWords{r, os.NewFile(uintptr(w), "worker")}, nil
}

// await waits until out has something to read, and drops what is said
// meanwhile: a worker that prints much must not wait for a reader.
func (w *lastWords) await(out *hostPipe) {
	poll := [2]unix.PollFd{{Fd: int32(out.fd), Events: unix.POLLIN}, {Fd: int32(w.fd), Events: unix.POLLIN}}
	var dropped [4096]byte
	for !out.stopped.Load() {
		_, err := unix.Poll(poll[:], tickMillis)
		if poll[1].Revents&unix.POLLIN != 0 {
			unix.Read(w.fd, dropped[:])
		}
		if poll[0].Revents != 0 || err != nil && err != unix.EINTR {
			return
		}
	}
}

// settle makes the worker's end such that a write never waits: from now on
// nobody reads before the worker's end, and what does not fit is lost. Before,
// package os of the worker would have taken the descriptor for one to wait on.
func (w *lastWords) settle() {
	unix.SetNonblock(int(w.child.Fd()), true)
	w.forget()
}

func (w *lastWords) forget() {
	if w.child != nil {
		w.child.Close()
		w.child = nil
	}
}

// read returns up to so many bytes of what was written.
func (w *lastWords) read(most int) []byte {
	text := make([]byte, most)
	n := 0
	for n < most {
		m, err := unix.Read(w.fd, text[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || m <= 0 {
			break
		}
		n += m
	}
	return text[:n]
}

func (w *lastWords) close() {
	w.forget()
	unix.Close(w.fd)
}
