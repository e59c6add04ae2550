package visible

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is s with each rune that a reader cannot see written as \uXXXX.
func Text(s string) string {
	clean := true
	for _, r := range s {
		clean = clean && Readable(r)
	}
	if clean {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case Readable(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Readable tells whether a rune shows as itself: no control, bidi, zero-width,
// tag, variation, separator or filler character, and no stand-in for bad UTF-8.
func Readable(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= ' ' && r < 0x7f
	}
	if r == utf8.RuneError || r == 0x2800 { // braille blank
		return false
	}
	return strconv.IsPrint(r) &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Quote is s between double quotes, with escapes that Go and Starlark share.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case Readable(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
		i += n
	}
	b.WriteByte('"')
	return b.String()
}
