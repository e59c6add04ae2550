//go:build amd64 || arm64

package confine

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// countedApart reports why a limit of processes (RLIMIT_NPROC) would not bind this
// process, or would count others of its account: a kernel before Linux 5.14 counts
// those in all namespaces of users together. tasks is /proc/self/task.
//
// The limit is low only for a moment, between system calls that keep the processor:
// a process that uses one (GOMAXPROCS) starts no thread in it.
func countedApart(tasks *os.File) error {
	switch could, err := couldStart(1); { // it is one already
	case err != nil:
		return err
	case could:
		return errors.New("the number of its processes is not bounded")
	}
	for range 5 { // a thread may be started before the limit is low
		if _, err := tasks.Seek(0, io.SeekStart); err != nil {
			return err
		}
		own, err := tasks.Readdirnames(-1)
		if err != nil {
			return err
		}
		if could, err := couldStart(uint64(len(own) + 1)); could || err != nil {
			return err
		}
	}
	return errors.New("processes of others count as its own (before Linux 5.14)")
}

// couldStart reports whether this process could start one more where the limit of
// processes is most. It starts none: where it could, the kernel then finds that
// there is no place for what else was asked for, a descriptor of the process.
func couldStart(most uint64) (bool, error) {
	var was unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_NPROC, nil, &was); err != nil {
		return false, fmt.Errorf("the limit of processes: %w", err)
	}
	if err := unix.Prlimit(0, unix.RLIMIT_NPROC, &unix.Rlimit{Cur: most, Max: was.Max}, nil); err != nil {
		return false, fmt.Errorf("a limit of %d processes: %w", most, err)
	}
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_PIDFD|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno == 0 && pid == 0 { // a kernel that gives none has started it
		for {
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	err := unix.Prlimit(0, unix.RLIMIT_NPROC, &was, nil)
	switch {
	case err != nil:
		return false, fmt.Errorf("the limit of processes: %w", err)
	case errno == unix.EAGAIN:
		return false, nil
	case errno != unix.EFAULT && errno != 0:
		return false, fmt.Errorf("start a process: %w", errno)
	}
	return true, nil
}
