package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Remove removes the directory of a job that has ended, whatever its candidate
// has left there; one that is gone is no error, one whose job somebody still
// holds is [ErrHeld]. What survives a job in tier tree may go on making files:
// Remove ends with ctx, and what it has not removed is there for the next one.
func Remove(ctx context.Context, dir string) error {
	alive, err := hold(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer alive.Close()
	top, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == nil {
		err = empty(ctx, top)
		unix.Close(top)
	}
	if err == nil {
		err = os.Remove(dir)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("supervise: remove %s: %w", filepath.Base(dir), err)
	}
	return nil
}

// empty removes all there is in top. Depth costs nothing: directories that are in
// another one are moved up first, so that none is ever named by a path.
func empty(ctx context.Context, top int) error {
	moved := 0
	for {
		list, err := list(ctx, top)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, name := range list {
			if err := emptyOne(ctx, top, name, &moved); err != nil {
				return err
			}
		}
	}
}

// emptyOne removes what is called name, after it has moved the directories in it
// to top.
func emptyOne(ctx context.Context, top int, name string, moved *int) error {
	fd, err := enter(top, name)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return unix.Unlinkat(top, name, 0)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for {
		inner, err := list(ctx, fd)
		if err != nil {
			return err
		}
		if len(inner) == 0 {
			return unix.Unlinkat(top, name, unix.AT_REMOVEDIR)
		}
		for _, in := range inner {
			err := unix.Unlinkat(fd, in, 0)
			if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) {
				err = lift(fd, in, top, moved)
			}
			if err != nil {
				return err
			}
		}
	}
}

// lift moves a directory to top, under a name that nothing has there.
func lift(from int, name string, top int, moved *int) error {
	fd, err := enter(from, name) // whose mode allows it then
	if err != nil {
		return err
	}
	unix.Close(fd)
	for {
		*moved++
		err := unix.Renameat2(from, name, top, "removed-"+strconv.Itoa(*moved), unix.RENAME_NOREPLACE)
		if !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
}

// enter opens the directory name, of this file system, whatever its mode; what is
// none is ENOTDIR or ELOOP.
func enter(dir int, name string) (int, error) {
	const resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV
	fd, err := unix.Openat2(dir, name, &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: resolve})
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	self := "/proc/self/fd/" + strconv.Itoa(fd)
	if err := unix.Chmod(self, 0o700); err != nil {
		return -1, err
	}
	return unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
}

// list is some of the names in a directory, none only of one that is empty.
func list(ctx context.Context, fd int) ([]string, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if _, err := unix.Seek(fd, 0, io.SeekStart); err != nil {
		return nil, err
	}
	var names []string
	buffer := make([]byte, 32<<10)
	for len(names) == 0 { // the first that are read may be . and .. alone
		n, err := unix.ReadDirent(fd, buffer)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return nil, err
		}
		_, _, names = unix.ParseDirent(buffer[:n], -1, nil)
	}
	return names, nil
}
