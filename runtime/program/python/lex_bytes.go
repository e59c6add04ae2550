package python

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// byte copies the next byte of a bytes literal, or what its escape means. The
// escapes of characters mean nothing here, and stand for themselves.
func (l *lexer) byte(b *strings.Builder, raw bool) {
	c := l.peek()
	if c >= utf8.RuneSelf {
		l.fail(syntaxError(l.pos(), "write \\x escapes, or \"…\".encode()", "bytes can only contain ASCII literal characters"))
	}
	next := byte(0)
	if l.offset+1 < len(l.source) {
		next = l.source[l.offset+1]
	}
	switch {
	case c != '\\' || raw:
		l.character(b, raw)
	case next == 'x':
		digits := l.source[min(l.offset+2, len(l.source)):min(l.offset+4, len(l.source))]
		n, err := strconv.ParseUint(digits, 16, 8)
		if err != nil || len(digits) < 2 || strings.ContainsAny(digits, "_+") {
			l.fail(syntaxError(l.pos(), "", "invalid \\x escape: it takes 2 hexadecimal digits"))
		}
		b.WriteByte(byte(n))
		l.offset += 4
	case next >= '0' && next <= '7':
		l.offset++
		n := 0
		for i := 0; i < 3 && l.peek() >= '0' && l.peek() <= '7'; i++ {
			n = n*8 + int(l.peek()-'0')
			l.offset++
		}
		b.WriteByte(byte(n))
	case next == 'u' || next == 'U' || next == 'N':
		b.WriteByte(c)
		l.offset++
	default:
		l.escape(b, false)
	}
}
