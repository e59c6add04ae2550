package tree

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxPathBytes bounds a path, in bytes.
const MaxPathBytes = 4096

// maxDisplayBytes bounds the escaped form of a path; escaping makes at most
// four bytes of one.
const maxDisplayBytes = 4 * MaxPathBytes

// CheckPath returns nil if p is a path in canonical form: "." or segments
// joined by single slashes, none of them empty, "." or "..", at most
// MaxPathBytes of UTF-8 in Normalization Form C, without backslashes and
// control characters. A path has one spelling, so that a policy about it
// cannot be passed by with another; nothing is rewritten.
func CheckPath(p string) error {
	switch {
	case p == "":
		return invalid("a path is empty; the top is written .")
	case len(p) > MaxPathBytes:
		return invalid(fmt.Sprintf("a path is longer than %d bytes", MaxPathBytes))
	case !utf8.ValidString(p):
		return invalid("a path is not valid UTF-8")
	case strings.HasPrefix(p, "/"):
		return invalid("absolute paths are refused; write it relative to the root")
	case strings.Contains(p, `\`):
		return invalid("backslashes are refused; segments are joined by /")
	case hasControl(p):
		return invalid("control characters are refused")
	case !norm.NFC.IsNormalString(p):
		return invalid("the path is not in Unicode Normalization Form C")
	}
	for segment := range strings.SplitSeq(p, "/") {
		if segment == ".." {
			return invalid("segments .. are refused")
		}
	}
	if !fs.ValidPath(p) {
		return invalid("the path is not canonical; write " + clip(path.Clean(p), 128))
	}
	return nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 })
}

// nameable tells whether a directory entry's path could be given back to this
// package.
func nameable(p string) bool { return CheckPath(p) == nil }

// display is p itself if it is nameable. Otherwise the bytes that make it not
// so are escaped with a backslash, which no path may hold: what is shown can
// never be mistaken for the path of another file.
func display(p string) string {
	if nameable(p) {
		return p
	}
	escapeAll := !norm.NFC.IsNormalString(p)
	var b strings.Builder
	for i := 0; i < len(p) && b.Len() < maxDisplayBytes-8; {
		r, n := utf8.DecodeRuneInString(p[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, p[i])
		case r == '\\':
			b.WriteString(`\\`)
		case r < 0x20 || r >= 0x7f && (escapeAll || r < 0xa0):
			for _, c := range []byte(p[i : i+n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteString(p[i : i+n])
		}
		i += n
	}
	return b.String()
}

// clip returns the longest start of s that has at most max bytes and ends
// with a whole character.
func clip(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

// join is path.Join for parts that are canonical already.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}
