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
// path is relative to the box where it is in it.
type place struct {
	path   string
	rights uint64
}

// devices are those that keep nothing and tell nothing.
var devices = [...]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// places are all that a candidate may use.
func (s Spec) places() (list []place) {
	for _, p := range s.Read {
		list = append(list, place{p, toExecute})
	}
	if s.Box != "" {
		list = append(list, place{Code, toRead}, place{Arguments, toRead}, place{Out, toWrite}, place{Tmp, toWrite})
	}
	for _, p := range devices {
		if _, err := os.Stat(p); err == nil {
			list = append(list, place{p, toUse})
		}
	}
	return list
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

// open is a descriptor of the place, not of what is in it. What is in a box is
// never a link.
func (p place) open() (int, error) {
	flags := unix.O_PATH | unix.O_CLOEXEC
	if p.path[0] != '/' {
		flags |= unix.O_NOFOLLOW
	}
	fd, err := unix.Open(p.path, flags, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: p.path, Err: err}
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil || stat.Mode&unix.S_IFMT == unix.S_IFLNK {
		unix.Close(fd)
		return -1, errors.Join(err, fmt.Errorf("%s is a link", p.path))
	}
	return fd, nil
}
