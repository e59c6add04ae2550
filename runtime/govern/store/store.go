package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/capgen/capgen/runtime/audit"
)

// Options of a store that is written to.
type Options struct {
	// AuditKey makes the fingerprints of arguments in audit records.
	AuditKey audit.Key
	// SigningKey is an encoded signer key of golang.org/x/mod/sumdb/note, and
	// Heads gets what it signs of the audit trail, after commits: as soon as
	// there are HeadEvery new records (zero is audit.DefaultHeadEvery), after
	// HeadInterval (zero is audit.DefaultHeadInterval) where there are any, and
	// at the end. Both are set, or none.
	SigningKey   string
	Heads        audit.HeadSink
	HeadEvery    int
	HeadInterval time.Duration
	// Now is the time that rows get; nil is time.Now.
	Now func() time.Time
	// Logger gets what goes wrong beside the path of a call; nil discards it.
	Logger *slog.Logger
}

// Store is a store of one state directory, or of one schema of a server. It is
// safe for concurrent use, and several processes may have it open.
type Store struct {
	db       *sql.DB
	dialect  Dialect
	id       string
	options  Options
	heads    *heads // nil without them
	readOnly bool
	// writing holds one token: transactions of this process wait for each other
	// here, in their order, and for those of others in the database.
	writing chan struct{}
}

// Open makes the tables in db where there are none. The store closes db, also
// where Open fails. Use package sqlite or postgres.
func Open(ctx context.Context, db *sql.DB, d Dialect, o Options) (*Store, error) {
	if err := o.AuditKey.Check(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	heads, err := newHeads(o)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &Store{db: db, dialect: d, options: o, heads: heads, writing: make(chan struct{}, 1)}
	err = s.write(ctx, func(tx *Tx) error {
		if err := tx.prepare(); err != nil {
			return err
		}
		var err error
		if s.id, err = tx.identify(); err != nil {
			return err
		}
		tx.chain, err = tx.Chain() // perhaps nobody has a head of it yet
		return err
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// OpenReadOnly opens a store that is there, and never writes to it.
func OpenReadOnly(ctx context.Context, db *sql.DB, d Dialect) (*Store, error) {
	s := &Store{db: db, dialect: d, readOnly: true}
	err := s.View(ctx, func(tx *Tx) (err error) {
		s.id, err = tx.identify()
		return err
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// ID is the random id that the store got when it was made: 32 hexadecimal
// digits. A copy has the same.
func (s *Store) ID() string { return s.id }

// Close sends the last head of the audit trail and lets go of the database. No
// transaction runs by then.
func (s *Store) Close() error {
	s.heads.close()
	return s.db.Close()
}

// Update runs fn in a transaction that sees what all earlier ones wrote and
// that no other one overlaps. It is durable when Update returns nil. When fn
// fails, or panics, nothing is written, and its error is returned as it is;
// [ErrBusy], [ErrFull] and [ErrUnknownOutcome] are the store's own. Update waits for
// others as long as ctx allows. Within fn neither Update nor View is called.
func (s *Store) Update(ctx context.Context, fn func(*Tx) error) error {
	if s.readOnly {
		return ErrReadOnly
	}
	return s.write(ctx, fn)
}

func (s *Store) write(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrBusy, context.Cause(ctx))
	}
	begun, err := s.dialect.Write(ctx, s.db)
	if err != nil {
		return s.failed(err)
	}
	defer begun.Rollback() // of what is committed it does nothing
	tx := &Tx{ctx: ctx, tx: begun, store: s, writable: true, now: s.options.Now().UnixMicro()}
	if err := fn(tx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := begun.Commit(); err != nil {
		if s.dialect.Busy(err) || errors.Is(err, sql.ErrTxDone) || errors.Is(err, ctx.Err()) {
			return s.failed(err)
		}
		return fmt.Errorf("%w: %w", ErrUnknownOutcome, s.failed(err))
	}
	if tx.chain.Seq > 0 {
		s.heads.committed(tx.chain)
	}
	return nil
}

// View runs fn in a transaction that sees one state, and in which nothing can
// be written. It ought to be short: in SQLite writers wait for it.
func (s *Store) View(ctx context.Context, fn func(*Tx) error) error {
	begun, err := s.dialect.Read(ctx, s.db)
	if err != nil {
		return s.failed(err)
	}
	defer begun.Rollback() // nothing to commit
	return fn(&Tx{ctx: ctx, tx: begun, store: s})
}

// failed is the error of the database as callers may test it.
func (s *Store) failed(err error) error {
	switch {
	case err == nil:
		return nil
	case s.dialect.Busy(err):
		return fmt.Errorf("%w: %w", ErrBusy, err)
	case s.dialect.Full(err):
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return fmt.Errorf("store: %w", err)
}

// Tx is a transaction, of one goroutine, until the function that got it
// returns. Of an error nobody writes on: fn returns it.
type Tx struct {
	ctx      context.Context
	tx       *sql.Tx
	store    *Store
	writable bool
	now      int64
	chain    audit.Chain // its end, once a record was added
}

// Now is the instant of the transaction, in microseconds since 1970 UTC: rows
// that it makes or moves have it. It is 0 in a View.
func (tx *Tx) Now() int64 { return tx.now }

func (tx *Tx) failed(err error) error { return tx.store.failed(err) }

func (tx *Tx) query(query string, args ...any) (*sql.Rows, error) {
	answer, err := tx.tx.QueryContext(tx.ctx, tx.store.dialect.Query(query), args...)
	return answer, tx.failed(err)
}

// exec tells how many rows were written.
func (tx *Tx) exec(query string, args ...any) (int64, error) {
	if !tx.writable {
		return 0, ErrReadOnly
	}
	done, err := tx.tx.ExecContext(tx.ctx, tx.store.dialect.Query(query), args...)
	if err != nil {
		return 0, tx.failed(err)
	}
	n, err := done.RowsAffected()
	return n, tx.failed(err)
}

// insert is exec for one row whose key must be new.
func (tx *Tx) insert(query string, args ...any) error {
	n, err := tx.exec(query+` ON CONFLICT DO NOTHING`, args...)
	if err == nil && n == 0 {
		return ErrExists
	}
	return err
}
