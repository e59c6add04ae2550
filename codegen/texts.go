package codegen

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/internal/visible"
)

// commentWidth is where lines of doc comments are wrapped, in runes.
const commentWidth = 76

// directive matches a line of text that some tool would obey if it began a
// comment: directives of the go command, the compiler and cgo, build
// constraints, linters' switches, the sentences by which tools know generated
// and deprecated code, and go doc's notes, BUG(who), and link targets.
var directive = regexp.MustCompile(`^[/\s]*(go:|[a-z0-9]+:[a-z0-9]|\+build|line \S*:\d|export \w+$|extern \w+|#cgo|#nosec|nolint|Code generated\b|Deprecated:|[A-Z][A-Z]+\([^)]+\)|\[[^\]]+\]:)`)

// doc writes texts as one doc comment, a paragraph each. The first may be a
// sentence of ours; all are taken as hostile: every line gets its prefix, runes
// that cannot be seen are written as \uXXXX, and a line that looks like a
// directive is quoted with "> ".
//
//	// ListInput is the input of files.list.
//	//
//	// > go:generate is only text here.
func doc(texts ...string) jen.Code {
	var lines []string
	for _, text := range texts {
		lines = append(lines, commentLines(text)...)
		if n := len(lines); n > 0 && lines[n-1] != "" {
			lines = append(lines, "")
		}
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return jen.Null()
	}
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("//")
		if line != "" {
			b.WriteByte(' ')
			b.WriteString(line)
		}
	}
	return jen.Comment(b.String()) // begins with "//", so jennifer writes it as it is
}

// commentLines is text as lines without prefix: line breaks of the text are
// kept, runs of blank lines and of white space shrink to one.
func commentLines(text string) []string {
	var out []string
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	for line := range strings.SplitSeq(text, "\n") {
		wrapped := wrap(strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' }))
		if len(wrapped) == 0 && len(out) > 0 && out[len(out)-1] != "" {
			wrapped = []string{""}
		}
		out = append(out, wrapped...)
	}
	return out
}

func wrap(fields []string) []string {
	var out []string
	line, width := "", 0
	for _, f := range fields {
		f = visible.Text(f)
		n := utf8.RuneCountInString(f)
		if line != "" && width+1+n > commentWidth {
			out = append(out, quoteDirective(line))
			line, width = "", 0
		}
		if line != "" {
			line += " "
			width++
		}
		line += f
		width += n
	}
	if line != "" {
		out = append(out, quoteDirective(line))
	}
	return out
}

func quoteDirective(line string) string {
	if directive.MatchString(line) {
		return "> " + line
	}
	return line
}

// text is a Go string literal of s, in one line whatever s holds: the go
// command looks for directives at the beginning of lines, raw strings included.
func text(s string) jen.Code { return jen.Op(goString(s)) }

func goString(s string) string {
	if strings.ContainsAny(s, `"\`) && backquotable(s) {
		return "`" + s + "`"
	}
	return visible.Quote(s)
}

func backquotable(s string) bool {
	for _, r := range s {
		if r == '`' || !visible.Readable(r) {
			return false
		}
	}
	return true
}
