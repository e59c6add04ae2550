package python

// compound reads a compound statement, reference chapter 8, or returns nil
// where none begins.
func (p *parser) compound() Stmt {
	t := p.cur()
	if t.is(operator, "@") {
		return p.decorated()
	}
	if t.kind == name && t.text == "match" && p.beginsMatch() {
		p.fail(t.pos, "write if and elif", "match is not available")
	}
	if t.kind != keyword {
		return nil
	}
	p.enter()
	defer p.leave()
	switch t.text {
	case "if":
		return p.ifStatement()
	case "for":
		return p.forStatement(t.pos, false)
	case "while":
		p.next++
		s := &While{At: At{t.pos}, Test: p.condition()}
		s.Body = p.loopBody("while")
		s.Else = p.elseBlock("while")
		return s
	case "def":
		return p.functionDef(t.pos, nil, false)
	case "async":
		return p.async(nil)
	case "try":
		return p.try()
	case "class":
		p.fail(t.pos, "use dicts for data and functions for what is done with it", "class is not available")
	case "with":
		p.fail(t.pos, "there is nothing to close in a program: call what you need directly", "with is not available")
	case "elif", "else", "except", "finally":
		p.fail(t.pos, "line it up with the statement that it belongs to", "'%s' has no statement before it that it belongs to", t.text)
	}
	return nil
}

// beginsMatch tells `match x:` from an expression that begins with a name.
func (p *parser) beginsMatch() bool {
	switch next := p.ahead(1); next.kind {
	case name, integerLiteral, floatLiteral, stringLiteral, bytesLiteral, fstringStart:
		return true
	case operator:
		if next.text != "(" && next.text != "[" && next.text != "{" {
			return false
		}
		depth := 0
		for i := 1; ; i++ {
			switch t := p.ahead(i); {
			case t.kind == endOfFile || t.kind == newline:
				return false
			case t.kind == operator && (t.text == "(" || t.text == "[" || t.text == "{"):
				depth++
			case t.kind == operator && (t.text == ")" || t.text == "]" || t.text == "}"):
				if depth--; depth == 0 {
					return p.ahead(i+1).is(operator, ":") && p.ahead(i+2).kind == newline && p.ahead(i+3).kind == indent
				}
			}
		}
	}
	return false
}

func (p *parser) ifStatement() Stmt {
	head := &If{At: At{p.cur().pos}}
	p.next++
	head.Test = p.condition()
	head.Body = p.block("if")
	for tail, n := head, 0; ; {
		t := p.cur()
		if !p.take("elif") {
			tail.Else = p.elseBlock("if")
			return head
		}
		p.chain(&n)
		next := &If{At: At{t.pos}, Test: p.condition()}
		next.Body = p.block("elif")
		tail.Else = []Stmt{next}
		tail = next
	}
}

// condition reads what decides if and while, where = is a common mistake.
func (p *parser) condition() Expr {
	e := p.namedExpression()
	if t := p.cur(); t.is(operator, "=") {
		p.fail(t.pos, "compare with ==", "invalid syntax: '=' assigns")
	}
	return e
}

func (p *parser) elseBlock(what string) []Stmt {
	if !p.take("else") {
		return nil
	}
	if t := p.cur(); t.is(keyword, "if") {
		p.fail(t.pos, "write elif", "'else if' is not Python")
	}
	return p.block(what + " … else")
}

func (p *parser) forStatement(start Pos, async bool) Stmt {
	p.next++
	s := &For{At: At{start}, Async: async}
	s.Target = p.targetList("in")
	p.assignable(s.Target, "assign to", true)
	p.expect("in", "for item in items:")
	s.Iter = p.starList()
	s.Body = p.loopBody("for")
	s.Else = p.elseBlock("for")
	return s
}

func (p *parser) loopBody(what string) []Stmt {
	p.loop++
	defer func() { p.loop-- }()
	return p.block(what)
}

