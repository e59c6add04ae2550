package text

import (
	"strings"
	"unicode/utf8"
)

// Repr is repr(s); with ascii, ascii(s).
func Repr(s string, ascii bool) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b.WriteByte(quote)
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			hex(&b, 'x', r, 2)
		case r < utf8.RuneSelf:
			b.WriteByte(byte(r))
		case !ascii && printable(r):
			b.WriteRune(r)
		case r <= 0xff:
			hex(&b, 'x', r, 2)
		case r <= 0xffff:
			hex(&b, 'u', r, 4)
		default:
			hex(&b, 'U', r, 8)
		}
	}
	b.WriteByte(quote)
	return b.String()
}

func hex(b *strings.Builder, letter byte, r rune, digits int) {
	b.WriteByte('\\')
	b.WriteByte(letter)
	for shift := (digits - 1) * 4; shift >= 0; shift -= 4 {
		b.WriteByte("0123456789abcdef"[r>>shift&15])
	}
}
