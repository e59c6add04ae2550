package change

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/root"
)

// maxRemoveDepth bounds how deep a tree may be that is removed.
const maxRemoveDepth = 2 * MaxDepth

// stage writes t as the directory name in parent, out of blobs. All of it is
// durable when stage returns, but for name itself. What stood there is removed.
func stage(parent root.Dir, name string, t Tree, blobs *cas.Store) error {
	d, err := parent.Make(name, 0o700)
	if errors.Is(err, fs.ErrExist) {
		// Gone for good, lest it be the old stage that takes the target's place.
		if err := errors.Join(remove(parent, name, 0), parent.Sync()); err != nil {
			return err
		}
		d, err = parent.Make(name, 0o700)
	}
	if err != nil {
		return err
	}
	return errors.Join(fill(d, t.Mode, t.Nodes, "", blobs), d.Close())
}

// fill writes nodes, the paths of which start with prefix, into d, and gives d
// its mode last: it may be one that allows no writing.
func fill(d root.Dir, mode fs.FileMode, nodes []Node, prefix string, blobs *cas.Store) error {
	for _, n := range nodes {
		name, below := strings.CutPrefix(n.Path, prefix)
		if !below || strings.Contains(name, "/") {
			continue
		}
		var err error
		if n.Dir {
			err = fillSub(d, name, n, nodes, blobs)
		} else {
			err = write(d, name, n, blobs)
		}
		if err != nil {
			return fmt.Errorf("change: stage %q: %w", n.Path, err)
		}
	}
	if err := d.SetMode(mode); err != nil {
		return err
	}
	return d.Sync()
}

func fillSub(d root.Dir, name string, n Node, nodes []Node, blobs *cas.Store) error {
	sub, err := d.Make(name, 0o700)
	if err != nil {
		return err
	}
	return errors.Join(fill(sub, n.Mode, nodes, n.Path+"/", blobs), sub.Close())
}

func write(d root.Dir, name string, n Node, blobs *cas.Store) error {
	content, err := blobs.Get(n.Digest, n.Size)
	if err != nil {
		return err
	}
	f, err := d.Create(name, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.SetMode(n.Mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// remove removes what is called name in parent, and all below it. That nothing
// is there is no error.
func remove(parent root.Dir, name string, depth int) error {
	if depth > maxRemoveDepth {
		return fmt.Errorf("change: remove: more than %d directories deep", maxRemoveDepth)
	}
	e, err := parent.Lookup(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if e.Kind == root.Directory {
		if err := empty(parent, name, depth); err != nil {
			return err
		}
	}
	return parent.Remove(name)
}

// empty removes what the directory name in parent holds.
func empty(parent root.Dir, name string, depth int) error {
	d, err := parent.Sub(name)
	if err != nil {
		return err
	}
	defer d.Close()
	entries, err := d.Entries(MaxEntries)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return nil
	}
	if err := d.SetMode(0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if err := remove(d, e.Name, depth+1); err != nil {
			return err
		}
	}
	return nil
}
