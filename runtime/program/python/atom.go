package python

// atom reads names, literals and displays, reference section 6.2.
func (p *parser) atom() Expr {
	t := p.cur()
	at := At{t.pos}
	switch t.kind {
	case name:
		p.next++
		return &Name{at, t.text}
	case integerLiteral:
		p.next++
		return &Int{at, t.small, t.integer}
	case floatLiteral:
		p.next++
		return &Float{at, t.float}
	case stringLiteral, bytesLiteral, fstringStart:
		return p.text()
	case keyword:
		switch t.text {
		case "True", "False", "None":
			p.next++
			return &Constant{at, t.text}
		}
		p.fail(t.pos, "", "invalid syntax: '%s' where a value is expected", t.text)
	case operator:
		switch t.text {
		case "(", "[", "{":
			p.enter()
			defer p.leave()
			p.next++
			switch t.text {
			case "(":
				return p.parenthesis(at)
			case "[":
				return p.list(at)
			}
			return p.braces(at)
		case "...":
			p.next++
			return &Constant{at, "Ellipsis"}
		case "!":
			p.fail(t.pos, "write not", "invalid syntax: '!'")
		}
		p.fail(t.pos, "", "invalid syntax: '%s' where a value is expected", t.text)
	}
	p.fail(t.pos, "", "expected a value%s", p.found())
	return nil
}

// parenthesis reads a value in parentheses, a tuple or a generator.
func (p *parser) parenthesis(at At) Expr {
	if p.take(")") {
		return &Tuple{at, nil}
	}
	first := p.starOrNamed()
	if p.beginsClauses() {
		g := p.comprehension(at, GeneratorExp, nil, first)
		p.expect(")", "")
		return g
	}
	if !p.op(",") {
		p.expect(")", p.separate())
		if s, ok := first.(*Starred); ok {
			p.fail(s.Pos, "a tuple of one has a comma: (*x,)", "cannot use starred expression here")
		}
		return first
	}
	items := []Expr{first}
	for p.take(",") {
		if p.op(")") {
			break
		}
		items = append(items, p.starOrNamed())
	}
	p.expect(")", p.separate())
	return &Tuple{at, items}
}

// separate is the hint where a comma was probably forgotten.
func (p *parser) separate() string {
	switch t := p.cur(); t.kind {
	case name, integerLiteral, floatLiteral, stringLiteral, bytesLiteral, fstringStart:
		return "perhaps a comma is missing before it"
	case operator:
		if t.text == "=" {
			return "compare with =="
		}
	}
	return ""
}

func (p *parser) list(at At) Expr {
	l := &List{At: at}
	if p.take("]") {
		return l
	}
	first := p.starOrNamed()
	if p.beginsClauses() {
		c := p.comprehension(at, ListComp, nil, first)
		p.expect("]", "")
		return c
	}
	l.Items = append(l.Items, first)
	for p.take(",") {
		if p.op("]") {
			break
		}
		l.Items = append(l.Items, p.starOrNamed())
	}
	p.expect("]", p.separate())
	return l
}

// braces reads a dict, a set or a comprehension of either.
func (p *parser) braces(at At) Expr {
	if p.take("}") {
		return &Dict{At: at}
	}
	if p.op("**") {
		return p.dict(&Dict{At: at})
	}
	first := p.starOrNamed()
	if p.op(":") {
		p.next++
		value := p.expression()
		if p.beginsClauses() {
			c := p.comprehension(at, DictComp, first, value)
			p.expect("}", "")
			return c
		}
		d := &Dict{At: at, Keys: []Expr{first}, Values: []Expr{value}}
		if !p.take(",") {
			p.expect("}", p.separate())
			return d
		}
		return p.dict(d)
	}
	if p.beginsClauses() {
		c := p.comprehension(at, SetComp, nil, first)
		p.expect("}", "")
		return c
	}
	s := &Set{At: at, Items: []Expr{first}}
	for p.take(",") {
		if p.op("}") {
			break
		}
		s.Items = append(s.Items, p.starOrNamed())
	}
	p.expect("}", p.separate())
	return s
}

// dict reads the rest of a dict display.
func (p *parser) dict(d *Dict) Expr {
	for !p.take("}") {
		if p.take("**") {
			d.Keys, d.Values = append(d.Keys, nil), append(d.Values, p.bitOr())
		} else {
			key := p.expression()
			if p.op("=") {
				p.fail(p.cur().pos, "write key: value", "expected ':' after a dict's key, not '='")
			}
			p.expect(":", "write key: value")
			d.Keys, d.Values = append(d.Keys, key), append(d.Values, p.expression())
		}
		if !p.take(",") {
			p.expect("}", p.separate())
			return d
		}
	}
	return d
}

func (p *parser) beginsClauses() bool {
	return p.op("for") || p.op("async") && p.ahead(1).is(keyword, "for")
}

// comprehension reads the clauses behind what they make.
func (p *parser) comprehension(at At, kind ComprehensionKind, key, value Expr) Expr {
	if s, ok := value.(*Starred); ok {
		p.fail(s.Pos, "write a second for instead", "iterable unpacking cannot be used in comprehension")
	}
	c := &Comprehension{At: at, Kind: kind, Key: key, Value: value}
	for n := 0; p.beginsClauses(); p.chain(&n) {
		clause := Clause{At: At{p.cur().pos}, Async: p.take("async")}
		p.expect("for", "")
		clause.Target = p.targetList("in")
		p.assignable(clause.Target, "assign to", true)
		p.expect("in", "for item in items")
		clause.Iter = p.or()
		for p.take("if") {
			condition := p.clauseCondition()
			clause.Conditions = append(clause.Conditions, condition)
			p.chain(&n)
		}
		if p.op("else") {
			p.fail(p.cur().pos, "put the choice before for: [a if test else b for …]", "a comprehension's if takes no else")
		}
		c.Clauses = append(c.Clauses, clause)
	}
	return c
}

func (p *parser) clauseCondition() Expr {
	t := p.cur()
	if t.kind == name && p.ahead(1).is(operator, ":=") {
		return p.namedExpression()
	}
	if t.is(keyword, "lambda") {
		return p.lambda()
	}
	return p.or()
}
