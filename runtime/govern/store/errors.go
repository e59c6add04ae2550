package store

import (
	"errors"
	"fmt"
)

var (
	// ErrNotFound is the error for a row that is not there, or is another
	// owner's.
	ErrNotFound = errors.New("store: not found")
	// ErrExists is the error for a second row with one id or key.
	ErrExists = errors.New("store: it exists already")
	// ErrSpent is what a [SpentError] is.
	ErrSpent = errors.New("store: already spent")
	// ErrState is what a [StateError] is.
	ErrState = errors.New("store: it is in another state")
	// ErrInvalid is the error for what no store keeps: a malformed id, a text
	// that is too long, a transition that no state has.
	ErrInvalid = errors.New("store: invalid")
	// ErrCorrupt is what a [CorruptError] is.
	ErrCorrupt = errors.New("store: corrupt")
	// ErrBusy is the error where others held the store for as long as was
	// waited. Nothing was written; the same call may be made again.
	ErrBusy = errors.New("store: busy")
	// ErrFull is the error where the database has no room for what was to be
	// written. Nothing was written, unless it is [ErrUnknownOutcome] too.
	ErrFull = errors.New("store: the disk is full")
	// ErrReadOnly is the error for a write to a store, or in a transaction,
	// that only reads.
	ErrReadOnly = errors.New("store: read-only")
	// ErrUnknownOutcome is the error of an Update whose commit failed after it
	// had begun. Either all of it is durable or nothing is: look.
	ErrUnknownOutcome = errors.New("store: not known whether it was committed")
	// ErrVersion is the error for a store that another version of this package
	// made.
	ErrVersion = errors.New("store: made by another version")
)

// SpentError says by whom something was spent that can be spent once.
type SpentError struct {
	What string // approval or nonce
	By   string // the execution
}

func (e *SpentError) Error() string {
	return fmt.Sprintf("store: the %s was spent by %s", e.What, e.By)
}

// Is reports whether target is [ErrSpent].
func (e *SpentError) Is(target error) bool { return target == ErrSpent }

// StateError says that a row was not in the state, or at the revision or epoch,
// that it was to be moved from.
type StateError struct {
	ID         string
	Have, Want string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("store: %s is %s, not %s", e.ID, e.Have, e.Want)
}

// Is reports whether target is [ErrState].
func (e *StateError) Is(target error) bool { return target == ErrState }

// CorruptError names a row that this package did not write as it stands.
type CorruptError struct {
	Table, ID string // ID is empty where it cannot be read
	Err       error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("store: table %s, row %q: %v", e.Table, e.ID, e.Err)
}

// Is reports whether target is [ErrCorrupt].
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap returns what is wrong with the row.
func (e *CorruptError) Unwrap() error { return e.Err }

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrInvalid, fmt.Errorf(format, args...))
}
