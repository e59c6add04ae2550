package program

import (
	"math"
	"math/big"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/program/exact"
)

// mathMember is what the module math has.
func (e *engine) mathMember(name string) starlark.Value {
	v := e.plainMathMember(name)
	if b, ok := v.(*starlark.Builtin); ok && name != "isclose" && name != "prod" {
		return e.native(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			full := "math." + name
			if name == "log" {
				full = name
			}
			if err := noKeywords(full, kwargs); err != nil {
				return nil, err
			}
			return b.CallInternal(thread, args, nil)
		})
	}
	return v
}

func (e *engine) plainMathMember(name string) starlark.Value {
	switch name {
	case "pi":
		return starlark.Float(math.Pi)
	case "e":
		return starlark.Float(math.E)
	case "tau":
		return starlark.Float(2 * math.Pi)
	case "inf":
		return starlark.Float(math.Inf(1))
	case "nan":
		return starlark.Float(math.NaN())
	case "ceil", "floor", "trunc":
		return e.native(name, roundTo(name))
	case "isqrt", "factorial":
		return e.native(name, e.intFunction(name))
	case "gcd", "lcm":
		return e.native(name, e.divisors(name))
	case "comb", "perm":
		return e.native(name, e.choices(name))
	case "modf", "frexp", "ldexp", "remainder":
		return e.native(name, partsOf(name))
	case "log":
		return e.native(name, e.costly(logarithm))
	case "pow", "atan2", "fmod", "copysign", "hypot", "dist", "isclose", "fsum", "prod":
		return e.native(name, e.mathOfMany(name))
	case "isnan", "isinf", "isfinite":
		return e.native(name, classify(name))
	}
	if f := realFunction(name); f != nil {
		if name == "exp" || name == "log10" {
			return e.native(name, e.costly(realNative(name, f)))
		}
		return e.native(name, realNative(name, f))
	}
	return nil
}

// costly charges for a function of package exact before it is called.
func (e *engine) costly(f native) native {
	return func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := e.charge(exactSteps); err != nil {
			return nil, err
		}
		return f(thread, b, args, kwargs)
	}
}

// realFunction is a function of one float.
func realFunction(name string) func(float64) float64 {
	switch name {
	case "sqrt":
		return math.Sqrt
	case "exp":
		return exact.Exp
	case "exp2":
		return math.Exp2
	case "expm1":
		return math.Expm1
	case "log2":
		return math.Log2
	case "log10":
		return exact.Log10
	case "log1p":
		return math.Log1p
	case "sin":
		return math.Sin
	case "cos":
		return math.Cos
	case "tan":
		return math.Tan
	case "asin":
		return math.Asin
	case "acos":
		return math.Acos
	case "atan":
		return math.Atan
	case "sinh":
		return math.Sinh
	case "cosh":
		return math.Cosh
	case "tanh":
		return math.Tanh
	case "asinh":
		return math.Asinh
	case "acosh":
		return math.Acosh
	case "atanh":
		return math.Atanh
	case "fabs":
		return math.Abs
	case "cbrt":
		return math.Cbrt
	case "degrees":
		return func(x float64) float64 { return x * (180 / math.Pi) }
	case "radians":
		return func(x float64) float64 { return x * (math.Pi / 180) }
	case "gamma":
		return math.Gamma
	case "erf":
		return math.Erf
	}
	return nil
}

// real is a float argument.
func real(v starlark.Value) (float64, error) {
	switch x := number(v).(type) {
	case starlark.Float:
		return float64(x), nil
	case starlark.Int:
		f, ok := starlark.AsFloat(x)
		if !ok || math.IsInf(f, 0) {
			return 0, raise("OverflowError", "int too large to convert to float")
		}
		return f, nil
	}
	return 0, raise("TypeError", "must be real number, not %s", className(v))
}

func realNative(name string, f func(float64) float64) native {
	return func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := argumentCount("math."+name, len(args)+len(kwargs), 1, 1); err != nil {
			return nil, err
		}
		x, err := real(args[0])
		if err != nil {
			return nil, err
		}
		return checked(f(x), x)
	}
}

// checked refuses what is no number although the arguments are.
func checked(y float64, args ...float64) (starlark.Value, error) {
	finite := true
	for _, x := range args {
		if math.IsNaN(x) {
			return starlark.Float(y), nil
		}
		finite = finite && !math.IsInf(x, 0)
	}
	switch {
	case math.IsNaN(y):
		return nil, raise("ValueError", "math domain error")
	case math.IsInf(y, 0) && finite:
		if len(args) == 1 && args[0] <= 0 { // a pole: log(0)
			return nil, raise("ValueError", "math domain error")
		}
		return nil, raise("OverflowError", "math range error")
	}
	return starlark.Float(y), nil
}

