package python

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxBrackets is CPython's bound on nested brackets, MAXLEVEL.
	maxBrackets = 200
	// maxIndents is CPython's bound on nested blocks, MAXINDENT.
	maxIndents = 100
)

// bracket is an open one.
type bracket struct {
	text string
	pos  Pos
}

// lexer cuts source into tokens, all at once.
type lexer struct {
	source string
	offset int
	line   int32
	// column is that of known, an offset on the same line that only moves
	// forward.
	known  int
	column int32

	brackets []bracket
	indents  []indentation
	strings  []*fstring // open f-strings, innermost last
	tokens   []token
}

// indentation is a block's, with tabs to multiples of eight and of one: two
// lines that compare differently mix tabs and spaces.
type indentation struct{ eight, one int }

// lex returns the tokens of source, the last of which is endOfFile.
func lex(source string) (tokens []token, err *Error) {
	l := &lexer{
		source: source,
		line:   1,
		column: 1,
		// A token for each four bytes is more than programs have.
		tokens:  make([]token, 0, len(source)/4+8),
		indents: []indentation{{}},
	}
	defer func() {
		if p := recover(); p != nil {
			e, ok := p.(*Error)
			if !ok {
				panic(p)
			}
			tokens, err = nil, e
		}
	}()
	l.run()
	return l.tokens, nil
}

// fail ends the lexing; lex returns e.
func (l *lexer) fail(e *Error) { panic(e) }

func (l *lexer) run() {
	atLineStart := true
	for {
		if atLineStart && len(l.brackets) == 0 {
			if !l.lineIndent() {
				break
			}
			atLineStart = false
		}
		if f := l.inside(); f != nil && f.inText() {
			l.fstringText(f)
			continue
		}
		l.space()
		if l.offset >= len(l.source) {
			break
		}
		if l.source[l.offset] == '\n' || l.source[l.offset] == '\r' {
			start, pos := l.offset, l.pos()
			l.endLine()
			if len(l.brackets) == 0 {
				l.tokens = append(l.tokens, token{kind: newline, pos: pos, start: start, end: start})
				atLineStart = true
			}
			continue
		}
		l.token()
	}
	l.finish()
}

// finish closes what is open at the end of the source.
func (l *lexer) finish() {
	if n := len(l.strings); n > 0 {
		l.fail(l.strings[n-1].unterminated())
	}
	if n := len(l.brackets); n > 0 {
		b := l.brackets[n-1]
		l.fail(syntaxError(b.pos, "close it with '"+closing(b.text)+"'", "'%s' was never closed", b.text))
	}
	pos, end := l.pos(), len(l.source)
	if n := len(l.tokens); n > 0 && l.tokens[n-1].kind != newline && l.tokens[n-1].kind != dedent {
		l.tokens = append(l.tokens, token{kind: newline, pos: pos, start: end, end: end})
	}
	for range l.indents[1:] {
		l.tokens = append(l.tokens, token{kind: dedent, pos: pos, start: end, end: end})
	}
	l.tokens = append(l.tokens, token{kind: endOfFile, pos: pos, start: end, end: end})
}

// lineIndent measures the next line that is not blank and opens or closes
// blocks. It reports whether there is one.
func (l *lexer) lineIndent() bool {
	for {
		var in indentation
	measure:
		for ; l.offset < len(l.source); l.offset++ {
			switch l.source[l.offset] {
			case ' ':
				in.eight++
				in.one++
			case '\t':
				in.eight = in.eight/8*8 + 8
				in.one++
			case '\f':
				in = indentation{}
			default:
				break measure
			}
		}
		if l.offset >= len(l.source) {
			return false
		}
		switch c := l.source[l.offset]; {
		case c == '#':
			l.comment()
		case c == '\n' || c == '\r':
		case c == '\\' && l.continues():
			continue // CPython measures the first part only where the line has more; a rare form
		default:
			l.block(in)
			return true
		}
		if l.offset >= len(l.source) {
			return false
		}
		l.endLine()
	}
}

func (l *lexer) block(in indentation) {
	pos := l.pos()
	top := l.indents[len(l.indents)-1]
	mixed := func() {
		l.fail(&Error{Pos: pos, Kind: TabError, Message: "inconsistent use of tabs and spaces in indentation", Hint: "indent with spaces only"})
	}
	switch {
	case in.eight == top.eight:
		if in.one != top.one {
			mixed()
		}
	case in.eight > top.eight:
		if in.one <= top.one {
			mixed()
		}
		if len(l.indents) > maxIndents {
			l.fail(&Error{Pos: pos, Kind: IndentationError, Message: "too many levels of indentation", Hint: "move the inner blocks into functions"})
		}
		l.indents = append(l.indents, in)
		l.tokens = append(l.tokens, token{kind: indent, pos: pos, start: l.offset, end: l.offset})
	default:
		for in.eight < l.indents[len(l.indents)-1].eight {
			l.indents = l.indents[:len(l.indents)-1]
			l.tokens = append(l.tokens, token{kind: dedent, pos: pos, start: l.offset, end: l.offset})
		}
		switch top = l.indents[len(l.indents)-1]; {
		case in.eight != top.eight:
			l.fail(&Error{Pos: pos, Kind: IndentationError, Message: "unindent does not match any outer indentation level",
				Hint: "line it up with the statement whose block it continues"})
		case in.one != top.one:
			mixed()
		}
	}
}

