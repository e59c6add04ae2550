package lower

import (
	"strconv"
	"strings"

	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/python"
)

// operator is the helper of one of CPython's binary operators.
func operator(op string) string {
	if op == "in" {
		return In
	}
	if strings.HasPrefix(op, "is") || strings.HasPrefix(op, "not") {
		return "$" + op
	}
	switch op {
	case "+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=":
		return "$" + op
	}
	return ""
}

// expression lowers e, evaluated once and from left to right.
func (l *lowerer) expression(e python.Expr) syntax.Expr {
	p := e.Start()
	at := l.position(p)
	switch e := e.(type) {
	case *python.Name:
		return l.variable(p, e.ID)
	case *python.Constant:
		return l.ident(p, e.Value)
	case *python.Str:
		return l.text(p, e.Value)
	case *python.Bytes:
		return &syntax.Literal{Token: syntax.BYTES, TokenPos: at, Value: e.Value}
	case *python.Int:
		lit := &syntax.Literal{Token: syntax.INT, TokenPos: at, Value: e.Small}
		if e.Big != nil {
			lit.Value = e.Big
		}
		return lit
	case *python.Float:
		return &syntax.Literal{Token: syntax.FLOAT, TokenPos: at, Value: e.Value}
	case *python.BoolOp:
		op := syntax.AND
		if e.Op == "or" {
			op = syntax.OR
		}
		// Nested to the right: each is evaluated only if those before decide nothing.
		out := l.expression(e.Values[len(e.Values)-1])
		for i := len(e.Values) - 2; i >= 0; i-- {
			out = &syntax.BinaryExpr{X: l.expression(e.Values[i]), OpPos: at, Op: op, Y: out}
		}
		return out
	case *python.UnaryOp:
		return l.unaryOp(e)
	case *python.BinOp:
		return l.binary(e.OpPos, operator(e.Op), l.expression(e.Left), l.expression(e.Right))
	case *python.Compare:
		return l.compare(e)
	case *python.IfExp:
		return &syntax.CondExpr{If: at, Cond: l.expression(e.Test), True: l.expression(e.Body), ElsePos: at, False: l.expression(e.Else)}
	case *python.NamedExpr:
		cell := l.ident(p, l.scope.owner(e.Target.ID).cell(e.Target.ID))
		return l.binary(p, Assign, cell, l.expression(e.Value))
	case *python.Lambda:
		return l.lambdaExpr(e)
	case *python.Call:
		return l.callExpr(e)
	case *deferred:
		return l.deferredCall(e)
	case *python.Await:
		return l.call(p, Await, l.expression(e.Value))
	case *python.Attribute:
		if l.isCapability(e) {
			l.uses = append(l.uses, Use{Name: dotted(e), Pos: nameOf(e).Pos, TopLevel: l.topLevel()})
			return l.capability(e)
		}
		return l.call(e.NamePos, Attr, l.expression(e.Value), l.text(e.NamePos, e.Name))
	case *python.Subscript:
		if bounds, ok := literalBounds(e.Index); ok {
			return l.unary(e.Bracket, CutAt+bounds, l.expression(e.Value))
		}
		if s, ok := e.Index.(*python.Slice); ok && s.Step == nil {
			bounds := l.bounds(s)
			return l.minus(e.Bracket, l.binary(e.Bracket, Cut, l.expression(e.Value), bounds[0]), bounds[1])
		} else if ok {
			return l.call(e.Bracket, Slice, append([]syntax.Expr{l.expression(e.Value)}, l.bounds(s)...)...)
		}
		return l.binary(e.Bracket, Index, l.expression(e.Value), l.expression(e.Index))
	case *python.List:
		if starred(e.Items) {
			return l.display(p, MakeList, e.Items)
		}
		return &syntax.ListExpr{Lbrack: at, List: l.expressions(e.Items), Rbrack: at}
	case *python.Tuple:
		if starred(e.Items) {
			return l.display(p, MakeTuple, e.Items)
		}
		return &syntax.TupleExpr{Lparen: at, List: l.expressions(e.Items), Rparen: at}
	case *python.Set:
		return l.display(p, MakeSet, e.Items)
	case *python.Dict:
		return l.dict(e)
	case *python.Comprehension:
		return l.comprehension(e)
	case *python.JoinedStr:
		return l.fstring(e)
	case *python.Slice:
		l.fail(p, "x[1:2] takes a part of a list", "a slice among several indexes is not available")
	case *python.Starred:
		l.fail(p, "", "can't use starred expression here")
	default:
		l.fail(p, "", "this expression is not available")
	}
	return l.none(p)
}

func (l *lowerer) expressions(list []python.Expr) []syntax.Expr {
	out := make([]syntax.Expr, len(list))
	for i, e := range list {
		out[i] = l.expression(e)
	}
	return out
}

func (l *lowerer) unaryOp(e *python.UnaryOp) syntax.Expr {
	switch e.Op {
	case "not":
		return &syntax.UnaryExpr{OpPos: l.position(e.Pos), Op: syntax.NOT, X: l.expression(e.Operand)}
	case "-":
		switch n := e.Operand.(type) { // a negative number is one
		case *python.Int:
			if n.Big == nil {
				return &syntax.Literal{Token: syntax.INT, TokenPos: l.position(e.Pos), Value: -n.Small}
			}
		case *python.Float:
			if n.Value != 0 { // -0.0 and 0.0 would be one constant to the interpreter
				return &syntax.Literal{Token: syntax.FLOAT, TokenPos: l.position(e.Pos), Value: -n.Value}
			}
		}
		return l.unary(e.Pos, Negative, l.expression(e.Operand))
	case "+":
		return l.unary(e.Pos, Positive, l.expression(e.Operand))
	}
	return l.unary(e.Pos, Invert, l.expression(e.Operand))
}