// roundTo is ceil, floor and trunc.
func roundTo(name string) native {
	return func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := argumentCount("math."+name, len(args)+len(kwargs), 1, 1); err != nil {
			return nil, err
		}
		if i, ok := number(args[0]).(starlark.Int); ok {
			return i, nil
		}
		x, err := real(args[0])
		switch {
		case err != nil && name == "trunc":
			return nil, raise("TypeError", "type %s doesn't define __trunc__ method", className(args[0]))
		case err != nil:
			return nil, err
		case math.IsNaN(x):
			return nil, raise("ValueError", "cannot convert float NaN to integer")
		case math.IsInf(x, 0):
			return nil, raise("OverflowError", "cannot convert float infinity to integer")
		}
		switch name {
		case "ceil":
			x = math.Ceil(x)
		case "floor":
			x = math.Floor(x)
		default:
			x = math.Trunc(x)
		}
		return starlark.NumberToInt(starlark.Float(x))
	}
}

// integer is an int argument.
func integer(v starlark.Value) (*big.Int, error) {
	i, ok := number(v).(starlark.Int)
	if !ok {
		return nil, raise("TypeError", "'%s' object cannot be interpreted as an integer", className(v))
	}
	return i.BigInt(), nil
}

func (e *engine) intFunction(name string) native {
	return func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := argumentCount("math."+name, len(args)+len(kwargs), 1, 1); err != nil {
			return nil, err
		}
		n, err := integer(args[0])
		if err != nil {
			return nil, err
		}
		if name == "isqrt" {
			if n.Sign() < 0 {
				return nil, raise("ValueError", "isqrt() argument must be nonnegative")
			}
			return starlark.MakeBigInt(new(big.Int).Sqrt(n)), e.chargeBytes(n.BitLen())
		}
		if n.Sign() < 0 {
			return nil, raise("ValueError", "factorial() not defined for negative values")
		}
		return e.falling(n, n)
	}
}

// falling is n (n−1) … of k factors.
func (e *engine) falling(n, k *big.Int) (starlark.Value, error) {
	if !k.IsInt64() || !n.IsInt64() {
		return nil, e.tooLarge("an int of that many bits")
	}
	out, factor := big.NewInt(1), new(big.Int)
	for i := range k.Int64() {
		if err := roomBits(out.BitLen()); err != nil {
			return nil, err
		}
		if err := e.chargeBytes(64 + out.BitLen()/8); err != nil {
			return nil, err
		}
		out.Mul(out, factor.SetInt64(n.Int64()-i))
	}
	return starlark.MakeBigInt(out), nil
}

// choices is comb(n, k) and perm(n, k).
func (e *engine) choices(name string) native {
	return func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		least := 2
		if name == "perm" {
			least = 1
		}
		if err := argumentCount(name, len(args)+len(kwargs), least, 2); err != nil {
			return nil, err
		}
		n, err := integer(args[0])
		if err != nil {
			return nil, err
		}
		k := n
		if len(args) == 2 {
			if k, err = integer(args[1]); err != nil {
				return nil, err
			}
		}
		switch {
		case n.Sign() < 0:
			return nil, raise("ValueError", "n must be a non-negative integer")
		case k.Sign() < 0:
			return nil, raise("ValueError", "k must be a non-negative integer")
		case k.Cmp(n) > 0:
			return starlark.MakeInt(0), nil
		case name == "comb":
			if rest := new(big.Int).Sub(n, k); rest.Cmp(k) < 0 {
				k = rest
			}
		}
		all, err := e.falling(n, k)
		if err != nil || name == "perm" {
			return all, err
		}
		same, err := e.falling(k, k)
		if err != nil {
			return nil, err
		}
		return starlark.MakeBigInt(new(big.Int).Quo(all.(starlark.Int).BigInt(), same.(starlark.Int).BigInt())), nil
	}
}

// divisors is gcd and lcm of any number of ints.
func (e *engine) divisors(name string) native {
	return func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		out := big.NewInt(0)
		if name == "lcm" {
			out = big.NewInt(1)
		}
		for _, v := range args {
			n, err := integer(v)
			if err != nil {
				return nil, err
			}
			n = new(big.Int).Abs(n)
			if err := e.charge(1 + (out.BitLen()/64+1)*(n.BitLen()/64+1)); err != nil {
				return nil, err
			}
			gcd := new(big.Int).GCD(nil, nil, out, n)
			switch {
			case name == "gcd":
				out = gcd
			case n.Sign() == 0:
				return starlark.MakeInt(0), nil
			default:
				if err := roomBits(out.BitLen() + n.BitLen()); err != nil {
					return nil, err
				}
				out = new(big.Int).Mul(out, n.Quo(n, gcd))
			}
		}
		return starlark.MakeBigInt(out), nil
	}
}

