package scope

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// pause is how long is waited between two looks at what the kernel does not tell
// of by itself.
const pause = 2 * time.Millisecond

// bootID is the id of the running kernel.
func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

// startTime is when a process started, in ticks since boot. The name in the
// second field may hold anything, a parenthesis too.
func startTime(pid int) (uint64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const field = 22 - 3 // fields[0] is the third
	if len(fields) <= field {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields)+2)
	}
	return strconv.ParseUint(string(fields[field]), 10, 64)
}

// Identify is the identity of a process that cannot end unnoticed meanwhile: this
// one, or a child that was not waited for.
func Identify(pid int) (Identity, error) {
	i := Identity{PID: pid}
	var err error
	if i.Boot, err = bootID(); err == nil {
		i.Start, err = startTime(pid)
	}
	if err != nil {
		return i, fmt.Errorf("scope: identify process %d: %w", pid, err)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return i, fmt.Errorf("scope: pidfd of process %d: %w", pid, err)
	}
	defer unix.Close(fd)
	// Kernels before 6.14 know no handles of pidfds.
	handle, _, err := unix.NameToHandleAt(fd, "", unix.AT_EMPTY_PATH)
	if err != nil {
		return i, nil
	}
	with := i
	with.Type, with.File = handle.Type(), bytes.Clone(handle.Bytes())
	opened, err := with.byHandle()
	if err != nil { // a handle may be told, and its use refused
		return i, nil
	}
	unix.Close(opened)
	return with, nil
}

// Open is a pidfd of the very process, or [ErrGone]: also of a kernel that has
// ended, or where the number is another's. The caller closes it.
func (i Identity) Open() (*Pidfd, error) {
	boot, err := bootID()
	if err != nil {
		return nil, fmt.Errorf("scope: %w", err)
	}
	if i.Boot != boot || i.PID <= 0 {
		return nil, ErrGone
	}
	fd, err := -1, errors.ErrUnsupported
	if i.File != nil {
		fd, err = i.byHandle()
	}
	if refused(err) {
		fd, err = i.byStart()
	}
	if err != nil {
		return nil, err
	}
	p := &Pidfd{fd}
	// One that was not waited for can be opened, and even signalled.
	if p.Dead() {
		p.Close()
		return nil, ErrGone
	}
	return p, nil
}

// refused reports whether an error says that no process can be opened by a handle
// here, as under the seccomp filter of a container: it says nothing of the process.
func refused(err error) bool {
	return errors.Is(err, os.ErrPermission) || errors.Is(err, errors.ErrUnsupported) // EPERM, EACCES; ENOSYS, EOPNOTSUPP
}

func (i Identity) byHandle() (int, error) {
	self, err := unix.PidfdOpen(os.Getpid(), 0) // of the file system that pidfds are of
	if err != nil {
		return -1, fmt.Errorf("scope: pidfd: %w", err)
	}
	defer unix.Close(self)
	fd, err := unix.OpenByHandleAt(self, unix.NewFileHandle(i.Type, i.File), unix.O_CLOEXEC)
	if errors.Is(err, unix.ESTALE) || errors.Is(err, unix.ESRCH) {
		return -1, ErrGone
	}
	if err != nil {
		return -1, fmt.Errorf("scope: process %d by its handle: %w", i.PID, err)
	}
	return fd, nil
}

// byStart opens whatever has the number, and looks only then who that is: the
// descriptor stays with the one it was opened for.
func (i Identity) byStart() (int, error) {
	fd, err := unix.PidfdOpen(i.PID, 0)
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) { // EINVAL: the number of a thread
		return -1, ErrGone
	}
	if err != nil {
		return -1, fmt.Errorf("scope: pidfd of process %d: %w", i.PID, err)
	}
	start, err := startTime(i.PID)
	if err != nil || start != i.Start {
		unix.Close(fd)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ESRCH) {
			return -1, fmt.Errorf("scope: process %d: %w", i.PID, err)
		}
		return -1, ErrGone
	}
	return fd, nil
}

// Pidfd refers to one process, dead or alive.
type Pidfd struct{ fd int }

// Dead reports whether the process has ended, waited for or not.
func (p *Pidfd) Dead() bool {
	poll := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(poll, 0)
		if err != unix.EINTR {
			return err == nil && n > 0
		}
	}
}

// Kill kills the process; one that has ended is [ErrGone].
func (p *Pidfd) Kill() error {
	err := unix.PidfdSendSignal(p.fd, unix.SIGKILL, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return ErrGone
	}
	return err
}

// Await returns when the process has ended, or ctx has.
func (p *Pidfd) Await(ctx context.Context) error { return until(ctx, p.Dead) }

// Close lets go of the process.
func (p *Pidfd) Close() error { return unix.Close(p.fd) }

// until returns when done is true, or ctx has ended.
func until(ctx context.Context, done func() bool) error {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
