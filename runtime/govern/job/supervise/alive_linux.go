package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/govern/job/scope"
)

const (
	aliveName = "alive"
	// aliveFD is where a supervisor finds the file, open and locked.
	aliveFD = 3
)

// hold opens the file alive of a job's directory and takes its lock: until the
// last copy of the descriptor is closed, in whatever process. [ErrHeld] is that
// somebody has it.
func hold(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, aliveName), os.O_RDWR|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("supervise: %w", err)
	}
	if err := lock(int(f.Fd())); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// lock takes the lock of an open file description. One that has it gets it again.
func lock(fd int) error {
	err := unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return ErrHeld
	}
	if err != nil {
		return fmt.Errorf("supervise: lock: %w", err)
	}
	return nil
}

// replaced reports whether an error of hold says that there is no such file which
// anybody could hold: it was removed, with its directory or without, or something
// else has its name.
func replaced(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EISDIR) || errors.Is(err, unix.ENOTDIR)
}

// free returns when nobody holds the lock of a job's directory, or with [ErrHeld]
// when somebody still does after a while.
func free(ctx context.Context, dir string) error {
	ctx, stop := context.WithTimeout(ctx, exitPatience)
	defer stop()
	for {
		alive, err := hold(dir)
		switch {
		case err == nil:
			return alive.Close()
		case replaced(err):
			return nil
		case !errors.Is(err, ErrHeld):
			return err
		}
		select {
		case <-time.After(tick):
		case <-ctx.Done():
			return err
		}
	}
}

// Launched returns nil in a process that [Launch] has started for the job of a
// directory, and that has its lock. Any other one has no say in what becomes of
// the job.
func Launched(dir string) error {
	var own, there unix.Stat_t
	err := unix.Fstat(aliveFD, &own)
	if err == nil {
		err = unix.Lstat(filepath.Join(dir, aliveName), &there)
	}
	switch {
	case err != nil:
		return fmt.Errorf("supervise: this process was not launched: %w", err)
	case own.Dev != there.Dev || own.Ino != there.Ino:
		return errors.New("supervise: this process was not launched for this job")
	}
	return lock(aliveFD)
}

// inherited is the file alive that Launch has given to this process, with its
// lock.
func inherited(dir string) (*os.File, error) {
	if err := Launched(dir); err != nil {
		return nil, err
	}
	unix.CloseOnExec(aliveFD)
	return os.NewFile(aliveFD, aliveName), nil
}

// emptied reports whether the keeper has left word in the file alive that nothing
// of its scope runs. Where that file is gone, or another is in its place, it has not.
func emptied(dir string) (bool, error) {
	f, err := os.OpenFile(filepath.Join(dir, aliveName), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		if replaced(err) {
			err = nil
		}
		return false, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() { // a pipe would be waited for
		return false, err
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(len(scope.Emptied))+1))
	return string(text) == scope.Emptied, err
}
