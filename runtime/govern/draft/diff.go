package draft

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/plan"
)

// Bounds of a difference.
const (
	MaxDiffFileBytes = 256 << 10 // of a file, before or after, that is compared by lines
	MaxDiffBytes     = 512 << 10 // of all of it; what is beyond is only listed
)

// Difference is how a draft differs from a directory.
type Difference struct {
	Actions []govern.Action // what puts the draft in the directory's place does
	// Before is the hash of the directory as it is, for govern.Change.Before.
	Before string
	// Text is a unified diff of the files that are text and not too large.
	Text string
}

// Diff is how a draft differs from what is at a path below a root.
func (d *Drafts) Diff(ctx context.Context, id, rootName, path string) (Difference, error) {
	_, _, tree, err := d.open(ctx, id)
	if err != nil {
		return Difference{}, err
	}
	now, read, done, err := d.g.Directory(rootName, path)
	if err != nil {
		return Difference{}, d.refused(ctx, err)
	}
	defer done()
	out := Difference{Actions: govern.Actions(now, tree), Before: now.Hash().String()}
	for _, a := range plan.Actions(now, tree) {
		var before, after []byte
		if a.Before != nil && !a.Before.Dir && a.Before.Size <= MaxDiffFileBytes && a.Kind != plan.Mode {
			if before, err = read(a.Path, a.Before.Size); err != nil {
				return Difference{}, d.refused(ctx, err)
			}
		}
		if a.After != nil && !a.After.Dir && a.After.Size <= MaxDiffFileBytes && a.Kind != plan.Mode {
			if after, err = d.g.Object(a.After.Digest, a.After.Size); err != nil {
				return Difference{}, d.refused(ctx, err)
			}
		}
		if !utf8.Valid(before) || !utf8.Valid(after) || len(out.Text) > MaxDiffBytes {
			out.Text += fmt.Sprintf("not shown: %q\n", a.Path)
			continue
		}
		out.Text += string(diff.Diff("before/"+a.Path, before, "after/"+a.Path, after))
	}
	return out, nil
}
