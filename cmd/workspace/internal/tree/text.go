package tree

import (
	"bytes"
	"unicode/utf8"
)

// binaryData tells whether data cannot be given as text: it holds a NUL byte, or
// is not UTF-8.
func binaryData(data []byte) bool {
	return bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data)
}

// countLines counts lines; the last one need not end with a newline.
func countLines(data []byte) int64 {
	n := int64(bytes.Count(data, []byte{'\n'}))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// cutPiece returns how much of data, which goes on behind it, makes a good
// piece: whole lines if there is one, otherwise whole characters.
func cutPiece(data []byte) int {
	if i := bytes.LastIndexByte(data, '\n'); i >= 0 {
		return i + 1
	}
	return wholeRunes(data)
}

// wholeRunes is the length of data without an incomplete character at its end.
func wholeRunes(data []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if start := len(data) - n; utf8.RuneStart(data[start]) {
			if !utf8.FullRune(data[start:]) {
				return start
			}
			break
		}
	}
	return len(data)
}

// continuation is how many bytes at the start of data belong to a character
// that began before it: at most 3.
func continuation(data []byte) int {
	n := 0
	for n < len(data) && n < utf8.UTFMax-1 && !utf8.RuneStart(data[n]) {
		n++
	}
	return n
}

func countNewlines(data []byte) int64 { return int64(bytes.Count(data, []byte{'\n'})) }

// lineEnd is the length of the first n lines of data, newlines included. found
// is false if data ends before, and the length is then all of it.
func lineEnd(data []byte, n int64) (length int, found bool) {
	for ; n > 0; n-- {
		i := bytes.IndexByte(data[length:], '\n')
		if i < 0 {
			return len(data), false
		}
		length += i + 1
	}
	return length, true
}
