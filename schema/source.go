package schema

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// source is the text of one file with its line starts.
type source struct {
	file  string
	text  []byte
	lines []int // byte offset of each line's first byte
}

func newSource(file string, text []byte) *source {
	s := &source{file: file, text: text, lines: []int{0}}
	for i := 0; ; {
		n := bytes.IndexByte(text[i:], '\n')
		if n < 0 {
			return s
		}
		i += n + 1
		s.lines = append(s.lines, i)
	}
}

// at turns a byte offset into a position.
func (s *source) at(offset int) Position {
	offset = max(0, min(offset, len(s.text)))
	line := sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > offset }) - 1
	return Position{File: s.file, Line: line + 1, Column: offset - s.lines[line] + 1}
}

// check refuses what would make line numbers or texts ambiguous: the parser
// takes U+0085, U+2028, U+2029 and a lone \r for line ends, editors do not.
func (s *source) check(r *report, maxBytes int) bool {
	if len(s.text) > maxBytes {
		r.errorf(Position{File: s.file, Line: 1, Column: 1}, ruleFileTooLarge,
			"more than %d bytes", maxBytes)
		return false
	}
	if bytes.HasPrefix(s.text, []byte("\xef\xbb\xbf")) {
		r.errorf(s.at(0), ruleEncoding, "the file starts with a byte order mark").
			hint("save it as UTF-8 without one")
		return false
	}
	if bytes.HasPrefix(s.text, []byte("\xff\xfe")) || bytes.HasPrefix(s.text, []byte("\xfe\xff")) {
		r.errorf(s.at(0), ruleEncoding, "the file is UTF-16").hint("save it as UTF-8 without a byte order mark")
		return false
	}
	for i := 0; i < len(s.text); {
		c := s.text[i]
		if c >= 0x20 && c < 0x7f || c == '\n' || c == '\t' {
			i++
			continue
		}
		if c == '\r' && i+1 < len(s.text) && s.text[i+1] == '\n' {
			i++
			continue
		}
		ch, size := utf8.DecodeRune(s.text[i:])
		if ch == utf8.RuneError && size == 1 {
			r.errorf(s.at(i), ruleEncoding, "byte 0x%02x is not UTF-8", c).hint("save the file as UTF-8")
			return false
		}
		if isControl(ch) || ch == 0xfeff || ch == 0xfffe || ch == 0xffff {
			r.errorf(s.at(i), ruleEncoding, "character U+%04X in the file", ch).
				hint("remove it; in a string that needs it write the escape \\u%04X in double quotes", ch)
			return false
		}
		i += size
	}
	return true
}

// cursor turns the lines and columns of the YAML parser, which count code
// points, into byte positions. Nodes come nearly in file order, so it goes on
// from where it was: a file of one long line is not rescanned for each node.
type cursor struct {
	*source
	line, column, offset int // all of the same place; line and column from 1
}

func (c *cursor) position(line, column int) Position {
	line = max(1, min(line, len(c.lines)))
	if c.line != line || column < c.column {
		c.line, c.column, c.offset = line, 1, c.lines[line-1]
	}
	for c.column < column && c.offset < len(c.text) && c.text[c.offset] != '\n' {
		_, size := utf8.DecodeRune(c.text[c.offset:])
		c.offset += size
		c.column++
	}
	return Position{File: c.file, Line: line, Column: c.offset - c.lines[line-1] + 1}
}

// byteAt is the byte at the place position returned last; 0 at the end.
func (c *cursor) byteAt() byte {
	if c.offset < len(c.text) {
		return c.text[c.offset]
	}
	return 0
}
