package store

import (
	"crypto/sha256"
	"fmt"

	"github.com/capgen/capgen/runtime/govern/cas"
)

// Draft is the head of one draft; its files are in the content-addressed store.
type Draft struct {
	ID       string // "draft_" and 32 hexadecimal digits
	Owner    string
	Revision int64 // from 1
	// Manifest is the hash of what its files are, Body the object that lists
	// them.
	Manifest [sha256.Size]byte
	Body     cas.Digest
	// Microseconds since 1970 UTC; Deleted is 0 until then.
	Created, Updated, Deleted int64
}

const draftColumns = `id, owner, revision, manifest, body, created, updated, deleted`

func (d *Draft) columns() []any {
	return []any{text(&d.ID), text(&d.Owner), whole(&d.Revision), fixed(d.Manifest[:]), fixed(d.Body[:]), whole(&d.Created), whole(&d.Updated), whole(&d.Deleted)}
}

func (d *Draft) key() string { return d.ID }

func (d *Draft) check() error {
	var c checks
	c.id("the id", d.ID)
	c.text("the owner", d.Owner, 1)
	c.that(d.Revision > 0, "the revision is %d", d.Revision)
	c.that(d.Created > 0 && d.Updated > 0 && d.Deleted >= 0, "one of the instants %d, %d, %d is none", d.Created, d.Updated, d.Deleted)
	return c.err()
}

// InsertDraft adds revision 1 of a draft, and pins the objects that it needs.
func (tx *Tx) InsertDraft(id, owner string, manifest [sha256.Size]byte, body cas.Digest, objects []cas.Digest) (Draft, error) {
	d := Draft{ID: id, Owner: owner, Revision: 1, Manifest: manifest, Body: body, Created: tx.now, Updated: tx.now}
	if !tx.writable {
		return d, ErrReadOnly
	}
	if err := d.check(); err != nil {
		return d, invalid("draft %q: %w", id, err)
	}
	err := tx.insert(`INSERT INTO drafts (`+draftColumns+`) VALUES ($1, $2, 1, $3, $4, $5, $5, 0)`, id, owner, manifest[:], body[:], tx.now)
	if err != nil {
		return d, err
	}
	return d, tx.pin("draft_objects", "draft", id, objects)
}

// Draft is a draft of this owner that is not deleted. Any other is not found.
func (tx *Tx) Draft(owner, id string) (Draft, error) {
	return one[Draft](tx, "drafts", `SELECT `+draftColumns+` FROM drafts WHERE owner = $1 AND id = $2 AND deleted = 0`, owner, id)
}

// Drafts lists the drafts of an owner that are not deleted, those changed last
// first, after the one with the id after.
func (tx *Tx) Drafts(owner, after string, limit int) ([]Draft, error) {
	limit, err := pageSize(limit)
	if err != nil {
		return nil, err
	}
	q := conditions{}
	q.add("owner = ?", owner)
	q.add("deleted = 0")
	if after != "" {
		last, err := tx.Draft(owner, after)
		if err != nil {
			return nil, fmt.Errorf("the page before: %w", err)
		}
		q.add("(updated, id) < (?, ?)", last.Updated, last.ID)
	}
	return rows[Draft](tx, "drafts", `SELECT `+draftColumns+` FROM drafts`+q.where()+` ORDER BY updated DESC, id DESC`+q.limit(limit), q.args...)
}

// ReviseDraft gives a draft that is at this revision its next one, and pins its
// objects instead of those before.
func (tx *Tx) ReviseDraft(owner, id string, revision int64, manifest [sha256.Size]byte, body cas.Digest, objects []cas.Digest) (Draft, error) {
	d, err := tx.draftAt(owner, id, revision)
	if err != nil {
		return d, err
	}
	d.Revision, d.Manifest, d.Body, d.Updated = revision+1, manifest, body, tx.now
	if _, err := tx.exec(`UPDATE drafts SET revision = $1, manifest = $2, body = $3, updated = $4 WHERE id = $5`,
		d.Revision, manifest[:], body[:], tx.now, id); err != nil {
		return d, err
	}
	if _, err := tx.exec(`DELETE FROM draft_objects WHERE draft = $1`, id); err != nil {
		return d, err
	}
	return d, tx.pin("draft_objects", "draft", id, objects)
}

