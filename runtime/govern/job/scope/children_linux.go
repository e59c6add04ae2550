package scope

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// family is the children of this process: those it started, and those that fell
// back to it because their parents are gone. Their numbers are theirs until they
// are waited for, and nobody waits for one while the lock is held. So a signal to
// a child's number under the lock meets that child, or nobody.
type family struct {
	mu sync.Mutex
	// reaped is told of each child that was waited for; it is called with the lock
	// held.
	reaped func(pid int, status unix.WaitStatus, usage *unix.Rusage)
}

const ownTasks = "/proc/self/task"

// children lists the direct children of this process; the caller holds the lock.
// It may miss one that is being born or reparented: that none is left, only
// reap knows.
func (f *family) children() ([]int, error) {
	tasks, err := os.ReadDir(ownTasks)
	if err != nil {
		return nil, err
	}
	var list []int
	for _, task := range tasks {
		text, err := os.ReadFile(ownTasks + "/" + task.Name() + "/children")
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue // the thread has ended
		}
		if err != nil {
			return nil, err
		}
		for field := range bytes.FieldsSeq(text) {
			pid, err := strconv.Atoi(string(field))
			if err != nil {
				return nil, fmt.Errorf("scope: children of %s: %w", task.Name(), err)
			}
			list = append(list, pid)
		}
	}
	return list, nil
}

// signal signals every direct child. What falls back later is for the next call.
func (f *family) signal(sig unix.Signal) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	list, err := f.children()
	for _, pid := range list {
		if e := unix.Kill(pid, sig); e != nil && e != unix.ESRCH {
			err = errors.Join(err, fmt.Errorf("scope: signal: %w", e))
		}
	}
	return err
}

// reap waits for every child that has ended, and reports whether this process
// has none at all any more. Then nothing descends from it: what loses its parent
// is its child.
func (f *family) reap() (none bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		var status unix.WaitStatus
		var usage unix.Rusage
		// __WALL: those as well that do not signal their end.
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG|unix.WALL, &usage)
		switch {
		case err == unix.EINTR:
		case err == unix.ECHILD:
			return true
		case err != nil || pid == 0:
			return false
		case f.reaped != nil && (status.Exited() || status.Signaled()):
			f.reaped(pid, status, &usage)
		}
	}
}

// await returns when a child has ended, which it leaves to reap, or when there
// is none.
func (f *family) await() {
	for {
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT|unix.WALL, nil); err != unix.EINTR {
			return
		}
	}
}

// adopt makes what loses its parent below this process its child.
func adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("scope: subreaper: %w", err)
	}
	return nil
}

// childrenKnown reports whether this kernel lists children (CONFIG_PROC_CHILDREN).
func childrenKnown() error {
	if _, err := os.ReadFile(ownTasks + "/" + strconv.Itoa(unix.Gettid()) + "/children"); errors.Is(err, os.ErrNotExist) {
		// The thread may have changed in between; that of the process stays.
		_, err = os.ReadFile(ownTasks + "/" + strconv.Itoa(os.Getpid()) + "/children")
		return err
	}
	return nil
}
