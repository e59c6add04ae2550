package program

import (
	"strings"
	"unicode/utf8"

	"github.com/capgen/capgen/runtime/fault"
)

// checkSource refuses what the scanner would misread: it stops at a NUL, and
// takes any byte inside a string.
func checkSource(source string, limit int) *fault.Fault {
	if len(source) > limit {
		return fault.Reached(fault.MaxSourceBytes, int64(limit), "the program has %d bytes", len(source))
	}
	if i := strings.IndexByte(source, 0); i >= 0 {
		f := &fault.Fault{Class: fault.InvalidProgram, Message: "the source holds a NUL character"}
		f.Line, f.Column = positionOf(source, i)
		return f
	}
	if !utf8.ValidString(source) {
		f := &fault.Fault{Class: fault.InvalidProgram, Message: "the source is not valid UTF-8"}
		f.Line, f.Column = positionOf(source, firstInvalid(source))
		return f
	}
	return nil
}

// positionOf returns the 1-based line and column, in characters, of a byte
// offset. Bytes that are no UTF-8 count as one character each.
func positionOf(source string, offset int) (line, column int) {
	before := source[:offset]
	line = strings.Count(before, "\n") + 1
	return line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

func firstInvalid(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(s)
}
