package draft

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/store"
)

// MaxFileBytes bounds a file of a draft. Files are UTF-8.
const MaxFileBytes = 2 << 20

// Drafts are the drafts of a service. It may be used by several goroutines at a
// time. Every method is about drafts of the subject in ctx: another one's is not
// found.
type Drafts struct{ g *govern.Service }

// New is the drafts over a service.
func New(g *govern.Service) *Drafts { return &Drafts{g} }

// Draft is one draft as it is.
type Draft struct {
	ID       string
	Revision int64  // from 1; each change is the next
	Hash     string // of its tree, in hexadecimal
	Files    []File // sorted by path; nil in a list
	Created  time.Time
	Updated  time.Time
}

// File is one of a draft.
type File struct {
	Path   string
	Mode   fs.FileMode
	Size   int64
	SHA256 string // of its content, in hexadecimal
}

// Edit is what happens to one file.
type Edit struct {
	Path string
	// Was is the SHA-256 that the file has; empty for one that is not there yet.
	Was string
	// Content is what it becomes, unless it is removed.
	Content []byte
	Remove  bool
	// Mode of a new file, zero is 0644. One that is there keeps its own where
	// Mode is zero.
	Mode fs.FileMode
}

var validID = regexp.MustCompile(`^draft_[0-9a-f]{32}$`)

func newID(kind string) string {
	var id [16]byte
	rand.Read(id[:])
	return kind + "_" + hex.EncodeToString(id[:])
}

// The events in the audit trail.
const (
	eventCreate   = "draft.create"
	eventUpdate   = "draft.update"
	eventDelete   = "draft.delete"
	eventValidate = "draft.validate"
)

// Create makes a draft of files.
func (d *Drafts) Create(ctx context.Context, files []govern.File) (Draft, error) {
	owner, err := govern.Subject(ctx)
	if err != nil {
		return Draft{}, err
	}
	nodes := map[string]change.Node{}
	contents := make([][]byte, 0, len(files)+1)
	for _, f := range files {
		if _, ok := nodes[f.Path]; ok {
			return Draft{}, govern.Refuse(govern.InvalidRequest, fmt.Sprintf("%q is there twice", f.Path), "")
		}
		node, err := nodeOf(f.Path, f.Mode, f.Content)
		if err != nil {
			return Draft{}, err
		}
		nodes[f.Path] = node
		contents = append(contents, f.Content)
	}
	tree, err := treeOf(nodes)
	if err != nil {
		return Draft{}, err
	}
	id := newID("draft")
	var row store.Draft
	err = d.g.Keep(ctx, append(contents, tree.AppendCanonical(nil)), func(tx *store.Tx) (err error) {
		if row, err = tx.InsertDraft(id, owner, tree.Hash(), cas.Digest(tree.Hash()), objects(tree)); err != nil {
			return err
		}
		return d.g.Record(tx, eventCreate, owner, map[string]any{"draft": id, "hash": tree.Hash().String()})
	})
	if err != nil {
		return Draft{}, d.refused(ctx, err)
	}
	return draftOf(row, tree), nil
}

// Update changes one file of a draft that is at this revision.
func (d *Drafts) Update(ctx context.Context, id string, revision int64, e Edit) (Draft, error) {
	owner, row, tree, err := d.open(ctx, id)
	if err != nil {
		return Draft{}, err
	}
	if row.Revision != revision {
		return Draft{}, stale(row)
	}
	nodes := fileNodes(tree)
	was, there := nodes[e.Path]
	if there != (e.Was != "") || there && was.Digest.String() != e.Was {
		return Draft{}, govern.Refuse(govern.ConflictCode, fmt.Sprintf("the file %q is not what it is said to be", e.Path), "read the draft again")
	}
	if e.Remove {
		if !there {
			return Draft{}, govern.Refuse(govern.InvalidRequest, fmt.Sprintf("there is no file %q", e.Path), "")
		}
		delete(nodes, e.Path)
	} else {
		mode := e.Mode
		if mode == 0 && there {
			mode = was.Mode
		}
		if nodes[e.Path], err = nodeOf(e.Path, mode, e.Content); err != nil {
			return Draft{}, err
		}
	}
	next, err := treeOf(nodes)
	if err != nil {
		return Draft{}, err
	}
	contents := [][]byte{next.AppendCanonical(nil)}
	if !e.Remove {
		contents = append(contents, e.Content)
	}
	err = d.g.Keep(ctx, contents, func(tx *store.Tx) (err error) {
		// The store looks at the revision once more.
		if row, err = tx.ReviseDraft(owner, id, revision, next.Hash(), cas.Digest(next.Hash()), objects(next)); err != nil {
			return err
		}
		return d.g.Record(tx, eventUpdate, owner, map[string]any{"draft": id, "revision": row.Revision, "hash": next.Hash().String()})
	})
	if err != nil {
		return Draft{}, d.refused(ctx, err)
	}
	return draftOf(row, next), nil
}

// Delete deletes a draft that is at this revision.
func (d *Drafts) Delete(ctx context.Context, id string, revision int64) error {
	owner, err := d.owner(ctx, id)
	if err != nil {
		return err
	}
	err = d.g.Keep(ctx, nil, func(tx *store.Tx) error {
		if err := tx.DeleteDraft(owner, id, revision); err != nil {
			return err
		}
		return d.g.Record(tx, eventDelete, owner, map[string]any{"draft": id})
	})
	if err != nil {
		return d.refused(ctx, err)
	}
	return nil
}

// Get is a draft as it is now.
func (d *Drafts) Get(ctx context.Context, id string) (Draft, error) {
	_, row, tree, err := d.open(ctx, id)
	if err != nil {
		return Draft{}, err
	}
	return draftOf(row, tree), nil
}

