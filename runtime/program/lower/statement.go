package lower

import (
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/python"
)

// statement appends what s becomes.
func (l *lowerer) statement(out []syntax.Stmt, s python.Stmt) []syntax.Stmt {
	p := s.Start()
	switch s := s.(type) {
	case *python.ExprStmt:
		if _, ok := s.Value.(*python.Str); ok {
			return out // a docstring
		}
		return append(out, l.expr(l.expression(s.Value)))
	case *python.Assign:
		return l.assignment(out, s)
	case *python.AugAssign:
		return l.augmented(out, s)
	case *python.AnnAssign:
		if s.Value == nil {
			return out
		}
		return l.store(out, p, s.Target, l.expression(s.Value))
	case *python.If:
		return append(out, l.ifThen(p, l.expression(s.Test), l.block(s.Body), l.block(s.Else)))
	case *python.While:
		return l.while(out, s)
	case *python.For:
		return l.forLoop(out, s)
	case *python.FunctionDef:
		return l.function(out, s)
	case *python.Return:
		return append(out, l.returns(p, s.Value))
	case *python.Break:
		return append(out, l.breaks(p)...)
	case *python.Continue:
		return append(out, l.continues(p)...)
	case *python.Raise:
		return append(out, l.raise(s))
	case *python.Try:
		return l.try(out, s)
	case *python.Assert:
		var args []syntax.Expr
		if s.Message != nil {
			args = append(args, l.expression(s.Message))
		}
		not := &syntax.UnaryExpr{OpPos: l.position(p), Op: syntax.NOT, X: l.expression(s.Test)}
		return append(out, l.ifThen(p, not, []syntax.Stmt{l.expr(l.call(p, Assert, args...))}, nil))
	case *python.Delete:
		for _, t := range s.Targets {
			out = append(out, l.delete(t))
		}
		return out
	case *python.Import:
		return l.imports(out, s)
	case *python.Pass, *python.Global, *python.Nonlocal:
		return out
	}
	l.fail(p, "", "this statement is not available")
	return out
}

func (l *lowerer) raise(s *python.Raise) syntax.Stmt {
	switch {
	case s.Exc == nil && l.region.caught != "":
		return l.expr(l.unary(s.Pos, Reraise, l.ident(s.Pos, l.region.caught)))
	case s.Exc == nil:
		return l.expr(l.call(s.Pos, Raise))
	}
	cause := l.none(s.Pos)
	if s.Cause != nil {
		cause = l.expression(s.Cause)
	}
	return l.expr(l.call(s.Pos, Raise, l.expression(s.Exc), cause))
}

func (l *lowerer) delete(target python.Expr) syntax.Stmt {
	p := target.Start()
	switch t := target.(type) {
	case *python.Name:
		return l.assign(p, l.variable(p, t.ID), l.helper(p, Deleted))
	case *python.Subscript:
		p = t.Bracket
		if s, ok := t.Index.(*python.Slice); ok {
			return l.expr(l.call(p, DelSlice, append([]syntax.Expr{l.expression(t.Value)}, l.bounds(s)...)...))
		}
		return l.expr(l.call(p, DelItem, l.expression(t.Value), l.expression(t.Index)))
	}
	l.fail(p, "del takes names and items", "attributes cannot be deleted")
	return l.branch(p, syntax.PASS)
}

// while keeps, for an else part, whether break ended it.
//
//	$1 = False
//	while test:
//	    … $1 = True; break …
//	if not $1: else
func (l *lowerer) while(out []syntax.Stmt, s *python.While) []syntax.Stmt {
	p := s.Pos
	out, broke := l.beginLoop(out, p, s.Else)
	test := l.expression(s.Test)
	body := l.loopBody(broke, s.Body)
	out = append(out, &syntax.WhileStmt{While: l.position(p), Cond: test, Body: l.filled(p, body)})
	return l.endLoop(out, p, broke, s.Else)
}

func (l *lowerer) forLoop(out []syntax.Stmt, s *python.For) []syntax.Stmt {
	p := s.Pos
	out, broke := l.beginLoop(out, p, s.Else)
	x, checked := l.iterable(s.Iter)
	vars, unpack := l.loopTarget(s.Target)
	body := append(unpack, l.loopBody(broke, s.Body)...)
	out = append(out, &syntax.ForStmt{For: l.position(p), Vars: vars, X: x, Body: l.filled(p, body)})
	if checked {
		out = append(out, l.expr(l.unary(s.Iter.Start(), Done, l.none(p))))
	}
	return l.endLoop(out, p, broke, s.Else)
}

func (l *lowerer) beginLoop(out []syntax.Stmt, p python.Pos, otherwise []python.Stmt) ([]syntax.Stmt, string) {
	if len(otherwise) == 0 {
		return out, ""
	}
	broke := l.temporary()
	return append(out, l.assign(p, l.ident(p, broke), l.ident(p, "False"))), broke
}

func (l *lowerer) loopBody(broke string, body []python.Stmt) []syntax.Stmt {
	r := l.region
	r.loops = append(r.loops, &loop{broke})
	out := l.block(body)
	r.loops = r.loops[:len(r.loops)-1]
	return out
}

func (l *lowerer) endLoop(out []syntax.Stmt, p python.Pos, broke string, otherwise []python.Stmt) []syntax.Stmt {
	if broke == "" {
		return out
	}
	not := &syntax.UnaryExpr{OpPos: l.position(p), Op: syntax.NOT, X: l.ident(p, broke)}
	return append(out, l.ifThen(p, not, l.block(otherwise), nil))
}

// iterable is what a loop goes over; checked tells that it may end early, with
// an error that Done raises.
func (l *lowerer) iterable(e python.Expr) (x syntax.Expr, checked bool) {
	x = l.expression(e)
	switch e := e.(type) {
	case *python.List, *python.Tuple:
		return x, false
	case *python.Call:
		if isName(e.Func, "range") && l.scope.owner("range") == nil {
			return x, false
		}
	}
	return l.unary(e.Start(), Iter, x), true
}

// loopTarget is the target of a loop: itself where Starlark's assignment is
// CPython's, else a temporary variable with the assignment behind it.
func (l *lowerer) loopTarget(target python.Expr) (syntax.Expr, []syntax.Stmt) {
	if n, ok := target.(*python.Name); ok {
		return l.variable(n.Pos, n.ID), nil
	}
	p := target.Start()
	item := l.temporary()
	return l.ident(p, item), l.store(nil, p, target, l.ident(p, item))
}

// returns leaves the function, from a region by a signal.
func (l *lowerer) returns(p python.Pos, value python.Expr) syntax.Stmt {
	v := l.none(p)
	if value != nil {
		v = l.expression(value)
	}
	if l.region.outer == nil {
		return l.ret(p, v)
	}
	l.region.returns = true
	return l.ret(p, l.unary(p, Return, v))
}

func (l *lowerer) breaks(p python.Pos) []syntax.Stmt {
	r := l.region
	out := l.forgetWithin()
	if len(r.loops) == 0 {
		r.breaks = true
		return append(out, l.ret(p, l.helper(p, Break)))
	}
	if broke := r.loops[len(r.loops)-1].broke; broke != "" {
		out = append(out, l.assign(p, l.ident(p, broke), l.ident(p, "True")))
	}
	return append(out, l.branch(p, syntax.BREAK))
}

func (l *lowerer) continues(p python.Pos) []syntax.Stmt {
	out := l.forgetWithin()
	if len(l.region.loops) == 0 {
		l.region.continues = true
		return append(out, l.ret(p, l.helper(p, Continue)))
	}
	return append(out, l.branch(p, syntax.CONTINUE))
}
