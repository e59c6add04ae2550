package root

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/capgen/capgen/internal/visible"
)

// MaxNameBytes bounds a path segment, in bytes: what Linux file systems take.
const MaxNameBytes = 255

// CheckName returns nil if name is a path segment with one spelling: 1 to
// MaxNameBytes bytes of UTF-8 in Normalization Form C, not "." or "..", without
// slashes, backslashes, and characters that nobody sees. Nothing is rewritten.
func CheckName(name string) error {
	reason := ""
	switch {
	case name == "":
		reason = "it is empty"
	case name == "." || name == "..":
		reason = "it is no name of its own"
	case len(name) > MaxNameBytes:
		return fmt.Errorf("root: a name has %d bytes, more than %d", len(name), MaxNameBytes)
	case !utf8.ValidString(name):
		reason = "it is not valid UTF-8"
	case strings.ContainsAny(name, `/\`):
		reason = "it holds a slash or a backslash"
	case strings.ContainsFunc(name, func(r rune) bool { return !visible.Readable(r) }):
		reason = "it holds a character that nobody sees"
	case !norm.NFC.IsNormalString(name):
		reason = "it is not in Unicode Normalization Form C"
	default:
		return nil
	}
	return fmt.Errorf("root: the name %s is refused: %s", visible.Quote(name), reason)
}

// Folded is what two names of one directory must not share: a file system that
// folds case would take them for one.
func Folded(name string) string {
	return norm.NFC.String(cases.Fold().String(name))
}