// block reads `:` and what belongs to it: a block, or statements of one line.
func (p *parser) block(what string) []Stmt {
	if !p.op(":") {
		hint := ""
		if p.op("{") {
			hint = "blocks are indented, without braces"
		}
		p.fail(p.cur().pos, hint, "expected ':' after %s%s", what, p.found())
	}
	p.next++
	if p.cur().kind != newline {
		return p.oneLine()
	}
	p.next++
	if t := p.cur(); t.kind != indent {
		panic(&Error{Pos: t.pos, Kind: IndentationError, Message: "expected an indented block after " + what,
			Hint: "indent its statements; pass does nothing"})
	}
	p.next++
	var body []Stmt
	for p.cur().kind != dedent && p.cur().kind != endOfFile {
		switch t := p.cur(); t.kind {
		case newline:
			p.next++
		case indent:
			panic(&Error{Pos: t.pos, Kind: IndentationError, Message: "unexpected indent", Hint: "begin the line where its block's other lines begin"})
		default:
			body = p.statement(body)
		}
	}
	if p.cur().kind == dedent {
		p.next++
	}
	return body
}

// oneLine reads the statements behind a colon.
func (p *parser) oneLine() []Stmt {
	var body []Stmt
	if t := p.cur(); t.kind == keyword {
		switch t.text {
		case "if", "for", "while", "def", "try", "with", "class", "async":
			p.fail(t.pos, "begin a new, indented line", "invalid syntax: '%s' behind a colon", t.text)
		}
	}
	return p.statement(body)
}

func (p *parser) decorated() Stmt {
	var decorators []Expr
	start := p.cur().pos
	for p.take("@") {
		decorators = append(decorators, p.namedExpression())
		if p.cur().kind != newline {
			p.fail(p.cur().pos, "", "expected the end of the line%s", p.found())
		}
		p.next++
	}
	switch t := p.cur(); {
	case t.is(keyword, "def"):
		return p.functionDef(start, decorators, false)
	case t.is(keyword, "async"):
		return p.async(decorators)
	case t.is(keyword, "class"):
		return p.compound()
	}
	p.fail(p.cur().pos, "", "expected def after a decorator%s", p.found())
	return nil
}

func (p *parser) async(decorators []Expr) Stmt {
	start := p.cur().pos
	p.next++
	switch {
	case p.op("def"):
		return p.functionDef(start, decorators, true)
	case p.op("for") && decorators == nil:
		return p.forStatement(start, true)
	case p.op("with"):
		p.fail(start, "there is nothing to close in a program: call what you need directly", "async with is not available")
	}
	p.fail(p.cur().pos, "", "expected def or for after async%s", p.found())
	return nil
}

func (p *parser) functionDef(start Pos, decorators []Expr, async bool) Stmt {
	p.next++
	s := &FunctionDef{At: At{start}, Async: async, Decorators: decorators}
	s.Name, s.NamePos = p.identifier("a function's name")
	p.expect("(", "def "+s.Name+"():")
	s.Parameters = p.parameters(")", true)
	p.expect(")", "")
	if p.take("->") {
		s.Returns = p.expression()
	}
	loop := p.loop
	p.loop, p.function = 0, p.function+1
	s.Body = p.block("def")
	p.loop, p.function = loop, p.function-1
	return s
}

func (p *parser) try() Stmt {
	s := &Try{At: At{p.cur().pos}}
	p.next++
	s.Body = p.block("try")
	for p.op("except") {
		h := &ExceptHandler{At: At{p.cur().pos}}
		p.next++
		if p.op("*") {
			p.fail(p.cur().pos, "write except without the star", "except* is not available")
		}
		if !p.op(":") {
			h.Type = p.expression()
			if t := p.cur(); t.is(operator, ",") {
				p.fail(t.pos, "put several into parentheses: except (A, B):", "multiple exception types must be parenthesized")
			}
			if p.take("as") {
				h.Name, h.NamePos = p.identifier("a name for the exception")
			}
		}
		h.Body = p.block("except")
		if n := len(s.Handlers); n > 0 && s.Handlers[n-1].Type == nil {
			p.fail(s.Handlers[n-1].Pos, "put it last", "default 'except:' must be last")
		}
		s.Handlers = append(s.Handlers, h)
	}
	if p.op("else") && len(s.Handlers) > 0 {
		s.Else = p.elseBlock("try")
	}
	if p.take("finally") {
		s.Finally = p.block("finally")
	}
	if s.Handlers == nil && s.Finally == nil {
		p.fail(p.cur().pos, "catch with except Exception:", "expected 'except' or 'finally' block")
	}
	return s
}
