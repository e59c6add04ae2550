package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/capgen/capgen/runtime/audit"
)

// version of the tables. A store of an older one gets what was added since when
// it is opened to be written; one of a newer is refused: an older program must not
// write rows that a newer one reads otherwise.
const version = 2

// tables of a store of version 1, and their indexes. Instants are microseconds since 1970
// UTC; 0 and the empty text stand for what did not happen.
var tables = []string{
	`CREATE TABLE meta (
		one BIGINT PRIMARY KEY, version BIGINT NOT NULL, id TEXT NOT NULL, high_water BIGINT NOT NULL,
		log TEXT NOT NULL, seq BIGINT NOT NULL, hash BYTEA NOT NULL)`,
	`CREATE TABLE plans (
		id TEXT PRIMARY KEY, owner TEXT NOT NULL, capability TEXT NOT NULL, hash BYTEA NOT NULL, body BYTEA NOT NULL,
		status TEXT NOT NULL, reason TEXT NOT NULL, moved_by TEXT NOT NULL, moved BIGINT NOT NULL,
		nonce BYTEA NOT NULL, created BIGINT NOT NULL, expires BIGINT NOT NULL)`,
	`CREATE TABLE plan_objects (
		plan TEXT NOT NULL REFERENCES plans (id) ON DELETE CASCADE, digest BYTEA NOT NULL, PRIMARY KEY (plan, digest))`,
	`CREATE TABLE approvals (
		id TEXT PRIMARY KEY, plan TEXT NOT NULL REFERENCES plans (id) ON DELETE CASCADE, envelope BYTEA NOT NULL,
		used_by TEXT NOT NULL, created BIGINT NOT NULL)`,
	`CREATE TABLE nonces (
		nonce BYTEA PRIMARY KEY, kind TEXT NOT NULL, used_by TEXT NOT NULL, expires BIGINT NOT NULL)`,
	`CREATE TABLE executions (
		plan TEXT PRIMARY KEY REFERENCES plans (id) ON DELETE CASCADE, kind TEXT NOT NULL, state TEXT NOT NULL,
		outcome BYTEA NOT NULL, started BIGINT NOT NULL, ended BIGINT NOT NULL, epoch BIGINT NOT NULL)`,
	`CREATE TABLE idempotency (
		subject TEXT NOT NULL, capability TEXT NOT NULL, step TEXT NOT NULL, key TEXT NOT NULL, request_hash BYTEA NOT NULL,
		plan TEXT NOT NULL REFERENCES plans (id) ON DELETE CASCADE, PRIMARY KEY (subject, capability, step, key))`,
	`CREATE TABLE drafts (
		id TEXT PRIMARY KEY, owner TEXT NOT NULL, revision BIGINT NOT NULL, manifest BYTEA NOT NULL, body BYTEA NOT NULL,
		created BIGINT NOT NULL, updated BIGINT NOT NULL, deleted BIGINT NOT NULL)`,
	`CREATE TABLE draft_objects (
		draft TEXT NOT NULL REFERENCES drafts (id) ON DELETE CASCADE, digest BYTEA NOT NULL, PRIMARY KEY (draft, digest))`,
	`CREATE TABLE validations (
		id TEXT PRIMARY KEY, draft TEXT NOT NULL REFERENCES drafts (id) ON DELETE CASCADE, revision BIGINT NOT NULL,
		manifest BYTEA NOT NULL, report BYTEA NOT NULL, status TEXT NOT NULL, subject TEXT NOT NULL,
		created BIGINT NOT NULL, expires BIGINT NOT NULL)`,
	`CREATE TABLE trail (seq BIGINT PRIMARY KEY, line BYTEA NOT NULL)`,
}

var indexes = []string{
	`CREATE INDEX plans_owner ON plans (owner, created, id)`,
	`CREATE INDEX plans_created ON plans (created, id)`,
	`CREATE INDEX plans_status ON plans (status, created, id)`,
	`CREATE INDEX plans_expires ON plans (status, expires)`,
	`CREATE INDEX approvals_plan ON approvals (plan)`,
	`CREATE INDEX nonces_expires ON nonces (expires)`,
	`CREATE INDEX idempotency_plan ON idempotency (plan)`,
	`CREATE INDEX drafts_owner ON drafts (owner, updated, id)`,
	`CREATE INDEX validations_draft ON validations (draft)`,
}

