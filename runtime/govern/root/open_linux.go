package root

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// resolve is how the kernel looks up a name below a directory (openat2,
// Linux 5.6): not through a link, and not on another file system.
const resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

// lockPoll is how often a lock that somebody holds is asked for.
const lockPoll = 5 * time.Millisecond

// unsureTries is how often a name is looked up again where a rename elsewhere made
// the look-up unsure. A file that somebody has a lease on (fcntl(2), F_SETLEASE)
// answers the same for as long as they like.
const unsureTries = 100

// Open opens the directory at path, which the operator chose: links on the way
// to it are followed, below it none are. It fails where the kernel has no
// openat2: nothing less confines.
func Open(path string) (Dir, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("root: %w", err)
	}
	fd, err := unix.Open(real, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, failed("open", "", err)
	}
	d := &directory{file: os.NewFile(uintptr(fd), real)}
	self, err := openat(d, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		d.Close()
		return nil, fmt.Errorf("root: cannot be confined: %w", err)
	}
	self.Close()
	return d, nil
}

// directory is a Dir of the operating system.
type directory struct{ file *os.File }

// fd is d's descriptor, while d is not closed. The caller keeps d alive.
func (d *directory) fd() int { return int(d.file.Fd()) }

// failed is err of an operation on name, with what it means.
func failed(operation, name string, err error) error {
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EXDEV), errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EISDIR):
		err = ErrConfined
	}
	return &fs.PathError{Op: "root: " + operation, Path: name, Err: err}
}

func openat(d *directory, name string, flags uint64, mode fs.FileMode) (*os.File, error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK, Resolve: resolve}
	if flags&unix.O_CREAT != 0 {
		how.Mode = uint64(mode.Perm())
	}
	for tries := 0; ; tries++ {
		fd, err := unix.Openat2(d.fd(), name, &how)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), name), nil
		case err == unix.EAGAIN && tries < unsureTries:
		case err != unix.EINTR:
			return nil, err
		}
	}
}

func (d *directory) Sub(name string) (Dir, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	f, err := openat(d, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, failed("open", name, err)
	}
	return &directory{f}, nil
}

func (d *directory) Make(name string, mode fs.FileMode) (Dir, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if err := unix.Mkdirat(d.fd(), name, uint32(mode.Perm())); err != nil {
		return nil, failed("make", name, err)
	}
	return d.Sub(name)
}

func (d *directory) Open(name string) (Handle, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	f, err := openat(d, name, unix.O_RDONLY, 0)
	if err != nil {
		return nil, failed("open", name, err)
	}
	h := &handle{f}
	e, err := h.Stat()
	if err == nil && (e.Kind != File || e.Links > 1) {
		err = failed("open", name, ErrConfined)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return h, nil
}

func (d *directory) Create(name string, mode fs.FileMode) (Handle, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	f, err := openat(d, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, mode)
	if err != nil {
		return nil, failed("create", name, err)
	}
	return &handle{f}, nil
}

func (d *directory) Lookup(name string) (Entry, error) {
	if err := CheckName(name); err != nil {
		return Entry{}, err
	}
	return d.lookup(name)
}

func (d *directory) lookup(name string) (Entry, error) {
	var s unix.Stat_t
	if err := unix.Fstatat(d.fd(), name, &s, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Entry{}, failed("look up", name, err)
	}
	e := entry(&s)
	e.Name = name
	return e, nil
}

func entry(s *unix.Stat_t) Entry {
	e := Entry{Mode: fs.FileMode(s.Mode & 0o777), Links: uint64(s.Nlink)}
	if s.Mode&unix.S_ISUID != 0 {
		e.Mode |= fs.ModeSetuid
	}
	if s.Mode&unix.S_ISGID != 0 {
		e.Mode |= fs.ModeSetgid
	}
	if s.Mode&unix.S_ISVTX != 0 {
		e.Mode |= fs.ModeSticky
	}
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		e.Kind, e.Size = File, s.Size
	case unix.S_IFDIR:
		e.Kind = Directory
	}
	return e
}

func (d *directory) Entries(max int) ([]Entry, error) {
	again, err := openat(d, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0) // with an offset of its own
	if err != nil {
		return nil, failed("list", "", err)
	}
	defer again.Close()
	names, err := again.Readdirnames(max + 1)
	if err != nil && len(names) == 0 && err != io.EOF {
		return nil, failed("list", "", err)
	}
	if len(names) > max {
		return nil, fmt.Errorf("%w than %d", ErrTooMany, max)
	}
	slices.Sort(names)
	entries := make([]Entry, 0, len(names))
	for _, name := range names {
		e, err := d.lookup(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func (d *directory) rename(operation, from, to string, flags uint) error {
	for _, name := range []string{from, to} {
		if err := CheckName(name); err != nil {
			return err
		}
	}
	err := unix.Renameat2(d.fd(), from, d.fd(), to, flags)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return ErrNoExchange
	}
	if err != nil {
		return failed(operation, strings.Join([]string{from, to}, ", "), err)
	}
	return nil
}

func (d *directory) Exchange(a, b string) error {
	return d.rename("exchange", a, b, unix.RENAME_EXCHANGE)
}

func (d *directory) Move(from, to string) error {
	return d.rename("move", from, to, unix.RENAME_NOREPLACE)
}

func (d *directory) Remove(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	err := unix.Unlinkat(d.fd(), name, 0)
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) {
		err = unix.Unlinkat(d.fd(), name, unix.AT_REMOVEDIR)
	}
	if err != nil {
		return &fs.PathError{Op: "root: remove", Path: name, Err: err}
	}
	return nil
}

func (d *directory) SetMode(mode fs.FileMode) error {
	if err := d.file.Chmod(mode); err != nil {
		return failed("set the mode", "", err)
	}
	return nil
}

func (d *directory) Mode() (fs.FileMode, error) {
	var s unix.Stat_t
	if err := unix.Fstat(d.fd(), &s); err != nil {
		return 0, failed("look up", "", err)
	}
	return entry(&s).Mode, nil
}

func (d *directory) Sync() error {
	if err := d.file.Sync(); err != nil {
		return failed("sync", "", err)
	}
	return nil
}

func (d *directory) Lock(ctx context.Context) (func(), error) {
	f, err := openat(d, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0) // a lock of its own
	if err != nil {
		return nil, failed("lock", "", err)
	}
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if err != unix.EWOULDBLOCK && err != unix.EINTR {
			f.Close()
			return nil, failed("lock", "", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("root: somebody holds the lock: %w", ctx.Err())
		}
	}
}

func (d *directory) Close() error { return d.file.Close() }

// handle is a Handle of the operating system.
type handle struct{ *os.File }

func (h *handle) SetMode(mode fs.FileMode) error { return h.Chmod(mode) }

func (h *handle) Stat() (Entry, error) {
	var s unix.Stat_t
	if err := unix.Fstat(int(h.Fd()), &s); err != nil {
		return Entry{}, failed("look up", "", err)
	}
	return entry(&s), nil
}