// Read is the content of a file of a draft as it is now.
func (d *Drafts) Read(ctx context.Context, id, path string) ([]byte, error) {
	_, _, tree, err := d.open(ctx, id)
	if err != nil {
		return nil, err
	}
	node, ok := fileNodes(tree)[path]
	if !ok {
		return nil, govern.Refuse(govern.NotFound, fmt.Sprintf("there is no file %q", path), "")
	}
	content, err := d.g.Object(node.Digest, node.Size)
	if err != nil {
		return nil, d.refused(ctx, err)
	}
	return content, nil
}

// List are drafts, those changed last first, after the one with the id after: at
// most limit, of 1 to 100.
func (d *Drafts) List(ctx context.Context, after string, limit int) (list []Draft, err error) {
	owner, err := govern.Subject(ctx)
	if err != nil {
		return nil, err
	}
	if limit < 1 || limit > govern.MaxPage {
		return nil, govern.Refuse(govern.InvalidRequest, fmt.Sprintf("a page is of 1 to %d drafts", govern.MaxPage), "")
	}
	if after != "" && !validID.MatchString(after) {
		return nil, unknown()
	}
	err = d.g.View(ctx, func(tx *store.Tx) error {
		rows, err := tx.Drafts(owner, after, limit)
		for _, row := range rows {
			list = append(list, draftOf(row, change.Tree{}))
		}
		return err
	})
	if err != nil {
		return nil, d.refused(ctx, err)
	}
	return list, nil
}

func (d *Drafts) owner(ctx context.Context, id string) (string, error) {
	owner, err := govern.Subject(ctx)
	if err == nil && !validID.MatchString(id) {
		err = unknown()
	}
	return owner, err
}

// open is a draft's row, and its tree, which must have the hash that the row
// says.
func (d *Drafts) open(ctx context.Context, id string) (owner string, row store.Draft, tree change.Tree, err error) {
	if owner, err = d.owner(ctx, id); err != nil {
		return owner, row, tree, err
	}
	err = d.g.View(ctx, func(tx *store.Tx) (err error) {
		row, err = tx.Draft(owner, id)
		return err
	})
	if err == nil && row.Manifest != [sha256.Size]byte(row.Body) {
		err = errors.New("draft: the row is not what was written")
	}
	var text []byte
	if err == nil {
		text, err = d.g.Object(row.Body, change.MaxTreeText)
	}
	if err == nil {
		tree, err = change.ParseTree(text)
	}
	if err != nil {
		return owner, row, tree, d.refused(ctx, err)
	}
	return owner, row, tree, nil
}

func unknown() error { return govern.Refuse(govern.NotFound, "there is no such draft", "") }

func stale(row store.Draft) error {
	return govern.Refuse(govern.ConflictCode, fmt.Sprintf("the draft is at revision %d", row.Revision), "read the draft again")
}

func (d *Drafts) refused(ctx context.Context, err error) error {
	var state *store.StateError
	switch {
	case errors.Is(err, store.ErrNotFound):
		return unknown()
	case errors.As(err, &state):
		return govern.Refuse(govern.ConflictCode, "the draft is "+state.Have, "read the draft again")
	}
	return d.g.Refused(ctx, err)
}

func draftOf(row store.Draft, tree change.Tree) Draft {
	out := Draft{
		ID: row.ID, Revision: row.Revision, Hash: hex.EncodeToString(row.Manifest[:]),
		Created: time.UnixMicro(row.Created).UTC(), Updated: time.UnixMicro(row.Updated).UTC(),
	}
	for _, n := range tree.Nodes {
		if !n.Dir {
			out.Files = append(out.Files, File{n.Path, n.Mode, n.Size, n.Digest.String()})
		}
	}
	return out
}

// nodeOf is a file of a draft.
func nodeOf(path string, mode fs.FileMode, content []byte) (change.Node, error) {
	if len(content) > MaxFileBytes || !utf8.Valid(content) {
		return change.Node{}, govern.Refuse(govern.InvalidRequest, fmt.Sprintf("the file %q is not UTF-8, or has more than %d bytes", path, MaxFileBytes), "")
	}
	if mode == 0 {
		mode = 0o644
	}
	return change.Node{Path: path, Mode: mode, Size: int64(len(content)), Digest: cas.Of(content)}, nil
}

// treeOf is the tree of files, with the directories that they are in.
func treeOf(files map[string]change.Node) (change.Tree, error) {
	t := change.Tree{Present: true, Mode: 0o755}
	dirs := map[string]bool{}
	for path, n := range files {
		t.Nodes = append(t.Nodes, n)
		for slash := strings.LastIndexByte(path, '/'); slash >= 0; slash = strings.LastIndexByte(path, '/') {
			path = path[:slash]
			dirs[path] = true
		}
	}
	for path := range dirs {
		t.Nodes = append(t.Nodes, change.Node{Path: path, Dir: true, Mode: 0o755})
	}
	slices.SortFunc(t.Nodes, func(a, b change.Node) int { return strings.Compare(a.Path, b.Path) })
	if err := t.Check(); err != nil {
		return t, govern.Refuse(govern.InvalidRequest, "no directory can be made of that: "+err.Error(), "")
	}
	return t, nil
}

func fileNodes(t change.Tree) map[string]change.Node {
	nodes := map[string]change.Node{}
	for _, n := range t.Nodes {
		if !n.Dir {
			nodes[n.Path] = n
		}
	}
	return nodes
}

// objects are those that a draft needs, besides its tree's text.
func objects(t change.Tree) (list []cas.Digest) {
	for _, n := range t.Nodes {
		if !n.Dir {
			list = append(list, n.Digest)
		}
	}
	return list
}
