package python

import (
	"fmt"
	"strings"
)

const (
	// maxNesting bounds how deeply expressions and blocks nest, and with it
	// the recursion of whoever walks the tree.
	maxNesting = 200
	// maxChain bounds operators, calls, attributes and elifs in one row, which
	// nest in the tree though not in the source.
	maxChain = 1000
)

// Parse reads a program. Time and memory are linear in the source. A text
// longer than 1 MiB is refused.
func Parse(source string) (m *Module, err *Error) {
	const maxSource = 1 << 20
	if len(source) > maxSource {
		return nil, syntaxError(Pos{1, 1}, "", "the source has %d bytes: the limit is %d", len(source), maxSource)
	}
	source = strings.TrimPrefix(source, "\ufeff")
	tokens, err := lex(source)
	if err != nil {
		return nil, err
	}
	p := &parser{source: source, tokens: tokens}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			m, err = nil, e
		}
	}()
	return p.module(), nil
}

// parser descends recursively over tokens. An error is a panic that Parse
// turns into its result.
type parser struct {
	source string
	tokens []token
	next   int
	depth  int
	// function and loop are how many of them are around what is read.
	function, loop int
}

func (p *parser) module() *Module {
	m := &Module{}
	for p.cur().kind != endOfFile {
		if p.cur().kind == newline {
			p.next++
			continue
		}
		if t := p.cur(); t.kind == indent {
			panic(&Error{Pos: t.pos, Kind: IndentationError, Message: "unexpected indent", Hint: "begin the line where its block's other lines begin"})
		}
		m.Body = p.statement(m.Body)
	}
	return m
}

func (p *parser) cur() *token { return &p.tokens[p.next] }

// ahead looks n tokens further; the last token is the end, for good.
func (p *parser) ahead(n int) *token { return &p.tokens[min(p.next+n, len(p.tokens)-1)] }

// op reports whether the current token is an operator or keyword.
func (p *parser) op(text string) bool {
	t := p.cur()
	return t.text == text && (t.kind == operator || t.kind == keyword)
}

// take steps over an operator or keyword if it stands here.
func (p *parser) take(text string) bool {
	if !p.op(text) {
		return false
	}
	p.next++
	return true
}

// expect steps over an operator or keyword that has to stand here.
func (p *parser) expect(text, hint string) Pos {
	pos := p.cur().pos
	if !p.take(text) {
		p.fail(pos, hint, "expected '%s'%s", text, p.found())
	}
	return pos
}

// found says what stands here instead of what was expected.
func (p *parser) found() string {
	switch t := p.cur(); t.kind {
	case endOfFile:
		return ", but the program ends"
	case newline:
		return ", but the line ends"
	case indent, dedent:
		return ""
	case stringLiteral, bytesLiteral, fstringStart:
		return ", not a text"
	case fstringText, fstringEnd:
		return ", but the text ends"
	case integerLiteral, floatLiteral:
		return ", not a number"
	default:
		return ", not '" + t.text + "'"
	}
}

func (p *parser) fail(pos Pos, hint, format string, args ...any) {
	panic(syntaxError(pos, hint, format, args...))
}

// enter bounds the nesting; leave ends it.
func (p *parser) enter() {
	p.depth++
	if p.depth > maxNesting {
		panic(&Error{Pos: p.cur().pos, Kind: RecursionError, Message: fmt.Sprintf("nested more than %d deep", maxNesting),
			Hint: "give the inner parts names of their own"})
	}
}

func (p *parser) leave() { p.depth-- }

// chain bounds one row of operators; n counts them.
func (p *parser) chain(n *int) {
	*n++
	if *n > maxChain {
		panic(&Error{Pos: p.cur().pos, Kind: RecursionError, Message: fmt.Sprintf("more than %d operators in one expression", maxChain),
			Hint: "split it into several statements, or put the values into a list"})
	}
}

// identifier reads a name that the program chooses.
func (p *parser) identifier(what string) (string, Pos) {
	t := p.cur()
	switch {
	case t.kind == name:
		p.next++
		return t.text, t.pos
	case t.kind == keyword:
		p.fail(t.pos, "choose another name, such as "+t.text+"_", "'%s' is a keyword, not %s", t.text, what)
	}
	p.fail(t.pos, "", "expected %s%s", what, p.found())
	return "", Pos{}
}
