package review

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/plan"
)

// group is actions that are read together.
type group struct {
	title   string
	actions []plan.Action
}

// grouped puts first what a reader must not miss.
func grouped(actions []plan.Action) ([]group, error) {
	groups := []group{{title: "DELETED"}, {title: "MODES CHANGED"}, {title: "NEW, AND CAN BE RUN"}, {title: "MODIFIED"}, {title: "ADDED"}}
	const deleted, modes, executable, modified, added = 0, 1, 2, 3, 4
	for _, a := range actions {
		g := added
		switch {
		case a.After == nil:
			g = deleted
		case a.Before != nil && a.Before.Mode != a.After.Mode:
			g = modes
		case a.Kind == plan.Create && a.After.Mode&0o111 != 0:
			g = executable
		case a.Kind == plan.Replace:
			g = modified
		case a.Before != nil:
			return nil, fmt.Errorf("%q is said to change, and does not", a.Path)
		}
		groups[g].actions = append(groups[g].actions, a)
	}
	return groups, nil
}

// action writes one action: a line that says all of it, and what text there is
// to see.
func (r *renderer) action(a plan.Action) error {
	r.head("  %s \"%s\"", a.Kind, escape(a.Path))
	r.side("before", a.Before)
	r.side("after", a.After)
	switch a.Kind {
	case plan.Create, plan.Replace:
		return r.content(a)
	}
	return nil
}

// side writes what stands at a path, before or after.
func (r *renderer) side(when string, n *change.Node) {
	switch {
	case n == nil:
	case n.Dir:
		r.head("    %s: directory, mode %s", when, mode(n.Mode))
	default:
		r.head("    %s: mode %s, %d bytes", when, mode(n.Mode), n.Size)
		r.sum(n.Digest)
	}
}

func mode(m fs.FileMode) string { return fmt.Sprintf("%04o", m.Perm()) }

// content shows a new text, or what differs from the one before.
func (r *renderer) content(a plan.Action) error {
	after, why, err := r.readable(a.After)
	if err != nil {
		return err
	}
	var before []byte
	if why == "" && a.Before != nil {
		var whyBefore string
		before, whyBefore, err = r.readable(a.Before)
		switch {
		case absent(err):
			whyBefore, err = "what it replaces was not kept", nil
		case err != nil:
			return err
		}
		if whyBefore != "" {
			r.head("    %s: all of the new content follows", whyBefore)
			before = nil
		}
	}
	if why != "" {
		r.unshown++
		r.head("    NOT SHOWN: %s", why)
		return nil
	}
	if len(after) == 0 {
		r.head("    it is empty now")
	}
	from := r.n
	r.diff(before, after)
	r.spent += r.n - from
	return nil
}

// readable is the content of a file that can be shown as text, or why it cannot.
func (r *renderer) readable(n *change.Node) (content []byte, why string, err error) {
	switch {
	case n.Size > MaxTextBytes:
		return nil, fmt.Sprintf("more than %d bytes", MaxTextBytes), nil
	case r.spent > MaxShownBytes:
		return nil, fmt.Sprintf("more than %d bytes are shown already", MaxShownBytes), nil
	}
	content, err = r.read(n.Digest, n.Size)
	switch {
	case err != nil:
		return nil, "", err
	case int64(len(content)) != n.Size:
		return nil, "", fmt.Errorf("the object has %d bytes, the tree says %d", len(content), n.Size)
	case !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0:
		return nil, "it is not a text", nil
	}
	return content, "", nil
}

// diff writes the lines that differ, with three around them.
func (r *renderer) diff(before, after []byte) {
	text := diff.Diff("", before, "", after)
	// Three lines of the differ's own come first.
	for range 3 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch line[0] {
		case '@':
			r.quote(markHunk, strings.Trim(line, "@ "))
		case '+':
			r.quote(markAdded, line[1:])
		case '-':
			r.quote(markRemoved, line[1:])
		case ' ':
			r.quote(markSame, line[1:])
		default: // the differ's remark on a last line without an end
			r.quote(markHunk, "the last line does not end")
		}
	}
}
