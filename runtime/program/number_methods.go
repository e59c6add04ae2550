package program

import (
	"math"
	"math/big"
	count "math/bits"

	"go.starlark.net/starlark"
)

// numberMethod is a method of int or float that is bound to x; nil if there is
// none of that name.
func numberMethod(x starlark.Value, name string) native {
	value := func(v starlark.Value) native {
		return positionalOnly(className(number(x))+"."+name, 0, 0, func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
			return v, nil
		})
	}
	switch n := number(x).(type) {
	case starlark.Int:
		switch name {
		case "bit_length":
			return value(starlark.MakeInt(n.BigInt().BitLen()))
		case "bit_count":
			ones := 0
			for _, word := range n.BigInt().Bits() {
				ones += count.OnesCount(uint(word))
			}
			return value(starlark.MakeInt(ones))
		case "conjugate":
			return value(n)
		case "as_integer_ratio":
			return value(starlark.Tuple{n, starlark.MakeInt(1)})
		}
	case starlark.Float:
		switch name {
		case "is_integer":
			return value(starlark.Bool(float64(n) == math.Trunc(float64(n)) && !math.IsInf(float64(n), 0)))
		case "conjugate":
			return value(n)
		case "as_integer_ratio":
			return positionalOnly("float."+name, 0, 0, func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
				return ratio(float64(n))
			})
		}
	}
	return nil
}

func ratio(f float64) (starlark.Value, error) {
	switch {
	case math.IsNaN(f):
		return nil, raise("ValueError", "cannot convert NaN to integer ratio")
	case math.IsInf(f, 0):
		return nil, raise("OverflowError", "cannot convert Infinity to integer ratio")
	}
	r := new(big.Rat).SetFloat64(f)
	return starlark.Tuple{starlark.MakeBigInt(r.Num()), starlark.MakeBigInt(r.Denom())}, nil
}

// numberAttr is an attribute of int or float that is no method; nil if there is
// none of that name.
func numberAttr(x starlark.Value, name string) starlark.Value {
	n := number(x)
	_, isInt := n.(starlark.Int)
	if !isNumber(n) {
		return nil
	}
	switch name {
	case "real":
		return n
	case "imag":
		if isInt {
			return starlark.MakeInt(0)
		}
		return starlark.Float(0)
	case "numerator":
		if isInt {
			return n
		}
	case "denominator":
		if isInt {
			return starlark.MakeInt(1)
		}
	}
	return nil
}
