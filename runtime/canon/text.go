package canon

import (
	"unicode/utf8"
)

// stringScan is what scanString found out about one JSON string literal.
type stringScan struct {
	end     int    // index after the closing quote
	points  int    // code points of the value
	escaped bool   // the literal holds at least one escape
	problem string // empty if well-formed; then end is where it was found
}

// scanString checks the JSON string literal (RFC 8259 section 7) whose opening
// quote is data[pos]. Beyond the RFC's grammar it refuses text that is not
// UTF-8 and escapes that make half a surrogate pair (sections 8.1 and 8.2).
func scanString(data []byte, pos int) stringScan {
	i, points, escaped := pos+1, 0, false
	for i < len(data) {
		c := data[i]
		switch {
		case c == '"':
			return stringScan{end: i + 1, points: points, escaped: escaped}
		case c == '\\':
			escaped = true
			n, problem := scanEscape(data[i:])
			if problem != "" {
				return stringScan{end: i, problem: problem}
			}
			i += n
		case c < 0x20:
			return stringScan{end: i, problem: "unescaped control character in a string"}
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(data[i:])
			if r == utf8.RuneError && n == 1 {
				return stringScan{end: i, problem: "invalid UTF-8 in a string"}
			}
			i += n
		}
		points++
	}
	return stringScan{end: i, problem: "string without closing quote"}
}

// scanEscape checks one escape, or a pair of them that makes one character,
// and returns its length.
func scanEscape(s []byte) (n int, problem string) {
	if len(s) < 2 {
		return 0, "string without closing quote"
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, ""
	case 'u':
	default:
		return 0, "unknown escape in a string"
	}
	unit, ok := hex4(s)
	switch {
	case !ok:
		return 0, `\u needs four hexadecimal digits`
	case unit < 0xD800 || unit > 0xDFFF:
		return 6, ""
	case unit >= 0xDC00:
		return 0, "half a surrogate pair in a string"
	}
	low, _ := hex4(s[6:])
	if low < 0xDC00 || low > 0xDFFF {
		return 0, "half a surrogate pair in a string"
	}
	return 12, ""
}

// hex4 reads \uXXXX.
func hex4(s []byte) (unit rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for _, c := range s[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		unit = unit<<4 | rune(c)
	}
	return unit, true
}

// appendUnescaped appends the value of a literal that scanString accepted,
// given without its quotes.
func appendUnescaped(dst, body []byte) []byte {
	for i := 0; i < len(body); {
		c := body[i]
		if c != '\\' {
			dst = append(dst, c)
			i++
			continue
		}
		c = body[i+1]
		i += 2
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			unit, _ := hex4(body[i-2:])
			i += 4
			if unit >= 0xD800 && unit <= 0xDFFF {
				low, _ := hex4(body[i:])
				i += 6
				unit = (unit-0xD800)<<10 + (low - 0xDC00) + 0x10000
			}
			dst = utf8.AppendRune(dst, unit)
		default: // quote, reverse solidus, solidus
			dst = append(dst, c)
		}
	}
	return dst
}

// appendJSONString appends s, which is valid UTF-8, as RFC 8785 section 3.2.2.2
// writes it: short escapes where there are any, \u00xx for the other control
// characters, everything else as it is.
func appendJSONString[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// isPlain tells whether s is ASCII that JSON writes as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if !isPlainByte(s[i]) {
			return false
		}
	}
	return true
}

func isPlainByte(c byte) bool { return c-0x20 < utf8.RuneSelf-0x20 && c != '"' && c != '\\' }

// plainEnd is the index of the closing quote of the literal whose opening quote
// is data[pos], if all between them is ASCII that stands for itself, as most
// texts are; else -1, and scanString says more.
func plainEnd(data []byte, pos int) int {
	for i := pos + 1; i < len(data); i++ {
		if c := data[i]; !isPlainByte(c) {
			if c == '"' {
				return i
			}
			return -1
		}
	}
	return -1
}

// AppendString appends s, which must be valid UTF-8, as a JSON string.
func AppendString(dst []byte, s string) []byte { return appendJSONString(dst, s) }

// skipSpace returns the index of the first byte at or after pos that is not
// JSON white space (RFC 8259 section 2).
func skipSpace(data []byte, pos int) int {
	for pos < len(data) && data[pos] <= ' ' && isSpace(data[pos]) {
		pos++
	}
	return pos
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
