package change

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/root"
)

// What a tree may hold.
const (
	MaxEntries   = 10_000
	MaxDepth     = 32        // directories within each other
	MaxFileBytes = 16 << 20  // of one file
	MaxTreeBytes = 256 << 20 // of all files
)

// Node is a path of a tree.
type Node struct {
	Path   string // canonical: segments joined by slashes
	Dir    bool
	Mode   fs.FileMode // permission bits
	Size   int64       // of a file
	Digest cas.Digest  // of a file
}

// Tree is what a directory holds, and its own permission bits. The zero Tree is
// [Absent]: no directory is there.
type Tree struct {
	Present bool
	Mode    fs.FileMode
	Nodes   []Node // sorted bytewise by path; every directory is there itself
}

// Absent is the tree of a directory that does not exist. It is a value like any
// other, so that "nothing was there" can be approved, checked and violated.
var Absent = Tree{}

// ErrNoTree is the error for what no tree may hold: names, modes, numbers and
// sizes beyond the bounds.
var ErrNoTree = errors.New("change: not a tree that can be landed")

func noTree(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrNoTree}, args...)...)
}

// Hash identifies a tree.
type Hash [sha256.Size]byte

// String is the hash in lower-case hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Hash is the SHA-256 of the tree's canonical text.
func (t Tree) Hash() Hash { return sha256.Sum256(t.AppendCanonical(nil)) }

// AppendCanonical appends the tree as JSON in the canonical form of RFC 8785:
// null for Absent, otherwise its mode and nodes. Modes are in octal, as people
// read them.
func (t Tree) AppendCanonical(dst []byte) []byte {
	if !t.Present {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"mode":`...)
	dst = appendMode(dst, t.Mode)
	dst = append(dst, `,"nodes":[`...)
	for i, n := range t.Nodes {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"mode":`...)
		dst = appendMode(dst, n.Mode)
		dst = append(dst, `,"path":`...)
		dst = canon.AppendString(dst, n.Path)
		if !n.Dir {
			dst = append(dst, `,"sha256":"`...)
			dst = hex.AppendEncode(dst, n.Digest[:])
			dst = append(dst, `","size":`...)
			dst = strconv.AppendInt(dst, n.Size, 10)
		}
		dst = append(dst, '}')
	}
	return append(dst, `]}`...)
}

func appendMode(dst []byte, mode fs.FileMode) []byte {
	dst = append(dst, '"')
	bits := uint64(mode.Perm())
	for i, bit := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if mode&bit != 0 {
			bits |= 0o1000 << i
		}
	}
	if bits < 0o1000 {
		dst = append(dst, '0')
	}
	return append(strconv.AppendUint(dst, bits, 8), '"')
}

// Check returns nil if t could be on disk and is within what a tree may hold:
// names that [root.CheckName] takes and that stay apart where case is folded,
// every directory before what it holds, no permission bits but those of owner,
// group and others.
func (t Tree) Check() error {
	if !t.Present {
		if len(t.Nodes) > 0 || t.Mode != 0 {
			return noTree("it is absent and holds something")
		}
		return nil
	}
	if t.Mode&^fs.ModePerm != 0 {
		return noTree("the mode %v is refused", t.Mode)
	}
	if len(t.Nodes) > MaxEntries {
		return noTree("a tree has more than %d entries", MaxEntries)
	}
	dirs := map[string]bool{"": true}
	folded := map[string]string{}
	var total int64
	for i, n := range t.Nodes {
		if i > 0 && n.Path <= t.Nodes[i-1].Path {
			return noTree("%q is there twice, or out of order", n.Path)
		}
		parent, name := "", n.Path
		if slash := strings.LastIndexByte(n.Path, '/'); slash >= 0 {
			parent, name = n.Path[:slash], n.Path[slash+1:]
		}
		if err := root.CheckName(name); err != nil {
			return noTree("%w", err)
		}
		if !dirs[parent] {
			return noTree("%q is in no directory of the tree", n.Path)
		}
		if strings.Count(n.Path, "/") >= MaxDepth {
			return noTree("%q is more than %d directories deep", n.Path, MaxDepth)
		}
		key := parent + "/" + root.Folded(name)
		if other, ok := folded[key]; ok {
			return noTree("%q and %q are one name where case is folded", other, n.Path)
		}
		folded[key] = n.Path
		if n.Mode&^fs.ModePerm != 0 {
			return noTree("the mode %v of %q is refused", n.Mode, n.Path)
		}
		if n.Dir {
			dirs[n.Path] = true
			continue
		}
		if n.Size < 0 || n.Size > MaxFileBytes {
			return noTree("%q has more than %d bytes", n.Path, MaxFileBytes)
		}
		if total += n.Size; total > MaxTreeBytes {
			return noTree("a tree has more than %d bytes", int64(MaxTreeBytes))
		}
	}
	return nil
}

