package program

import (
	"math"

	"go.starlark.net/starlark"
)

// numberMethod is a method of int or float that is bound to x; nil if there is
// none of that name.
func numberMethod(x starlark.Value, name string) native {
	value := func(v starlark.Value) native {
		return func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return v, argumentCount(className(x)+"."+name, len(args)+len(kwargs), 0, 0)
		}
	}
	switch n := number(x).(type) {
	case starlark.Int:
		switch name {
		case "bit_length":
			return value(starlark.MakeInt(n.BigInt().BitLen()))
		case "conjugate":
			return value(n)
		}
	case starlark.Float:
		switch name {
		case "is_integer":
			return value(starlark.Bool(float64(n) == math.Trunc(float64(n)) && !math.IsInf(float64(n), 0)))
		case "conjugate":
			return value(n)
		}
	}
	return nil
}
