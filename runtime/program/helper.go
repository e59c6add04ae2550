package program

import (
	"math"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/lower"
)

// helper is the value of a name that only the lowering writes; nil for others.
func (e *engine) helper(name string) starlark.Value {
	switch name {
	case lower.Break:
		return breakSignal
	case lower.Continue:
		return continueSignal
	case lower.Skip:
		return skip
	case lower.Unset:
		return unset
	case lower.Deleted:
		return deleted
	case lower.Haystack:
		return &haystacks{engine: e}
	case lower.Cut:
		return &cutter{engine: e}
	case lower.Set:
		return &setter{engine: e}
	}
	if method, ok := strings.CutPrefix(name, lower.Having); ok && method != "" {
		return e.having(method)
	}
	if c := e.checkOf(name); c != nil {
		return c
	}
	if op := e.operator(name); op != nil {
		return &guard{operator: op}
	}
	if method, ok := strings.CutPrefix(name, lower.Method); ok && method != "" {
		return e.methodHelper(method)
	}
	if f := e.helperFunction(name); f != nil {
		return e.native(strings.TrimPrefix(name, "$"), f)
	}
	return nil
}

// checkOf is the operator of one operand.
func (e *engine) checkOf(name string) check {
	if c := tryHelper(name); c != nil {
		return c
	}
	if bounds, ok := strings.CutPrefix(name, lower.CutAt); ok {
		return e.cutAt(bounds)
	}
	switch name {
	case lower.Items + "list", lower.Items + "tuple", lower.Items + "mkset":
		display := "$" + strings.TrimPrefix(name, lower.Items)
		return func(x starlark.Value) (starlark.Value, error) {
			items, err := e.starred(display, x)
			return starlark.Tuple(items), err
		}
	case lower.Entries:
		return func(x starlark.Value) (starlark.Value, error) {
			from, ok := x.(starlark.IterableMapping)
			if !ok {
				return nil, raise("TypeError", "'%s' object is not a mapping", className(x))
			}
			d := new(starlark.Dict)
			return d, e.updateDict(d, from)
		}
	case lower.Spread:
		return e.spread
	case lower.SpreadNamed:
		return e.spreadNamed
	case lower.Negative, lower.Positive, lower.Invert:
		return func(x starlark.Value) (starlark.Value, error) { return e.sign(name, x) }
	case lower.Cell:
		return newCell
	case lower.Iter:
		return e.iter
	case lower.Done:
		return e.done
	case lower.SetOf:
		return func(x starlark.Value) (starlark.Value, error) {
			set := new(starlark.Set)
			return set, e.insert(set, x)
		}
	case lower.DictOf:
		return func(x starlark.Value) (starlark.Value, error) {
			list, d := x.(*starlark.List), new(starlark.Dict)
			for i := range list.Len() {
				pair := list.Index(i).(starlark.Tuple)
				if err := e.setKey(d, pair[0], pair[1]); err != nil {
					return nil, err
				}
				if err := e.roomKeys(d.Len()); err != nil {
					return nil, err
				}
			}
			return d, e.charge(list.Len())
		}
	case lower.Async:
		return newAsync
	case lower.Str:
		return func(x starlark.Value) (starlark.Value, error) {
			s, err := e.str(x)
			return starlark.String(s), err
		}
	}
	return nil
}

func (e *engine) helperFunction(name string) native {
	switch name {
	case lower.Slice:
		return func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return e.slice(args[0], args[1], args[2], args[3])
		}
	case lower.Attr:
		return func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			name, _ := starlark.AsString(args[1])
			return e.attr(args[0], name)
		}
	case lower.SetAttr:
		return e.setAttr
	case lower.SetItem:
		return func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return starlark.None, e.setItem(args[0], args[1], args[2])
		}
	case lower.SetSlice:
		return e.setSlice
	case lower.DelItem:
		return e.delItem
	case lower.DelSlice:
		return e.delSlice
	case lower.Try:
		return e.try
	case lower.Raise:
		return e.raiseStatement
	case lower.Assert:
		return e.assertion
	case lower.Import:
		return e.importModule
	case lower.Await:
		return await
	case lower.Defer:
		return deferCall
	case lower.Chain:
		return e.chain
	case lower.Generator:
		return e.newGenerator
	case lower.Unpack:
		return e.unpack
	case lower.FString:
		return e.fstring
	case lower.Format:
		return e.formatValue
	case lower.MakeList, lower.MakeTuple, lower.MakeSet:
		return e.display(name)
	case lower.MakeDict:
		return e.makeDict
	case lower.MakeKwargs:
		return e.makeKwargs
	case lower.EnterMain:
		return e.enterMain
	}
	return nil
}

