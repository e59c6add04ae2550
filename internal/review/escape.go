package review

import (
	"fmt"
	"strings"

	"github.com/capgen/capgen/internal/visible"
)

// Everything that a summary quotes is inert. A short text is code: GitHub links
// no mention, issue or address in it. Where it holds what could end code or a
// cell, every character that Markdown or HTML may know is an entity. A long text
// is preformatted HTML, which Markdown does not look into, and each of its lines
// is indented, so that none can pass for a line of the summary's own.

// none stands for what is not there.
const none = "none"

// span is s as code within a line; none for nothing.
func span(s string) string {
	if s == "" {
		return none
	}
	if plainCode(s) {
		return "`" + s + "`"
	}
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range s {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			b.WriteRune(r)
		case !visible.Readable(r):
			b.WriteString(invisible(r))
		case r < 0x80:
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteString("</code>")
	return b.String()
}

// plainCode tells whether s means itself between two backquotes, in a table
// too.
func plainCode(s string) bool {
	for _, r := range s {
		if r == '`' || r == '|' || r == '\\' || !visible.Readable(r) {
			return false
		}
	}
	return s[0] != ' ' && s[len(s)-1] != ' '
}

// spans are several texts within a line; none for an empty list.
func spans(all []string) string {
	if len(all) == 0 {
		return none
	}
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = span(s)
	}
	return strings.Join(out, " ")
}

// invisible names a character that a reader would not see.
func invisible(r rune) string { return fmt.Sprintf("<kbd>U+%04X</kbd>", r) }

// pre is the content of an element that keeps its line breaks.
func pre(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString("\n  ")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case !visible.Readable(r):
			b.WriteString(invisible(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
