package program

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

// length is len(x).
func (e *engine) length(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &v); err != nil {
		return nil, err
	}
	if s, ok := v.(starlark.String); ok {
		p, err := e.points(string(s))
		if err != nil {
			return nil, err
		}
		return starlark.MakeInt(p.n), nil
	}
	n := starlark.Len(v)
	if n < 0 {
		return nil, raise("TypeError", "object of type '%s' has no len()", className(v))
	}
	return starlark.MakeInt(n), nil
}

func (e *engine) isinstance(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v, of starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &v, &of); err != nil {
		return nil, err
	}
	is, err := e.instance(v, of)
	return starlark.Bool(is), err
}

func (e *engine) issubclass(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v, of starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &v, &of); err != nil {
		return nil, err
	}
	c, ok := v.(*class)
	if !ok {
		return nil, raise("TypeError", "issubclass() arg 1 must be a class")
	}
	is, err := e.subclass(c, of)
	return starlark.Bool(is), err
}

func (e *engine) typeOf(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) != 1 {
		return nil, raise("TypeError", "type() takes 1 or 3 arguments")
	}
	return e.classOf(args[0]), noKeywords("type", kwargs)
}

// round is round(x, digits), half to even.
func (e *engine) round(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	var digits starlark.Value = starlark.None
	if err := unpackArguments(b.Name(), args, kwargs, "number", &v, "ndigits?", &digits); err != nil {
		return nil, err
	}
	n := 0
	if digits != starlark.None {
		var err error
		if n, err = starlark.AsInt32(number(digits)); err != nil {
			return nil, raise("TypeError", "'%s' object cannot be interpreted as an integer", className(digits))
		}
	}
	switch x := number(v).(type) {
	case starlark.Int:
		if n >= 0 {
			return x, nil
		}
		return roundInt(x, min(-n, maxDigits)), nil
	case starlark.Float:
		return roundFloat(float64(x), n, digits == starlark.None)
	}
	return nil, raise("TypeError", "type %s doesn't define __round__ method", className(v))
}

func roundInt(x starlark.Int, zeros int) starlark.Value {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(zeros)), nil)
	quotient, rest := new(big.Int).DivMod(x.BigInt(), unit, new(big.Int))
	switch twice := rest.Lsh(rest, 1).Cmp(unit); {
	case twice > 0, twice == 0 && quotient.Bit(0) == 1:
		quotient.Add(quotient, big.NewInt(1))
	}
	return starlark.MakeBigInt(quotient.Mul(quotient, unit))
}

// apply is map(f, *iterables), lazy.
func (e *engine) apply(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) < 2 {
		return nil, raise("TypeError", "map() must have at least two arguments.")
	}
	f := args[0]
	sources, err := e.iterators(args[1:])
	if err != nil {
		return nil, err
	}
	return e.lazy("map", func() (starlark.Value, bool, error) {
		row, ok := advance(sources)
		if !ok {
			return nil, false, nil
		}
		v, err := starlark.Call(e.thread, f, row, nil)
		return v, true, err
	}), nil
}

// filter is filter(f, iterable), lazy.
func (e *engine) filter(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	f := args[0]
	sources, err := e.iterators(args[1:])
	if err != nil {
		return nil, err
	}
	return e.lazy("filter", func() (starlark.Value, bool, error) {
		for {
			row, ok := advance(sources)
			if !ok {
				return nil, false, nil
			}
			if err := e.charge(1); err != nil {
				return nil, false, err
			}
			keep := row[0]
			if f != starlark.None {
				var err error
				if keep, err = starlark.Call(e.thread, f, row, nil); err != nil {
					return nil, false, err
				}
			}
			if keep.Truth() {
				return row[0], true, nil
			}
		}
	}), nil
}

func (e *engine) abs(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &v); err != nil {
		return nil, err
	}
	switch x := number(v).(type) {
	case starlark.Int:
		if x.Sign() < 0 {
			return starlark.MakeInt(0).Sub(x), nil
		}
		return x, nil
	case starlark.Float:
		if x < 0 {
			return -x, nil
		}
		return x + 0, nil
	}
	return nil, raise("TypeError", "bad operand type for abs(): '%s'", className(v))
}