// space skips spaces, comments and joined lines.
func (l *lexer) space() {
	for l.offset < len(l.source) {
		switch c := l.source[l.offset]; {
		case c == ' ' || c == '\t' || c == '\f':
			l.offset++
		case c == '#':
			l.comment()
		case c == '\\':
			if !l.continues() {
				l.fail(syntaxError(l.pos(), "a backslash joins lines only as the last character of one", "unexpected character after line continuation character"))
			}
		default:
			return
		}
	}
}

// continues skips a backslash with the line end behind it, if it has one.
func (l *lexer) continues() bool {
	rest := l.source[l.offset+1:]
	if rest == "" || rest[0] != '\n' && rest[0] != '\r' {
		return false
	}
	l.offset++
	l.endLine()
	return true
}

func (l *lexer) comment() {
	for l.offset < len(l.source) && l.source[l.offset] != '\n' && l.source[l.offset] != '\r' {
		l.offset++
	}
}

// endLine steps over LF, CR LF or CR.
func (l *lexer) endLine() {
	if l.source[l.offset] == '\r' && strings.HasPrefix(l.source[l.offset:], "\r\n") {
		l.offset++
	}
	l.offset++
	l.line++
	l.known, l.column = l.offset, 1
}

// pos is where the lexer is.
func (l *lexer) pos() Pos {
	if l.offset > l.known {
		l.column += int32(utf8.RuneCountInString(l.source[l.known:l.offset]))
		l.known = l.offset
	}
	return Pos{l.line, l.column}
}

// token reads one that is neither space nor a line's end.
func (l *lexer) token() {
	pos, start := l.pos(), l.offset
	c := l.source[l.offset]
	switch {
	case c >= '0' && c <= '9', c == '.' && l.offset+1 < len(l.source) && isDigit(l.source[l.offset+1]):
		l.number(pos)
		return
	case c == '"' || c == '\'':
		l.string(pos, start, "")
		return
	case c == '_' || c >= utf8.RuneSelf || isLetter(c):
		l.name(pos)
		return
	}
	op := operatorAt(l.source[l.offset:])
	if f := l.inside(); f != nil && f.field(l, op) {
		op = op[:1] // "!=" stays an operator; ":=" is a colon and a format
	}
	if op == "" {
		l.fail(l.strange(pos))
	}
	l.offset += len(op)
	l.bracket(op, pos)
	l.tokens = append(l.tokens, token{kind: operator, pos: pos, start: start, end: l.offset, text: op})
	if f := l.inside(); f != nil {
		f.after(l, op)
	}
}

// bracket keeps the open brackets.
func (l *lexer) bracket(op string, pos Pos) {
	switch op {
	case "(", "[", "{":
		if len(l.brackets) >= maxBrackets {
			l.fail(&Error{Pos: pos, Kind: RecursionError, Message: "too many nested brackets", Hint: "give the inner parts names of their own"})
		}
		l.brackets = append(l.brackets, bracket{op, pos})
	case ")", "]", "}":
		n := len(l.brackets)
		if n == 0 {
			l.fail(syntaxError(pos, "remove it, or open it before", "unmatched '%s'", op))
		}
		if open := l.brackets[n-1]; closing(open.text) != op {
			l.fail(syntaxError(pos, "", "closing parenthesis '%s' does not match opening parenthesis '%s' of line %d, column %d",
				op, open.text, open.pos.Line, open.pos.Col))
		}
		l.brackets = l.brackets[:n-1]
	}
}

func closing(open string) string {
	switch open {
	case "(":
		return ")"
	case "[":
		return "]"
	}
	return "}"
}

func (l *lexer) name(pos Pos) {
	start := l.offset
	for l.offset < len(l.source) {
		c := l.source[l.offset]
		if c == '_' || isLetter(c) || isDigit(c) {
			l.offset++
			continue
		}
		if c < utf8.RuneSelf {
			break
		}
		r, size := utf8.DecodeRuneInString(l.source[l.offset:])
		if !unicode.IsLetter(r) && (l.offset == start || !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc)) {
			if l.offset == start {
				l.fail(l.strange(pos))
			}
			break
		}
		l.offset += size
	}
	text := l.source[start:l.offset]
	if l.offset < len(l.source) && (l.source[l.offset] == '"' || l.source[l.offset] == '\'') && isStringPrefix(text) {
		l.string(pos, start, text)
		return
	}
	k := name
	if isKeyword(text) {
		k = keyword
	}
	l.tokens = append(l.tokens, token{kind: k, pos: pos, start: start, end: l.offset, text: text})
}

// strange is the error for a character that begins nothing.
func (l *lexer) strange(pos Pos) *Error {
	r, _ := utf8.DecodeRuneInString(l.source[l.offset:])
	switch r {
	case '“', '”', '‘', '’', '„', '«', '»':
		return syntaxError(pos, `use " or '`, "invalid character '%c' (U+%04X)", r, r)
	case '$', '?':
		return syntaxError(pos, "it means nothing in Python: remove it", "invalid syntax: '%c'", r)
	case '`':
		return syntaxError(pos, "send the program alone, without Markdown around it", "invalid syntax: '`'")
	case utf8.RuneError:
		return syntaxError(pos, "send the source as UTF-8", "the source is not UTF-8")
	}
	if unicode.IsPrint(r) {
		return syntaxError(pos, "write it in ASCII, or as text in quotes", "invalid character '%c' (U+%04X)", r, r)
	}
	return syntaxError(pos, "remove it, or write it as an escape in quotes", "invalid non-printable character U+%04X", r)
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
