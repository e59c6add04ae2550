package schema

import (
	"github.com/capgen/capgen/runtime/canon"
)

// lowerBytes lowers {type: string, contentEncoding: base64}: bytes. The
// lengths are those of the text, as JSON Schema has it.
func (l *loader) lowerBytes(t *Type, n, encoding *node) {
	t.Kind = Bytes
	l.word(encoding, "contentEncoding", []string{"base64"}, nil)
	for _, key := range []string{"enum", "const", "pattern", "format"} {
		if m := n.member(key); m != nil {
			l.errorf(m.pos, ruleWrongKeyword, "%s beside contentEncoding", quote(key)).hint("bytes take minLength and maxLength only")
		}
	}
	t.MinLength, t.MaxLength = l.sizes(n, "minLength", "maxLength", MaxLength)
	if n.get("maxLength") == nil {
		t.MaxLength = max(t.MinLength, MaxBase64)
	}
	if (t.MinLength+3)/4*4 > t.MaxLength && t.MinLength <= t.MaxLength {
		l.errorf(n.pos, ruleEmptyRange, "no base64 text has %d to %d characters", t.MinLength, t.MaxLength).
			hint("its length is a multiple of 4")
	}
}

// checkBytes reports where n is no base64 text as t says.
func (l *loader) checkBytes(t *Type, n *node, bad func(string, ...any) bool) bool {
	if !canon.ValidBase64(n.text) {
		return bad("%s is no base64 text with padding (RFC 4648 section 4)", quote(n.text))
	}
	if c := len(n.text); c < t.MinLength || c > t.MaxLength {
		return bad("%d characters, not between %d and %d", c, t.MinLength, t.MaxLength)
	}
	return true
}
