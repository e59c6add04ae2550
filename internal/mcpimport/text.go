package mcpimport

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/capgen/capgen/internal/visible"
)

// maxSummary is the longest summary, in code points (docs/reference/manifest.md).
const maxSummary = 300

// clean is s as a manifest takes a text: line ends are \n, and what a reader
// would not see is written out. escaped tells whether something was.
func clean(s string) (out string, escaped bool) {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n")
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || r == '\t' || r == emojiStyle || visible.Readable(r) {
			b.WriteRune(r)
			continue
		}
		if r == nbsp {
			b.WriteByte(' ')
			continue
		}
		escaped = true
		b.WriteString(visible.Text(string(r)))
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), " \t\n"), escaped
}

// shellWord is s as one word of a shell: what a server calls things must not
// become a command of those who copy a hint.
func shellWord(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./:=", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(visible.Text(s), "'", `'\''`) + "'"
}

const (
	emojiStyle = '\ufe0f' // the variation selector that emoji end in
	nbsp       = '\u00a0'
)

// summary is the line that search shows: the title, or how the description
// begins.
func summary(title, description, name string) string {
	first, _, _ := strings.Cut(description, "\n")
	first = oneLine(first)
	if end := strings.Index(first, ". "); end > 0 && utf8.RuneCountInString(first) > 120 {
		first = first[:end+1]
	}
	switch {
	case first != "" && utf8.RuneCountInString(first) <= maxSummary:
		return first
	case title != "":
		return cut(oneLine(title), maxSummary)
	case first != "":
		return cut(first, maxSummary)
	}
	return cut(fmt.Sprintf("The tool %s of an MCP server that does not describe it.", oneLine(name)), maxSummary)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// cut shortens s to n code points.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}

// quote shows words of a document in a finding.
func quote(s string) string { return visible.Quote(cut(s, 64)) }