// compare lowers a chain so that each operand is evaluated once, and only if
// those before hold.
func (l *lowerer) compare(e *python.Compare) syntax.Expr {
	if op := e.Ops[0]; len(e.Ops) == 1 && (op == "in" || op == "not in") {
		token := syntax.IN
		if op == "not in" {
			token = syntax.NOT_IN
		}
		p := e.OpPos[0]
		return &syntax.BinaryExpr{X: l.expression(e.Left), OpPos: l.position(p), Op: token, Y: l.unary(p, Haystack, l.expression(e.Rights[0]))}
	}
	if len(e.Ops) == 1 {
		return l.binary(e.OpPos[0], operator(e.Ops[0]), l.expression(e.Left), l.expression(e.Rights[0]))
	}
	args := []syntax.Expr{l.expression(e.Left)}
	for i, op := range e.Ops {
		p := e.OpPos[i]
		args = append(args, l.text(p, operator(op)), l.lambda(p, l.expression(e.Rights[i])))
	}
	return l.call(e.OpPos[0], Chain, args...)
}

// display is a list, tuple or set with iterables unpacked into it.
func (l *lowerer) display(p python.Pos, helper string, items []python.Expr) syntax.Expr {
	flags := make([]byte, len(items))
	args := make([]syntax.Expr, 1, len(items)+1)
	for i, e := range items {
		flags[i] = '.'
		s, ok := e.(*python.Starred)
		if !ok {
			args = append(args, l.expression(e))
			continue
		}
		flags[i] = '*'
		x := l.expression(s.Value)
		if i < len(items)-1 { // gone through before what follows is evaluated
			x = l.unary(p, Items+strings.TrimPrefix(helper, "$"), x)
		}
		args = append(args, x)
	}
	args[0] = l.text(p, string(flags))
	return l.call(p, helper, args...)
}

// dict is a display: Starlark's where all keys are different literals.
func (l *lowerer) dict(e *python.Dict) syntax.Expr {
	if d, ok := l.literalKeys(e); ok {
		return d
	}
	return l.pairs(e.Pos, MakeDict, e.Keys, e.Values)
}

func (l *lowerer) pairs(p python.Pos, helper string, keys, values []python.Expr) syntax.Expr {
	flags := make([]byte, len(keys))
	args := []syntax.Expr{nil}
	for i, key := range keys {
		flags[i] = '*'
		if key != nil {
			flags[i] = '.'
			args = append(args, l.expression(key))
		}
		x := l.expression(values[i])
		if key == nil && helper == MakeDict && i < len(keys)-1 { // gone through before what follows is evaluated
			x = l.unary(p, Entries, x)
		}
		args = append(args, x)
	}
	args[0] = l.text(p, string(flags))
	return l.call(p, helper, args...)
}

func (l *lowerer) literalKeys(e *python.Dict) (syntax.Expr, bool) {
	seen := map[string]bool{}
	for _, key := range e.Keys {
		k := ""
		switch key := key.(type) {
		case *python.Str:
			k = "s" + key.Value
		case *python.Int:
			if key.Big != nil {
				return nil, false
			}
			k = "i" + strconv.FormatInt(key.Small, 10)
		default:
			return nil, false
		}
		if seen[k] {
			return nil, false
		}
		seen[k] = true
	}
	d := &syntax.DictExpr{Lbrace: l.position(e.Pos), Rbrace: l.position(e.Pos)}
	for i, key := range e.Keys {
		d.List = append(d.List, &syntax.DictEntry{Key: l.expression(key), Colon: l.position(key.Start()), Value: l.expression(e.Values[i])})
	}
	return d, true
}

// fstring formats the fields and joins all.
func (l *lowerer) fstring(e *python.JoinedStr) syntax.Expr {
	return l.call(e.Pos, FString, l.parts(e.Parts)...)
}

func (l *lowerer) parts(list []python.Expr) []syntax.Expr {
	var out []syntax.Expr
	for _, part := range list {
		switch part := part.(type) {
		case *python.Str:
			out = append(out, l.text(part.Pos, part.Value))
		case *python.FormattedValue:
			if part.Debug != "" {
				out = append(out, l.text(part.Pos, part.Debug))
			}
			out = append(out, l.field(part))
		}
	}
	return out
}

// field formats one. What {x=} shows is repr unless a format is given.
func (l *lowerer) field(f *python.FormattedValue) syntax.Expr {
	p := f.Value.Start()
	value := l.expression(f.Value)
	conversion := ""
	switch {
	case f.Conversion != 0:
		conversion = string(f.Conversion)
	case f.Debug != "" && f.Format == nil:
		conversion = "r"
	case f.Format == nil:
		return l.unary(p, Str, value)
	}
	format := l.text(p, "")
	if f.Format != nil {
		format = l.call(p, FString, l.parts(f.Format)...)
	}
	return l.call(p, Format, value, l.text(p, conversion), format)
}

// literalBounds are those of a slice without a step whose bounds are small
// ints, as most are: "low:high", with nothing for one that is left out.
func literalBounds(index python.Expr) (string, bool) {
	s, ok := index.(*python.Slice)
	if !ok || s.Step != nil {
		return "", false
	}
	bound := func(e python.Expr) (string, bool) {
		sign := ""
		if u, ok := e.(*python.UnaryOp); ok && u.Op == "-" {
			sign, e = "-", u.Operand
		}
		n, ok := e.(*python.Int)
		if !ok || n.Big != nil || n.Small > 1<<30 {
			return "", e == nil
		}
		return sign + strconv.FormatInt(n.Small, 10), true
	}
	low, ok := bound(s.Low)
	high, too := bound(s.High)
	return low + ":" + high, ok && too
}
