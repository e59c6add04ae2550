package text

import (
	"math"
	"strings"
	"unicode/utf8"
)

// End is the end of any text, as an offset.
const End = math.MaxInt

// IsASCII reports whether s has no other characters: its bytes are its code
// points then.
func IsASCII(s string) bool {
	for len(s) >= 8 {
		if (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&0x80 != 0 {
			return false
		}
		s = s[8:]
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Len is len(s).
func Len(s string) int { return utf8.RuneCountInString(s) }

// offset is the byte where code point n begins; len(s) beyond the last.
func offset(s string, n int) int {
	if n <= 0 {
		return 0
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// At is s[i], with i counted from the end if it is negative; ok is false
// outside.
func At(s string, i int) (c string, ok bool) {
	if IsASCII(s) {
		if i < 0 {
			i += len(s)
		}
		if i < 0 || i >= len(s) {
			return "", false
		}
		return s[i : i+1], true
	}
	if i < 0 {
		if i += Len(s); i < 0 {
			return "", false
		}
	}
	at := offset(s, i)
	if at >= len(s) {
		return "", false
	}
	_, size := utf8.DecodeRuneInString(s[at:])
	return s[at : at+size], true
}

// Slice is s[low:high:step] for bounds that Bounds or a caller has made
// absolute: with a positive step 0 <= low <= high <= Len(s), with a negative
// one -1 <= high <= low < Len(s).
func Slice(s string, low, high, step int) string {
	switch {
	case step == 1 && IsASCII(s):
		return s[low:high]
	case step == 1:
		from := offset(s, low)
		return s[from : from+offset(s[from:], high-low)]
	}
	var b strings.Builder
	if IsASCII(s) {
		for i := low; step > 0 && i < high || step < 0 && i > high; i += step {
			b.WriteByte(s[i])
		}
		return b.String()
	}
	runes := []rune(s)
	for i := low; step > 0 && i < high || step < 0 && i > high; i += step {
		b.WriteRune(runes[i])
	}
	return b.String()
}

// part is s[start:end] as methods take them, and the code point and byte it
// begins at; ok is false where start is behind the end of s.
func part(s string, start, end int) (sub string, point, at int, ok bool) {
	if start == 0 && end == End {
		return s, 0, 0, true
	}
	n := Len(s)
	start, end = absolute(start, n), min(absolute(end, n), n)
	if start > n || start > end {
		return "", 0, 0, false
	}
	from := offset(s, start)
	to := from + offset(s[from:], end-start)
	return s[from:to], start, from, true
}

func absolute(i, n int) int {
	if i < 0 {
		return max(i+n, 0)
	}
	return i
}

// Find is s.find(sub, start, end): -1 if it is not there.
func Find(s, sub string, start, end int) int {
	in, point, _, ok := part(s, start, end)
	if !ok {
		return -1
	}
	i := strings.Index(in, sub)
	if i < 0 {
		return -1
	}
	return point + Len(in[:i])
}

// RFind is s.rfind(sub, start, end).
func RFind(s, sub string, start, end int) int {
	in, point, _, ok := part(s, start, end)
	if !ok {
		return -1
	}
	i := strings.LastIndex(in, sub)
	if i < 0 {
		return -1
	}
	return point + Len(in[:i])
}

// Count is s.count(sub, start, end).
func Count(s, sub string, start, end int) int {
	in, _, _, ok := part(s, start, end)
	if !ok {
		return 0
	}
	return strings.Count(in, sub)
}

// HasPrefix is s.startswith(prefix, start, end).
func HasPrefix(s, prefix string, start, end int) bool {
	in, _, _, ok := part(s, start, end)
	return ok && strings.HasPrefix(in, prefix)
}

// HasSuffix is s.endswith(suffix, start, end).
func HasSuffix(s, suffix string, start, end int) bool {
	in, _, _, ok := part(s, start, end)
	return ok && strings.HasSuffix(in, suffix)
}
