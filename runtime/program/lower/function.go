package lower

import (
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/python"
)

// function lowers def and async def.
func (l *lowerer) function(out []syntax.Stmt, s *python.FunctionDef) []syntax.Stmt {
	p := s.NamePos
	// Decorators are evaluated before the defaults.
	decorators := make([]string, len(s.Decorators))
	for i, d := range s.Decorators {
		decorators[i] = l.temporary()
		out = append(out, l.assign(d.Start(), l.ident(d.Start(), decorators[i]), l.expression(d)))
	}
	parameters := l.parameters(&s.Parameters)
	scope, outer := l.scope, l.region
	l.scope, l.region = l.scopes.of[s], &region{}
	body := append(l.cells(p, all(&s.Parameters)), l.block(s.Body)...)
	l.scope, l.region = scope, outer
	out = append(out, l.def(p, s.Name, parameters, body))
	var value syntax.Expr = l.ident(p, s.Name)
	target := l.variable(p, s.Name)
	if id, plain := target.(*syntax.Ident); plain && id.Name == s.Name && !s.Async && len(s.Decorators) == 0 {
		return out
	}
	if s.Async {
		value = l.unary(p, Async, value)
	}
	for i := len(s.Decorators) - 1; i >= 0; i-- {
		d := s.Decorators[i]
		value = &syntax.CallExpr{Fn: l.ident(d.Start(), decorators[i]), Lparen: l.position(d.Start()), Args: []syntax.Expr{value}, Rparen: l.position(p)}
	}
	return append(out, l.assign(p, target, value))
}

// lambda keeps its own := in cells that a function around it makes:
//
//	lambda x: (lambda $n: body)($cell - "n")
func (l *lowerer) lambdaExpr(e *python.Lambda) syntax.Expr {
	p := e.Pos
	parameters := l.parameters(&e.Parameters)
	scope, outer := l.scope, l.region
	l.scope, l.region = l.scopes.of[e], &region{}
	body := l.expression(e.Body)
	var names []string
	var cells []syntax.Expr
	for _, name := range l.scope.order {
		if !l.scope.boxed[name] {
			continue
		}
		names = append(names, l.scope.cell(name))
		cell := l.unary(p, Cell, l.text(p, name))
		for _, x := range all(&e.Parameters) {
			if x.Name == name {
				cell = l.binary(p, Filled, l.text(p, name), l.ident(p, l.scope.parameter(name)))
			}
		}
		cells = append(cells, cell)
	}
	l.scope, l.region = scope, outer
	if names != nil {
		at := l.position(p)
		body = &syntax.CallExpr{Fn: l.lambda(p, body, names...), Lparen: at, Args: cells, Rparen: at}
	}
	return &syntax.LambdaExpr{Lambda: l.position(p), Params: parameters, Body: body}
}

// parameters are those of a function, defaults lowered in the scope around.
func (l *lowerer) parameters(ps *python.Parameters) []syntax.Expr {
	var out []syntax.Expr
	one := func(x *python.Parameter, mark string) syntax.Expr {
		id := l.ident(x.Pos, x.Name+mark)
		if x.Default == nil {
			return id
		}
		return &syntax.BinaryExpr{X: id, OpPos: id.NamePos, Op: syntax.EQ, Y: l.expression(x.Default)}
	}
	star := func(x *python.Parameter, op syntax.Token) syntax.Expr {
		u := &syntax.UnaryExpr{Op: op}
		if x != nil {
			id := l.ident(x.Pos, x.Name)
			u.OpPos, u.X = id.NamePos, id
		} else {
			u.OpPos = l.position(ps.KeywordOnly[0].Pos)
		}
		return u
	}
	for i, x := range ps.Ordinary {
		mark := ""
		if i < ps.PositionalOnly {
			mark = PositionalMark
		}
		out = append(out, one(x, mark))
	}
	if ps.Rest != nil || len(ps.KeywordOnly) > 0 {
		out = append(out, star(ps.Rest, syntax.STAR))
	}
	for _, x := range ps.KeywordOnly {
		out = append(out, one(x, ""))
	}
	if ps.Keywords != nil {
		out = append(out, star(ps.Keywords, syntax.STARSTAR))
	}
	return out
}