// Read is the tree of the directory name in parent, as it is on disk. What a
// tree may not hold is an error that matches [root.ErrConfined] where it is a
// link or a device.
func Read(parent root.Dir, name string) (Tree, error) {
	d, err := parent.Sub(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Absent, nil
	}
	if err != nil {
		return Tree{}, err
	}
	defer d.Close()
	r := reader{}
	t := Tree{Present: true}
	if t.Mode, err = d.Mode(); err != nil {
		return Tree{}, err
	}
	if err := r.walk(d, "", 0); err != nil {
		return Tree{}, err
	}
	t.Nodes = r.nodes
	slices.SortFunc(t.Nodes, byPath)
	return t, t.Check()
}

func byPath(a, b Node) int { return strings.Compare(a.Path, b.Path) }

// reader gathers the nodes of a tree.
type reader struct {
	nodes []Node
	total int64
}

func (r *reader) walk(d root.Dir, prefix string, depth int) error {
	if depth >= MaxDepth {
		return noTree("%q is more than %d directories deep", prefix, MaxDepth)
	}
	entries, err := d.Entries(MaxEntries)
	if errors.Is(err, root.ErrTooMany) {
		return noTree("%w", err)
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if len(r.nodes) >= MaxEntries {
			return noTree("a tree has more than %d entries", MaxEntries)
		}
		if err := r.visit(d, e, prefix+e.Name, depth); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) visit(d root.Dir, e root.Entry, path string, depth int) error {
	switch e.Kind {
	case root.Directory:
		sub, err := d.Sub(e.Name)
		if err != nil {
			return err
		}
		defer sub.Close()
		mode, err := sub.Mode()
		if err != nil {
			return err
		}
		r.nodes = append(r.nodes, Node{Path: path, Dir: true, Mode: mode})
		return r.walk(sub, path+"/", depth+1)
	case root.File:
		f, err := d.Open(e.Name)
		if err != nil {
			return err
		}
		defer f.Close()
		node, err := readFile(f)
		if err != nil {
			return fmt.Errorf("change: %q: %w", path, err)
		}
		if r.total += node.Size; r.total > MaxTreeBytes {
			return noTree("a tree has more than %d bytes", int64(MaxTreeBytes))
		}
		node.Path = path
		r.nodes = append(r.nodes, node)
		return nil
	}
	return &fs.PathError{Op: "change: read", Path: path, Err: root.ErrConfined}
}

// readFile is the node of an open file, by the bytes that were read.
func readFile(f root.Handle) (Node, error) {
	e, err := f.Stat()
	if err != nil {
		return Node{}, err
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, MaxFileBytes+1))
	if err != nil {
		return Node{}, err
	}
	if n > MaxFileBytes {
		return Node{}, noTree("a file has more than %d bytes", MaxFileBytes)
	}
	return Node{Mode: e.Mode, Size: n, Digest: cas.Digest(h.Sum(nil))}, nil
}
