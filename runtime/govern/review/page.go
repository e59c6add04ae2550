package review

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/capgen/capgen/internal/visible"
)

// width is how many columns a line has at most, its mark included: a terminal
// of 80 does not wrap it, so that no part of a text can pass for a line of ours.
const width = 78

// tabStop is how far apart tabs go.
const tabStop = 4

// Marks begin the lines that quote. Lines of ours begin with a letter, or with
// spaces; what of them goes on begins with >.
const (
	markAdded   = '+' // of a diff
	markRemoved = '-'
	markSame    = '.'
	markHunk    = '@'
	markText    = '|' // of another text
	markMore    = "> "
)

// page writes what is shown, and hashes it.
type page struct {
	w    *bufio.Writer
	hash hash.Hash
	err  error
	n    int64 // bytes written
}

func newPage(w io.Writer) *page {
	sum := sha256.New()
	return &page{w: bufio.NewWriter(io.MultiWriter(w, sum)), hash: sum}
}

func (p *page) end() (shown [32]byte, err error) {
	if p.err == nil {
		p.err = p.w.Flush()
	}
	return [32]byte(p.hash.Sum(nil)), p.err
}

// raw writes a line that is wrapped and escaped already.
func (p *page) raw(line string) {
	if p.err == nil {
		_, p.err = p.w.WriteString(line + "\n")
		p.n += int64(len(line)) + 1
	}
}

// head writes a line of ours. What of it comes from outside is an argument of
// escaped.
func (p *page) head(format string, args ...any) {
	for i, part := range wrap(fmt.Sprintf(format, args...), width-len(markMore)) {
		if i > 0 {
			part = markMore + part
		}
		p.raw(part)
	}
}

// quote writes a line of a text from outside behind a mark, escaped and wrapped:
// what goes on has > where the first part has a space.
func (p *page) quote(mark byte, text string) {
	for i, part := range wrap(escape(text), width-2) {
		sign := " "
		if i > 0 {
			sign = ">"
		}
		p.raw(string(mark) + sign + part)
	}
}

// text quotes a text of several lines.
func (p *page) text(text string) {
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		p.quote(markText, line)
		if !ended {
			return
		}
	}
}

// escape writes a line of text so that all of it is seen, and no two lines alike:
// what does not show as itself is ⟨U+XXXX⟩, a byte that is not UTF-8 ⟨XX⟩, and
// the bracket that begins them is ⟨U+27E8⟩. A tab is ⇥ and spaces up to the next
// stop, the sign itself ⟨U+21E5⟩. Marks that heap up on a letter, or have none,
// are spelt out too: they could cover what stands beside them.
func escape(s string) string {
	var b strings.Builder
	column, marks := 0, maxMarks
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		piece, mark := s[i:i+n], unicode.Is(unicode.M, r)
		switch {
		case r == utf8.RuneError && n == 1:
			piece = fmt.Sprintf("⟨%02X⟩", s[i])
		case r == '\t':
			piece = "⇥" + strings.Repeat(" ", tabStop-1-column%tabStop)
		case !visible.Readable(r) || r == '⟨' || r == '⇥' || mark && marks == maxMarks:
			piece = fmt.Sprintf("⟨U+%04X⟩", r)
		}
		switch {
		case piece != s[i:i+n]:
			marks = maxMarks // nothing may sit on an escape
		case mark:
			marks++
		default:
			marks = 0
		}
		b.WriteString(piece)
		if !mark {
			column += utf8.RuneCountInString(piece)
		}
		i += n
	}
	return b.String()
}

// maxMarks is how many marks may sit on a letter: two are in use.
const maxMarks = 2

// columns is how many columns a rune takes, at most.
func columns(r rune) int {
	switch {
	case unicode.Is(unicode.M, r):
		return 0
	case r < 0x1100:
		return 1
	}
	return 2 // wide, or close enough
}

// wrap cuts a line into parts of at most max columns; an empty line is one part.
// Marks stay with what they sit on.
func wrap(s string, max int) []string {
	var out []string
	from, column := 0, 0
	for i, r := range s {
		n := columns(r)
		if column+n > max {
			out = append(out, s[from:i])
			from, column = i, 0
		}
		column += n
	}
	return append(out, s[from:])
}
