package program

import (
	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/program/python"
)

// literal is the value of an expression that is written out whole.
func literal(e python.Expr) (starlark.Value, bool) {
	switch e := e.(type) {
	case *python.Str:
		return starlark.String(e.Value), true
	case *python.Int:
		if e.Big != nil {
			return starlark.MakeBigInt(e.Big), true
		}
		return starlark.MakeInt64(e.Small), true
	case *python.Float:
		return starlark.Float(e.Value), true
	case *python.Constant:
		switch e.Value {
		case "True", "False":
			return starlark.Bool(e.Value == "True"), true
		case "None":
			return starlark.None, true
		}
	case *python.UnaryOp:
		return negative(e)
	case *python.List:
		items, ok := literals(e.Items)
		return starlark.NewList(items), ok
	case *python.Tuple:
		items, ok := literals(e.Items)
		return starlark.Tuple(items), ok
	case *python.Dict:
		return literalDict(e)
	}
	return nil, false
}

func literals(list []python.Expr) ([]starlark.Value, bool) {
	out := make([]starlark.Value, 0, len(list))
	for _, e := range list {
		v, ok := literal(e)
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

func negative(e *python.UnaryOp) (starlark.Value, bool) {
	if e.Op != "-" {
		return nil, false
	}
	switch v, _ := literal(e.Operand); v := v.(type) {
	case starlark.Int:
		return starlark.MakeInt(0).Sub(v), true
	case starlark.Float:
		return -v, true
	}
	return nil, false
}

// literalDict takes keys that are texts: all that a capability does.
func literalDict(e *python.Dict) (starlark.Value, bool) {
	d := new(starlark.Dict)
	for i, key := range e.Keys {
		name, ok := key.(*python.Str)
		if !ok {
			return nil, false
		}
		v, ok := literal(e.Values[i])
		if !ok {
			return nil, false
		}
		if d.SetKey(starlark.String(name.Value), v) != nil {
			return nil, false
		}
	}
	return d, true
}
