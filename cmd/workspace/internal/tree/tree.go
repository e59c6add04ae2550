package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MaxRoots bounds the roots of one Tree.
const MaxRoots = 64

// Tree reads below its roots. It is immutable and safe for concurrent use.
type Tree struct {
	// roots by name; a single root has the name "".
	roots map[string]*os.Root
	// names of the roots, sorted; nil with a single root.
	names []string
	// escape is the error of os.Root for what leaves it. The standard library
	// does not export it.
	escape error
}

// Open opens roots. Each is DIR or NAME=DIR. A single root needs no name and
// ignores the one it has; of several, one without a name has its directory's
// base name. Names must be unique (case folded) and single path segments.
// Errors name the directories as they were given: they are for the operator,
// not for a caller.
func Open(roots []string) (*Tree, error) {
	if len(roots) == 0 {
		return nil, errors.New("tree: no root given")
	}
	if len(roots) > MaxRoots {
		return nil, fmt.Errorf("tree: %d roots given, at most %d are allowed", len(roots), MaxRoots)
	}
	t := &Tree{roots: map[string]*os.Root{}}
	for _, spec := range roots {
		if err := t.add(spec, len(roots) == 1); err != nil {
			return nil, errors.Join(err, t.Close())
		}
	}
	slices.Sort(t.names)
	if t.escape == nil {
		return nil, errors.Join(errors.New("tree: os.Root does not refuse paths that leave it"), t.Close())
	}
	return t, nil
}

// Parse is the name and the directory that a root's text means. Where it is the
// only one its name is empty: paths do not begin with it.
func Parse(spec string, single bool) (name, dir string, err error) {
	name, dir, named := strings.Cut(spec, "=")
	if !named || strings.ContainsAny(name, `/\.`) {
		name, dir = "", spec
	}
	if single {
		name = ""
	} else if name == "" {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			return "", "", fmt.Errorf("tree: root %s: %w", dir, err)
		}
		name = filepath.Base(absolute)
	}
	if !single && (!nameable(name) || name == "." || strings.Contains(name, "/")) {
		return "", "", fmt.Errorf("tree: root %s: %q cannot be a name; write NAME=DIR", dir, name)
	}
	return name, dir, nil
}

func (t *Tree) add(spec string, single bool) error {
	name, dir, err := Parse(spec, single)
	if err != nil {
		return err
	}
	for _, other := range t.names {
		if strings.EqualFold(other, name) {
			return fmt.Errorf("tree: root %s: two roots have the name %q; write NAME=DIR", dir, name)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("tree: root: %w", err)
	}
	t.roots[name] = root
	if !single {
		t.names = append(t.names, name)
	}
	// Learn the error by which os.Root refuses.
	_, err = root.Lstat("../x")
	var refused *fs.PathError
	if errors.As(err, &refused) {
		t.escape = refused.Err
	}
	return nil
}

// Close releases the roots. Requests that are under way fail.
func (t *Tree) Close() error {
	var errs []error
	for _, root := range t.roots {
		errs = append(errs, root.Close())
	}
	return errors.Join(errs...)
}

// top tells whether p is the directory that holds several roots, which exists
// on no disk.
func (t *Tree) top(p string) bool { return p == "." && t.names != nil }

// resolve finds the root that p lies in and its path there. p must be
// canonical as CheckPath has it, or come from a directory below such a path.
func (t *Tree) resolve(p string) (*os.Root, string, error) {
	if t.names == nil {
		return t.roots[""], p, nil
	}
	name, rest, _ := strings.Cut(p, "/")
	root, ok := t.roots[name]
	if !ok {
		return nil, "", &Error{NotFound, "the first segment names no root"}
	}
	if rest == "" {
		rest = "."
	}
	return root, rest, nil
}

// lstat describes what p names, not following a link in its last segment.
func (t *Tree) lstat(p string) (fs.FileInfo, error) {
	root, rel, err := t.resolve(p)
	if err != nil {
		return nil, err
	}
	return root.Lstat(rel)
}

// openFile opens the regular file p. What is no regular file is not opened,
// and if it becomes one in between, opening does not block and the
// descriptor is checked.
func (t *Tree) openFile(p string) (*os.File, fs.FileInfo, error) {
	if t.top(p) {
		return nil, nil, &Error{NotFile, "this is a directory"}
	}
	root, rel, err := t.resolve(p)
	if err != nil {
		return nil, nil, err
	}
	info, err := root.Stat(rel)
	if err != nil {
		return nil, nil, err
	}
	if err := mustBeFile(info); err != nil {
		return nil, nil, err
	}
	return openChecked(root, rel)
}

// openChecked opens what may have changed since it was looked at.
func openChecked(root *os.Root, rel string) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(rel, openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = mustBeFile(info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

func mustBeFile(info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return &Error{NotFile, "this is a directory"}
	default:
		return &Error{NotFile, "this is a device, a FIFO or a socket"}
	}
}

// openDirectory opens the directory p, following links that stay inside.
func (t *Tree) openDirectory(p string) (*os.File, error) {
	root, rel, err := t.resolve(p)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(rel)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &Error{NotDirectory, "this is not a directory"}
	}
	return root.OpenFile(rel, openFlags|directoryFlag, 0)
}

// readAll reads at most limit bytes from r, and tells whether there is more.
func readAll(r io.Reader, sizeHint int64, limit int) (data []byte, more bool, err error) {
	want := int(min(max(sizeHint, 0), int64(limit))) + 1
	buffer := make([]byte, 0, want)
	for len(buffer) <= limit {
		if len(buffer) == cap(buffer) {
			buffer = slices.Grow(buffer, min(limit+1-len(buffer), 64<<10))
		}
		n, err := r.Read(buffer[len(buffer):min(cap(buffer), limit+1)])
		buffer = buffer[:len(buffer)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, false, err
		}
	}
	if len(buffer) > limit {
		return buffer[:limit], true, nil
	}
	return buffer, false, nil
}