// operator is the operator of two operands.
func (e *engine) operator(name string) binary {
	if in, ok := strings.CutSuffix(name, lower.InPlace); ok && len(in) > 1 {
		switch in {
		case lower.Add:
			return e.inPlace(in, e.addTo())
		case lower.Or:
			return e.inPlace(in, e.unionTo)
		case lower.And, lower.Subtract, lower.Xor:
			return e.inPlace(in, e.setTo(in[1:]))
		case lower.Multiply:
			return e.inPlace(in, e.multiplyTo)
		case lower.Less, lower.Greater, lower.Equal, lower.NotEqual, "$!", "$=":
		default:
			if op := e.operator(in); op != nil {
				return e.inPlace(in, op)
			}
		}
	}
	comparison := func(op syntax.Token) binary {
		return func(x, y starlark.Value) (starlark.Value, error) {
			if a, ok := x.(starlark.Int); ok { // as loops and conditions mostly have it
				if b, ok := y.(starlark.Int); ok {
					n, err := a.Cmp(b, 1)
					return starlark.Bool(threeway(op, n)), err
				}
			}
			is, err := e.compare(op, x, y)
			return starlark.Bool(is), err
		}
	}
	switch name {
	case lower.Add:
		return e.arithmetic("+", e.add)
	case lower.Subtract:
		return e.arithmetic("-", e.subtract)
	case lower.Multiply:
		return e.arithmetic("*", e.multiply)
	case lower.Divide:
		return e.arithmetic("/", e.divide)
	case lower.FloorDivide:
		return e.arithmetic("//", e.floorDivide)
	case lower.Modulo:
		return e.arithmetic("%", e.modulo)
	case lower.Power:
		return e.arithmetic("**", e.power)
	case lower.ShiftLeft:
		return e.arithmetic("<<", e.shift(true))
	case lower.ShiftRight:
		return e.arithmetic(">>", e.shift(false))
	case lower.And:
		return e.logic("&", e.plain(syntax.AMP))
	case lower.Or:
		or := e.logic("|", e.plain(syntax.PIPE))
		return func(x, y starlark.Value) (starlark.Value, error) {
			if u, ok, err := e.joined(x, y); ok || err != nil {
				return u, err
			}
			return or(x, y)
		}
	case lower.Xor:
		return e.logic("^", e.plain(syntax.CIRCUMFLEX))
	case lower.Index:
		return e.index
	case lower.In:
		return func(x, y starlark.Value) (starlark.Value, error) {
			is, err := e.contains(x, y)
			return starlark.Bool(is), err
		}
	case lower.NotIn:
		return func(x, y starlark.Value) (starlark.Value, error) {
			is, err := e.contains(x, y)
			return starlark.Bool(!is), err
		}
	case lower.Is:
		return func(x, y starlark.Value) (starlark.Value, error) { return starlark.Bool(same(x, y)), nil }
	case lower.IsNot:
		return func(x, y starlark.Value) (starlark.Value, error) { return starlark.Bool(!same(x, y)), nil }
	case lower.Equal:
		return comparison(syntax.EQL)
	case lower.NotEqual:
		return comparison(syntax.NEQ)
	case lower.Less:
		return comparison(syntax.LT)
	case lower.LessEqual:
		return comparison(syntax.LE)
	case lower.Greater:
		return comparison(syntax.GT)
	case lower.GreaterEqual:
		return comparison(syntax.GE)
	case lower.Assign:
		return assignCell
	case lower.Filled:
		return filledCell
	case lower.Matches:
		return e.matches
	}
	return nil
}

// chain is a < b < c: each operand is asked for only if those before hold.
func (e *engine) chain(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	left := args[0]
	var holds starlark.Value = starlark.True
	for i := 1; i+1 < len(args); i += 2 {
		right, err := starlark.Call(thread, args[i+1], nil, nil)
		if err != nil {
			return nil, err
		}
		name, _ := starlark.AsString(args[i])
		if holds, err = e.operator(name)(left, right); err != nil || !holds.Truth() {
			return holds, err
		}
		left = right
	}
	return holds, nil
}

// same is x is y.
func same(x, y starlark.Value) bool {
	switch x := x.(type) {
	case starlark.Int:
		y, ok := y.(starlark.Int)
		if !ok {
			return false
		}
		n, err := x.Cmp(y, 1)
		return err == nil && n == 0
	case starlark.String:
		y, ok := y.(starlark.String)
		return ok && x == y
	case starlark.Tuple:
		y, ok := y.(starlark.Tuple)
		return ok && len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0])
	case starlark.Float:
		y, ok := y.(starlark.Float)
		return ok && math.Float64bits(float64(x)) == math.Float64bits(float64(y))
	case starlark.Bool, starlark.NoneType:
		return x == y
	}
	switch y.(type) {
	case starlark.Tuple:
		return false
	}
	return x == y
}
