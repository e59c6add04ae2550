package python

import "strings"

// maxFstrings bounds f-strings within f-strings.
const maxFstrings = 20

// fstring is an open formatted string, section 2.4.3. It is lexed as a text
// with replacement fields in it, whose format specifications are texts again.
type fstring struct {
	pos   Pos
	quote string
	raw   bool
	// fields are the replacement fields that are open, innermost last.
	fields []field
}

type field struct {
	// brackets is how many brackets are open inside of the field's own.
	brackets int
	// format: the field's expression is over, its format is being read.
	format bool
}

func (f *fstring) inText() bool {
	return len(f.fields) == 0 || f.fields[len(f.fields)-1].format
}

func (f *fstring) unterminated() *Error { return unterminated(f.pos, f.quote, "f-string") }

// inside returns the innermost open f-string.
func (l *lexer) inside() *fstring {
	if n := len(l.strings); n > 0 {
		return l.strings[n-1]
	}
	return nil
}

func (l *lexer) beginFstring(f *fstring, start int) {
	if len(l.strings) >= maxFstrings {
		l.fail(&Error{Pos: f.pos, Kind: RecursionError, Message: "f-strings are nested too deeply", Hint: "give the inner ones names"})
	}
	l.tokens = append(l.tokens, token{kind: fstringStart, pos: f.pos, start: start, end: l.offset})
	l.strings = append(l.strings, f)
}

// fstringText reads text up to a field or the end of the string or format.
func (l *lexer) fstringText(f *fstring) {
	start, pos := l.offset, l.pos()
	inFormat := len(f.fields) > 0
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			l.tokens = append(l.tokens, token{kind: fstringText, pos: pos, start: start, end: l.offset, text: b.String()})
		}
	}
	for {
		if l.offset >= len(l.source) {
			l.fail(f.unterminated())
		}
		c := l.source[l.offset]
		switch {
		case (c == '\n' || c == '\r') && len(f.quote) == 1:
			l.fail(f.unterminated())
		case !inFormat && strings.HasPrefix(l.source[l.offset:], f.quote):
			flush()
			l.tokens = append(l.tokens, token{kind: fstringEnd, pos: l.pos(), start: l.offset, end: l.offset + len(f.quote)})
			l.offset += len(f.quote)
			l.strings = l.strings[:len(l.strings)-1]
			return
		case inFormat && strings.HasPrefix(l.source[l.offset:], f.quote):
			l.fail(syntaxError(l.pos(), "close the field with }", "f-string: expecting '}'"))
		case !inFormat && (strings.HasPrefix(l.source[l.offset:], "{{") || strings.HasPrefix(l.source[l.offset:], "}}")):
			b.WriteByte(c)
			l.offset += 2
		case c == '{':
			flush()
			l.openField(f)
			return
		case c == '}' && inFormat:
			flush()
			l.closeField(f)
			return
		case c == '}':
			l.fail(syntaxError(l.pos(), "write }} for a brace in an f-string", "f-string: single '}' is not allowed"))
		default:
			l.character(&b, f.raw)
		}
	}
}

func (l *lexer) openField(f *fstring) {
	if len(f.fields) > 1 {
		l.fail(syntaxError(l.pos(), "give the inner format a name", "f-string: expressions nested too deeply"))
	}
	pos := l.pos()
	l.bracket("{", pos)
	l.tokens = append(l.tokens, token{kind: operator, pos: pos, start: l.offset, end: l.offset + 1, text: "{"})
	l.offset++
	f.fields = append(f.fields, field{brackets: len(l.brackets)})
}

func (l *lexer) closeField(f *fstring) {
	pos := l.pos()
	l.bracket("}", pos)
	l.tokens = append(l.tokens, token{kind: operator, pos: pos, start: l.offset, end: l.offset + 1, text: "}"})
	l.offset++
	f.fields = f.fields[:len(f.fields)-1]
}

// field reports whether op, read in a field, has only its first character: a
// colon that begins a format, and what could be run together with one.
func (f *fstring) field(l *lexer, op string) bool {
	if len(f.fields) == 0 || len(l.brackets) != f.fields[len(f.fields)-1].brackets {
		return false
	}
	return op == ":="
}

// after follows the operators of a field.
func (f *fstring) after(l *lexer, op string) {
	n := len(f.fields)
	if n == 0 {
		return
	}
	switch top := &f.fields[n-1]; {
	case op == "}" && len(l.brackets) == top.brackets-1:
		f.fields = f.fields[:n-1]
	case op == ":" && len(l.brackets) == top.brackets:
		top.format = true
	}
}
