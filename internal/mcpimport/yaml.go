package mcpimport

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/capgen/capgen/internal/visible"
)

// flowWidth is how long a line of {a: b} may become, in characters.
const flowWidth = 120

// yamlWriter writes the YAML that a manifest is: block style, flow style where
// it is short. Text that is not plainly a word is quoted: no reader of YAML can
// take it for something else.
type yamlWriter struct {
	b strings.Builder
	// plain matches texts that are strings without quotes.
	plain *regexp.Regexp
	line  int // of the next line, from 1
}

func newYAMLWriter() *yamlWriter {
	return &yamlWriter{plain: regexp.MustCompile(`^[A-Za-z_$/][A-Za-z0-9_./$-]*(:[A-Za-z0-9_./$-]+)?( [A-Za-z0-9_./$(][A-Za-z0-9_./$-]*[).]?)*$`), line: 1}
}

func (w *yamlWriter) write(s string) {
	w.line += strings.Count(s, "\n")
	w.b.WriteString(s)
}

// scalar is the text of a value that holds no others.
func (w *yamlWriter) scalar(v *value) string {
	switch v.kind {
	case nullKind:
		return "null"
	case stringKind:
		return w.word(v.text)
	}
	return v.text
}

func (w *yamlWriter) word(s string) string {
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return visible.Quote(s)
	}
	if len(s) < 200 && w.plain.MatchString(s) {
		return s
	}
	return visible.Quote(s)
}

// flow is v on one line; ok is false when it would be too long.
func (w *yamlWriter) flow(v *value, room int) (string, bool) {
	var b strings.Builder
	var put func(v *value) bool
	put = func(v *value) bool {
		switch {
		case v.kind == listKind:
			b.WriteByte('[')
			for i, item := range v.items {
				if i > 0 {
					b.WriteString(", ")
				}
				if !put(item) {
					return false
				}
			}
			b.WriteByte(']')
		case v.kind == objectKind:
			b.WriteByte('{')
			for i, m := range v.members {
				if i > 0 {
					b.WriteString(", ")
				}
				b.WriteString(w.word(m.key) + ": ")
				if !put(m.value) {
					return false
				}
			}
			b.WriteByte('}')
		default:
			b.WriteString(w.scalar(v))
		}
		return b.Len() <= 4*room
	}
	ok := put(v) && utf8.RuneCountInString(b.String()) <= room
	return b.String(), ok
}

// after writes v behind a key or dash that stands at indent.
func (w *yamlWriter) after(v *value, indent int) {
	end := "\n"
	if v.comment != "" {
		end = " # " + v.comment + "\n"
	}
	line, short := w.flow(v, flowWidth-indent)
	nested := v.kind == listKind && len(v.items) > 0 || v.kind == objectKind && len(v.members) > 0
	switch {
	case short || !nested && !isBlock(v):
		w.write(" " + line + end)
	case isBlock(v):
		w.write(" |-\n")
		for text := range strings.SplitSeq(v.text, "\n") {
			if text != "" {
				text = strings.Repeat(" ", indent+2) + text
			}
			w.write(text + "\n")
		}
	case v.kind == listKind:
		w.write(end)
		for _, item := range v.items {
			w.write(strings.Repeat(" ", indent+2) + "-")
			w.after(item, indent+2)
		}
	default:
		w.write(end)
		w.members(v, indent+2)
	}
}

func (w *yamlWriter) members(v *value, indent int) {
	for _, m := range v.members {
		w.write(strings.Repeat(" ", indent) + w.word(m.key) + ":")
		w.after(m.value, indent)
	}
}

// isBlock tells whether a text of several lines can stand as it is.
func isBlock(v *value) bool {
	if v.kind != stringKind || !strings.Contains(v.text, "\n") || strings.HasPrefix(v.text, " ") || strings.HasPrefix(v.text, "\t") {
		return false
	}
	for text := range strings.SplitSeq(v.text, "\n") {
		if strings.TrimRight(text, " \t") != text {
			return false
		}
		for _, r := range text {
			if r != '\t' && !visible.Readable(r) {
				return false
			}
		}
	}
	return !strings.HasPrefix(v.text, "\n") && !strings.HasSuffix(v.text, "\n")
}
