package govern

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/plan"
)

// Modes of what does not say.
const (
	defaultDirMode  fs.FileMode = 0o755
	defaultFileMode fs.FileMode = 0o644
)

// treeOf is the tree of a change, and what its files hold by digest.
func treeOf(c Change) (change.Tree, map[cas.Digest][]byte, error) {
	dirMode := c.Mode
	if dirMode == 0 {
		dirMode = defaultDirMode
	}
	nodes := map[string]change.Node{}
	contents := map[cas.Digest][]byte{}
	dir := func(path string) error {
		for {
			if n, ok := nodes[path]; ok && !n.Dir {
				return fmt.Errorf("%q is a file and a directory", path)
			}
			nodes[path] = change.Node{Path: path, Dir: true, Mode: dirMode}
			slash := strings.LastIndexByte(path, '/')
			if slash < 0 {
				return nil
			}
			path = path[:slash]
		}
	}
	for _, path := range c.Dirs {
		if err := dir(path); err != nil {
			return change.Tree{}, nil, err
		}
	}
	for _, f := range c.Files {
		if _, ok := nodes[f.Path]; ok {
			return change.Tree{}, nil, fmt.Errorf("%q is there twice", f.Path)
		}
		if slash := strings.LastIndexByte(f.Path, '/'); slash >= 0 {
			if err := dir(f.Path[:slash]); err != nil {
				return change.Tree{}, nil, err
			}
		}
		mode := f.Mode
		if mode == 0 {
			mode = defaultFileMode
		}
		d := cas.Of(f.Content)
		contents[d] = f.Content
		nodes[f.Path] = change.Node{Path: f.Path, Mode: mode, Size: int64(len(f.Content)), Digest: d}
	}
	t := change.Tree{Present: true, Mode: dirMode}
	for _, n := range nodes {
		t.Nodes = append(t.Nodes, n)
	}
	slices.SortFunc(t.Nodes, func(a, b change.Node) int { return strings.Compare(a.Path, b.Path) })
	return t, contents, t.Check()
}

// actionsOf are actions as programs see them.
func actionsOf(list []plan.Action) []Action {
	out := make([]Action, len(list))
	for i, a := range list {
		out[i] = Action{Path: a.Path, Action: string(a.Kind), Mode: octal(either(a.After, a.Before).Mode)}
		switch {
		case a.Kind == plan.Mode:
			out[i].Before, out[i].After = octal(a.Before.Mode), octal(a.After.Mode)
		default:
			out[i].Before, out[i].After = digestText(a.Before), digestText(a.After)
		}
	}
	return out
}

func either(a, b *change.Node) *change.Node {
	if a == nil {
		return b
	}
	return a
}

// digestText is the digest of a file, empty of what is none.
func digestText(n *change.Node) string {
	if n == nil || n.Dir {
		return ""
	}
	return n.Digest.String()
}

// octal is how people read permission bits, those beyond them in Go's letters.
func octal(m fs.FileMode) string {
	if m&^fs.ModePerm != 0 {
		return m.String()
	}
	return fmt.Sprintf("%04o", uint32(m))
}

// Actions is what makes post of pre, as programs see it.
func Actions(pre, post change.Tree) []Action { return actionsOf(plan.Actions(pre, post)) }
