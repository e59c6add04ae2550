package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/capgen/capgen/runtime/govern/store"
)

// FileName is the name of the store in its directory.
const FileName = "store.sqlite"

// maxWait bounds how long a transaction waits for others, besides its context.
const maxWait = 30 * time.Second

// Open opens the store in dir, an absolute path to a directory that is there,
// and makes one if there is none: a file for this user alone to write. Who may
// pass a directory that others may not pass may read it.
func Open(ctx context.Context, dir string, o store.Options) (*store.Store, error) {
	path, err := find(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = create(dir, path)
	}
	if err != nil {
		return nil, err
	}
	return open(ctx, path, "", o)
}

// OpenReadOnly opens the store in dir for somebody who may only read it, and
// writes nothing, no lock file or journal either. While a transaction that
// somebody was killed in stands there half written, it is an error: whoever may
// write the store opens it first.
func OpenReadOnly(ctx context.Context, dir string) (*store.Store, error) {
	path, err := find(dir)
	if err != nil {
		return nil, err
	}
	db, err := driver.Open(uri(path, "ro", ""), func(c *sqlite3.Conn) error { return configure(c, true) })
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	db.SetMaxOpenConns(maxConns)
	return store.OpenReadOnly(ctx, db, dialect{})
}

// maxConns bounds the connections of one process: each has memory of its own.
const maxConns = 4

// open opens a file that is there, through a virtual file system if it is named.
func open(ctx context.Context, path, vfs string, o store.Options) (*store.Store, error) {
	db, err := driver.Open(uri(path, "rw", vfs), func(c *sqlite3.Conn) error { return configure(c, false) })
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	db.SetMaxOpenConns(maxConns)
	return store.Open(ctx, db, dialect{}, o)
}

// find is the path of the store in dir, if it is a file of its own.
func find(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("sqlite: %q is no absolute path", dir)
	}
	path := filepath.Join(dir, FileName)
	info, err := os.Lstat(path)
	if err != nil {
		return path, fmt.Errorf("sqlite: %w", err)
	}
	if !info.Mode().IsRegular() {
		return path, fmt.Errorf("sqlite: %s is no regular file", path)
	}
	return path, nil
}

// create makes an empty file, which SQLite takes for an empty database.
func create(dir, path string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	mode := fs.FileMode(0o600)
	if info.Mode().Perm()&0o007 == 0 {
		mode = 0o644 // whatever its group is: the directory decides
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) { // another process was first
		return nil
	}
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	if err := errors.Join(f.Chmod(mode), f.Sync(), f.Close(), syncDir(dir)); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	return nil
}

// uri names a database. Its journal gets the mode of the file itself.
func uri(path, mode, vfs string) string {
	q := url.Values{"mode": {mode}}
	if vfs != "" {
		q.Set("vfs", vfs)
	}
	if mode == "rw" {
		q.Set("modeof", path)
	}
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/...
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// configure sets what each connection must have, and looks whether it has.
func configure(c *sqlite3.Conn, readOnly bool) error {
	if err := c.BusyHandler(wait); err != nil {
		return err
	}
	c.Limit(sqlite3.LIMIT_LENGTH, store.MaxRow)
	c.Limit(sqlite3.LIMIT_ATTACHED, 0)
	want := []struct{ pragma, value string }{
		{"foreign_keys", "1"},
		{"trusted_schema", "0"},
		{"cell_size_check", "1"},
		{"temp_store", "2"}, // in memory
		{"mmap_size", "0"},
		{"locking_mode", "normal"},
	}
	if readOnly {
		want = append(want, struct{ pragma, value string }{"query_only", "1"})
	} else {
		want = append(want, []struct{ pragma, value string }{
			{"journal_mode", "delete"},
			{"synchronous", "3"}, // EXTRA: the removal of the journal is synced too
			{"fullfsync", "1"},   // where a plain fsync leaves the disk's cache (darwin)
			{"journal_size_limit", "-1"},
		}...)
	}
	for _, w := range want {
		if err := c.Exec("PRAGMA " + w.pragma + " = " + w.value); err != nil {
			return err
		}
	}
	for _, w := range append(want, struct{ pragma, value string }{"journal_mode", "delete"}) {
		have, err := pragma(c, w.pragma)
		if err != nil {
			return err
		}
		if have != w.value && !(w.pragma == "mmap_size" && have == "") {
			return fmt.Errorf("sqlite: %s is %q, not %q", w.pragma, have, w.value)
		}
	}
	return nil
}

func pragma(c *sqlite3.Conn, name string) (value string, err error) {
	s, _, err := c.Prepare("PRAGMA " + name)
	if err != nil {
		return "", err
	}
	if s.Step() {
		value = s.ColumnText(0)
	}
	return value, s.Close()
}

// wait is called while another connection has the lock.
func wait(ctx context.Context, count int) bool {
	const most = 20 * time.Millisecond
	if time.Duration(count)*most/2 > maxWait {
		return false
	}
	pause := min(time.Duration(count+1)*time.Millisecond, most)
	timer := time.NewTimer(pause/2 + rand.N(pause))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// dialect is how SQLite does it.
type dialect struct{}

func (dialect) Write(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	return db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable}) // BEGIN IMMEDIATE
}

func (dialect) Read(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	return db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // with query_only
}

func (dialect) Query(query string) string {
	query = strings.ReplaceAll(strings.ReplaceAll(query, "$", "?"), "BYTEA", "BLOB")
	if strings.HasPrefix(query, "CREATE TABLE") {
		return strings.ReplaceAll(query, "BIGINT", "INTEGER") + " STRICT"
	}
	return query
}

func (dialect) Tables(ctx context.Context, tx *sql.Tx) (n int, err error) {
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE type = 'table'`).Scan(&n)
	return n, err
}

func (dialect) Busy(err error) bool { return errors.Is(err, sqlite3.BUSY) }

func (dialect) Full(err error) bool { return errors.Is(err, sqlite3.FULL) }