func (e *engine) divmod(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x, y starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &x, &y); err != nil {
		return nil, err
	}
	quotient, err := e.operator("$//")(x, y)
	if r, ok := err.(*raised); ok && r.class == "ZeroDivisionError" && strings.HasPrefix(r.message, "float") {
		return nil, raise("ZeroDivisionError", "float divmod()")
	}
	if r, ok := err.(*raised); ok && r.class == "TypeError" {
		return nil, raise("TypeError", "unsupported operand type(s) for divmod(): '%s' and '%s'", className(x), className(y))
	}
	if err != nil {
		return nil, err
	}
	rest, err := e.operator("$%")(x, y)
	return starlark.Tuple{quotient, rest}, err
}

func (e *engine) pow(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x, y starlark.Value
	var modulus starlark.Value = starlark.None
	if err := unpackArguments(b.Name(), args, kwargs, "base", &x, "exp", &y, "mod?", &modulus); err != nil {
		return nil, err
	}
	if modulus == starlark.None {
		return e.operator("$**")(x, y)
	}
	var ints [3]*big.Int
	for i, v := range []starlark.Value{x, y, modulus} {
		n, ok := number(v).(starlark.Int)
		if !ok && !(isNumber(number(x)) && isNumber(number(y)) && isNumber(number(modulus))) {
			return nil, raise("TypeError", "unsupported operand type(s) for ** or pow(): '%s', '%s', '%s'", className(x), className(y), className(modulus))
		}
		if !ok {
			return nil, raise("TypeError", "pow() 3rd argument not allowed unless all arguments are integers")
		}
		ints[i] = n.BigInt()
	}
	if ints[2].Sign() == 0 {
		return nil, raise("ValueError", "pow() 3rd argument cannot be 0")
	}
	words := ints[2].BitLen()/64 + 1
	if err := e.charge(ints[1].BitLen() * words * words); err != nil {
		return nil, err
	}
	m := new(big.Int).Abs(ints[2])
	out := new(big.Int).Exp(ints[0], ints[1], m)
	if out == nil {
		return nil, raise("ValueError", "base is not invertible for the given modulus")
	}
	if ints[2].Sign() < 0 && out.Sign() > 0 {
		out.Add(out, ints[2])
	}
	return starlark.MakeBigInt(out), nil
}

// roundFloat rounds the decimal that f is exactly, half to even.
func roundFloat(f float64, n int, toInt bool) (starlark.Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		if !toInt {
			return starlark.Float(f), nil
		}
		if math.IsNaN(f) {
			return nil, raise("ValueError", "cannot convert float NaN to integer")
		}
		return nil, raise("OverflowError", "cannot convert float infinity to integer")
	}
	if toInt {
		return starlark.NumberToInt(starlark.Float(math.RoundToEven(f)))
	}
	if n > 323 {
		return starlark.Float(f), nil
	}
	if n < -308 {
		return starlark.Float(math.Copysign(0, f)), nil
	}
	if n >= 0 {
		r, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', n, 64), 64)
		return starlark.Float(r), nil
	}
	// Digits before the point: exact, by way of a fraction.
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-n)), nil)
	exact := new(big.Rat).SetFloat64(f)
	exact.Quo(exact, new(big.Rat).SetInt(unit))
	quotient, rest := new(big.Int).DivMod(exact.Num(), exact.Denom(), new(big.Int))
	switch twice := rest.Lsh(rest, 1).Cmp(exact.Denom()); {
	case twice > 0, twice == 0 && quotient.Bit(0) == 1:
		quotient.Add(quotient, big.NewInt(1))
	}
	r, _ := new(big.Float).SetInt(quotient.Mul(quotient, unit)).Float64()
	if math.IsInf(r, 0) {
		return nil, raise("OverflowError", "rounded value too large to represent")
	}
	return starlark.Float(math.Copysign(r, f)), nil
}
