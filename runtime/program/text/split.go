package text

import (
	"strings"
	"unicode/utf8"
)

// IsSpace is CPython's Py_UNICODE_ISSPACE: Unicode white space, and the
// separators U+001C to U+001F.
func IsSpace(r rune) bool {
	switch {
	case r == ' ' || r >= '\t' && r <= '\r' || r >= 0x1c && r <= 0x1f:
		return true
	case r < utf8.RuneSelf:
		return false
	case r == 0x85 || r == 0xa0 || r == 0x1680 || r >= 0x2000 && r <= 0x200a:
		return true
	}
	return r == 0x2028 || r == 0x2029 || r == 0x202f || r == 0x205f || r == 0x3000
}

// Fields is s.split(None, most); a negative most means all.
func Fields(s string, most int) []string {
	var out []string
	s = strings.TrimLeftFunc(s, IsSpace)
	for s != "" {
		if most >= 0 && len(out) >= most {
			return append(out, s)
		}
		i := strings.IndexFunc(s, IsSpace)
		if i < 0 {
			return append(out, s)
		}
		out = append(out, s[:i])
		s = strings.TrimLeftFunc(s[i:], IsSpace)
	}
	return out
}

// RFields is s.rsplit(None, most).
func RFields(s string, most int) []string {
	var out []string
	s = strings.TrimRightFunc(s, IsSpace)
	for s != "" {
		if most >= 0 && len(out) >= most {
			out = append(out, s)
			break
		}
		i := strings.LastIndexFunc(s, IsSpace)
		if i < 0 {
			out = append(out, s)
			break
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		out = append(out, s[i+size:])
		s = strings.TrimRightFunc(s[:i], IsSpace)
	}
	return reversed(out)
}

// Split is s.split(separator, most) of a separator that is not empty.
func Split(s, separator string, most int) []string {
	if most < 0 {
		return strings.Split(s, separator)
	}
	return strings.SplitN(s, separator, most+1)
}

// RSplit is s.rsplit(separator, most) of a separator that is not empty.
func RSplit(s, separator string, most int) []string {
	var out []string
	for most < 0 || len(out) < most {
		i := strings.LastIndex(s, separator)
		if i < 0 {
			break
		}
		out = append(out, s[i+len(separator):])
		s = s[:i]
	}
	return reversed(append(out, s))
}

func reversed(list []string) []string {
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// Lines is s.splitlines(keep).
func Lines(s string, keep bool) []string {
	var out []string
	for s != "" {
		i := strings.IndexFunc(s, isLineEnd)
		if i < 0 {
			return append(out, s)
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		if strings.HasPrefix(s[i:], "\r\n") {
			size = 2
		}
		end := i
		if keep {
			end += size
		}
		out = append(out, s[:end])
		s = s[i+size:]
	}
	return out
}

func isLineEnd(r rune) bool {
	return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
}

// Partition is s.partition(separator).
func Partition(s, separator string) (before, middle, after string) {
	if i := strings.Index(s, separator); i >= 0 {
		return s[:i], separator, s[i+len(separator):]
	}
	return s, "", ""
}

// RPartition is s.rpartition(separator).
func RPartition(s, separator string) (before, middle, after string) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], separator, s[i+len(separator):]
	}
	return "", "", s
}

// Strip is s.strip(characters) on the sides that are asked for; without
// characters, white space goes.
func Strip(s string, characters *string, left, right bool) string {
	drop := IsSpace
	if characters != nil {
		drop = func(r rune) bool { return strings.ContainsRune(*characters, r) }
	}
	if left {
		s = strings.TrimLeftFunc(s, drop)
	}
	if right {
		s = strings.TrimRightFunc(s, drop)
	}
	return s
}

// Replace is s.replace(old, new, most).
func Replace(s, old, new string, most int) string { return strings.Replace(s, old, new, most) }
