package worker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// openTrusted goes down from the root, holding each folder while it looks at
// what is in it: nobody can exchange one that it has looked at.
func openTrusted(path string) (*os.File, error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/" {
		return nil, errors.New("it is not an absolute, clean path of a file")
	}
	const look = unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
	at, err := unix.Open("/", look|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, fmt.Errorf("/: %w", err)
	}
	defer func() { unix.Close(at) }()
	seen := ""
	parts := strings.Split(path[1:], "/")
	for i, name := range parts {
		if err := trusted(at, unix.S_IFDIR); err != nil {
			return nil, fmt.Errorf("%s: %w", "/"+strings.TrimPrefix(seen, "/"), err)
		}
		seen += "/" + name
		next, err := unix.Openat(at, name, look, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", seen, err)
		}
		unix.Close(at)
		at = next
		if i == len(parts)-1 {
			break
		}
	}
	if err := trusted(at, unix.S_IFREG); err != nil {
		return nil, err
	}
	// The very file that was looked at, now to be read and run.
	fd, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", at), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// trusted refuses what somebody else than root and this user could change, or
// what is no file, or no folder, at all.
func trusted(fd int, kind uint32) error {
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return err
	}
	switch format := s.Mode & unix.S_IFMT; {
	case format == unix.S_IFLNK:
		return errors.New("it is a symbolic link: name what it leads to")
	case format != kind && kind == unix.S_IFDIR:
		return errors.New("it is not a folder")
	case format != kind:
		return errors.New("it is not a regular file")
	case s.Uid != 0 && int(s.Uid) != os.Geteuid():
		return fmt.Errorf("it belongs to user %d, neither to root nor to this process's user", s.Uid)
	case s.Mode&(unix.S_IWGRP|unix.S_IWOTH) != 0:
		return fmt.Errorf("its mode %04o lets others than its owner write", s.Mode&0o7777)
	case kind == unix.S_IFREG && s.Mode&(unix.S_ISUID|unix.S_ISGID) != 0:
		return fmt.Errorf("its mode %04o gives it another user's rights", s.Mode&0o7777)
	case kind == unix.S_IFREG && s.Mode&0o111 == 0:
		return fmt.Errorf("its mode %04o lets nobody run it", s.Mode&0o7777)
	}
	return nil
}
