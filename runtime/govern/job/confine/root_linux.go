//go:build amd64 || arm64

package confine

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// root is a file system in the making that becomes a candidate's root.
type root struct{ fd int }

// pivot leaves the calling process, which has a mount namespace of its own, with
// nothing but places in its root, each under the path that it has outside, those
// of the box below /box. What was the root is gone from the namespace. The current
// directory is the box.
func pivot(places []place, box string) error {
	unix.Umask(0o022)
	if err := unix.Sethostname([]byte("box")); err != nil {
		return fmt.Errorf("name the host: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	r, err := newRoot()
	if err != nil {
		return err
	}
	defer unix.Close(r.fd)
	links, err := r.bind(places)
	if err != nil {
		return err
	}
	for _, l := range links {
		if err := r.link(l); err != nil {
			return fmt.Errorf("link %s: %w", l.path, err)
		}
	}
	dir := "/"
	if box != "" {
		dir = insideBox
	}
	return r.enter(dir)
}

// newRoot mounts an empty root over /dev, of which nothing is needed any more once
// it is the root: a mount can be moved only to one that has a place.
func newRoot() (root, error) {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return root{}, fmt.Errorf("tmpfs: %w", err)
	}
	defer unix.Close(fs)
	for _, o := range [][2]string{{"mode", "755"}, {"size", "1m"}} {
		if err := unix.FsconfigSetString(fs, o[0], o[1]); err != nil {
			return root{}, fmt.Errorf("tmpfs: %s: %w", o[0], err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return root{}, fmt.Errorf("tmpfs: %w", err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return root{}, fmt.Errorf("tmpfs: %w", err)
	}
	return root{fd}, nil
}

// bind puts every place into the root. All are opened before the first one is
// put, by paths of the old root. It returns the links through which places are
// reached.
func (r root) bind(places []place) (links []link, err error) {
	type source struct {
		fd    int
		path  string // in the new root
		isDir bool
	}
	var sources []source
	defer func() {
		for _, s := range sources {
			unix.Close(s.fd)
		}
	}()
	for _, p := range places {
		inside := p.path
		if p.path[0] != '/' {
			inside = path.Join(insideBox, p.path)
		}
		links = append(links, p.through...)
		fd, isDir, err := p.clone()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.path, err)
		}
		sources = append(sources, source{fd, inside, isDir})
	}
	if err := unix.MoveMount(r.fd, "", unix.AT_FDCWD, "/dev", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return nil, fmt.Errorf("mount: %w", err)
	}
	// What is below another one is there already.
	slices.SortStableFunc(sources, func(a, b source) int { return strings.Compare(a.path, b.path) })
	var bound []string
	for _, s := range sources {
		if slices.ContainsFunc(bound, func(b string) bool { return within(s.path, b) }) {
			continue
		}
		if err := r.put(s.fd, s.path, s.isDir); err != nil {
			return nil, fmt.Errorf("mount %s: %w", s.path, err)
		}
		bound = append(bound, s.path)
	}
	return slices.DeleteFunc(links, func(l link) bool {
		return slices.ContainsFunc(bound, func(b string) bool { return within(l.path, b) })
	}), nil
}

// clone is a mount of a place that has no place itself yet, for the rights that
// the place has.
func (p place) clone() (fd int, isDir bool, err error) {
	at, err := p.open()
	if err != nil {
		return -1, false, err
	}
	defer unix.Close(at)
	fd, err = unix.OpenTree(at, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_EMPTY_PATH)
	if err != nil {
		return -1, false, err
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		unix.Close(fd)
		return -1, false, err
	}
	set := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID, Propagation: unix.MS_PRIVATE}
	if p.rights != toUse {
		set.Attr_set |= unix.MOUNT_ATTR_NODEV
	}
	if p.rights != toWrite {
		set.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if p.rights != toExecute {
		set.Attr_set |= unix.MOUNT_ATTR_NOEXEC
	}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &set); err != nil {
		unix.Close(fd)
		return -1, false, err
	}
	return fd, stat.Mode&unix.S_IFMT == unix.S_IFDIR, nil
}

// put mounts fd at an absolute path of the root.
func (r root) put(fd int, at string, isDir bool) error {
	if err := r.parents(at); err != nil {
		return err
	}
	var err error
	if isDir {
		err = unix.Mkdirat(r.fd, at[1:], 0o755)
	} else {
		err = unix.Mknodat(r.fd, at[1:], unix.S_IFREG|0o444, 0)
	}
	if err != nil && err != unix.EEXIST {
		return err
	}
	return unix.MoveMount(fd, "", r.fd, at[1:], unix.MOVE_MOUNT_F_EMPTY_PATH)
}

func (r root) parents(at string) error {
	for i, c := range at {
		if c != '/' || i == 0 {
			continue
		}
		if err := unix.Mkdirat(r.fd, at[1:i], 0o755); err != nil && err != unix.EEXIST {
			return err
		}
	}
	return nil
}

func (r root) link(l link) error {
	if err := r.parents(l.path); err != nil {
		return err
	}
	if err := unix.Symlinkat(l.to, r.fd, l.path[1:]); err != nil && err != unix.EEXIST {
		return err
	}
	return nil
}

// enter makes the root the process's, and leaves the old one.
func (r root) enter(dir string) error {
	if err := unix.MountSetattr(r.fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("make it read-only: %w", err)
	}
	if err := unix.Fchdir(r.fd); err != nil {
		return err
	}
	// The old root then lies over the new one, and is what "." is taken for
	// (pivot_root(2), NOTES).
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	return unix.Chdir(dir)
}

// link is a symbolic link.
type link struct{ path, to string }

// maxLinks is how many links the kernel follows in a path.
const maxLinks = 40

// resolve finds what an absolute path refers to, without a link in it, and the
// links on the way.
func resolve(p string) (real string, through []link, err error) {
	real = "/"
	rest := strings.Split(p[1:], "/")
	for len(rest) > 0 {
		next := path.Join(real, rest[0]) // which knows . and ..
		rest = rest[1:]
		to, err := os.Readlink(next)
		if errors.Is(err, unix.EINVAL) { // no link
			real = next
			continue
		}
		if err != nil {
			return "", nil, err
		}
		if through = append(through, link{next, to}); len(through) > maxLinks {
			return "", nil, &os.PathError{Op: "resolve", Path: p, Err: unix.ELOOP}
		}
		if path.IsAbs(to) {
			real = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return real, through, nil
}
