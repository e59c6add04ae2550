package python

// The levels of the reference, section 6.17, from the loosest on.

// starList reads one or more expressions, starred ones among them; with a
// comma it is a tuple.
func (p *parser) starList() Expr {
	at := At{p.cur().pos}
	first := p.starOrNamed()
	if !p.op(",") {
		return first
	}
	items := []Expr{first}
	for p.take(",") {
		if p.endsList() {
			break
		}
		items = append(items, p.starOrNamed())
	}
	return &Tuple{at, items}
}

// endsList tells whether a comma was the last of its list.
func (p *parser) endsList() bool {
	switch t := p.cur(); t.kind {
	case newline, endOfFile, dedent, fstringEnd, fstringText:
		return true
	case operator:
		switch t.text {
		case ")", "]", "}", "=", ":", ";", "!":
			return true
		}
		return isAugmented(t.text)
	case keyword:
		return t.text == "in"
	}
	return false
}

func (p *parser) starOrNamed() Expr {
	if t := p.cur(); p.take("*") {
		return &Starred{At{t.pos}, p.bitOr()}
	}
	return p.namedExpression()
}

// namedExpression reads an expression or `name := expression`.
func (p *parser) namedExpression() Expr {
	t := p.cur()
	if t.kind == name && p.ahead(1).is(operator, ":=") {
		p.next += 2
		return &NamedExpr{At{t.pos}, &Name{At{t.pos}, t.text}, p.expression()}
	}
	e := p.expression()
	if p.op(":=") {
		p.fail(e.Start(), "write name := value", "cannot use := with %s", describe(e))
	}
	return e
}

// expression reads a lambda or a conditional expression.
func (p *parser) expression() Expr {
	p.enter()
	defer p.leave()
	t := p.cur()
	switch {
	case t.is(keyword, "lambda"):
		return p.lambda()
	case t.is(keyword, "yield"):
		p.fail(t.pos, "append to a list and return it", "yield is not available")
	}
	e := p.or()
	if !p.take("if") {
		return e
	}
	test := p.or()
	p.expect("else", "a conditional expression needs both: a if test else b")
	return &IfExp{At{t.pos}, test, e, p.expression()}
}

func (p *parser) lambda() Expr {
	at := At{p.cur().pos}
	p.next++
	parameters := p.parameters(":", false)
	p.expect(":", "lambda x: …")
	return &Lambda{at, parameters, p.expression()}
}

func (p *parser) or() Expr {
	at := At{p.cur().pos}
	first := p.and()
	if !p.op("or") {
		p.foreign("|", "or")
		return first
	}
	b := &BoolOp{At: at, Op: "or", Values: []Expr{first}}
	for n := 0; p.take("or"); p.chain(&n) {
		b.Values = append(b.Values, p.and())
	}
	return b
}

func (p *parser) and() Expr {
	at := At{p.cur().pos}
	first := p.not()
	if !p.op("and") {
		p.foreign("&", "and")
		return first
	}
	b := &BoolOp{At: at, Op: "and", Values: []Expr{first}}
	for n := 0; p.take("and"); p.chain(&n) {
		b.Values = append(b.Values, p.not())
	}
	return b
}

// foreign refuses && and ||.
func (p *parser) foreign(op, word string) {
	if t := p.cur(); t.is(operator, op) && p.ahead(1).is(operator, op) {
		p.fail(t.pos, "write "+word, "invalid syntax: '%s%s'", op, op)
	}
}

func (p *parser) not() Expr {
	if t := p.cur(); p.take("not") {
		p.enter()
		defer p.leave()
		return &UnaryOp{At{t.pos}, "not", p.not()}
	}
	return p.comparison()
}

func (p *parser) comparison() Expr {
	at := At{p.cur().pos}
	left := p.bitOr()
	var c *Compare
	for n := 0; ; p.chain(&n) {
		t := p.cur()
		op := p.comparator()
		if op == "" {
			break
		}
		if c == nil {
			c = &Compare{At: at, Left: left}
		}
		c.Ops, c.OpPos = append(c.Ops, op), append(c.OpPos, t.pos)
		c.Rights = append(c.Rights, p.bitOr())
	}
	if c == nil {
		return left
	}
	return c
}

// comparator steps over one, if it stands here.
func (p *parser) comparator() string {
	t := p.cur()
	switch t.kind {
	case operator:
		switch t.text {
		case "<", "<=", ">", ">=", "==", "!=":
			p.next++
			return t.text
		}
	case keyword:
		switch t.text {
		case "in":
			p.next++
			return "in"
		case "not":
			if p.ahead(1).is(keyword, "in") {
				p.next += 2
				return "not in"
			}
		case "is":
			p.next++
			if p.take("not") {
				return "is not"
			}
			return "is"
		}
	}
	return ""
}

