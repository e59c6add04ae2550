package store

import (
	"context"
	"database/sql"
)

// Dialect is what databases do in ways of their own. Packages sqlite and
// postgres have one each.
type Dialect interface {
	// Write begins a transaction that overlaps no other of Write, in this and
	// in other processes, and that is durable once committed. It waits for the
	// others as long as ctx allows.
	Write(ctx context.Context, db *sql.DB) (*sql.Tx, error)
	// Read begins a transaction that sees one state and can write nothing.
	Read(ctx context.Context, db *sql.DB) (*sql.Tx, error)
	// Query writes a query of this package, whose parameters are $1, $2, … and
	// whose types are BIGINT, TEXT and BYTEA, as the database reads it.
	Query(query string) string
	// Tables counts the tables of the store.
	Tables(ctx context.Context, tx *sql.Tx) (int, error)
	// Busy reports whether err says that others held the store for too long.
	Busy(err error) bool
	// Full reports whether err says that there was no room to write.
	Full(err error) bool
}
