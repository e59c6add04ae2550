package schema

import (
	"strings"
	"unicode/utf8"
)

// Longest texts, in code points.
const (
	maxSummary     = 300
	maxTitle       = 200
	maxDescription = 20_000
)

// line reads a text of one line.
func (l *loader) line(n *node, what string, max int) (string, bool) {
	s, ok := l.text(n, what, max)
	if ok && strings.ContainsAny(s, "\n\t") {
		l.errorf(n.pos, ruleBadText, "%s has to be one line", what).
			hint("say more in the description; a line break or tab is not allowed here")
		return "", false
	}
	return s, ok
}

// text reads a text for people and models: no control characters but line
// breaks and tabs, nothing invisible, at most max code points. White space
// around it, which YAML's block scalars leave, is dropped.
func (l *loader) text(n *node, what string, max int) (string, bool) {
	s, ok := l.str(n, what)
	if !ok {
		return "", false
	}
	s = strings.Trim(s, " \t\r\n")
	if !l.visible(n.pos, s, what) {
		return "", false
	}
	for _, r := range s {
		if isControl(r) && r != '\n' && r != '\t' {
			l.errorf(n.pos, ruleBadText, "%s holds the control character U+%04X", what, r).hint("remove it")
			return "", false
		}
	}
	if s == "" {
		l.errorf(n.pos, ruleBadText, "%s is empty", what).hint("write it or leave it out")
		return "", false
	}
	if c := utf8.RuneCountInString(s); c > max {
		l.errorf(n.pos, ruleBadText, "%s has %d characters, the limit is %d", what, c, max).hint("shorten it")
		return "", false
	}
	return s, true
}

// visible refuses characters that a reviewer of the manifest cannot see.
func (l *loader) visible(at Position, s, what string) bool {
	if !utf8.ValidString(s) {
		l.errorf(at, ruleBadText, "%s is not UTF-8", what).hint("save the file as UTF-8")
		return false
	}
	for _, r := range s {
		if isInvisible(r) {
			l.errorf(at, ruleInvisibleText, "%s holds the invisible character U+%04X", what, r).
				hint("remove it: a reviewer cannot see it, a model reads it")
			return false
		}
	}
	return true
}
