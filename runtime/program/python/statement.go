package python

import "strings"

// statement appends the next statement, or the several of one line.
func (p *parser) statement(out []Stmt) []Stmt {
	if s := p.compound(); s != nil {
		return append(out, s)
	}
	for {
		out = append(out, p.simple())
		switch t := p.cur(); {
		case p.take(";"):
			if p.cur().kind == newline {
				p.next++
				return out
			}
			continue
		case t.kind == newline:
			p.next++
			return out
		case t.kind == endOfFile:
			return out
		default:
			p.misplaced(out[len(out)-1])
		}
	}
}

// misplaced is the error for a token behind a complete statement.
func (p *parser) misplaced(before Stmt) {
	t := p.cur()
	switch {
	case t.is(operator, "=") && isComparisonContext(before):
		p.fail(t.pos, "compare with ==", "invalid syntax: '=' assigns")
	case t.is(operator, ":"):
		p.fail(t.pos, "", "invalid syntax: ':' does not belong here")
	case t.is(operator, "!"):
		p.fail(t.pos, "write not x, or x != y", "invalid syntax: '!'")
	case t.is(operator, "<>"):
		p.fail(t.pos, "write !=", "invalid syntax: '<>'")
	case t.kind == name || t.kind == integerLiteral || t.kind == floatLiteral || t.kind == stringLiteral || t.kind == bytesLiteral || t.kind == fstringStart:
		hint := "put an operator or a comma between the two, or begin a new line"
		if e, ok := before.(*ExprStmt); ok {
			if n, ok := e.Value.(*Name); ok {
				switch n.ID {
				case "print", "exec":
					hint = n.ID + " is a function: " + n.ID + "(…)"
				case "function", "func", "fn":
					hint = "functions are written def name():"
				case "let", "var", "const":
					hint = "assign without a word before: name = value"
				case "match", "type":
					hint = n.ID + " statements are not available"
				}
			}
		}
		p.fail(t.pos, hint, "invalid syntax: %s", p.described())
	default:
		p.fail(t.pos, "", "invalid syntax: %s", p.described())
	}
}

func isComparisonContext(s Stmt) bool {
	e, ok := s.(*ExprStmt)
	if !ok {
		return false
	}
	_, ok = e.Value.(*Compare)
	return ok
}

// described names the current token.
func (p *parser) described() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.found(), ", not "), ", but ")
}

// simple reads one simple statement, reference chapter 7.
func (p *parser) simple() Stmt {
	t := p.cur()
	at := At{t.pos}
	if t.kind != keyword {
		return p.expressionStatement()
	}
	switch t.text {
	case "pass":
		p.next++
		return &Pass{at}
	case "break", "continue":
		p.next++
		if p.loop == 0 {
			p.fail(t.pos, "it ends or repeats the loop around it: there is none", "'%s' outside loop", t.text)
		}
		if t.text == "break" {
			return &Break{at}
		}
		return &Continue{at}
	case "return":
		p.next++
		s := &Return{At: at}
		if !p.endsStatement() {
			s.Value = p.starList()
		}
		return s
	case "raise":
		return p.raise()
	case "assert":
		p.next++
		s := &Assert{At: at, Test: p.expression()}
		if p.take(",") {
			s.Message = p.expression()
		}
		return s
	case "del":
		p.next++
		list := p.starList()
		s := &Delete{At: at}
		p.deleteTargets(s, list)
		return s
	case "global", "nonlocal":
		p.next++
		var names []*Name
		for {
			id, pos := p.identifier("a variable's name")
			names = append(names, &Name{At{pos}, id})
			if !p.take(",") {
				break
			}
		}
		if t.text == "global" {
			return &Global{at, names}
		}
		if p.function == 0 {
			p.fail(t.pos, "", "nonlocal declaration not allowed at module level")
		}
		return &Nonlocal{at, names}
	case "import":
		return p.importNames()
	case "from":
		return p.importFrom()
	}
	return p.expressionStatement()
}

func (p *parser) endsStatement() bool {
	k := p.cur().kind
	return k == newline || k == endOfFile || p.op(";")
}

