package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// site is the folder of a new project, and what was made for it, so that it
// can be taken back. Files are only ever made, never overwritten, and every
// access goes through os.Root: no symbolic link leads out of the folder.
type site struct {
	name string // in messages, slash-separated
	dir  string // absolute
	root *os.Root
	// above are the folders that were made to get to the folder and itself,
	// outermost first; dirs and files are in it, in the order of making.
	above, dirs, files []string
}

// openSite opens the folder, and makes it and those above it where they are
// missing.
func (t *tool) openSite(name string) (*site, error) {
	if name == "" {
		return nil, errors.New("--dir names no folder")
	}
	dir, err := filepath.Abs(t.path(name))
	if err != nil {
		return nil, err
	}
	s := &site{name: filepath.ToSlash(filepath.Clean(name)), dir: dir}
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	for _, at := range slices.Backward(missing) {
		if err = os.Mkdir(at, 0o777); err != nil {
			break
		}
		s.above = append(s.above, at)
	}
	if err == nil {
		s.root, err = os.OpenRoot(dir)
	}
	if err != nil {
		s.undo()
		return nil, fmt.Errorf("--dir %s: %w", name, err)
	}
	return s, nil
}

func (s *site) close() {
	s.root.Close() // opened for reading: there is nothing to lose
}

// conflict is something that is where a project cannot be beside it.
type conflict struct{ name, why string }

// conflicts are what init would have to overwrite, and what the go command
// would build with the project, sorted.
func (s *site) conflicts(files map[string][]byte) ([]conflict, error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.name, err)
	}
	ours := map[string]bool{}
	for name := range files {
		top, _, _ := strings.Cut(name, "/")
		ours[top] = true
	}
	var out []conflict
	for _, e := range entries {
		switch name := path.Join(s.name, e.Name()); {
		case ours[e.Name()]:
			out = append(out, conflict{name, "this exists already, and init overwrites nothing"})
		case path.Ext(name) == ".go", e.Name() == "vendor", e.Name() == "go.work":
			out = append(out, conflict{name, "the go command would build this with the project"})
		}
	}
	return out, nil
}

// write makes the files, none of which may exist.
func (s *site) write(ctx context.Context, files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.makeDirs(path.Dir(name)); err != nil {
			return fmt.Errorf("write %s: %w", path.Join(s.name, name), err)
		}
		f, err := s.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			s.files = append(s.files, name)
			_, err = f.Write(files[name])
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", path.Join(s.name, name), err)
		}
	}
	return nil
}

func (s *site) makeDirs(name string) error {
	if name == "." {
		return nil
	}
	if err := s.makeDirs(path.Dir(name)); err != nil {
		return err
	}
	err := s.root.Mkdir(filepath.FromSlash(name), 0o777)
	switch {
	case err == nil:
		s.dirs = append(s.dirs, name)
	case errors.Is(err, fs.ErrExist):
		err = nil
	}
	return err
}

// undo removes what was made, the last first, and returns what could not be
// removed, as it is called in messages. A folder in which others have put
// something stays.
func (s *site) undo() (left []string) {
	for _, names := range [][]string{s.files, s.dirs} {
		for _, name := range slices.Backward(names) {
			if err := s.root.Remove(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				left = append(left, path.Join(s.name, name))
			}
		}
	}
	for _, dir := range slices.Backward(s.above) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			shown := filepath.ToSlash(dir)
			if dir == s.dir {
				shown = s.name
			}
			left = append(left, shown)
		}
	}
	slices.Sort(left)
	return left
}
