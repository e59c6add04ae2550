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
	"regexp"
	"slices"
	"strings"

	"github.com/capgen/capgen/codegen"
)

// tree is the generated root on disk. Every access goes through os.Root, so
// that no symbolic link leads out of it.
type tree struct {
	// name is how the root is called in messages, slash-separated.
	name string
	root *os.Root // nil when the directory does not exist
}

// openTree opens the generated root: what --out names, or a directory next to
// the manifest, called as the last part of go.package. With create it is made.
func (t *tool) openTree(o *options, pkg string, create bool) (*tree, error) {
	parent, name, shown := t.path(filepath.Dir(o.manifest)), path.Base(pkg), path.Join(filepath.ToSlash(filepath.Dir(o.manifest)), path.Base(pkg))
	if o.out != "" {
		parent, name, shown = t.path(o.out), ".", filepath.ToSlash(filepath.Clean(o.out))
		if create {
			if err := os.MkdirAll(parent, 0o777); err != nil {
				return nil, err
			}
		}
	}
	base, err := os.OpenRoot(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return &tree{name: shown}, nil
	}
	if err != nil {
		return nil, err
	}
	defer base.Close()
	if create {
		if err := base.MkdirAll(name, 0o777); err != nil {
			return nil, fmt.Errorf("make %s: %w", shown, err)
		}
	}
	root, err := base.OpenRoot(name)
	if errors.Is(err, fs.ErrNotExist) {
		return &tree{name: shown}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", shown, err)
	}
	return &tree{name: shown, root: root}, nil
}

func (tr *tree) close() {
	if tr.root != nil {
		tr.root.Close() // opened for reading: there is nothing to lose
	}
}

// shown is a file's path in messages.
func (tr *tree) shown(name string) string { return path.Join(tr.name, name) }

// read is the content of a file; ok is false when there is none.
func (tr *tree) read(name string) (content []byte, ok bool, err error) {
	if tr.root == nil {
		return nil, false, nil
	}
	content, err = tr.root.ReadFile(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", tr.shown(name), err)
	}
	return content, true, nil
}

// generatedName matches what a generated file may be called. Others are never
// looked at.
var generatedName = regexp.MustCompile(`^([a-z][a-z0-9_]*/)*[A-Za-z0-9_.]+(_gen(\.[a-z][a-z0-9_]*)?\.go|\.gen\.go|_gen_test\.go|\.lock|\.sha256)$`)

// extra are the files that carry the generated header or are Go files beside
// generated ones, and are not among files; sorted. foreign tells the latter.
func (tr *tree) extra(files map[string][]byte) (names []string, foreign map[string]bool, err error) {
	foreign = map[string]bool{}
	if tr.root == nil {
		return nil, foreign, nil
	}
	ours := map[string]bool{}
	for name := range files {
		ours[path.Dir(name)] = true
	}
	err = fs.WalkDir(tr.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return tr.enter(name)
		case files[name] != nil || strings.HasPrefix(d.Name(), "."):
			return nil
		}
		if generatedName.MatchString(name) && d.Type().IsRegular() {
			content, ok, err := tr.read(name)
			if err != nil {
				return err
			}
			if ok && codegen.Generated(content) {
				names = append(names, name)
				return nil
			}
		}
		if strings.HasSuffix(name, ".go") && ours[path.Dir(name)] {
			names = append(names, name)
			foreign[name] = true
		}
		return nil
	})
	slices.Sort(names)
	return names, foreign, err
}

// enter tells which directories may hold generated files: those that a
// namespace can be called, but not another generated root.
func (tr *tree) enter(name string) error {
	if name == "." {
		return nil
	}
	base := path.Base(name)
	if !directoryName.MatchString(base) || base == "testdata" || base == "vendor" || base == "internal" {
		return fs.SkipDir
	}
	if _, err := tr.root.Lstat(filepath.FromSlash(path.Join(name, codegen.SumsFile))); err == nil {
		return fs.SkipDir
	}
	return nil
}

var directoryName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// write puts content in place at once: a reader sees the old file or the new.
func (tr *tree) write(name string, content []byte) error {
	native := filepath.FromSlash(name)
	if err := tr.root.MkdirAll(filepath.Dir(native), 0o777); err != nil {
		return fmt.Errorf("write %s: %w", tr.shown(name), err)
	}
	temporary := filepath.Join(filepath.Dir(native), ".capgen-"+filepath.Base(native)+".tmp")
	err := tr.writeNew(temporary, content)
	if err == nil {
		err = tr.root.Rename(temporary, native)
	}
	if err != nil {
		_ = tr.root.Remove(temporary) // may not exist; the first error is the one to tell
		return fmt.Errorf("write %s: %w", tr.shown(name), err)
	}
	return nil
}

// writeNew writes a file that does not exist: whatever is there, a link too,
// is removed first.
func (tr *tree) writeNew(native string, content []byte) error {
	if err := tr.root.Remove(native); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := tr.root.OpenFile(native, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// remove deletes a file and the directories that it leaves empty.
func (tr *tree) remove(name string) error {
	if err := tr.root.Remove(filepath.FromSlash(name)); err != nil {
		return fmt.Errorf("remove %s: %w", tr.shown(name), err)
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if tr.root.Remove(filepath.FromSlash(dir)) != nil {
			break // not empty
		}
	}
	return nil
}

// change is what generate does to one file.
type change struct {
	name    string
	content []byte // nil: remove
}

// changes are what makes the tree hold files, in order, the sums last: they
// vouch for what is there. inTheWay are files that capgen did not write.
func (tr *tree) changes(files map[string][]byte) (changes []change, inTheWay []string, err error) {
	extra, foreign, err := tr.extra(files)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range extra {
		if !foreign[name] {
			changes = append(changes, change{name: name})
		}
	}
	for _, name := range append(slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(n string) bool { return n == codegen.SumsFile }), codegen.SumsFile) {
		content, ok, err := tr.read(name)
		switch {
		case err != nil:
			return nil, nil, err
		case ok && string(content) == string(files[name]):
		case ok && !codegen.Generated(content):
			inTheWay = append(inTheWay, name)
		default:
			changes = append(changes, change{name, files[name]})
		}
	}
	return changes, inTheWay, nil
}

// apply makes the changes, and stops between two files when ctx is done.
func (tr *tree) apply(ctx context.Context, changes []change) error {
	for _, c := range changes {
		if ctx.Err() != nil {
			return errors.New("interrupted: run capgen generate again to complete the generated code")
		}
		var err error
		if c.content == nil {
			err = tr.remove(c.name)
		} else {
			err = tr.write(c.name, c.content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