// added are what later versions have besides.
var added = map[int64][]string{
	2: {
		`CREATE TABLE jobs (
			plan TEXT PRIMARY KEY REFERENCES plans (id) ON DELETE CASCADE,
			created BIGINT NOT NULL, created_up BIGINT NOT NULL, created_boot TEXT NOT NULL,
			begun BIGINT NOT NULL, begun_up BIGINT NOT NULL, begun_boot TEXT NOT NULL,
			heartbeat BIGINT NOT NULL, progress TEXT NOT NULL, handle BYTEA NOT NULL,
			failure TEXT NOT NULL, message TEXT NOT NULL, result BYTEA NOT NULL,
			reason TEXT NOT NULL, cancelled_by TEXT NOT NULL,
			host TEXT NOT NULL, uid BIGINT NOT NULL)`,
		`CREATE INDEX executions_kind ON executions (kind, started, plan)`,
	},
}

// prepare makes the tables where there are none, and those that an older store
// does not have.
func (tx *Tx) prepare() error {
	d := tx.store.dialect
	n, err := d.Tables(tx.ctx, tx.tx)
	if err != nil {
		return tx.failed(err)
	}
	if n == 0 {
		if err := tx.create(); err != nil {
			return err
		}
	}
	m, err := tx.meta()
	if err != nil || m.version < 1 {
		return err
	}
	for v := m.version + 1; v <= version; v++ {
		for _, q := range added[v] {
			if _, err := tx.exec(q); err != nil {
				return err
			}
		}
		if _, err := tx.exec(`UPDATE meta SET version = $1 WHERE one = 1`, v); err != nil {
			return err
		}
	}
	return nil
}

// create makes a store of version 1.
func (tx *Tx) create() error {
	for _, list := range [][]string{tables, indexes} {
		for _, q := range list {
			if _, err := tx.exec(q); err != nil {
				return err
			}
		}
	}
	var id [16]byte
	rand.Read(id[:])
	chain := audit.NewChain()
	if _, err := tx.exec(`INSERT INTO meta (one, version, id, high_water, log, seq, hash) VALUES (1, 1, $1, 0, $2, 0, $3)`,
		hex.EncodeToString(id[:]), chain.Log, chain.Hash[:]); err != nil {
		return err
	}
	return tx.extend(chain.Open(time.UnixMicro(tx.now), tx.store.options.AuditKey))
}

// metaRow is what says whose store it is.
type metaRow struct {
	version int64
	id      string
}

func (m *metaRow) columns() []any { return []any{whole(&m.version), text(&m.id)} }
func (m *metaRow) key() string    { return "1" }
func (m *metaRow) check() error {
	if m.version == version && !hex32(m.id) {
		return errors.New("the id of the store is none")
	}
	return nil
}

// identify reads the id of the store, if it is of this version.
func (tx *Tx) identify() (id string, err error) {
	n, err := tx.store.dialect.Tables(tx.ctx, tx.tx)
	if err != nil {
		return "", tx.failed(err)
	}
	if n == 0 {
		return "", fmt.Errorf("%w: there is no store", ErrNotFound)
	}
	m, err := tx.meta()
	switch {
	case err != nil:
		return "", err
	case m.version > 0 && m.version < version:
		return "", fmt.Errorf("%w: it is of version %d, and becomes %d when whoever may write it opens it", ErrVersion, m.version, version)
	case m.version != version:
		return "", fmt.Errorf("%w: it is of version %d, and this program reads version %d", ErrVersion, m.version, version)
	}
	return m.id, nil
}

func (tx *Tx) meta() (metaRow, error) {
	m, err := one[metaRow](tx, "meta", `SELECT version, id FROM meta WHERE one = 1`)
	if errors.Is(err, ErrNotFound) {
		err = &CorruptError{Table: "meta", ID: "1", Err: errors.New("it is missing")}
	}
	return m, err
}
