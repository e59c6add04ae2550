package python

// targetList reads the targets of a for, up to the keyword stop.
func (p *parser) targetList(stop string) Expr {
	at := At{p.cur().pos}
	first := p.target()
	if !p.op(",") {
		return first
	}
	items := []Expr{first}
	for p.take(",") {
		if p.op(stop) {
			break
		}
		items = append(items, p.target())
	}
	return &Tuple{at, items}
}

// target reads one, without the operators of comparisons: `in` ends it.
func (p *parser) target() Expr {
	if t := p.cur(); p.take("*") {
		return &Starred{At{t.pos}, p.bitOr()}
	}
	return p.bitOr()
}

// assignable refuses what cannot be a target. verb is for messages; starred
// tells whether lists may hold one starred target.
func (p *parser) assignable(e Expr, verb string, starred bool) {
	switch e := e.(type) {
	case *Name, *Attribute, *Subscript:
		return
	case *Tuple:
		p.assignableAll(e.Items, verb)
		return
	case *List:
		p.assignableAll(e.Items, verb)
		return
	case *Starred:
		if starred {
			p.fail(e.Pos, "write *name, = values", "starred assignment target must be in a list or tuple")
		}
	}
	hint := ""
	switch e.(type) {
	case *Compare, *BoolOp, *BinOp, *Call:
		hint = "compare with =="
	}
	p.fail(e.Start(), hint, "cannot %s %s", verb, describe(e))
}

func (p *parser) assignableAll(items []Expr, verb string) {
	stars := 0
	for _, item := range items {
		if s, ok := item.(*Starred); ok {
			if stars++; stars > 1 {
				p.fail(s.Pos, "", "multiple starred expressions in assignment")
			}
			item = s.Value
		}
		p.assignable(item, verb, true)
	}
}

// describe names an expression as CPython's messages do.
func describe(e Expr) string {
	switch e := e.(type) {
	case *Name:
		return "name"
	case *Attribute:
		return "attribute"
	case *Subscript:
		return "subscript"
	case *Call, *Await:
		return "function call"
	case *Compare:
		return "comparison"
	case *BoolOp, *BinOp, *UnaryOp:
		return "expression"
	case *Constant:
		return e.Value
	case *Str, *Bytes, *Int, *Float:
		return "literal"
	case *JoinedStr, *FormattedValue:
		return "f-string expression"
	case *Dict:
		return "dict literal"
	case *Set:
		return "set display"
	case *List:
		return "list"
	case *Tuple:
		return "tuple"
	case *Lambda:
		return "lambda"
	case *IfExp:
		return "conditional expression"
	case *NamedExpr:
		return "named expression"
	case *Comprehension:
		switch e.Kind {
		case SetComp:
			return "set comprehension"
		case DictComp:
			return "dict comprehension"
		case GeneratorExp:
			return "generator expression"
		}
		return "list comprehension"
	case *Starred:
		return "starred"
	}
	return "expression"
}
