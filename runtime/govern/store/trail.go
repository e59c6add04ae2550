package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/capgen/capgen/runtime/audit"
)

// maxLine bounds a line of the trail that is read: no record is longer.
const maxLine = 512 << 10

// Record is one line of the audit trail, as audit.VerifyLines reads it.
type Record struct {
	Seq  int64
	Line []byte // its end included
}

func (r *Record) columns() []any { return []any{whole(&r.Seq), blob{&r.Line}} }

func (r *Record) key() string { return fmt.Sprint(r.Seq) }

func (r *Record) check() error {
	var c checks
	c.that(r.Seq > 0, "its number is %d", r.Seq)
	c.bytes("the line", r.Line, 1, maxLine)
	return c.err()
}

// chainRow is the end of the audit trail, as the meta row keeps it.
type chainRow struct {
	log  string
	seq  int64
	hash [32]byte
}

func (r *chainRow) columns() []any { return []any{text(&r.log), whole(&r.seq), fixed(r.hash[:])} }

func (r *chainRow) key() string { return "1" }

func (r *chainRow) check() error {
	var c checks
	c.that(hex32(r.log), "the id of the audit trail is none")
	c.that(r.seq > 0, "the audit trail has %d records", r.seq)
	return c.err()
}

// Chain is the end of the audit trail, as the store has it: its id, and what
// its last record is said to be.
func (tx *Tx) Chain() (audit.Chain, error) {
	r, err := one[chainRow](tx, "meta", `SELECT log, seq, hash FROM meta WHERE one = 1`)
	return audit.Chain{Log: r.log, Seq: uint64(r.seq), Hash: r.hash}, err
}

// Audit adds a record to the trail, which becomes durable with the transaction
// or not at all.
func (tx *Tx) Audit(g audit.Governed) error {
	if !tx.writable {
		return ErrReadOnly
	}
	chain, err := tx.Chain()
	if err != nil {
		return err
	}
	line, next, err := chain.Seal(time.UnixMicro(tx.now), tx.store.options.AuditKey, g)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return tx.extend(line, next)
}

// extend keeps a sealed line, and the new end of the chain.
func (tx *Tx) extend(line []byte, next audit.Chain) error {
	seq := int64(next.Seq)
	err := tx.insert(`INSERT INTO trail (seq, line) VALUES ($1, $2)`, seq, line)
	if errors.Is(err, ErrExists) {
		return &CorruptError{Table: "trail", ID: fmt.Sprint(seq), Err: errors.New("it stands behind the end of the trail")}
	}
	if err != nil {
		return err
	}
	_, err = tx.exec(`UPDATE meta SET seq = $1, hash = $2 WHERE one = 1`, seq, next.Hash[:])
	tx.chain = next
	return err
}

// Trail is a page of the audit trail, from the record after the one with the
// number after.
func (tx *Tx) Trail(after int64, limit int) ([]Record, error) {
	limit, err := pageSize(limit)
	if err != nil {
		return nil, err
	}
	return rows[Record](tx, "trail", `SELECT seq, line FROM trail WHERE seq > $1 ORDER BY seq LIMIT $2`, after, int64(limit))
}
