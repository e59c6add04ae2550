package binding

import (
	"strings"

	"github.com/capgen/capgen/runtime/canon"
)

// ValidName tells whether s has the form of a capability name: dotted, two
// segments or more, each [a-z][a-z0-9_]*. Its callers bound the length.
func ValidName(s string) bool {
	if !strings.Contains(s, ".") {
		return false
	}
	for segment := range strings.SplitSeq(s, ".") {
		for i := 0; i < len(segment); i++ {
			c := segment[i]
			switch {
			case 'a' <= c && c <= 'z':
			case i > 0 && (c == '_' || '0' <= c && c <= '9'):
			default:
				return false
			}
		}
		if segment == "" {
			return false
		}
	}
	return true
}

// validField tells whether s is a property name: [A-Za-z_][A-Za-z0-9_]*.
func validField(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case i > 0 && '0' <= c && c <= '9':
		default:
			return false
		}
	}
	return s != ""
}

// validJSON tells whether s is one strict JSON text.
func validJSON(s string) bool {
	r := canon.NewJSONReader([]byte(s), maxDefaultNesting)
	r.Skip()
	return r.End() == nil
}
