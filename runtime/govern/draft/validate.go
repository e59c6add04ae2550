package draft

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/store"
)

// ValidationTTL is for how long a validation counts.
const ValidationTTL = 30 * time.Minute

// MaxDiagnostics bounds those of one validation.
const MaxDiagnostics = 1000

// Diagnostic is one thing that a validator found.
type Diagnostic struct {
	Code       string `json:"code"`
	Severity   string `json:"severity"` // error or warning; one error, and it has not passed
	File       string `json:"file"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	Message    string `json:"message"`
	Suggestion string `json:"suggestion"`
}

// SeverityError keeps a draft from passing.
const SeverityError = "error"

// Validation is what a validator said of one revision of a draft.
type Validation struct {
	ID          string
	Draft       string
	Revision    int64
	Hash        string // of the draft
	Passed      bool
	Diagnostics []Diagnostic
	// Token says that it passed; empty if it did not. It counts until Expires, as
	// long as the draft is what it was.
	Token   string
	Expires time.Time
}

// Validate has check look at a draft that is at this revision, and keeps a record
// of what it said. check reads files by read, and changes nothing.
func (d *Drafts) Validate(ctx context.Context, id string, revision int64, check func(ctx context.Context, files []File, read func(path string) ([]byte, error)) ([]Diagnostic, error)) (Validation, error) {
	owner, row, tree, err := d.open(ctx, id)
	if err != nil {
		return Validation{}, err
	}
	if row.Revision != revision {
		return Validation{}, stale(row)
	}
	nodes := fileNodes(tree)
	found, err := check(ctx, draftOf(row, tree).Files, func(path string) ([]byte, error) {
		n, ok := nodes[path]
		if !ok {
			return nil, fmt.Errorf("draft: there is no file %q", path)
		}
		return d.g.Object(n.Digest, n.Size)
	})
	if err != nil {
		return Validation{}, err
	}
	if len(found) > MaxDiagnostics {
		found = found[:MaxDiagnostics]
	}
	v := Validation{ID: newID("validation"), Draft: id, Revision: revision, Hash: tree.Hash().String(), Passed: true, Diagnostics: found}
	status := store.Passed
	for _, f := range found {
		if f.Severity == SeverityError {
			v.Passed, status = false, store.Failed
		}
	}
	report, err := reportHash(found)
	if err != nil {
		return Validation{}, d.refused(ctx, err)
	}
	record := store.Validation{ID: v.ID, Draft: id, Revision: revision, Manifest: tree.Hash(), Report: report, Status: status, Subject: owner}
	err = d.g.Keep(ctx, nil, func(tx *store.Tx) error {
		record.Expires = tx.Now() + ValidationTTL.Microseconds()
		// The store looks at revision and hash once more.
		if err := tx.InsertValidation(record); err != nil {
			return err
		}
		return d.g.Record(tx, eventValidate, owner, map[string]any{"draft": id, "revision": revision, "validation": v.ID, "status": string(status)})
	})
	if err != nil {
		return Validation{}, d.refused(ctx, err)
	}
	v.Expires = time.UnixMicro(record.Expires).UTC()
	if v.Passed {
		if v.Token, _, err = d.g.IssueValidation(v.ID, claimHash(record), ValidationTTL); err != nil {
			return Validation{}, d.refused(ctx, err)
		}
	}
	return v, nil
}

func reportHash(found []Diagnostic) ([sha256.Size]byte, error) {
	if found == nil {
		found = []Diagnostic{}
	}
	text, err := json.Marshal(found)
	if err == nil {
		text, err = canon.CanonicalizeJSON(nil, text, 4)
	}
	return sha256.Sum256(text), err
}

// claimHash binds all that a validation says into its token: the columns of its
// record cannot say anything else.
func claimHash(v store.Validation) [sha256.Size]byte {
	h := sha256.New()
	for _, part := range []string{"govern/validation/v1", v.ID, v.Draft, string(v.Manifest[:]), string(v.Report[:]), string(v.Status), v.Subject} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	var revision [8]byte
	binary.BigEndian.PutUint64(revision[:], uint64(v.Revision))
	h.Write(revision[:])
	return [sha256.Size]byte(h.Sum(nil))
}

// validated is the draft that a token is about, if it has passed and is what it
// was then.
func (d *Drafts) validated(ctx context.Context, text string) (change.Tree, error) {
	owner, err := govern.Subject(ctx)
	if err != nil {
		return change.Tree{}, err
	}
	object, hash, err := d.g.VerifyValidation(text)
	if err != nil {
		return change.Tree{}, err
	}
	var v store.Validation
	err = d.g.View(ctx, func(tx *store.Tx) (err error) {
		v, err = tx.Validation(owner, object)
		return err
	})
	if err != nil {
		return change.Tree{}, d.refused(ctx, err)
	}
	if claimHash(v) != hash || v.Status != store.Passed {
		return change.Tree{}, govern.Refuse(govern.TokenInvalid, "it is not a token of a validation that passed", "")
	}
	_, row, tree, err := d.open(ctx, v.Draft)
	if err != nil {
		return change.Tree{}, err
	}
	if row.Revision != v.Revision || tree.Hash() != change.Hash(v.Manifest) {
		return change.Tree{}, govern.Refuse(govern.StaleState, "the draft is not what was validated", "validate it again")
	}
	return tree, nil
}

// Change is a change that puts a validated draft at a path below a root.
func (d *Drafts) Change(ctx context.Context, token, rootName, path, summary string) (govern.Change, error) {
	tree, err := d.validated(ctx, token)
	if err != nil {
		return govern.Change{}, err
	}
	c := govern.Change{Root: rootName, Path: path, Summary: summary, Mode: tree.Mode}
	for _, n := range tree.Nodes {
		if n.Dir {
			c.Dirs = append(c.Dirs, n.Path)
		}
	}
	c.Files, err = d.files(ctx, tree)
	return c, err
}

// Run is a run of a validated draft, which is given arguments, a JSON object.
func (d *Drafts) Run(ctx context.Context, token string, arguments []byte, summary string) (govern.Run, error) {
	tree, err := d.validated(ctx, token)
	if err != nil {
		return govern.Run{}, err
	}
	r := govern.Run{Summary: summary, Arguments: arguments}
	r.Files, err = d.files(ctx, tree)
	return r, err
}

// files are those of a tree, with what is in them.
func (d *Drafts) files(ctx context.Context, tree change.Tree) (files []govern.File, err error) {
	for _, n := range tree.Nodes {
		if n.Dir {
			continue
		}
		content, err := d.g.Object(n.Digest, n.Size)
		if err != nil {
			return nil, d.refused(ctx, err)
		}
		files = append(files, govern.File{Path: n.Path, Mode: n.Mode, Content: content})
	}
	return files, nil
}
