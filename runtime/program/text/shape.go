package text

import "strings"

// Center is s.center(width, fill); CPython puts the odd space on the left of
// even widths.
func Center(s string, width int, fill string) string {
	missing := width - Len(s)
	if missing <= 0 {
		return s
	}
	left := missing/2 + missing&width&1
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, missing-left)
}

// LJust is s.ljust(width, fill).
func LJust(s string, width int, fill string) string {
	return s + strings.Repeat(fill, max(width-Len(s), 0))
}

// RJust is s.rjust(width, fill).
func RJust(s string, width int, fill string) string {
	return strings.Repeat(fill, max(width-Len(s), 0)) + s
}

// ZFill is s.zfill(width).
func ZFill(s string, width int) string {
	missing := width - Len(s)
	if missing <= 0 {
		return s
	}
	sign := ""
	if s != "" && (s[0] == '+' || s[0] == '-') {
		sign, s = s[:1], s[1:]
	}
	return sign + strings.Repeat("0", missing) + s
}

// ExpandTabs is s.expandtabs(size).
func ExpandTabs(s string, size int) string {
	var b strings.Builder
	column := 0
	for _, r := range s {
		switch r {
		case '\t':
			if size > 0 {
				n := size - column%size
				b.WriteString(strings.Repeat(" ", n))
				column += n
			}
			continue
		case '\n', '\r':
			column = -1
		}
		b.WriteRune(r)
		column++
	}
	return b.String()
}

// Tabs is how many characters ExpandTabs adds at most.
func Tabs(s string, size int) int { return strings.Count(s, "\t") * max(size, 0) }
