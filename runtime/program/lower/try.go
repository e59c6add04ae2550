package lower

import (
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/python"
)

// try lowers the statement as the package describes it. With a finally part,
// all else becomes a function within:
//
//	def $body$2(): what stands before finally
//	$2 = $try($body$2)
//	finally
//	$finish - $2      # raises what was caught
//	signals
func (l *lowerer) try(out []syntax.Stmt, s *python.Try) []syntax.Stmt {
	if len(s.Finally) == 0 {
		return l.handled(out, s)
	}
	p := s.Pos
	out, tried, inner := l.attempt(out, p, func() []syntax.Stmt {
		if len(s.Handlers) == 0 {
			return l.block(s.Body)
		}
		return l.handled(nil, s)
	})
	out = append(out, l.block(s.Finally)...)
	out = append(out, l.expr(l.unary(p, Finish, l.ident(p, tried))))
	return l.signals(out, p, tried, inner)
}

// handled lowers try with its handlers and else part.
func (l *lowerer) handled(out []syntax.Stmt, s *python.Try) []syntax.Stmt {
	p := s.Pos
	out, tried, inner := l.attempt(out, p, func() []syntax.Stmt { return l.block(s.Body) })
	out = l.signals(out, p, tried, inner)
	otherwise := l.block(s.Else)
	handlers := []syntax.Stmt{l.expr(l.unary(p, Reraise, l.ident(p, tried)))}
	for i := len(s.Handlers) - 1; i >= 0; i-- {
		handlers = l.handler(s.Handlers[i], tried, handlers)
	}
	return append(out, l.ifThen(p, l.unary(p, Caught, l.ident(p, tried)), handlers, otherwise))
}

// handler is one, before others.
func (l *lowerer) handler(h *python.ExceptHandler, tried string, others []syntax.Stmt) []syntax.Stmt {
	p := h.Pos
	outer := l.region.caught
	l.region.caught = tried
	var body []syntax.Stmt
	if h.Name != "" {
		body = append(body, l.assign(p, l.variable(h.NamePos, h.Name), l.unary(p, Exception, l.ident(p, tried))))
		l.region.handlers = append(l.region.handlers, handler{h.NamePos, h.Name, len(l.region.loops)})
	}
	body = append(body, l.block(h.Body)...)
	if h.Name != "" {
		l.region.handlers = l.region.handlers[:len(l.region.handlers)-1]
		body = append(body, l.forget(h.NamePos, h.Name))
	}
	l.region.caught = outer
	if h.Type == nil {
		return l.filled(p, body)
	}
	matches := l.binary(h.Type.Start(), Matches, l.ident(p, tried), l.expression(h.Type))
	return []syntax.Stmt{l.ifThen(p, matches, body, others)}
}

// forget empties the variable of a handler, as CPython does behind it.
func (l *lowerer) forget(p python.Pos, name string) syntax.Stmt {
	return l.assign(p, l.variable(p, name), l.helper(p, Unset))
}

// forgetWithin empties the variables of the handlers that break and continue
// leave: those within the innermost loop.
func (l *lowerer) forgetWithin() (out []syntax.Stmt) {
	for _, h := range l.region.handlers {
		if h.loops >= len(l.region.loops) {
			out = append(out, l.forget(h.pos, h.name))
		}
	}
	return out
}

// attempt makes a function of what body writes and runs it. The variable tried
// holds how it ended.
func (l *lowerer) attempt(out []syntax.Stmt, p python.Pos, body func() []syntax.Stmt) (_ []syntax.Stmt, tried string, inner *region) {
	tried = l.temporary()
	name := BodyPrefix + tried
	outer := l.region
	l.region = &region{outer: outer, caught: outer.caught}
	inner = l.region
	statements := body()
	l.region = outer
	return append(out,
		l.def(p, name, nil, statements),
		l.assign(p, l.ident(p, tried), l.call(p, Try, l.ident(p, name)))), tried, inner
}

// signals leaves by those that inner may have returned.
func (l *lowerer) signals(out []syntax.Stmt, p python.Pos, tried string, inner *region) []syntax.Stmt {
	when := func(helper string, then ...syntax.Stmt) {
		out = append(out, l.ifThen(p, l.unary(p, helper, l.ident(p, tried)), then, nil))
	}
	if inner.returns {
		if l.region.outer == nil {
			when(Returned, l.ret(p, l.unary(p, Value, l.ident(p, tried))))
		} else {
			l.region.returns = true
			when(Returned, l.ret(p, l.ident(p, tried)))
		}
	}
	if inner.breaks {
		when(Broke, l.breaks(p)...)
	}
	if inner.continues {
		when(Continued, l.continues(p)...)
	}
	return out
}
