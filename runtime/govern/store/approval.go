package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// MaxApprovals bounds how many approvals, or refusals, one plan can have.
const MaxApprovals = 64

// Approval is an envelope that somebody says is an approval: whether it is one
// is told by its signature, not by this row.
type Approval struct {
	ID       string // ApprovalID of the envelope
	Plan     string
	Envelope []byte // 1 byte to MaxEnvelope
	UsedBy   string // the execution that spent it, empty if none did
	Created  int64  // microseconds since 1970 UTC
}

// ApprovalID is the SHA-256 of an envelope, in hexadecimal digits.
func ApprovalID(envelope []byte) string {
	sum := sha256.Sum256(envelope)
	return hex.EncodeToString(sum[:])
}

const approvalColumns = `id, plan, envelope, used_by, created`

func (a *Approval) columns() []any {
	return []any{text(&a.ID), text(&a.Plan), blob{&a.Envelope}, text(&a.UsedBy), whole(&a.Created)}
}

func (a *Approval) key() string { return a.ID }

func (a *Approval) check() error {
	var c checks
	c.bytes("the envelope", a.Envelope, 1, MaxEnvelope)
	c.that(a.ID == ApprovalID(a.Envelope), "the id is not of its envelope")
	c.id("the plan", a.Plan)
	if a.UsedBy != "" {
		c.id("who spent it", a.UsedBy)
	}
	c.that(a.Created > 0, "it was created at %d", a.Created)
	return c.err()
}

// InsertApproval keeps an envelope for a plan, and returns its id. One that is
// there already, for the same plan, stays as it is.
func (tx *Tx) InsertApproval(plan string, envelope []byte) (id string, err error) {
	a := Approval{ID: ApprovalID(envelope), Plan: plan, Envelope: envelope, Created: tx.now}
	if !tx.writable {
		return "", ErrReadOnly
	}
	if err := a.check(); err != nil {
		return "", invalid("an approval of %q: %w", plan, err)
	}
	if _, err := tx.Plan(plan); err != nil {
		return "", err
	}
	all, err := tx.Approvals(plan)
	if err != nil {
		return "", err
	}
	if len(all) >= MaxApprovals {
		return "", invalid("%s has %d approvals, and no plan has more", plan, len(all))
	}
	err = tx.insert(`INSERT INTO approvals (`+approvalColumns+`) VALUES ($1, $2, $3, '', $4)`, a.ID, a.Plan, a.Envelope, a.Created)
	if errors.Is(err, ErrExists) {
		known, err := tx.approval(a.ID)
		if err != nil {
			return "", err
		}
		if known.Plan != plan {
			return "", invalid("the approval is kept for another plan")
		}
		return a.ID, nil
	}
	return a.ID, err
}

// Approvals are the envelopes of a plan, in the order in which they came.
func (tx *Tx) Approvals(plan string) ([]Approval, error) {
	list, err := rows[Approval](tx, "approvals", `SELECT `+approvalColumns+` FROM approvals WHERE plan = $1 ORDER BY created, id LIMIT $2`, plan, int64(MaxApprovals+1))
	if err == nil && len(list) > MaxApprovals {
		return nil, &CorruptError{Table: "approvals", ID: list[0].ID, Err: errors.New("its plan has more approvals than any plan can have")}
	}
	return list, err
}

func (tx *Tx) approval(id string) (Approval, error) {
	return one[Approval](tx, "approvals", `SELECT `+approvalColumns+` FROM approvals WHERE id = $1`, id)
}

// SpendApproval gives the approval to an execution. Of all who ever call it one
// succeeds; the others get a [SpentError], the same execution too.
func (tx *Tx) SpendApproval(id, execution string) error {
	var c checks
	c.id("the execution", execution)
	if err := c.err(); err != nil {
		return invalid("%w", err)
	}
	n, err := tx.exec(`UPDATE approvals SET used_by = $1 WHERE id = $2 AND used_by = ''`, execution, id)
	if err != nil || n == 1 {
		return err
	}
	a, err := tx.approval(id)
	if err != nil {
		return err
	}
	return &SpentError{What: "approval", By: a.UsedBy}
}
