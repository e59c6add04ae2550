//go:build unix

package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// openFile opens a file, without following a link in the last place and without
// waiting for whoever writes a FIFO.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// maxLinks is how many links are followed in a path, as the kernel does.
const maxLinks = 40

// settled is the path of what a path names, without a link in it. It refuses one
// that somebody else than root and this account could have name something else: all
// directories and links on the way are checked as [owned] does, and so is the file.
func settled(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%q is not absolute", path)
	}
	real, links := "/", 0
	for rest := strings.Split(path, "/"); len(rest) > 0; {
		next := filepath.Join(real, rest[0]) // which knows . and ..
		rest = rest[1:]
		info, err := os.Lstat(next)
		if err != nil {
			return "", err
		}
		if err := owned(info); err != nil {
			return "", fmt.Errorf("%s: %w", next, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			real = next
			continue
		}
		to, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "follow", Path: path, Err: syscall.ELOOP}
		}
		if filepath.IsAbs(to) {
			real = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return real, nil
}

// owned refuses a file that somebody else than root and this account can write, and a
// directory in which they can put something in the place of what is there: in a
// sticky one they cannot.
func owned(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	mode := info.Mode()
	switch {
	case !ok:
		return errors.New("its owner is not known")
	case stat.Uid != 0 && int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("it belongs to user %d, neither to root nor to this account", stat.Uid)
	case mode&fs.ModeSymlink != 0, mode.IsDir() && mode&fs.ModeSticky != 0:
		return nil
	case mode&0o022 != 0:
		return fmt.Errorf("its mode %04o lets others than its owner write", mode.Perm())
	case !mode.IsDir() && mode&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return errors.New("its mode gives it another account's rights")
	}
	return nil
}
