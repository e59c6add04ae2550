package lower

import (
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/python"
)

// callExpr lowers a call: of a method, of a capability, or of any value.
func (l *lowerer) callExpr(e *python.Call) syntax.Expr {
	if l.isGather(e) {
		return l.gather(e)
	}
	l.useCalled(e)
	out := &syntax.CallExpr{Lparen: l.position(e.Paren), Rparen: l.position(e.Paren)}
	if a, ok := e.Func.(*python.Attribute); ok && !l.isCapability(a) {
		out.Fn = l.helper(a.NamePos, Method+a.Name)
		receiver := l.expression(a.Value)
		if mayFail(e.Arguments) {
			receiver = l.unary(a.NamePos, Having+a.Name, receiver)
		}
		out.Args = append(out.Args, receiver)
	} else if ok {
		out.Fn = l.capability(a)
	} else {
		out.Fn = l.expression(e.Func)
	}
	out.Args = append(out.Args, l.arguments(e.Paren, e.Arguments)...)
	return out
}

// mayFail tells whether evaluating an argument can raise or do something.
func mayFail(list []python.Argument) bool {
	for _, a := range list {
		switch a.Value.(type) {
		case *python.Name, *python.Constant, *python.Str, *python.Int, *python.Float, *python.Lambda:
		default:
			return true
		}
	}
	return false
}

// arguments are in Starlark's order: positional, named, *, **. What stands
// behind a first star goes into one list, and behind a first double star into
// one dict.
func (l *lowerer) arguments(p python.Pos, list []python.Argument) []syntax.Expr {
	var positional, named []syntax.Expr
	var items, keys, values []python.Expr
	star, stars := false, false
	for _, a := range list {
		stars = stars || a.Star == 2 // one dict for all that is named: no name twice
	}
	for _, a := range list {
		switch {
		case a.Star == 1:
			star = true
			items = append(items, &python.Starred{At: a.At, Value: a.Value})
		case a.Star == 2:
			stars = true
			keys, values = append(keys, nil), append(values, a.Value)
		case a.Name != "" && stars:
			keys, values = append(keys, &python.Str{At: a.At, Value: a.Name}), append(values, a.Value)
		case a.Name != "":
			named = append(named, &syntax.BinaryExpr{X: l.ident(a.Pos, a.Name), OpPos: l.position(a.Pos), Op: syntax.EQ, Y: l.expression(a.Value)})
		case star:
			items = append(items, a.Value)
		default:
			positional = append(positional, l.expression(a.Value))
		}
	}
	out := append(positional, named...)
	if star {
		var x syntax.Expr
		if s, ok := items[0].(*python.Starred); ok && len(items) == 1 {
			x = l.unary(s.Pos, Spread, l.expression(s.Value))
		} else {
			x = l.display(items[0].Start(), MakeList, items)
		}
		out = append(out, &syntax.UnaryExpr{OpPos: l.position(p), Op: syntax.STAR, X: x})
	}
	if stars {
		var x syntax.Expr
		if len(values) == 1 && keys[0] == nil {
			x = l.unary(values[0].Start(), SpreadNamed, l.expression(values[0]))
		} else {
			x = l.pairs(values[0].Start(), MakeKwargs, keys, values)
		}
		out = append(out, &syntax.UnaryExpr{OpPos: l.position(p), Op: syntax.STARSTAR, X: x})
	}
	return out
}

// isCapability tells whether a is a dotted name that begins with a namespace
// that no variable hides.
func (l *lowerer) isCapability(a *python.Attribute) bool {
	for {
		switch x := a.Value.(type) {
		case *python.Attribute:
			a = x
			continue
		case *python.Name:
			return l.options.Namespace != nil && l.options.Namespace(x.ID) && l.scope.owner(x.ID) == nil
		}
		return false
	}
}

// isGather recognizes asyncio.gather, whose arguments are calls that do not
// run yet.
func (l *lowerer) isGather(e *python.Call) bool {
	a, ok := e.Func.(*python.Attribute)
	return ok && a.Name == "gather" && isName(a.Value, "asyncio")
}

// gather passes the calls among its arguments on as coroutines, the calls in
// [f(x) for x in y] too. Their functions and arguments are evaluated at once.
func (l *lowerer) gather(e *python.Call) syntax.Expr {
	a := e.Func.(*python.Attribute)
	out := &syntax.CallExpr{Fn: l.helper(a.NamePos, Method+a.Name), Lparen: l.position(e.Paren), Rparen: l.position(e.Paren)}
	out.Args = append(out.Args, l.expression(a.Value))
	list := make([]python.Argument, len(e.Arguments))
	for i, argument := range e.Arguments {
		list[i] = argument
		switch x := argument.Value.(type) {
		case *python.Call:
			if argument.Star == 0 && argument.Name == "" {
				list[i].Value = &deferred{x}
			}
		case *python.Comprehension:
			if call, ok := x.Value.(*python.Call); ok && argument.Star == 1 && (x.Kind == python.ListComp || x.Kind == python.GeneratorExp) {
				copied := *x
				copied.Value = &deferred{call}
				l.scopes.of[&copied] = l.scopes.of[x]
				list[i].Value = &copied
			}
		}
	}
	out.Args = append(out.Args, l.arguments(e.Paren, list)...)
	return out
}

// deferred is a call that becomes a coroutine.
type deferred struct{ *python.Call }

func (l *lowerer) deferredCall(d *deferred) syntax.Expr {
	e := l.callExpr(d.Call)
	call, ok := e.(*syntax.CallExpr)
	if !ok {
		return e
	}
	return &syntax.CallExpr{
		Fn: l.helper(d.Paren, Defer), Lparen: call.Lparen, Rparen: call.Rparen,
		Args: append([]syntax.Expr{call.Fn}, call.Args...),
	}
}
