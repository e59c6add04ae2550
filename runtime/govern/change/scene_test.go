package change

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/fault"
	"github.com/capgen/capgen/runtime/govern/root"
)

// journal keeps a state as a database does that is synced at each commit.
type journal struct {
	state   State
	applied int // how often Applied was recorded
	disk    *fault.Disk
}

func (j *journal) State() (State, error) { return j.state, nil }

func (j *journal) Advance(from, to State) error {
	if err := j.disk.Step(); err != nil {
		return err
	}
	if j.state != from {
		return fmt.Errorf("the state is %s, not %s", j.state, from)
	}
	j.state = to
	if to == Applied {
		j.applied++
	}
	return nil
}

// before and after are the trees of most tests: a file comes, one changes, one
// goes, one in a directory changes, and so does an empty directory.
var (
	before = map[string]string{"a": "old", "b": "gone", "lib/": "", "lib/c": "old too"}
	after  = map[string]string{"a": "new", "lib/": "", "lib/c": "new too", "none/": ""}
)

// scene is a disk with a landing on it.
type scene struct {
	disk    *fault.Disk
	landing Landing
	journal *journal
	blobs   *cas.Store
}

// newScene has there as the landing's target, nil for no directory, lands as
// what it becomes, and all of that durable.
func newScene(t testing.TB, there, lands map[string]string) scene {
	t.Helper()
	disk := fault.NewDisk()
	targets, objects := makeDir(t, disk.Root(), "targets"), makeDir(t, disk.Root(), "objects")
	if err := disk.Root().Sync(); err != nil {
		t.Fatal(err)
	}
	blobs := cas.New(objects)
	pre := Absent
	if there != nil {
		pre = treeOf(t, blobs, there)
		place(t, targets, "t", pre, blobs)
	}
	l := Landing{Parent: targets, Name: "t", ID: "x1", Pre: pre.Hash(), Post: treeOf(t, blobs, lands)}
	return scene{disk, l, &journal{state: Intent, disk: disk}, blobs}
}

// on is the same landing on another disk, as a new process finds it.
func (s scene) on(t testing.TB, disk *fault.Disk) scene {
	t.Helper()
	s.landing.Parent = openDir(t, disk.Root(), "targets")
	s.blobs = cas.New(openDir(t, disk.Root(), "objects"))
	j := *s.journal
	j.disk = disk
	s.disk, s.journal = disk, &j
	return s
}

func makeDir(t testing.TB, parent root.Dir, name string) root.Dir {
	t.Helper()
	d, err := parent.Make(name, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func openDir(t testing.TB, parent root.Dir, name string) root.Dir {
	t.Helper()
	d, err := parent.Sub(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// treeOf is the tree of files, which are put into blobs. A path that ends in a
// slash is a directory.
func treeOf(t testing.TB, blobs *cas.Store, files map[string]string) Tree {
	t.Helper()
	tree := Tree{Present: true, Mode: 0o755}
	for path, content := range files {
		n := Node{Path: strings.TrimSuffix(path, "/"), Dir: true, Mode: 0o750}
		if n.Path == path {
			d, err := blobs.Put([]byte(content))
			if err != nil {
				t.Fatal(err)
			}
			n = Node{Path: path, Mode: 0o640, Size: int64(len(content)), Digest: d}
		}
		tree.Nodes = append(tree.Nodes, n)
	}
	slices.SortFunc(tree.Nodes, byPath)
	if err := tree.Check(); err != nil {
		t.Fatal(err)
	}
	return tree
}

// place puts tree under name, durable.
func place(t testing.TB, d root.Dir, name string, tree Tree, blobs *cas.Store) {
	t.Helper()
	if err := errors.Join(stage(d, name, tree, blobs), d.Sync()); err != nil {
		t.Fatal(err)
	}
}

// hash is that of what stands under name.
func hash(t testing.TB, d root.Dir, name string) Hash {
	t.Helper()
	h, err := hashOf(d, name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// names are all names in d.
func names(t testing.TB, d root.Dir) string {
	t.Helper()
	entries, err := d.Entries(100)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name)
	}
	return strings.Join(all, " ")
}
