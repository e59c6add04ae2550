package python

// arguments reads those of a call, and the closing parenthesis, reference
// section 6.3.4.
func (p *parser) arguments() []Argument {
	p.enter()
	defer p.leave()
	var list []Argument
	seen := map[string]bool{}
	keywords, unpacked := false, false
	for !p.take(")") {
		a, bare := p.argument()
		switch {
		case a.Name != "":
			if seen[a.Name] {
				p.fail(a.Pos, "", "keyword argument repeated: %s", a.Name)
			}
			seen[a.Name], keywords = true, true
		case a.Star == 2:
			unpacked = true
		case a.Star == 1 && unpacked:
			p.fail(a.Pos, "", "iterable argument unpacking follows keyword argument unpacking")
		case a.Star == 0 && unpacked:
			p.fail(a.Pos, "give it a name: name=value", "positional argument follows keyword argument unpacking")
		case a.Star == 0 && keywords:
			p.fail(a.Pos, "give it a name: name=value", "positional argument follows keyword argument")
		}
		if bare && (len(list) > 0 || p.op(",") && !p.ahead(1).is(operator, ")")) {
			p.fail(a.Pos, "put it into parentheses", "Generator expression must be parenthesized")
		}
		list = append(list, a)
		if p.op(",") {
			p.next++
			continue
		}
		p.expect(")", p.separate())
		break
	}
	return list
}

// argument reads one; bare tells that it is a generator without parentheses.
func (p *parser) argument() (a Argument, bare bool) {
	t := p.cur()
	a = Argument{At: At{t.pos}}
	switch {
	case p.take("**"):
		a.Star, a.Value = 2, p.expression()
		return a, false
	case p.take("*"):
		a.Star, a.Value = 1, p.expression()
		return a, false
	case t.kind == name && p.ahead(1).is(operator, "="):
		p.next += 2
		a.Name = t.text
		if p.op(",") || p.op(")") {
			p.fail(t.pos, t.text+"=value", "expected argument value expression")
		}
		a.Value = p.expression()
		if p.beginsClauses() {
			p.fail(t.pos, "put the generator into parentheses", "invalid syntax: a generator as a named argument")
		}
		return a, false
	case t.kind == keyword && p.ahead(1).is(operator, "="):
		p.fail(t.pos, "pass it by unpacking: **{\""+t.text+"\": value}", "'%s' is a keyword, not a parameter's name", t.text)
	}
	a.Value = p.namedExpression()
	if p.beginsClauses() {
		a.Value, bare = p.comprehension(a.At, GeneratorExp, nil, a.Value), true
	}
	if eq := p.cur(); p.op("=") {
		p.fail(eq.pos, "compare with ==, or name a parameter: name=value", "expression cannot contain assignment")
	}
	return a, bare
}

// parameters reads those of def (up to a parenthesis) or lambda (up to a
// colon), reference section 8.7.
func (p *parser) parameters(stop string, annotations bool) Parameters {
	p.enter()
	defer p.leave()
	var ps Parameters
	seen := map[string]bool{}
	one := func(star bool) *Parameter {
		x := &Parameter{At: At{p.cur().pos}}
		if p.op("(") {
			p.fail(x.Pos, "take one parameter and unpack it in the body", "a parameter is a name, not a tuple")
		}
		x.Name, _ = p.identifier("a parameter's name")
		if seen[x.Name] {
			p.fail(x.Pos, "", "duplicate argument '%s' in function definition", x.Name)
		}
		seen[x.Name] = true
		if annotations && p.take(":") {
			if star {
				p.take("*")
			}
			x.Annotation = p.expression()
		}
		if p.take("=") {
			if star {
				p.fail(x.Pos, "", "a starred parameter has no default")
			}
			x.Default = p.expression()
		}
		return x
	}
	afterStar, slash := false, false
	for !p.op(stop) {
		t := p.cur()
		switch {
		case ps.Keywords != nil:
			p.fail(t.pos, "", "arguments cannot follow var-keyword argument")
		case p.take("**"):
			ps.Keywords = one(true)
		case p.op("*"):
			if afterStar {
				p.fail(t.pos, "", "* argument may appear only once")
			}
			p.next++
			afterStar = true
			if p.op(",") {
				if next := p.ahead(1); next.is(operator, stop) || next.is(operator, "**") {
					p.fail(t.pos, "", "named arguments must follow bare *")
				}
			} else if p.op(stop) {
				p.fail(t.pos, "", "named arguments must follow bare *")
			} else {
				ps.Rest = one(true)
			}
		case p.op("/"):
			if slash || afterStar || len(ps.Ordinary) == 0 {
				p.fail(t.pos, "", "'/' has to stand once, behind a parameter and before any *")
			}
			p.next++
			slash = true
			ps.PositionalOnly = len(ps.Ordinary)
		case afterStar:
			ps.KeywordOnly = append(ps.KeywordOnly, one(false))
		default:
			x := one(false)
			if n := len(ps.Ordinary); x.Default == nil && n > 0 && ps.Ordinary[n-1].Default != nil {
				p.fail(x.Pos, "put those without a default first", "non-default argument follows default argument")
			}
			ps.Ordinary = append(ps.Ordinary, x)
		}
		if !p.take(",") {
			break
		}
	}
	return ps
}
