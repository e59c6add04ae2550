package store

import "encoding/hex"

// nonceRow is one row of nonces: issued, and perhaps spent.
type nonceRow struct {
	nonce   [16]byte
	kind    string
	usedBy  string
	expires int64
}

func (n *nonceRow) columns() []any {
	return []any{fixed(n.nonce[:]), text(&n.kind), text(&n.usedBy), whole(&n.expires)}
}

func (n *nonceRow) key() string { return hex.EncodeToString(n.nonce[:]) }

func (n *nonceRow) check() error {
	var c checks
	c.text("the kind", n.kind, 1)
	if n.usedBy != "" {
		c.id("who spent it", n.usedBy)
	}
	c.that(n.expires > 0, "it expires at %d", n.expires)
	return c.err()
}

// IssueNonce keeps a nonce that can be spent once. It is forgotten some time
// after it expires, spent or not: until then whoever shows it is told, and from
// then on what it is in has expired. A nonce that was issued is [ErrExists].
func (tx *Tx) IssueNonce(nonce [16]byte, kind string, expires int64) error {
	n := nonceRow{nonce: nonce, kind: kind, expires: expires}
	if err := n.check(); err != nil {
		return invalid("nonce %s: %w", n.key(), err)
	}
	return tx.insert(`INSERT INTO nonces (nonce, kind, used_by, expires) VALUES ($1, $2, '', $3)`, nonce[:], kind, expires)
}

// SpendNonce gives a nonce to an execution. Of all who ever call it one
// succeeds; the others get a [SpentError], the same execution too. One that was
// never issued here, or under another kind, is [ErrNotFound].
func (tx *Tx) SpendNonce(nonce [16]byte, kind, execution string) error {
	var c checks
	c.id("the execution", execution)
	if err := c.err(); err != nil {
		return invalid("%w", err)
	}
	n, err := tx.exec(`UPDATE nonces SET used_by = $1 WHERE nonce = $2 AND kind = $3 AND used_by = ''`, execution, nonce[:], kind)
	if err != nil || n == 1 {
		return err
	}
	by, err := tx.NonceSpent(nonce, kind)
	if err != nil {
		return err
	}
	return &SpentError{What: "nonce", By: by}
}

// NonceSpent is the execution that a nonce was given to, empty if it was to none.
// One that was never issued here, or under another kind, is [ErrNotFound].
func (tx *Tx) NonceSpent(nonce [16]byte, kind string) (execution string, err error) {
	n, err := one[nonceRow](tx, "nonces", `SELECT nonce, kind, used_by, expires FROM nonces WHERE nonce = $1 AND kind = $2`, nonce[:], kind)
	return n.usedBy, err
}
