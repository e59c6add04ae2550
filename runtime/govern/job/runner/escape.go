package runner

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/capgen/capgen/internal/visible"
)

// identifier is a name, or a hash, that is shown as it is: it has no mark of
// Markdown that counts between backquotes, and nothing that looks like something
// else.
var identifier = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.]{0,127}|[0-9a-f]{64})$`)

// code is text between backquotes: an identifier as it is, anything else as a
// literal, which is cut where it is long.
func code(text string) string {
	if identifier.MatchString(text) {
		return "`" + text + "`"
	}
	cut := ""
	if len(text) > maxCell {
		end := maxCell
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text, cut = text[:end], " and more"
	}
	return "`" + literal(text) + "`" + cut
}

// scalar is a value of JSON that has no parts, as JSON.
func scalar(v any) (text string, ok bool) {
	switch v := v.(type) {
	case nil:
		return "null", true
	case bool:
		return fmt.Sprint(v), true
	case json.Number:
		return v.String(), true // digits, signs, a point and e: the decoder saw to it
	case string:
		return literal(v), true
	}
	return "", false
}

// literal is a string of JSON that a reader sees all of, and that Markdown makes
// nothing of: what does not show as itself is written as an escape, and so are
// backquotes, the bars of tables and the marks of HTML.
func literal(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '`' || r == '|' || r == '<' || r == '>' || r == '&' || !visible.Readable(r):
			if r > 0xffff { // JSON has escapes of UTF-16
				r -= 0x10000
				fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
				continue
			}
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
