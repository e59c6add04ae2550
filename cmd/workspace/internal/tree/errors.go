package tree

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
)

// Code tells kinds of failure apart.
type Code string

// The codes of this package.
const (
	// Invalid: the request itself is wrong (a path that is not canonical, a
	// bad expression, a cursor of another request).
	Invalid Code = "invalid"
	// NotFound: nothing has that path.
	NotFound Code = "not_found"
	// Outside: a link on the way leads out of the root.
	Outside Code = "outside"
	// NotFile: the path is no regular file.
	NotFile Code = "not_file"
	// NotDirectory: the path is no directory.
	NotDirectory Code = "not_directory"
	// Permission: the operating system refuses.
	Permission Code = "permission"
	// TooLarge: a bound of this package is exceeded.
	TooLarge Code = "too_large"
	// TooDeep: a directory lies deeper than a walk goes, or its path is too
	// long.
	TooDeep Code = "too_deep"
	// Changed: the file is not the one that the page before began with.
	Changed Code = "changed"
	// LongLine: only the start of a line was searched.
	LongLine Code = "long_line"
	// MoreMatches: not every match in the file is listed.
	MoreMatches Code = "more_matches"
	// Unreadable: anything else the operating system reports.
	Unreadable Code = "unreadable"
)

// Error is a failure that may be shown to whoever asked: it holds no path of
// the host and no text of the operating system.
type Error struct {
	Code Code
	// Message is at most 256 bytes of text.
	Message string
}

func (e *Error) Error() string { return "tree: " + e.Message }

// Problem is an Error with the path it belongs to.
type Problem struct {
	Path string
	Error
}

func invalid(message string) *Error { return &Error{Code: Invalid, Message: message} }

// explain turns what the operating system said into an *Error. A context's
// error stays what it is.
func (t *Tree) explain(err error) error {
	var own *Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, t.escape):
		return &Error{Outside, "a link on the way leads out of the root"}
	case errors.Is(err, fs.ErrNotExist):
		return &Error{NotFound, "no file or directory has this path"}
	case errors.Is(err, syscall.ENOTDIR):
		return &Error{NotDirectory, "a part of the path is not a directory"}
	case errors.Is(err, fs.ErrPermission):
		return &Error{Permission, "the operating system refuses access"}
	case errors.Is(err, syscall.ENAMETOOLONG):
		return &Error{NotFound, "no file or directory has this path: a segment of it is too long"}
	case errors.Is(err, syscall.ELOOP):
		return &Error{Unreadable, "links form a loop, or there are too many of them"}
	default:
		return &Error{Unreadable, "the operating system reports a failure"}
	}
}

// asProblem splits err into what a caller may see and what ends the request.
func (t *Tree) asProblem(path string, err error) (Problem, error) {
	var own *Error
	if err = t.explain(err); errors.As(err, &own) {
		return Problem{Path: display(path), Error: *own}, nil
	}
	return Problem{}, err
}
