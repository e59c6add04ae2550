package approve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// OpenTrustRoot reads the trust root at path, and refuses it unless nobody but
// root or an approver could have written it, as sshd does with StrictModes:
//
//   - path is absolute, in its shortest form, and no part of it is a symbolic
//     link;
//   - the file is a regular one with a single name; it belongs to root, or to an
//     account of which it holds a key that is not revoked;
//   - so does every directory above it, to the root directory;
//   - none of them can be written by a group or by others. Of the directories
//     above the one that holds the file, one of root's that is sticky may be,
//     such as /tmp: nobody else can put another in the place of what is in it;
//   - none of them belongs to an account of avoid: the server's, the agent's.
func OpenTrustRoot(path string, avoid ...uint32) (*TrustRoot, error) {
	t, err := openTrustRoot(path, avoid)
	if err != nil {
		return nil, fmt.Errorf("approve: trust root %s: %w", path, err)
	}
	return t, nil
}

func openTrustRoot(path string, avoid []uint32) (*TrustRoot, error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/" {
		return nil, errors.New("the path is not an absolute one in its shortest form")
	}
	file, owners, err := walk(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxTrustBytes+1))
	if err != nil {
		return nil, err
	}
	t, err := ParseTrustRoot(text)
	if err != nil {
		return nil, err
	}
	for _, o := range owners {
		switch {
		case slices.Contains(avoid, o.uid):
			return nil, fmt.Errorf("%s belongs to account %d, which may not choose approvers", o.path, o.uid)
		case o.uid != 0 && !slices.ContainsFunc(t.Approvers(), func(a Approver) bool { return a.UID == o.uid }):
			return nil, fmt.Errorf("%s belongs to account %d, which is neither root nor an approver", o.path, o.uid)
		case o.uid != 0:
			t.owners = append(t.owners, o.uid)
		}
	}
	return t, nil
}

// owned is a part of the path and whose it is.
type owned struct {
	path string
	uid  uint32
}

// walk opens the file, one directory after the other, through no link, and
// returns whose each of them is. It refuses what others can write to.
func walk(path string) (file *os.File, owners []owned, err error) {
	fd, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	at := os.NewFile(uintptr(fd), "/")
	names := strings.Split(path[1:], "/")
	for i := range len(names) + 1 {
		var s unix.Stat_t
		if err := unix.Fstat(int(at.Fd()), &s); err != nil {
			at.Close()
			return nil, nil, err
		}
		here := at.Name()
		owners = append(owners, owned{here, s.Uid})
		last := i == len(names)
		if err := strict(&s, last, i >= len(names)-1); err != nil {
			at.Close()
			return nil, nil, fmt.Errorf("%s %w", here, err)
		}
		if last {
			return at, owners, nil
		}
		flags := unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
		if i < len(names)-1 {
			flags |= unix.O_DIRECTORY | unix.O_PATH // to search it is enough
		}
		fd, err := unix.Openat(int(at.Fd()), names[i], flags, 0)
		at.Close()
		next := filepath.Join(here, names[i])
		if err != nil {
			return nil, nil, &fs.PathError{Op: "open", Path: next, Err: err}
		}
		at = os.NewFile(uintptr(fd), next)
	}
	return nil, nil, errors.New("unreachable") // the loop ends at the file
}

// strict says what is wrong with a file or a directory; near is true of the file
// and the directory that holds it.
func strict(s *unix.Stat_t, file, near bool) error {
	sticky := !near && s.Uid == 0 && s.Mode&unix.S_ISVTX != 0
	switch {
	case file && (s.Mode&unix.S_IFMT != unix.S_IFREG || s.Nlink != 1):
		return errors.New("is not a regular file with a single name")
	case s.Mode&0o022 != 0 && !sticky:
		return fmt.Errorf("can be written by others (mode %04o)", s.Mode&0o7777)
	}
	return nil
}

// createPrivate writes a new file for this account alone, durably.
func createPrivate(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// readPrivate reads a file that is this account's own, and nobody else's to
// read.
func readPrivate(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return nil, err
	}
	switch {
	case s.Mode&unix.S_IFMT != unix.S_IFREG || s.Nlink != 1:
		return nil, fmt.Errorf("%s is not a regular file with a single name", path)
	case s.Uid != uint32(os.Geteuid()):
		return nil, fmt.Errorf("%s belongs to account %d, not to this one", path, s.Uid)
	case s.Mode&0o077 != 0:
		return nil, fmt.Errorf("%s can be read by others (mode %04o): chmod 600", path, s.Mode&0o7777)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyBytes+1))
	if err == nil && len(text) > maxKeyBytes {
		err = fmt.Errorf("%s has more than %d bytes", path, maxKeyBytes)
	}
	return text, err
}
