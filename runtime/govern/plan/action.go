package plan

import (
	"github.com/capgen/capgen/runtime/govern/change"
)

// Kind is what a change does to a path.
type Kind string

// The kinds. A file in place of a directory, or the other way round, is two
// actions: one takes away, one creates.
const (
	Create  Kind = "create"  // a file
	Replace Kind = "replace" // a file's content, and perhaps its mode
	Delete  Kind = "delete"  // a file
	Mode    Kind = "mode"    // the permission bits only
	MakeDir Kind = "mkdir"
	DropDir Kind = "rmdir"
)

// Action is what a change does to one path.
type Action struct {
	Path string // of the tree; "." is the directory that is replaced
	Kind Kind
	// Before and After are what stands there; nil is nothing. The Path of both is
	// that of the action.
	Before, After *change.Node
}

// Actions is what turns pre into post, sorted by path; where a path has two
// actions, what takes away is first. Both trees are sorted, as Check sees to.
func Actions(pre, post change.Tree) []Action {
	before, after := nodes(pre), nodes(post)
	var out []Action
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(after) == 0 || len(before) > 0 && before[0].Path < after[0].Path:
			out = append(out, gone(&before[0]))
			before = before[1:]
		case len(before) == 0 || after[0].Path < before[0].Path:
			out = append(out, made(&after[0]))
			after = after[1:]
		default:
			out = append(out, changed(&before[0], &after[0])...)
			before, after = before[1:], after[1:]
		}
	}
	return out
}

// nodes are those of a tree, the tree itself first, whatever sorts before a dot:
// where both trees have one, the two meet at once.
func nodes(t change.Tree) []change.Node {
	if !t.Present {
		return nil
	}
	return append([]change.Node{{Path: ".", Dir: true, Mode: t.Mode}}, t.Nodes...)
}

func gone(n *change.Node) Action {
	if n.Dir {
		return Action{n.Path, DropDir, n, nil}
	}
	return Action{n.Path, Delete, n, nil}
}

func made(n *change.Node) Action {
	if n.Dir {
		return Action{n.Path, MakeDir, nil, n}
	}
	return Action{n.Path, Create, nil, n}
}

func changed(before, after *change.Node) []Action {
	switch {
	case before.Dir != after.Dir:
		return []Action{gone(before), made(after)}
	case before.Digest != after.Digest:
		return []Action{{after.Path, Replace, before, after}}
	case before.Mode != after.Mode:
		return []Action{{after.Path, Mode, before, after}}
	}
	return nil
}
