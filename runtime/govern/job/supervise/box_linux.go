package supervise

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/root"
)

// boxName is the directory that a candidate works in.
const boxName = "box"

// inputMessage is what is said of a job that ends by [ErrInput].
const inputMessage = "an input is not there any more as it was approved"

// box is a candidate's directory. It is open from before the candidate begins, so
// that no name which it changes later leads anywhere else.
type box struct {
	path string
	out  root.Dir
}

// build makes the box, and gives the candidate what it may write there.
func build(ctx context.Context, dir string, w Work) (*box, error) {
	d, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	top, err := d.Make(boxName, 0o700)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	b := &box{path: filepath.Join(dir, boxName)}
	if err := b.fill(ctx, top, w); err != nil {
		return nil, err
	}
	for _, name := range []string{confine.Out, confine.Tmp} {
		sub, err := top.Make(name, 0o700)
		if err != nil {
			return nil, err
		}
		if name == confine.Out {
			b.out = sub
		} else {
			sub.Close()
		}
	}
	err = top.SetMode(0o555)
	if w.Command.Confine != nil && err == nil {
		spec := *w.Command.Confine
		spec.Box = b.path
		err = spec.Own()
	}
	if err != nil {
		b.out.Close()
		return nil, err
	}
	return b, nil
}

// fill makes what the candidate reads.
func (b *box) fill(ctx context.Context, top root.Dir, w Work) error {
	code, err := top.Make(confine.Code, 0o700)
	if err != nil {
		return err
	}
	defer code.Close()
	for _, f := range w.Files {
		content, err := w.Read(ctx, f.SHA256, f.Size)
		if err != nil {
			return fmt.Errorf("%s: %w", visible.Quote(f.Path), err)
		}
		if int64(len(content)) != f.Size || sha256.Sum256(content) != f.SHA256 {
			return fmt.Errorf("%w: %s", ErrInput, visible.Quote(f.Path))
		}
		if err := put(code, strings.Split(f.Path, "/"), content); err != nil {
			return err
		}
	}
	if err := code.SetMode(0o555); err != nil {
		return err
	}
	return put(top, []string{confine.Arguments}, w.Arguments)
}

// put makes a file that is only read, and the directories on the way to it.
func put(d root.Dir, path []string, content []byte) error {
	if len(path) > 1 {
		sub, err := d.Sub(path[0])
		if errors.Is(err, fs.ErrNotExist) {
			sub, err = d.Make(path[0], 0o755)
			if err == nil {
				err = sub.SetMode(0o755)
			}
		}
		if err != nil {
			return err
		}
		defer sub.Close()
		return put(sub, path[1:], content)
	}
	f, err := d.Create(path[0], 0o444)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.SetMode(0o444)
	}
	return errors.Join(err, f.Close())
}

// progress is what the candidate says of how far it is, made visible; "" where it
// says nothing that can be read.
func (b *box) progress() string {
	f, err := b.out.Open(confine.Progress)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, confine.MaxProgress))
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return visible.Text(strings.ToValidUTF8(first, ""))
}

// result is what the candidate came to, of at most max bytes, after nothing of it
// runs any more. The error says why there is none, in words for whoever asked.
func (b *box) result(max int64) ([]byte, error) {
	f, err := b.out.Open(confine.Result)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("it left no result")
	case errors.Is(err, root.ErrConfined):
		return nil, errors.New("its result is not a regular file of its own")
	case err != nil:
		return nil, fmt.Errorf("its result cannot be opened: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, max+1))
	if err != nil {
		return nil, fmt.Errorf("its result cannot be read: %w", err)
	}
	if int64(len(text)) > max {
		return nil, fmt.Errorf("its result has more than %d bytes", max)
	}
	return text, nil
}
