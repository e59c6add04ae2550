package store

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what a row holds, in bytes.
const (
	// MaxBody bounds the body of a plan, and the outcome of an execution.
	MaxBody = 8 << 20
	// MaxEnvelope bounds an approval.
	MaxEnvelope = 64 << 10
	// MaxText bounds every text, ids and reasons among them.
	MaxText = 4 << 10
)

// MaxRow bounds what any one row or answer of the database may hold.
const MaxRow = 2 * MaxBody

// exact scans a column that holds a T. NULL and any other type are errors.
type exact[T int64 | string] struct{ to *T }

func (e exact[T]) Scan(src any) error {
	v, ok := src.(T)
	if !ok {
		return wrongType(src)
	}
	*e.to = v
	return nil
}

func wrongType(src any) error {
	if src == nil {
		return errors.New("it is NULL")
	}
	return fmt.Errorf("it is a %T", src)
}

func text(to *string) sql.Scanner { return exact[string]{to} }
func whole(to *int64) sql.Scanner { return exact[int64]{to} }

// blob scans bytes of any length.
type blob struct{ to *[]byte }

func (b blob) Scan(src any) error {
	v, ok := src.([]byte)
	if !ok {
		return wrongType(src)
	}
	*b.to = bytes.Clone(v)
	return nil
}

// fixed scans as many bytes as it has.
type fixed []byte

func (f fixed) Scan(src any) error {
	v, ok := src.([]byte)
	if !ok {
		return wrongType(src)
	}
	if copy(f, v) != len(v) || len(v) != len(f) {
		return fmt.Errorf("it has %d bytes, not %d", len(v), len(f))
	}
	return nil
}

// row is a row of a table: what its columns are scanned into, and whether what
// stands there then is something that this package writes.
type row[T any] interface {
	*T
	columns() []any
	check() error
	key() string
}

// rows runs a query of all columns of a table.
func rows[T any, R row[T]](tx *Tx, table, query string, args ...any) (out []T, err error) {
	err = each[T, R](tx, table, query, args, func(v T, err error) error {
		out = append(out, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// each hands on the rows of a query of all columns of a table, those that are
// corrupt with what is wrong with them.
func each[T any, R row[T]](tx *Tx, table, query string, args []any, fn func(v T, err error) error) error {
	answer, err := tx.query(query, args...)
	if err != nil {
		return err
	}
	defer answer.Close()
	for answer.Next() {
		var v T
		r := R(&v)
		err := answer.Scan(r.columns()...)
		if err == nil {
			err = r.check()
		}
		if err != nil {
			err = &CorruptError{Table: table, ID: r.key(), Err: err}
		}
		if err := fn(v, err); err != nil {
			return err
		}
	}
	return tx.failed(answer.Err())
}

// one is rows, of which there is one or none.
func one[T any, R row[T]](tx *Tx, table, query string, args ...any) (v T, err error) {
	list, err := rows[T, R](tx, table, query, args...)
	switch {
	case err != nil:
		return v, err
	case len(list) == 0:
		return v, ErrNotFound
	case len(list) > 1:
		return v, &CorruptError{Table: table, ID: R(&list[0]).key(), Err: errors.New("it is there twice")}
	}
	return list[0], nil
}

// checks collects what is wrong.
type checks struct{ errs []error }

func (c *checks) that(ok bool, format string, args ...any) {
	if !ok {
		c.errs = append(c.errs, fmt.Errorf(format, args...))
	}
}

// text: valid UTF-8 without control characters, of at least least bytes.
func (c *checks) text(name, s string, least int) {
	c.that(len(s) >= least && len(s) <= MaxText, "%s has %d bytes, not %d to %d", name, len(s), least, MaxText)
	if !utf8.ValidString(s) {
		c.that(false, "%s is not UTF-8", name)
		return
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			c.that(false, "%s holds a control character", name)
			return
		}
	}
}

func (c *checks) bytes(name string, b []byte, least, most int) {
	c.that(len(b) >= least && len(b) <= most, "%s has %d bytes, not %d to %d", name, len(b), least, most)
}

// hex32 reports whether s is 32 hexadecimal digits.
func hex32(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 32
}

func (c *checks) id(name, id string) {
	kind, digits, _ := strings.Cut(id, "_")
	c.that(kind != "" && len(kind) <= 16 && strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz") == "" && hex32(digits), "%s is not a kind, an underscore and 32 hexadecimal digits", name)
}

func (c *checks) err() error { return errors.Join(c.errs...) }
