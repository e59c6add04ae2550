package lower

import (
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/python"
)

// comprehension lowers all four. Those that build something at once are
// Starlark's, with Done around them where an iteration may end early.
func (l *lowerer) comprehension(e *python.Comprehension) syntax.Expr {
	p := e.Pos
	first, checked := l.iterable(e.Clauses[0].Iter)
	outer := l.scope
	l.scope = l.scopes.of[e]
	defer func() { l.scope = outer }()
	if e.Kind == python.GeneratorExp {
		return l.generator(e, 0, first)
	}
	c := &syntax.Comprehension{Lbrack: l.position(p), Rbrack: l.position(p)}
	for i := range e.Clauses {
		clause := &e.Clauses[i]
		x := first
		if i > 0 {
			var may bool
			x, may = l.iterable(clause.Iter)
			checked = checked || may
		}
		c.Clauses = l.clause(c.Clauses, clause, x)
	}
	if e.Kind == python.DictComp {
		at := l.position(e.Key.Start())
		c.Body = &syntax.TupleExpr{Lparen: at, List: []syntax.Expr{l.expression(e.Key), l.expression(e.Value)}, Rparen: at}
	} else {
		c.Body = l.expression(e.Value)
	}
	var out syntax.Expr = c
	if checked {
		out = l.unary(p, Done, out)
	}
	switch e.Kind {
	case python.SetComp:
		out = l.unary(p, SetOf, out)
	case python.DictComp:
		out = l.unary(p, DictOf, out)
	}
	return out
}

// clause appends `for target in x if …`.
func (l *lowerer) clause(out []syntax.Node, clause *python.Clause, x syntax.Expr) []syntax.Node {
	out = l.forClause(out, clause.Pos, clause.Target, x)
	for _, condition := range clause.Conditions {
		out = append(out, &syntax.IfClause{If: l.position(condition.Start()), Cond: l.expression(condition)})
	}
	return out
}

// forClause takes elements apart by more clauses:
//
//	for $1 in x for (a, $2) in [$unpack($1, 2, -1)] for (b, c) in [$unpack($2, 2, -1)]
func (l *lowerer) forClause(out []syntax.Node, p python.Pos, target python.Expr, x syntax.Expr) []syntax.Node {
	at := l.position(p)
	if n, ok := target.(*python.Name); ok {
		return append(out, &syntax.ForClause{For: at, Vars: l.variable(n.Pos, n.ID), In: at, X: x})
	}
	item := l.temporary()
	out = append(out, &syntax.ForClause{For: at, Vars: l.ident(p, item), In: at, X: x})
	if items, ok := sequence(target); ok {
		return l.takeApart(out, target.Start(), items, item)
	}
	return l.storeClause(out, target, item)
}

// storeClause assigns to an item, a slice or an attribute by a condition that
// always holds.
func (l *lowerer) storeClause(out []syntax.Node, target python.Expr, item string) []syntax.Node {
	var stored syntax.Expr
	p := target.Start()
	switch t := target.(type) {
	case *python.Subscript:
		p = t.Bracket
		if s, ok := t.Index.(*python.Slice); ok {
			args := append([]syntax.Expr{l.expression(t.Value)}, l.bounds(s)...)
			stored = l.call(p, SetSlice, append(args, l.ident(p, item))...)
			break
		}
		stored = l.call(p, SetItem, l.expression(t.Value), l.expression(t.Index), l.ident(p, item))
	case *python.Attribute:
		p = t.NamePos
		stored = l.call(p, SetAttr, l.expression(t.Value), l.text(p, t.Name), l.ident(p, item))
	default:
		l.fail(p, "", "this is no target of an assignment")
		return out
	}
	return append(out, &syntax.IfClause{If: l.position(p), Cond: l.binary(p, Is, stored, l.none(p))})
}

func sequence(target python.Expr) ([]python.Expr, bool) {
	switch t := target.(type) {
	case *python.Tuple:
		return t.Items, true
	case *python.List:
		return t.Items, true
	}
	return nil, false
}

func (l *lowerer) takeApart(out []syntax.Node, p python.Pos, items []python.Expr, item string) []syntax.Node {
	at := l.position(p)
	star := -1
	vars := &syntax.TupleExpr{Lparen: at, Rparen: at}
	type part struct {
		target python.Expr
		name   string
	}
	var parts []part
	for i, e := range items {
		if s, ok := e.(*python.Starred); ok {
			star, e = i, s.Value
		}
		if n, ok := e.(*python.Name); ok {
			vars.List = append(vars.List, l.variable(n.Pos, n.ID))
			continue
		}
		name := l.temporary()
		vars.List = append(vars.List, l.ident(p, name))
		parts = append(parts, part{e, name})
	}
	unpacked := l.call(p, Unpack, l.ident(p, item), l.int(p, len(items)), l.int(p, star))
	out = append(out, &syntax.ForClause{For: at, Vars: vars, In: at, X: &syntax.ListExpr{Lbrack: at, List: []syntax.Expr{unpacked}, Rbrack: at}})
	for _, x := range parts {
		if inner, ok := sequence(x.target); ok {
			out = l.takeApart(out, p, inner, x.name)
		} else {
			out = l.storeClause(out, x.target, x.name)
		}
	}
	return out
}

// generator is lazy: a function makes of each element a value, Skip, or the
// generator of the next clause.
//
//	$generator(x, lambda a: value if condition else $skip, -1)
//
// A target that is no name is taken apart by a list comprehension:
//
//	$generator(x, lambda $1: [… for (a, b) in [$unpack($1, 2, -1)]][0], -1)
func (l *lowerer) generator(e *python.Comprehension, i int, x syntax.Expr) syntax.Expr {
	clause := &e.Clauses[i]
	p := clause.Pos
	var value syntax.Expr
	if i+1 < len(e.Clauses) {
		next, _ := l.iterable(e.Clauses[i+1].Iter)
		value = l.generator(e, i+1, next)
	} else {
		value = l.expression(e.Value)
	}
	for n := len(clause.Conditions) - 1; n >= 0; n-- {
		c := clause.Conditions[n]
		at := l.position(c.Start())
		value = &syntax.CondExpr{If: at, Cond: l.expression(c), True: value, ElsePos: at, False: l.helper(c.Start(), Skip)}
	}
	last := l.ident(p, "False")
	if i+1 < len(e.Clauses) {
		last = l.ident(p, "True")
	}
	if n, ok := clause.Target.(*python.Name); ok {
		return l.call(p, Generator, x, l.lambda(p, value, n.ID), last)
	}
	item := l.temporary()
	at := l.position(p)
	apart := &syntax.Comprehension{Lbrack: at, Body: value, Rbrack: at}
	apart.Clauses = l.forClause(nil, p, clause.Target, &syntax.ListExpr{Lbrack: at, List: []syntax.Expr{l.ident(p, item)}, Rbrack: at})
	body := &syntax.IndexExpr{X: apart, Lbrack: at, Y: l.int(p, 0), Rbrack: at}
	return l.call(p, Generator, x, l.lambda(p, body, item), last)
}
