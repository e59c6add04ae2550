package program

import (
	"math"
	"math/big"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// inFloats is f for a float and a number, of which an int must fit into a float.
func inFloats(x, y starlark.Value, f func(x, y float64) (starlark.Value, error)) (v starlark.Value, ok bool, err error) {
	_, float := x.(starlark.Float)
	_, too := y.(starlark.Float)
	if !float && !too || !isNumber(x) || !isNumber(y) {
		return nil, false, nil
	}
	a, _ := starlark.AsFloat(x)
	b, _ := starlark.AsFloat(y)
	if !float && math.IsInf(a, 0) || !too && math.IsInf(b, 0) {
		return nil, true, raise("OverflowError", "int too large to convert to float")
	}
	v, err = f(a, b)
	return v, true, err
}

// divide is x / y. That of ints is rounded once.
func (e *engine) divide(x, y starlark.Value) (starlark.Value, error) {
	a, isInt := x.(starlark.Int)
	b, too := y.(starlark.Int)
	if !isInt || !too || b.Sign() == 0 || bits(a) <= 53 && bits(b) <= 53 {
		v, ok, err := inFloats(x, y, func(x, y float64) (starlark.Value, error) {
			return starlark.Binary(syntax.SLASH, starlark.Float(x), starlark.Float(y))
		})
		if ok {
			return v, err
		}
		return starlark.Binary(syntax.SLASH, x, y)
	}
	if err := e.chargeBytes((bits(a) + bits(b)) / 8 * (bits(b)/64 + 1)); err != nil {
		return nil, err
	}
	f, _ := new(big.Rat).SetFrac(a.BigInt(), b.BigInt()).Float64()
	if math.IsInf(f, 0) {
		return nil, raise("OverflowError", "integer division result too large for a float")
	}
	return starlark.Float(f), nil
}

// floatDivmod is divmod(x, y) of floats, as CPython's float_divmod calculates
// it: y is not 0.
func floatDivmod(x, y float64) (quotient, rest float64) {
	rest = math.Mod(x, y)
	quotient = (x - rest) / y
	switch {
	case rest == 0:
		rest = math.Copysign(0, y)
	case (y < 0) != (rest < 0):
		rest += y
		quotient--
	}
	if quotient == 0 {
		return math.Copysign(0, x/y), rest
	}
	floor := math.Floor(quotient)
	if quotient-floor > 0.5 {
		floor++
	}
	return floor, rest
}

// floorDivide is x // y.
func (e *engine) floorDivide(x, y starlark.Value) (starlark.Value, error) {
	v, ok, err := inFloats(x, y, func(x, y float64) (starlark.Value, error) {
		if y == 0 {
			return nil, raise("ZeroDivisionError", "float floor division by zero")
		}
		q, _ := floatDivmod(x, y)
		return starlark.Float(q), nil
	})
	if ok {
		return v, err
	}
	return starlark.Binary(syntax.SLASHSLASH, x, y)
}

// subtract is x - y of numbers.
func (e *engine) subtract(x, y starlark.Value) (starlark.Value, error) {
	if v, ok, err := floatOperator(syntax.MINUS, x, y); ok {
		return v, err
	}
	return starlark.Binary(syntax.MINUS, x, y)
}

// floatOperator is x op y of +, - and *, if one is a float.
func floatOperator(op syntax.Token, x, y starlark.Value) (starlark.Value, bool, error) {
	return inFloats(x, y, func(x, y float64) (starlark.Value, error) {
		return starlark.Binary(op, starlark.Float(x), starlark.Float(y))
	})
}
