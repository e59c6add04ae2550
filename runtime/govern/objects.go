package govern

import (
	"errors"
	"io"
	"io/fs"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/root"
)

// maxKeptBytes is how large a file may be of which the old content is kept, for
// approvers to see what differs.
const maxKeptBytes = 256 << 10

// before adds the old contents of files that are replaced to what is kept.
func (s *Service) before(parent root.Dir, name string, actions []plan.Action, f *frozen) error {
	var top root.Dir
	for _, a := range actions {
		if a.Kind != plan.Replace || a.Before.Dir || a.Before.Size > maxKeptBytes {
			continue
		}
		if top == nil {
			var err error
			if top, err = parent.Sub(name); err != nil {
				return unfit(err)
			}
			defer top.Close()
		}
		content, err := read(top, a.Path, a.Before.Size)
		if err != nil {
			return unfit(err)
		}
		if cas.Of(content) != a.Before.Digest {
			return refuse(StaleState, "%q changed while it was looked at", a.Path).suggest("try again")
		}
		f.objects = append(f.objects, content)
	}
	return nil
}

// read is the content of the file at path below d, of which size bytes are
// expected.
func read(d root.Dir, path string, size int64) ([]byte, error) {
	dir, base, done, err := descend(d, path)
	if err != nil {
		return nil, err
	}
	defer done()
	f, err := dir.Open(base)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(f, size+1))
	return content, errors.Join(err, f.Close())
}

// tree is the tree with a hash, of which the text is an object.
func (s *Service) tree(h change.Hash) (change.Tree, error) {
	text, err := s.blobs.Get(cas.Digest(h), change.MaxTreeText)
	if err != nil {
		return change.Tree{}, err
	}
	return change.ParseTree(text)
}

// actions are those of a plan, computed anew from its trees; none of a call.
func (s *Service) actions(p opened) ([]Action, error) {
	if p.Change == nil {
		return nil, nil
	}
	pre, err := s.tree(p.Change.Pre)
	if err != nil {
		return nil, err
	}
	post, err := s.tree(p.Change.Post)
	if err != nil {
		return nil, err
	}
	return Actions(pre, post), nil
}

// missing tells whether err is that an object was swept.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
