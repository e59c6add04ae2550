package schema

import (
	"slices"
	"strings"
	"unicode"
)

const (
	// maxErrors, maxErrorCode and maxErrorText are the runtime's bounds: it
	// cuts a disclosed message beyond them. The last two count bytes.
	maxErrors    = 32
	maxErrorCode = 64
	maxErrorText = 256
	// noExample is what handlers that answer from examples fail with.
	noExample = "no_example"
)

// declaredErrors reads what a capability may fail with, sorted by code.
func (l *loader) declaredErrors(n *node) []DeclaredError {
	if !l.kind(n, mappingNode, "errors") {
		return nil
	}
	if len(n.members) == 0 {
		l.errorf(n.pos, ruleMissingField, "errors is empty").
			hint("errors: {not_found: No record has that key.}, or leave errors out")
	}
	if len(n.members) > maxErrors {
		l.errorf(n.members[maxErrors].pos, ruleLimit, "%d errors, the limit is %d", len(n.members), maxErrors).
			hint("a program tells apart those that it can do something about: merge the others")
		return nil
	}
	declared := make([]DeclaredError, 0, len(n.members))
	for _, m := range n.members {
		switch {
		case !isSegment(m.key) || len(m.key) > maxErrorCode:
			l.errorf(m.pos, ruleBadName, "%s is no code of an error", quote(m.key)).
				hint("a-z first, then a-z, 0-9 and _, at most %d: not_found", maxErrorCode)
			continue
		case m.key == noExample:
			l.errorf(m.pos, ruleReservedName, "%s cannot be declared: handlers that answer from examples fail with it", quote(m.key)).
				hint("choose another code")
			continue
		}
		text, ok := l.line(m.value, "the text of error "+quote(m.key), maxErrorText)
		switch {
		case !ok:
		case len(text) > maxErrorText:
			l.errorf(m.value.pos, ruleBadText, "the text of error %s has %d bytes, the limit is %d", quote(m.key), len(text), maxErrorText).hint("shorten it")
		case strings.ContainsFunc(text, unprintable):
			l.errorf(m.value.pos, ruleBadText, "the text of error %s holds a character that is not shown as itself", quote(m.key)).
				hint("remove format characters and line separators")
		default:
			declared = append(declared, DeclaredError{Code: m.key, Text: text, Pos: m.pos})
		}
	}
	slices.SortFunc(declared, func(a, b DeclaredError) int { return strings.Compare(a.Code, b.Code) })
	return declared
}

// unprintable characters would become spaces on their way to a program.
func unprintable(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }
