package program

import (
	"math"

	"go.starlark.net/starlark"
)

// partsOf are the functions that take floats apart, and put them together.
func partsOf(name string) native {
	count := map[string]int{"modf": 1, "frexp": 1, "ldexp": 2, "remainder": 2}[name]
	return func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		if err := argumentCount("math."+name, len(args), count, count); err != nil {
			return nil, err
		}
		x, err := real(args[0])
		if err != nil {
			return nil, err
		}
		switch name {
		case "modf":
			if math.IsInf(x, 0) {
				return starlark.Tuple{starlark.Float(math.Copysign(0, x)), starlark.Float(x)}, nil
			}
			whole := math.Trunc(x)
			return starlark.Tuple{starlark.Float(math.Copysign(x-whole, x)), starlark.Float(whole)}, nil
		case "frexp":
			fraction, exponent := math.Frexp(x)
			return starlark.Tuple{starlark.Float(fraction), starlark.MakeInt(exponent)}, nil
		case "ldexp":
			n, ok := number(args[1]).(starlark.Int)
			if !ok {
				return nil, raise("TypeError", "Expected an int as second argument to ldexp.")
			}
			exponent, err := offset(n)
			if err != nil {
				return nil, err
			}
			out := math.Ldexp(x, exponent)
			if math.IsInf(out, 0) && !math.IsInf(x, 0) {
				return nil, raise("OverflowError", "math range error")
			}
			return starlark.Float(out), nil
		}
		y, err := real(args[1])
		if err != nil {
			return nil, err
		}
		return checked(math.Remainder(x, y), x, y)
	}
}
