//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// onAllThreads makes one system call on every thread: what it sets belongs to
// a thread, and only threads that start later inherit it. A process with C
// code has threads that the runtime does not know, and is refused.
func onAllThreads(trap, a1, a2, a3 uintptr) error {
	_, _, errno := syscall.AllThreadsSyscall6(trap, a1, a2, a3, 0, 0, 0)
	if errno == unix.ENOTSUP {
		return errCgo
	}
	if errno != 0 {
		return errno
	}
	return nil
}

var errCgo = errors.New("the executable links C code, whose threads cannot be reached")

// noNewPrivs sets no_new_privs. In a process with C code only this thread gets
// it, and all is false: the goroutine is locked to it, and the seccomp filter
// then gives it to all others.
func noNewPrivs() (all bool, err error) {
	err = onAllThreads(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0)
	if err != errCgo {
		return true, err
	}
	runtime.LockOSThread()
	return false, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// LinksC reports whether this process has C code in it, as one has whose
// package net or os/user was built with cgo.
func LinksC() bool {
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_GETPID, 0, 0, 0)
	return errno == unix.ENOTSUP
}
