package audit

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// Chain is where a chain of records ends. A Log keeps one of its own; a
// database that keeps records beside the rows that they tell of keeps the
// chain there too, and has each record sealed in the transaction that adds it.
type Chain struct {
	Log  string            // the chain's random id
	Seq  uint64            // of the last record, 0 before the first
	Hash [sha256.Size]byte // of the last record
}

// NewChain is a chain of its own, with no record yet.
func NewChain() Chain {
	var id [16]byte
	rand.Read(id[:])
	return Chain{Log: hex.EncodeToString(id[:])}
}

// Open seals the record that a chain begins with: its id, and the key that
// fingerprints are made with from here on.
func (c Chain) Open(at time.Time, key Key) (line []byte, next Chain) {
	return c.seal(at, eventOpen, func(b *body) {
		b.text("log", c.Log)
		b.text("key", key.ID)
	})
}

// Seal seals a record about a governed effect. The line ends with a newline;
// it is to be kept as it is, and next instead of c. The error is about g.
func (c Chain) Seal(at time.Time, key Key, g Governed) (line []byte, next Chain, err error) {
	if g, err = g.prepared(); err != nil {
		return nil, c, err
	}
	line, next = c.seal(at, eventGoverned, func(b *body) { g.describe(b, key) })
	return line, next, nil
}

// Head signs that the chain has its last record. See HeadSink.
func (c Chain) Head(at time.Time, signer note.Signer) (signed []byte, err error) {
	return head{log: c.Log, seq: c.Seq, hash: c.Hash, at: at}.sign(signer)
}

// seal makes the line of the next record.
func (c Chain) seal(at time.Time, event string, describe func(*body)) (line []byte, next Chain) {
	b := begin(c.Seq+1, at, event)
	describe(b)
	line, own := b.end(c.Hash)
	return line, Chain{Log: c.Log, Seq: c.Seq + 1, Hash: own}
}