// bitOr and what binds tighter: binary operators, all from left to right.
func (p *parser) bitOr() Expr { return p.binary(0) }

// level returns how tightly a binary operator binds, or -1.
func level(op string) int {
	switch op {
	case "|":
		return 0
	case "^":
		return 1
	case "&":
		return 2
	case "<<", ">>":
		return 3
	case "+", "-":
		return 4
	case "*", "/", "//", "%":
		return 5
	}
	return -1
}

func (p *parser) binary(least int) Expr {
	at := At{p.cur().pos}
	left := p.unary()
	for n := 0; ; {
		t := p.cur()
		if t.kind != operator {
			return left
		}
		if t.text == "@" {
			p.fail(t.pos, "multiply in loops", "matrix multiplication is not available")
		}
		here := level(t.text)
		if here < least || (t.text == "|" || t.text == "&") && p.ahead(1).is(operator, t.text) {
			return left
		}
		p.next++
		left = &BinOp{At: at, Left: left, Op: t.text, OpPos: t.pos, Right: p.binary(here + 1)}
		p.chain(&n)
	}
}

func (p *parser) unary() Expr {
	t := p.cur()
	if t.kind == operator && (t.text == "-" || t.text == "+" || t.text == "~") {
		p.enter()
		defer p.leave()
		p.next++
		if before := &p.tokens[max(p.next-2, 0)]; p.endsStatement() && before.is(operator, t.text) && before.end == t.start {
			p.fail(before.pos, "write "+t.text+"= 1", "'%s%s' is not an operator", t.text, t.text)
		}
		return &UnaryOp{At{t.pos}, t.text, p.unary()}
	}
	return p.power()
}

// power binds tighter than a sign on its left, looser than one on its right.
func (p *parser) power() Expr {
	at := At{p.cur().pos}
	base := p.await()
	t := p.cur()
	if !p.take("**") {
		return base
	}
	p.enter()
	defer p.leave()
	return &BinOp{At: at, Left: base, Op: "**", OpPos: t.pos, Right: p.unary()}
}

func (p *parser) await() Expr {
	if t := p.cur(); p.take("await") {
		return &Await{At{t.pos}, p.primary()}
	}
	return p.primary()
}

// primary reads an atom with its attributes, calls and subscripts.
func (p *parser) primary() Expr {
	at := At{p.cur().pos}
	e := p.atom()
	for n := 0; ; p.chain(&n) {
		t := p.cur()
		switch {
		case p.take("."):
			a := &Attribute{At: at, Value: e}
			if w := p.cur(); w.kind == keyword {
				p.fail(w.pos, `a record's field is also read as r["`+w.text+`"]`, "'%s' is a keyword, not an attribute's name", w.text)
			}
			a.Name, a.NamePos = p.identifier("an attribute's name")
			e = a
		case p.op("("):
			p.next++
			e = &Call{At: at, Func: e, Paren: t.pos, Arguments: p.arguments()}
		case p.op("["):
			p.next++
			e = &Subscript{At: at, Value: e, Bracket: t.pos, Index: p.subscript()}
		default:
			return e
		}
	}
}

// subscript reads what stands in brackets, and the closing one.
func (p *parser) subscript() Expr {
	p.enter()
	defer p.leave()
	at := At{p.cur().pos}
	if p.op("]") {
		p.fail(at.Pos, "x[0], x[1:3], x[:] …", "expected an index")
	}
	first := p.sliceOrIndex()
	if _, starred := first.(*Starred); !p.op(",") && !starred {
		p.expect("]", "")
		return first
	}
	items := []Expr{first}
	for p.take(",") {
		if p.op("]") {
			break
		}
		items = append(items, p.sliceOrIndex())
	}
	p.expect("]", "")
	return &Tuple{at, items}
}

func (p *parser) sliceOrIndex() Expr {
	s := &Slice{At: At{p.cur().pos}}
	if !p.op(":") {
		e := p.starOrNamed()
		if !p.op(":") {
			return e
		}
		s.Low = e
	}
	p.next++
	ends := func() bool { return p.op("]") || p.op(",") }
	if !p.op(":") && !ends() {
		s.High = p.expression()
	}
	if p.take(":") && !ends() {
		s.Step = p.expression()
	}
	return s
}
