package store

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime/govern/cas"
)

// PlanStatus is where a plan stands. All but Prepared are ends.
type PlanStatus string

// The statuses.
const (
	Prepared   PlanStatus = "prepared"   // it may land
	Consumed   PlanStatus = "consumed"   // its execution has begun
	Expired    PlanStatus = "expired"    // it was not landed in time
	Rejected   PlanStatus = "rejected"   // an approver refused it
	Superseded PlanStatus = "superseded" // another plan took its place
	Cancelled  PlanStatus = "cancelled"  // its owner took it back
)

// planMoves are the transitions of plans; there are no others.
var planMoves = map[PlanStatus][]PlanStatus{
	Prepared:   {Consumed, Expired, Rejected, Superseded, Cancelled},
	Consumed:   nil,
	Expired:    nil,
	Rejected:   nil,
	Superseded: nil,
	Cancelled:  nil,
}

// Plan is one row. What decides something stands in Body, which Hash is of;
// whoever relies on a column compares it with the body.
type Plan struct {
	ID         string // "plan_" and 32 hexadecimal digits
	Owner      string // the flat form of the subject
	Capability string // its id
	Hash       [sha256.Size]byte
	Body       []byte // 1 byte to MaxBody
	Status     PlanStatus
	Reason, By string // of the last move
	Moved      int64  // when that was, 0 if never
	Nonce      [16]byte
	// Created and Expires are microseconds since 1970 UTC.
	Created, Expires int64
}

const planColumns = `id, owner, capability, hash, body, status, reason, moved_by, moved, nonce, created, expires`

func (p *Plan) columns() []any {
	return []any{text(&p.ID), text(&p.Owner), text(&p.Capability), fixed(p.Hash[:]), blob{&p.Body}, text((*string)(&p.Status)),
		text(&p.Reason), text(&p.By), whole(&p.Moved), fixed(p.Nonce[:]), whole(&p.Created), whole(&p.Expires)}
}

func (p *Plan) key() string { return p.ID }

func (p *Plan) check() error {
	var c checks
	c.that(strings.HasPrefix(p.ID, "plan_"), "the id is not of a plan")
	c.id("the id", p.ID)
	c.text("the owner", p.Owner, 1)
	c.text("the capability", p.Capability, 1)
	c.bytes("the body", p.Body, 1, MaxBody)
	_, known := planMoves[p.Status]
	c.that(known, "the status %q is none", p.Status)
	c.text("the reason", p.Reason, 0)
	c.text("who moved it", p.By, 0)
	c.that((p.Status == Prepared) == (p.Moved == 0), "it is %q, and was moved at %d", p.Status, p.Moved)
	c.that(p.Created > 0 && p.Created < p.Expires, "it was created at %d and expires at %d", p.Created, p.Expires)
	return c.err()
}

// InsertPlan adds a prepared plan, and pins the objects that it needs in the
// content-addressed store. Its nonce is issued with it, under kind, until the
// plan expires. Status, Reason, By and Moved are left empty.
func (tx *Tx) InsertPlan(p Plan, kind string, objects []cas.Digest) error {
	if p.Status != "" || p.Reason != "" || p.By != "" || p.Moved != 0 {
		return invalid("plan %q has moved already", p.ID)
	}
	p.Status = Prepared
	if err := p.check(); err != nil {
		return invalid("plan %q: %w", p.ID, err)
	}
	err := tx.insert(`INSERT INTO plans (`+planColumns+`) VALUES ($1, $2, $3, $4, $5, $6, '', '', 0, $7, $8, $9)`,
		p.ID, p.Owner, p.Capability, p.Hash[:], p.Body, string(p.Status), p.Nonce[:], p.Created, p.Expires)
	if err != nil {
		return err
	}
	if err := tx.IssueNonce(p.Nonce, kind, p.Expires); err != nil {
		return err
	}
	return tx.pin("plan_objects", "plan", p.ID, objects)
}

// Plan is the plan of any owner, or [ErrNotFound].
func (tx *Tx) Plan(id string) (Plan, error) {
	return one[Plan](tx, "plans", `SELECT `+planColumns+` FROM plans WHERE id = $1`, id)
}

// OwnedPlan is the plan of this owner. Another owner's is not found, as one
// that is not there.
func (tx *Tx) OwnedPlan(owner, id string) (Plan, error) {
	return one[Plan](tx, "plans", `SELECT `+planColumns+` FROM plans WHERE owner = $1 AND id = $2`, owner, id)
}

