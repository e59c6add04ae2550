package tree

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
)

// windowKeys bounds how many keys of one directory are held at a time, and
// those of the directories above it. A directory with more is read again for
// each window, so that memory stays bounded whatever its size. The first level
// gets enough for a whole page.
func windowKeys(level int) int { return max(1024, 12_288/level) }

// directoryBatch is how many names are asked of the operating system at once.
const directoryBatch = 1024

// A key is what a walk does with one name of a directory: "name" is the entry
// itself, "name/" what lies below it. Sorted keys give the bytewise order of
// whole paths: a-b comes between a and a/c.
type window struct {
	keys []string
	// more keys follow the last one.
	more bool
}

// lowerBound says where in dir a walk goes on that has dealt with everything
// up to the path after: with the keys after bound, or from it on.
func lowerBound(dir, after string) (bound string, inclusive bool) {
	prefix := ""
	if dir != "." {
		prefix = dir + "/"
	}
	rest, below := strings.CutPrefix(after, prefix)
	if !below {
		return "", false
	}
	if whole, done := strings.CutSuffix(rest, doneSuffix); done && !strings.Contains(whole, "/") {
		return whole + "/", false
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[:i+1], true
	}
	return rest, false
}

// readWindow returns the smallest keys of dir after bound, sorted, at most
// limit of them; with entriesOnly no keys for what lies below.
func (t *Tree) readWindow(ctx context.Context, dir, bound string, inclusive, entriesOnly bool, limit int) (w window, err error) {
	add := func(key string) {
		if key < bound || key == bound && !inclusive {
			return
		}
		w.keys = append(w.keys, key)
		if len(w.keys) == 2*limit {
			w.cut(limit)
		}
	}
	err = t.eachName(ctx, dir, func(name string) {
		add(name)
		if !entriesOnly {
			add(name + "/")
		}
	})
	if err != nil {
		return window{}, err
	}
	w.cut(limit)
	return w, nil
}

// cut keeps the smallest keys.
func (w *window) cut(limit int) {
	slices.Sort(w.keys)
	if len(w.keys) > limit {
		clear(w.keys[limit:])
		w.keys, w.more = w.keys[:limit], true
	}
}

// eachName calls do for every name in dir, in no order.
func (t *Tree) eachName(ctx context.Context, dir string, do func(name string)) error {
	if t.top(dir) {
		for _, name := range t.names {
			do(name)
		}
		return nil
	}
	f, err := t.openDirectory(dir)
	if err != nil {
		return err
	}
	return errors.Join(readNames(ctx, f, do), f.Close())
}

func readNames(ctx context.Context, f *os.File, do func(name string)) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		names, err := f.Readdirnames(directoryBatch)
		for _, name := range names {
			do(name)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
