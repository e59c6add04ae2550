package lower

import (
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/python"
)

// assignment evaluates the value once, then assigns from left to right.
func (l *lowerer) assignment(out []syntax.Stmt, s *python.Assign) []syntax.Stmt {
	if len(s.Targets) == 1 {
		if out, ok := l.pairwise(out, s); ok {
			return out
		}
		return l.store(out, s.Pos, s.Targets[0], l.expression(s.Value))
	}
	value := l.temporary()
	out = append(out, l.assign(s.Pos, l.ident(s.Pos, value), l.expression(s.Value)))
	for _, t := range s.Targets {
		out = l.store(out, t.Start(), t, l.ident(t.Start(), value))
	}
	return out
}

// pairwise assigns a, b = x, y as Starlark does, where it is the same.
func (l *lowerer) pairwise(out []syntax.Stmt, s *python.Assign) ([]syntax.Stmt, bool) {
	values, ok := s.Value.(*python.Tuple)
	names, isTuple := s.Targets[0].(*python.Tuple)
	if !ok || !isTuple || len(values.Items) != len(names.Items) || !plainNames(names.Items) || starred(values.Items) {
		return nil, false
	}
	target := &syntax.TupleExpr{Lparen: l.position(names.Pos), Rparen: l.position(names.Pos)}
	for _, n := range names.Items {
		target.List = append(target.List, l.variable(n.Start(), n.(*python.Name).ID))
	}
	return append(out, l.assign(s.Pos, target, l.expression(values))), true
}

func plainNames(items []python.Expr) bool {
	for _, e := range items {
		if _, ok := e.(*python.Name); !ok {
			return false
		}
	}
	return true
}

func starred(items []python.Expr) bool {
	for _, e := range items {
		if _, ok := e.(*python.Starred); ok {
			return true
		}
	}
	return false
}

// store assigns value, which is evaluated first, to a target of any form.
func (l *lowerer) store(out []syntax.Stmt, p python.Pos, target python.Expr, value syntax.Expr) []syntax.Stmt {
	switch t := target.(type) {
	case *python.Name:
		return append(out, l.assign(p, l.variable(t.Pos, t.ID), value))
	case *python.Tuple:
		return l.unpack(out, t.Pos, t.Items, value)
	case *python.List:
		return l.unpack(out, t.Pos, t.Items, value)
	}
	// CPython evaluates the value before the parts of the target, and so does
	// Starlark.
	if t, ok := target.(*python.Subscript); ok {
		if _, slice := t.Index.(*python.Slice); !slice {
			return append(out, l.assign(p, l.item(t.Bracket, l.expression(t.Value), l.expression(t.Index)), value))
		}
	}
	held := l.temporary()
	out = append(out, l.assign(p, l.ident(p, held), value))
	switch t := target.(type) {
	case *python.Subscript:
		args := append([]syntax.Expr{l.expression(t.Value)}, l.bounds(t.Index.(*python.Slice))...)
		return append(out, l.expr(l.call(t.Bracket, SetSlice, append(args, l.ident(p, held))...)))
	case *python.Attribute:
		return append(out, l.expr(l.call(t.NamePos, SetAttr, l.expression(t.Value), l.text(t.NamePos, t.Name), l.ident(p, held))))
	}
	l.fail(target.Start(), "", "this is no target of an assignment")
	return out
}

// unpack takes value apart.
//
//	($1, $2) = $unpack(value, 2, -1)
//
// where names that are no cells stand for themselves.
func (l *lowerer) unpack(out []syntax.Stmt, p python.Pos, items []python.Expr, value syntax.Expr) []syntax.Stmt {
	star := -1
	targets := &syntax.TupleExpr{Lparen: l.position(p), Rparen: l.position(p)}
	// Targets are assigned from left to right: behind one whose parts are
	// evaluated, a name has to wait, for those parts may read it.
	var later []func([]syntax.Stmt) []syntax.Stmt
	for i, item := range items {
		if s, ok := item.(*python.Starred); ok {
			star, item = i, s.Value
		}
		at := item.Start()
		if n, ok := item.(*python.Name); ok && later == nil {
			targets.List = append(targets.List, l.variable(at, n.ID))
			continue
		}
		part := l.temporary()
		targets.List = append(targets.List, l.ident(at, part))
		later = append(later, func(out []syntax.Stmt) []syntax.Stmt {
			return l.store(out, at, item, l.ident(at, part))
		})
	}
	parts := l.call(p, Unpack, value, l.int(p, len(items)), l.int(p, star))
	if len(items) == 0 {
		out = append(out, l.expr(parts))
	} else {
		out = append(out, l.assign(p, targets, parts))
	}
	for _, f := range later {
		out = f(out)
	}
	return out
}

// augmented evaluates the parts of the target once.
func (l *lowerer) augmented(out []syntax.Stmt, s *python.AugAssign) []syntax.Stmt {
	helper := operator(s.Op) + InPlace
	switch t := s.Target.(type) {
	case *python.Name:
		v := l.binary(s.OpPos, helper, l.variable(t.Pos, t.ID), l.expression(s.Value))
		return append(out, l.assign(s.OpPos, l.variable(t.Pos, t.ID), v))
	case *python.Subscript:
		p := t.Bracket
		x, i := l.temporary(), l.temporary()
		out = append(out, l.assign(p, l.ident(p, x), l.expression(t.Value)))
		if slice, ok := t.Index.(*python.Slice); ok {
			bounds := l.bounds(slice)
			low, high, step := l.temporary(), l.temporary(), l.temporary()
			for n, name := range []string{low, high, step} {
				out = append(out, l.assign(p, l.ident(p, name), bounds[n]))
			}
			at := func() []syntax.Expr {
				return []syntax.Expr{l.ident(p, x), l.ident(p, low), l.ident(p, high), l.ident(p, step)}
			}
			v := l.binary(s.OpPos, helper, l.call(p, Slice, at()...), l.expression(s.Value))
			return append(out, l.expr(l.call(p, SetSlice, append(at(), v)...)))
		}
		out = append(out, l.assign(p, l.ident(p, i), l.expression(t.Index)))
		v := l.binary(s.OpPos, helper, l.binary(p, Index, l.ident(p, x), l.ident(p, i)), l.expression(s.Value))
		return append(out, l.assign(s.OpPos, l.item(p, l.ident(p, x), l.ident(p, i)), v))
	case *python.Attribute:
		p := t.NamePos
		x := l.temporary()
		out = append(out, l.assign(p, l.ident(p, x), l.expression(t.Value)))
		v := l.binary(s.OpPos, helper, l.call(p, Attr, l.ident(p, x), l.text(p, t.Name)), l.expression(s.Value))
		return append(out, l.expr(l.call(p, SetAttr, l.ident(p, x), l.text(p, t.Name), v)))
	}
	l.fail(s.Target.Start(), "", "this is no target of %s=", s.Op)
	return out
}

// bounds are the parts of a slice, None where one is left out.
func (l *lowerer) bounds(s *python.Slice) []syntax.Expr {
	out := make([]syntax.Expr, 3)
	for i, e := range []python.Expr{s.Low, s.High, s.Step} {
		out[i] = l.none(s.Pos)
		if e != nil {
			out[i] = l.expression(e)
		}
	}
	return out
}

// item is x[i] as a target.
func (l *lowerer) item(p python.Pos, x, i syntax.Expr) syntax.Expr {
	at := l.position(p)
	return &syntax.IndexExpr{X: l.unary(p, Set, x), Lbrack: at, Y: i, Rbrack: at}
}
