package python

import (
	"fmt"
	"strings"
)

// Pos is a place in the source. Line and Col count from 1; Col counts code
// points.
type Pos struct{ Line, Col int32 }

// Error is why source cannot be read. There is one at most: the first.
type Error struct {
	Pos Pos
	// Kind is the name of CPython's exception: SyntaxError, IndentationError,
	// TabError, or RecursionError for source that is nested too deeply.
	Kind    string
	Message string
	// Hint says what to write instead; it may be empty.
	Hint string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Pos.Line, e.Pos.Col, e.Message)
}

// Kinds of errors.
const (
	SyntaxError      = "SyntaxError"
	IndentationError = "IndentationError"
	TabError         = "TabError"
	RecursionError   = "RecursionError"
)

func syntaxError(pos Pos, hint, format string, args ...any) *Error {
	for i, arg := range args {
		if s, ok := arg.(string); ok {
			args[i] = short(s)
		}
	}
	return &Error{Pos: pos, Kind: SyntaxError, Message: fmt.Sprintf(format, args...), Hint: short(hint)}
}

// short cuts what a message quotes of a source, where a name has any length.
func short(s string) string {
	const longest = 200
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + "…"
}

// NewError is a SyntaxError, for those who find more than the grammar does.
func NewError(pos Pos, hint, format string, args ...any) *Error {
	return syntaxError(pos, hint, format, args...)
}