// Filter says which plans are listed.
type Filter struct {
	// Owner is whose; Everyone lists all, and then Owner is empty.
	Owner    string
	Everyone bool
	// Status, Capability: empty is any.
	Status     PlanStatus
	Capability string
	// ExpiresBy, if it is not 0, is the latest instant of expiry.
	ExpiresBy int64
	// After is the id of the last plan of the page before.
	After string
	// Limit is 1 to MaxPage; 0 is DefaultPage.
	Limit int
}

// The sizes of pages.
const (
	DefaultPage = 50
	MaxPage     = 500
)

func pageSize(limit int) (int, error) {
	if limit == 0 {
		return DefaultPage, nil
	}
	if limit < 1 || limit > MaxPage {
		return 0, invalid("a page of %d rows, not of 1 to %d", limit, MaxPage)
	}
	return limit, nil
}

// Listed is a plan in a list.
type Listed struct {
	Plan
	// Err is a [CorruptError] of a row that this package did not write as it
	// stands: of such a plan nothing but the ID is told, as it is there.
	Err error
}

// place is where a plan stands in lists, whatever else its row says.
type place struct {
	id, owner string
	created   int64
}

func (p *place) columns() []any { return []any{text(&p.id), text(&p.owner), whole(&p.created)} }
func (p *place) key() string    { return p.id }
func (p *place) check() error   { return nil }

// Plans lists plans, the newest first. A corrupt row keeps no other from being
// listed.
func (tx *Tx) Plans(f Filter) (list []Listed, err error) {
	if f.Everyone == (f.Owner != "") {
		return nil, invalid("a list is of one owner, or of everyone")
	}
	limit, err := pageSize(f.Limit)
	if err != nil {
		return nil, err
	}
	q := conditions{}
	if !f.Everyone {
		q.add("owner = ?", f.Owner)
	}
	if f.Status != "" {
		q.add("status = ?", string(f.Status))
	}
	if f.Capability != "" {
		q.add("capability = ?", f.Capability)
	}
	if f.ExpiresBy != 0 {
		q.add("expires <= ?", f.ExpiresBy)
	}
	if f.After != "" {
		last, err := one[place](tx, "plans", `SELECT id, owner, created FROM plans WHERE id = $1`, f.After)
		if err != nil {
			return nil, fmt.Errorf("the page before: %w", err)
		}
		if !f.Everyone && last.owner != f.Owner {
			return nil, fmt.Errorf("the page before: %w", ErrNotFound)
		}
		q.add("(created, id) < (?, ?)", last.created, last.id)
	}
	query := `SELECT ` + planColumns + ` FROM plans` + q.where() + ` ORDER BY created DESC, id DESC` + q.limit(limit)
	err = each(tx, "plans", query, q.args, func(p Plan, err error) error {
		if err != nil {
			p = Plan{ID: p.ID}
		}
		list = append(list, Listed{p, err})
		return nil
	})
	return list, err
}

// MovePlan moves a plan that is in from. [ErrInvalid] is a transition that no
// plan has, and [ErrState] a plan that is elsewhere.
func (tx *Tx) MovePlan(id string, from, to PlanStatus, reason, by string) error {
	if !slices.Contains(planMoves[from], to) {
		return invalid("no plan becomes %q from %q", to, from)
	}
	var c checks
	c.text("the reason", reason, 0)
	c.text("who moved it", by, 0)
	if err := c.err(); err != nil {
		return invalid("plan %q: %w", id, err)
	}
	n, err := tx.exec(`UPDATE plans SET status = $1, reason = $2, moved_by = $3, moved = $4 WHERE id = $5 AND status = $6`,
		string(to), reason, by, tx.now, id, string(from))
	if err != nil || n == 1 {
		return err
	}
	p, err := tx.Plan(id)
	if err != nil {
		return err
	}
	return &StateError{ID: id, Have: string(p.Status), Want: string(from)}
}

// conditions builds the WHERE of a list.
type conditions struct {
	list []string
	args []any
}

// add adds a condition with a ? for each argument.
func (q *conditions) add(condition string, args ...any) {
	for _, a := range args {
		q.args = append(q.args, a)
		condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(q.args)), 1)
	}
	q.list = append(q.list, condition)
}

func (q *conditions) where() string {
	if len(q.list) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(q.list, " AND ")
}

func (q *conditions) limit(n int) string {
	q.args = append(q.args, int64(n))
	return fmt.Sprintf(" LIMIT $%d", len(q.args))
}
