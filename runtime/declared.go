package runtime

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime/fault"
)

// Bounds of the errors that a capability declares.
const (
	// MaxDeclaredErrors of one capability.
	MaxDeclaredErrors = 32
	// MaxErrorCodeBytes of a code, [a-z][a-z0-9_]*.
	MaxErrorCodeBytes = fault.MaxCode
)

// ErrorCode is what a manifest calls a failure of a capability, and an error:
// a handler returns it as it is, and the program sees the code and the
// manifest's text. Generated code has a constant for each.
//
//	return out, records.ErrLookupNotFound
type ErrorCode string

// CodeNoExample is disclosed by handlers that answer from examples, for
// arguments of which there is none. Every capability may fail with it, and no
// manifest can declare it.
const CodeNoExample ErrorCode = "no_example"

// Error is the code.
func (c ErrorCode) Error() string { return string(c) }

// Because is the error with a message of its own instead of the manifest's
// text, bounded and cleaned as Disclose says. errors.Is knows it as c.
//
//	return out, records.ErrLookupNotFound.Because("no key begins with " + prefix)
func (c ErrorCode) Because(message string) error { return Disclose(string(c), message) }

// DeclaredError is one entry under errors of a capability.
type DeclaredError struct {
	Code ErrorCode
	// Text says when it happens: one line of at most MaxDisclosedBytes.
	Text string
}

// Is tells whether target is the code of d.
func (d *disclosed) Is(target error) bool {
	code, ok := target.(ErrorCode)
	return ok && string(code) == d.code
}

// disclosure is what a handler lets the program see of an error.
func disclosure(err error) (code ErrorCode, message string, ok bool) {
	var told *disclosed
	if errors.As(err, &told) {
		return ErrorCode(told.code), told.message, true
	}
	if errors.As(err, &code) {
		return ErrorCode(sanitize(string(code), MaxErrorCodeBytes)), "", true
	}
	return "", "", false
}

// Disclosed tells whether a program may see something of a handler's err: whether
// it is an ErrorCode, or comes of Disclose.
func Disclosed(err error) bool {
	_, _, ok := disclosure(err)
	return ok
}

// discloses is the text of a code that a handler of e disclosed; false if e
// declares errors and this is none of them.
func (e *entry) discloses(code ErrorCode) (text string, ok bool) {
	text, ok = e.errors[code]
	return text, ok || len(e.errors) == 0 || code == CodeNoExample || slices.Contains(e.info.Standard, code)
}

func declaredErrors(info Info) map[ErrorCode]string {
	texts := make(map[ErrorCode]string, len(info.Errors))
	for _, e := range info.Errors {
		texts[e.Code] = e.Text
	}
	return texts
}

// checkErrors finds what is wrong with the errors of a capability.
func (c *catalogChecker) checkErrors(info Info) {
	if n := len(info.Errors); n > MaxDeclaredErrors {
		c.fail(info.Name, "%d declared errors, the limit is %d", n, MaxDeclaredErrors)
		return
	}
	seen := map[ErrorCode]bool{}
	for _, e := range info.Errors {
		switch {
		case !validCode(e.Code):
			c.fail(info.Name, "the code of an error is a lower-case letter and then lower-case letters, digits or _, of at most %d bytes, not %s", MaxErrorCodeBytes, quoted(string(e.Code)))
		case e.Code == CodeNoExample:
			c.fail(info.Name, "the code %s is reserved", e.Code)
		case seen[e.Code]:
			c.fail(info.Name, "the error %s is declared twice", e.Code)
		case e.Text == "" || sanitize(e.Text, MaxDisclosedBytes) != e.Text:
			c.fail(info.Name, "the text of the error %s is not one line of 1 to %d bytes", e.Code, MaxDisclosedBytes)
		}
		seen[e.Code] = true
	}
}

func validCode(c ErrorCode) bool {
	digits := func(r rune) bool { return r >= '0' && r <= '9' || r == '_' }
	return c != "" && len(c) <= MaxErrorCodeBytes && !digits(rune(c[0])) &&
		!strings.ContainsFunc(string(c), func(r rune) bool { return !digits(r) && (r < 'a' || r > 'z') })
}

// undeclared says to the host's log what a handler disclosed and must not.
func undeclared(code ErrorCode, err error) error {
	return fmt.Errorf("the handler disclosed %s, which the manifest does not declare: %w", quoted(string(code)), err)
}
