//go:build amd64 || arm64

package confine

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/internal/landlock"
)

// What a candidate may do with a place.
const (
	toExecute = toRead | unix.LANDLOCK_ACCESS_FS_EXECUTE
	toRead    = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// Regular files, directories and links; nothing of it can be executed.
	toWrite = toRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR
	toUse = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
)

// place is a file, or a directory with all below it, that a candidate may use. Its
// path has no link in it, and is relative to the box where it is in it.
type place struct {
	path    string
	rights  uint64
	through []link // the links that lead to it
}

// devices are those that keep nothing and tell nothing.
var devices = [...]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// places goes into the box, if there is one, and finds all that a candidate may use.
// What a link leads to has to be for candidates too.
func (s Spec) places() (list []place, err error) {
	var box, apart string
	if s.Box != "" {
		if err := os.Chdir(s.Box); err != nil {
			return nil, err
		}
		if box, err = unix.Getwd(); err != nil || !clean(box) {
			return nil, errors.Join(err, fmt.Errorf("the box is nowhere: %q", box))
		}
	}
	if s.Apart != "" {
		if apart, _, err = resolve(s.Apart); err != nil {
			return nil, fmt.Errorf("apart %q: %w", s.Apart, err)
		}
	}
	for _, p := range s.Read {
		real, through, err := resolve(p)
		if err == nil {
			err = readable(real, box, apart)
		}
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", p, err)
		}
		list = append(list, place{real, toExecute, through})
	}
	if s.Box != "" {
		list = append(list, place{Code, toRead, nil}, place{Arguments, toRead, nil}, place{Out, toWrite, nil}, place{Tmp, toWrite, nil})
	}
	for _, p := range devices {
		if real, through, err := resolve(p); err == nil {
			list = append(list, place{real, toUse, through})
		}
	}
	return list, nil
}

// rules are a ruleset for places, whose relative paths are of the current
// directory.
func rules(places []place) (_ *landlock.Ruleset, err error) {
	r, err := landlock.New()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	for _, p := range places {
		fd, err := p.open()
		if err != nil {
			return nil, err
		}
		err = r.Allow(fd, p.rights)
		unix.Close(fd)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.path, err)
		}
	}
	return r, nil
}

// open is a descriptor of the place, not of what is in it. No link is followed, should
// there be one by now.
func (p place) open() (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, p.path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: p.path, Err: err}
	}
	return fd, nil
}
