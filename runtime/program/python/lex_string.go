package python

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

func isStringPrefix(s string) bool {
	switch strings.ToLower(s) {
	case "r", "u", "b", "br", "rb", "f", "fr", "rf", "t", "tr", "rt":
		return true
	}
	return false
}

// string reads a literal whose prefix began at start. The lexer stands at the
// opening quote.
func (l *lexer) string(pos Pos, start int, prefix string) {
	prefix = strings.ToLower(prefix)
	if strings.Contains(prefix, "t") {
		l.fail(syntaxError(pos, "use an f-string", "template strings are not available"))
	}
	quote := l.source[l.offset : l.offset+1]
	if strings.HasPrefix(l.source[l.offset:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	raw := strings.Contains(prefix, "r")
	l.offset += len(quote)
	if strings.Contains(prefix, "f") {
		l.beginFstring(&fstring{pos: pos, quote: quote, raw: raw}, start)
		return
	}
	var b strings.Builder
	kind := stringLiteral
	if strings.Contains(prefix, "b") {
		kind = bytesLiteral
	}
	for {
		if l.offset >= len(l.source) || len(quote) == 1 && (l.peek() == '\n' || l.peek() == '\r') {
			l.fail(unterminated(pos, quote, "string"))
		}
		if strings.HasPrefix(l.source[l.offset:], quote) {
			l.offset += len(quote)
			break
		}
		if kind == bytesLiteral {
			l.byte(&b, raw)
		} else {
			l.character(&b, raw)
		}
	}
	l.tokens = append(l.tokens, token{kind: kind, pos: pos, start: start, end: l.offset, text: b.String()})
}

func unterminated(pos Pos, quote, what string) *Error {
	if len(quote) == 3 {
		return syntaxError(pos, "close it with "+quote, "unterminated triple-quoted %s literal", what)
	}
	return syntaxError(pos, "close it with "+quote+" on the same line, or use three quotes for a text of several lines", "unterminated %s literal", what)
}

// character copies the next character of a text, or what its escape means.
func (l *lexer) character(b *strings.Builder, raw bool) {
	c := l.source[l.offset]
	switch {
	case c == '\n' || c == '\r':
		b.WriteByte('\n')
		l.endLine()
	case c == '\\':
		l.escape(b, raw)
	case c < utf8.RuneSelf:
		b.WriteByte(c)
		l.offset++
	default:
		r, size := utf8.DecodeRuneInString(l.source[l.offset:])
		if r == utf8.RuneError && size == 1 {
			l.fail(syntaxError(l.pos(), "send the source as UTF-8", "the source is not UTF-8"))
		}
		b.WriteString(l.source[l.offset : l.offset+size])
		l.offset += size
	}
}

// escape reads a backslash and what belongs to it, section 2.4.1. An escape
// that means nothing stands for itself.
func (l *lexer) escape(b *strings.Builder, raw bool) {
	pos := l.pos()
	l.offset++
	c := l.peek()
	if raw {
		b.WriteByte('\\')
		switch {
		case c == '\n' || c == '\r':
			b.WriteByte('\n')
			l.endLine()
		case c == '\\' || c == '\'' || c == '"':
			b.WriteByte(c)
			l.offset++
		}
		return
	}
	if c == '\n' || c == '\r' {
		l.endLine()
		return
	}
	l.offset++
	switch c {
	case '\\', '\'', '"':
		b.WriteByte(c)
	case 'a':
		b.WriteByte(7)
	case 'b':
		b.WriteByte(8)
	case 'f':
		b.WriteByte(12)
	case 'n':
		b.WriteByte(10)
	case 'r':
		b.WriteByte(13)
	case 't':
		b.WriteByte(9)
	case 'v':
		b.WriteByte(11)
	case 'x':
		l.codePoint(b, pos, 2)
	case 'u':
		l.codePoint(b, pos, 4)
	case 'U':
		l.codePoint(b, pos, 8)
	case 'N':
		l.fail(syntaxError(pos, "write the character itself, or \\u with its number", "\\N escapes are not available"))
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n := rune(c - '0')
		for i := 0; i < 2 && l.peek() >= '0' && l.peek() <= '7'; i++ {
			n = n*8 + rune(l.peek()-'0')
			l.offset++
		}
		b.WriteRune(n)
	default:
		b.WriteByte('\\')
		l.offset--
	}
}

func (l *lexer) codePoint(b *strings.Builder, pos Pos, digits int) {
	end := min(l.offset+digits, len(l.source))
	n, err := strconv.ParseUint(l.source[l.offset:end], 16, 32)
	if err != nil || end-l.offset < digits || strings.ContainsAny(l.source[l.offset:end], "_+") {
		l.fail(syntaxError(pos, "", "truncated \\%c escape: it takes %d hexadecimal digits", l.source[l.offset-1], digits))
	}
	if !utf8.ValidRune(rune(n)) {
		l.fail(syntaxError(pos, "a text holds whole characters: write the character itself, or \\U with its number", "U+%04X is no character", n))
	}
	l.offset = end
	b.WriteRune(rune(n))
}