func (p *parser) raise() Stmt {
	s := &Raise{At: At{p.cur().pos}}
	p.next++
	if p.endsStatement() {
		return s
	}
	s.Exc = p.expression()
	if p.take("from") {
		s.Cause = p.expression()
	}
	return s
}

func (p *parser) deleteTargets(s *Delete, e Expr) {
	switch e := e.(type) {
	case *Name, *Attribute, *Subscript:
		s.Targets = append(s.Targets, e)
	case *Tuple:
		for _, item := range e.Items {
			p.deleteTargets(s, item)
		}
	case *List:
		for _, item := range e.Items {
			p.deleteTargets(s, item)
		}
	default:
		p.fail(e.Start(), "del takes names, items and attributes", "cannot delete %s", describe(e))
	}
}

func (p *parser) importNames() Stmt {
	s := &Import{At: At{p.cur().pos}}
	p.next++
	for {
		s.Names = append(s.Names, p.alias(true))
		if !p.take(",") {
			return s
		}
	}
}

func (p *parser) importFrom() Stmt {
	s := &Import{At: At{p.cur().pos}, IsFrom: true}
	p.next++
	if p.op(".") || p.op("...") {
		p.fail(p.cur().pos, "a program is one file", "relative imports are not available")
	}
	s.From, _ = p.dotted()
	p.expect("import", "from module import name")
	if p.op("*") {
		p.fail(p.cur().pos, "import the names one by one", "import * is not available")
	}
	open := p.take("(")
	for {
		s.Names = append(s.Names, p.alias(false))
		if !p.take(",") || open && p.op(")") {
			break
		}
	}
	if open {
		p.expect(")", "")
	}
	return s
}

func (p *parser) alias(dots bool) Alias {
	a := Alias{At: At{p.cur().pos}}
	if dots {
		a.Name, _ = p.dotted()
	} else {
		a.Name, _ = p.identifier("a name to import")
	}
	if p.take("as") {
		a.As, _ = p.identifier("a name")
	}
	return a
}

func (p *parser) dotted() (string, Pos) {
	id, pos := p.identifier("a module's name")
	for p.take(".") {
		part, _ := p.identifier("a module's name")
		id += "." + part
	}
	return id, pos
}

// expressionStatement reads an expression, or an assignment of any form.
func (p *parser) expressionStatement() Stmt {
	at := At{p.cur().pos}
	if p.cur().kind == name && p.ahead(1).is(operator, ":=") {
		p.fail(p.ahead(1).pos, "assign with =, or put it into parentheses", "invalid syntax: ':=' as a statement")
	}
	first := p.starList()
	t := p.cur()
	switch {
	case p.op(":") && annotates(first):
		p.next++
		s := &AnnAssign{At: at, Target: first, Annotation: p.expression()}
		p.assignable(first, "annotate", false)
		if p.take("=") {
			s.Value = p.starList()
		}
		return s
	case t.kind == operator && len(t.text) > 1 && t.text[len(t.text)-1] == '=' && isAugmented(t.text):
		p.next++
		s := &AugAssign{At: at, Target: first, Op: t.text[:len(t.text)-1], OpPos: t.pos}
		switch first.(type) {
		case *Name, *Attribute, *Subscript:
		default:
			p.fail(first.Start(), "", "%s is no target of %s", describe(first), t.text)
		}
		s.Value = p.starList()
		return s
	case p.op("="):
		s := &Assign{At: at, Value: first}
		for p.take("=") {
			p.assignable(s.Value, "assign to", true)
			s.Targets = append(s.Targets, s.Value)
			if n := len(s.Targets); n > maxChain {
				p.chain(&n)
			}
			s.Value = p.starList()
		}
		return s
	}
	if s, ok := first.(*Starred); ok {
		p.fail(s.Pos, "put it into brackets: [*x]", "can't use starred expression here")
	}
	return &ExprStmt{at, first}
}

func annotates(e Expr) bool {
	switch e.(type) {
	case *Name, *Attribute, *Subscript:
		return true
	}
	return false
}

func isAugmented(op string) bool {
	switch op {
	case "+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|=", "^=", "<<=", ">>=":
		return true
	}
	return false
}
