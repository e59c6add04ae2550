package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/capgen/capgen/runtime/govern/store"
)

// maxConns bounds the connections of one process.
const maxConns = 4

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// Open opens the store in a schema of the database that dsn names (a URL, or
// the form of libpq), and makes both schema and store where they are not there.
func Open(ctx context.Context, dsn, schema string, o store.Options) (*store.Store, error) {
	d, db, err := connect(dsn, schema)
	if err != nil {
		return nil, err
	}
	if err := d.create(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("postgres: %w", err), db.Close())
	}
	return store.Open(ctx, db, d, o)
}

// OpenReadOnly opens a store that is there, for an account that may only read.
func OpenReadOnly(ctx context.Context, dsn, schema string) (*store.Store, error) {
	d, db, err := connect(dsn, schema)
	if err != nil {
		return nil, err
	}
	return store.OpenReadOnly(ctx, db, d)
}

func connect(dsn, schema string) (dialect, *sql.DB, error) {
	if !schemaName.MatchString(schema) {
		return dialect{}, nil, fmt.Errorf("postgres: %q is no name for a schema", schema)
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return dialect{}, nil, fmt.Errorf("postgres: %w", err) // without the password
	}
	config.RuntimeParams["search_path"] = schema
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(afterConnect))
	db.SetMaxOpenConns(maxConns)
	return dialect{schema}, db, nil
}

// afterConnect refuses what would lose a transaction that was committed.
func afterConnect(ctx context.Context, c *pgx.Conn) error {
	c.PgConn().Frontend().SetMaxBodyLen(store.MaxRow)
	for _, name := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		var value string
		if err := c.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value); err != nil {
			return err
		}
		if value == "off" {
			return fmt.Errorf("postgres: %s is off: what was committed could be lost", name)
		}
	}
	return nil
}

// dialect is how PostgreSQL does it, for the store in one schema.
type dialect struct{ schema string }

// create makes the schema, and in it the table whose lock writers take.
func (d dialect) create(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // of what is committed it does nothing
	// Two that make the same schema at once would fail: they wait here.
	const making = 0x63617067656e // any number of our own
	for _, q := range []string{
		fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d)`, making),
		`CREATE SCHEMA IF NOT EXISTS ` + d.schema,
		`CREATE TABLE IF NOT EXISTS ` + d.schema + `.writing (nothing BIGINT)`,
	} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Write takes the lock before anything is read: the state that the transaction
// sees is the one then.
func (dialect) Write(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, `LOCK TABLE writing IN EXCLUSIVE MODE`); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

func (dialect) Read(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	return db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
}

func (dialect) Query(query string) string { return query }

func (d dialect) Tables(ctx context.Context, tx *sql.Tx) (n int, err error) {
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM pg_tables WHERE schemaname = $1 AND tablename <> 'writing'`, d.schema).Scan(&n)
	return n, err
}

// Busy: the transaction gave way to another, or waited too long for a lock.
func (dialect) Busy(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (strings.HasPrefix(e.Code, "40") || e.Code == "55P03")
}

// Full: disk_full, of PostgreSQL's table of error codes.
func (dialect) Full(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "53100"
}
