package canon

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

const (
	// maxQuoted bounds, in bytes, what a message or a path quotes of one
	// hostile key or string.
	maxQuoted = 64
	// maxPath bounds a whole path: a reader may be hundreds of levels deep.
	maxPath = 1024
	// ellipsis stands for what was cut.
	ellipsis = "…"
)

// appendMember appends one object member to a path.
func appendMember(path []byte, key string) []byte {
	if full(path) {
		return path
	}
	if isIdentifier(key) && len(key) <= maxQuoted {
		if len(path) > 0 {
			path = append(path, '.')
		}
		return append(path, key...)
	}
	return appendKey(path, key)
}

// appendKey appends one member of a map, quoted whatever it is.
func appendKey(path []byte, key string) []byte {
	if full(path) {
		return path
	}
	path = append(path, '[')
	path = appendQuoted(path, key, '\'')
	return append(path, ']')
}

// appendIndex appends one array element to a path.
func appendIndex(path []byte, i int) []byte {
	if full(path) {
		return path
	}
	path = append(path, '[')
	path = strconv.AppendInt(path, int64(i), 10)
	return append(path, ']')
}

func full(path []byte) bool { return len(path) >= maxPath }

// finishPath marks a path that was cut.
func finishPath(path []byte) string {
	if full(path) {
		return string(path) + ellipsis
	}
	return string(path)
}

func isIdentifier(s string) bool {
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case '0' <= c && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return true
}

// quoted is s in double quotes, escaped and cut.
func quoted(s string) string { return string(appendQuoted(nil, s, '"')) }

// appendQuoted appends s between quotes. Whatever could leave the quotes, end
// the line or reorder the text (control, bidi, zero-width and unassigned
// characters) is escaped; what is over maxQuoted bytes is cut at a character.
func appendQuoted(dst []byte, s string, quote byte) []byte {
	cut := false
	if len(s) > maxQuoted {
		n := maxQuoted
		for n > maxQuoted-utf8.UTFMax && !utf8.RuneStart(s[n]) {
			n--
		}
		s, cut = s[:n], true
	}
	dst = append(dst, quote)
	for len(s) > 0 {
		c, size := utf8.DecodeRuneInString(s)
		switch {
		case c == rune(quote) || c == '\\':
			dst = append(dst, '\\', byte(c))
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == utf8.RuneError && size == 1:
			dst = append(dst, '\\', 'x', hexDigits[s[0]>>4], hexDigits[s[0]&15])
		case unicode.IsPrint(c):
			dst = append(dst, s[:size]...)
		case c > 0xFFFF:
			dst = append(dst, '\\', 'U', '0', '0')
			for shift := 20; shift >= 0; shift -= 4 {
				dst = append(dst, hexDigits[c>>shift&15])
			}
		default:
			dst = append(dst, '\\', 'u')
			for shift := 12; shift >= 0; shift -= 4 {
				dst = append(dst, hexDigits[c>>shift&15])
			}
		}
		s = s[size:]
	}
	if cut {
		dst = append(dst, ellipsis...)
	}
	return append(dst, quote)
}

const hexDigits = "0123456789abcdef"