// logarithm is log(x, base), of ints of any size.
func logarithm(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) < 1 || len(args) > 2 {
		return nil, raise("TypeError", "math.log requires 1 to 2 arguments")
	}
	var logs [2]float64
	for i, v := range args {
		if n, ok := number(v).(starlark.Int); ok && n.Sign() > 0 {
			// 2^shift times what fits into a float.
			b := n.BigInt()
			shift := max(b.BitLen()-1000, 0)
			f, _ := new(big.Float).SetInt(new(big.Int).Rsh(b, uint(shift))).Float64()
			logs[i] = exact.Log(f) + float64(shift)*math.Ln2
			continue
		}
		x, err := real(v)
		if err != nil {
			return nil, err
		}
		if x <= 0 {
			return nil, raise("ValueError", "math domain error")
		}
		logs[i] = exact.Log(x)
	}
	if len(args) == 1 {
		return starlark.Float(logs[0]), nil
	}
	if logs[1] == 0 {
		return nil, raise("ZeroDivisionError", "float division by zero")
	}
	return starlark.Float(logs[0] / logs[1]), nil
}

func classify(name string) native {
	return func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := argumentCount("math."+name, len(args)+len(kwargs), 1, 1); err != nil {
			return nil, err
		}
		x, err := real(args[0])
		if err != nil {
			return nil, err
		}
		switch name {
		case "isnan":
			return starlark.Bool(math.IsNaN(x)), nil
		case "isinf":
			return starlark.Bool(math.IsInf(x, 0)), nil
		}
		return starlark.Bool(!math.IsNaN(x) && !math.IsInf(x, 0)), nil
	}
}

// mathOfMany is a function of several numbers, or of an iterable of them.
func (e *engine) mathOfMany(name string) native {
	return func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		switch name {
		case "prod":
			return e.productOf(args, kwargs)
		case "fsum":
			return e.exactSum(args)
		case "isclose":
			return isClose(args, kwargs)
		}
		if name != "hypot" {
			if err := argumentCount(name, len(args)+len(kwargs), 2, 2); err != nil {
				return nil, err
			}
		}
		if name == "dist" {
			return e.distance(args)
		}
		xs := make([]float64, len(args))
		for i, v := range args {
			var err error
			if xs[i], err = real(v); err != nil {
				return nil, err
			}
		}
		switch name {
		case "pow":
			if err := e.charge(exactSteps); err != nil {
				return nil, err
			}
			if xs[0] == 0 && xs[1] < 0 {
				return nil, raise("ValueError", "math domain error")
			}
			return checked(exact.Pow(xs[0], xs[1]), xs...)
		case "atan2":
			return starlark.Float(math.Atan2(xs[0], xs[1])), nil
		case "fmod":
			return checked(math.Mod(xs[0], xs[1]), xs...)
		case "copysign":
			return starlark.Float(math.Copysign(xs[0], xs[1])), nil
		}
		return e.norm(xs)
	}
}

// productOf is prod(iterable, start=1).
func (e *engine) productOf(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var items starlark.Value
	var out starlark.Value = starlark.MakeInt(1)
	if len(args) != 1 {
		return nil, raise("TypeError", "prod() takes exactly 1 positional argument (%d given)", len(args))
	}
	if err := unpackArguments("prod", args, kwargs, "iterable", &items, "start?", &out); err != nil {
		return nil, err
	}
	multiply := e.operator("$*")
	err := e.each(items, func(v starlark.Value) (err error) {
		out, err = multiply(out, v)
		return err
	})
	return out, err
}

func isClose(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var a, b starlark.Value
	var relative, absolute starlark.Value = starlark.Float(1e-9), starlark.Float(0)
	if len(args) > 2 {
		return nil, raise("TypeError", "isclose() takes exactly 2 positional arguments (%d given)", len(args))
	}
	if err := unpackArguments("isclose", args, kwargs, "a", &a, "b", &b, "rel_tol?", &relative, "abs_tol?", &absolute); err != nil {
		return nil, err
	}
	var xs [4]float64
	for i, v := range []starlark.Value{a, b, relative, absolute} {
		var err error
		if xs[i], err = real(v); err != nil {
			return nil, err
		}
	}
	if xs[2] < 0 || xs[3] < 0 {
		return nil, raise("ValueError", "tolerances must be non-negative")
	}
	if xs[0] == xs[1] {
		return starlark.True, nil
	}
	if math.IsInf(xs[0], 0) || math.IsInf(xs[1], 0) {
		return starlark.False, nil
	}
	difference := math.Abs(xs[0] - xs[1])
	return starlark.Bool(difference <= math.Abs(xs[2]*xs[1]) || difference <= math.Abs(xs[2]*xs[0]) || difference <= xs[3]), nil
}
