package audit

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks a file for as long as it is open.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	const mode = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	if err := windows.LockFileEx(windows.Handle(f.Fd()), mode, 0, 1, 0, new(windows.Overlapped)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// syncDir: Windows has no such call.
func syncDir(string) error { return nil }
