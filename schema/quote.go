package schema

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxQuoted     = 64
	maxQuotedPath = 512
	maxPlain      = 400
)

// quote renders text of the manifest for a message: in double quotes,
// everything that could act on a terminal or mislead a reader written as an
// escape, cut to maxQuoted code points.
func quote(s string) string { return `"` + escape(s, maxQuoted, true) + `"` }

// plain is quote without the quotes, for texts of others (paths, messages of
// parsers) that are sentences of their own.
func plain(s string, max int) string { return escape(s, max, false) }

func escape(s string, max int, quotes bool) string {
	var b strings.Builder
	for i, n := 0, 0; i < len(s); n++ {
		if n == max {
			b.WriteString("…")
			break
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case quotes && (r == '"' || r == '\\'):
			b.WriteByte('\\')
			b.WriteRune(r)
		case isControl(r) || isInvisible(r) || !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u{%04x}`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// isControl covers C0, DEL, C1 and the two Unicode line separators.
func isControl(r rune) bool {
	return r < 0x20 || (r >= 0x7f && r <= 0x9f) || r == '\u2028' || r == '\u2029'
}

// isInvisible covers what a reader of a review cannot see: zero-width and
// bidirectional formatting, tags, variation selectors beyond the emoji ones,
// the byte order mark and the soft hyphen.
func isInvisible(r rune) bool {
	switch {
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5,
		r >= 0x180b && r <= 0x180f,
		r >= 0x200b && r <= 0x200f,
		r >= 0x202a && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f,
		r == 0x3164, r == 0xfeff, r == 0xffa0,
		r >= 0xfff9 && r <= 0xfffb,
		r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}