// DeleteDraft deletes a draft that is at this revision.
func (tx *Tx) DeleteDraft(owner, id string, revision int64) error {
	if _, err := tx.draftAt(owner, id, revision); err != nil {
		return err
	}
	_, err := tx.exec(`UPDATE drafts SET deleted = $1 WHERE id = $2`, tx.now, id)
	return err
}

func (tx *Tx) draftAt(owner, id string, revision int64) (Draft, error) {
	if !tx.writable {
		return Draft{}, ErrReadOnly
	}
	d, err := tx.Draft(owner, id)
	if err == nil && d.Revision != revision {
		err = &StateError{ID: id, Have: fmt.Sprintf("at revision %d", d.Revision), Want: fmt.Sprintf("at %d", revision)}
	}
	return d, err
}

// Validation is a record of what a validator said of one revision of a draft.
type Validation struct {
	ID       string // "validation_" and 32 hexadecimal digits
	Draft    string
	Revision int64
	Manifest [sha256.Size]byte // of that revision
	Report   [sha256.Size]byte // its hash
	Status   ValidationStatus
	Subject  string // who asked
	// Microseconds since 1970 UTC.
	Created, Expires int64
}

// ValidationStatus is what a validator said.
type ValidationStatus string

// The statuses.
const (
	Passed ValidationStatus = "passed"
	Failed ValidationStatus = "failed"
)

const validationColumns = `id, draft, revision, manifest, report, status, subject, created, expires`

func (v *Validation) columns() []any {
	return []any{text(&v.ID), text(&v.Draft), whole(&v.Revision), fixed(v.Manifest[:]), fixed(v.Report[:]), text((*string)(&v.Status)),
		text(&v.Subject), whole(&v.Created), whole(&v.Expires)}
}

func (v *Validation) key() string { return v.ID }

func (v *Validation) check() error {
	var c checks
	c.id("the id", v.ID)
	c.id("the draft", v.Draft)
	c.that(v.Revision > 0, "the revision is %d", v.Revision)
	c.that(v.Status == Passed || v.Status == Failed, "the status %q is none", v.Status)
	c.text("the subject", v.Subject, 1)
	c.that(v.Created > 0 && v.Created < v.Expires, "it was created at %d and expires at %d", v.Created, v.Expires)
	return c.err()
}

// InsertValidation keeps a record about a draft that is at its revision and
// has its manifest; Created is the store's.
func (tx *Tx) InsertValidation(v Validation) error {
	v.Created = tx.now
	if !tx.writable {
		return ErrReadOnly
	}
	if err := v.check(); err != nil {
		return invalid("validation %q: %w", v.ID, err)
	}
	d, err := tx.draftAt(v.Subject, v.Draft, v.Revision)
	if err != nil {
		return err
	}
	if d.Manifest != v.Manifest {
		return &StateError{ID: v.Draft, Have: fmt.Sprintf("%x", d.Manifest[:4]), Want: fmt.Sprintf("%x", v.Manifest[:4])}
	}
	return tx.insert(`INSERT INTO validations (`+validationColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		v.ID, v.Draft, v.Revision, v.Manifest[:], v.Report[:], string(v.Status), v.Subject, v.Created, v.Expires)
}

// Validation is the record of this subject, or [ErrNotFound].
func (tx *Tx) Validation(subject, id string) (Validation, error) {
	return one[Validation](tx, "validations", `SELECT `+validationColumns+` FROM validations WHERE subject = $1 AND id = $2`, subject, id)
}
