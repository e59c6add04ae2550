package program

import (
	"math"
	"math/big"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/exact"
	"github.com/capgen/capgen/runtime/program/lower"
)

// plain is the interpreter's own operator.
func (e *engine) plain(op syntax.Token) binary {
	return func(x, y starlark.Value) (starlark.Value, error) {
		if err := e.chargeInts(op, x, y); err != nil {
			return nil, err
		}
		return starlark.Binary(op, x, y)
	}
}

// chargeInts debits what the interpreter does with ints beyond 64 bits.
func (e *engine) chargeInts(op syntax.Token, x, y starlark.Value) error {
	a, ok := x.(starlark.Int)
	b, too := y.(starlark.Int)
	if !ok || !too {
		return nil
	}
	if _, small := a.Int64(); small {
		if _, small := b.Int64(); small {
			return nil
		}
	}
	m, n := bits(a), bits(b)
	if op == syntax.SLASHSLASH || op == syntax.SLASH {
		return e.chargeWords(m, n)
	}
	return e.chargeBytes((m + n) / 8)
}

// arithmetic is f with CPython's rules around it: bools are ints, and errors
// have its names and words.
func (e *engine) arithmetic(symbol string, f binary) binary {
	sets := symbol == "-" || symbol == "&" || symbol == "|" || symbol == "^"
	return func(x, y starlark.Value) (starlark.Value, error) {
		if _, ok := x.(starlark.Int); ok { // as most operands are
			if _, ok := y.(starlark.Int); ok {
				v, err := f(x, y)
				if err == nil {
					return v, nil
				}
				return nil, operandError(symbol, x, y, err)
			}
		}
		if sets {
			if v, ok, err := e.setOperator(symbol, x, y); ok {
				return v, err
			}
		}
		if s, ok := x.(starlark.String); ok && symbol == "%" {
			v, err := e.percent(string(s), y)
			return v, err
		}
		v, err := f(number(x), number(y))
		if err == nil {
			return v, nil
		}
		return nil, operandError(symbol, x, y, err)
	}
}

// logic is arithmetic for & | ^, which keep two bools one.
func (e *engine) logic(symbol string, f binary) binary {
	calculate := e.arithmetic(symbol, f)
	return func(x, y starlark.Value) (starlark.Value, error) {
		a, isBool := x.(starlark.Bool)
		b, too := y.(starlark.Bool)
		if !isBool || !too {
			return calculate(x, y)
		}
		switch symbol {
		case "&":
			return a && b, nil
		case "|":
			return a || b, nil
		}
		return starlark.Bool(a != b), nil
	}
}

// number makes an int of a bool.
func number(v starlark.Value) starlark.Value {
	if b, ok := v.(starlark.Bool); ok {
		if b {
			return starlark.MakeInt(1)
		}
		return starlark.MakeInt(0)
	}
	return v
}

// operandError is err of x symbol y in CPython's words.
func operandError(symbol string, x, y starlark.Value, err error) error {
	switch err.(type) {
	case *raised, *nativeFailure:
		return err
	}
	if err == errSteps {
		return err
	}
	if isNumber(number(x)) && isNumber(number(y)) {
		if symbol == "&" || symbol == "|" || symbol == "^" || symbol == "<<" || symbol == ">>" {
			_, float := x.(starlark.Float)
			_, too := y.(starlark.Float)
			if float || too {
				return raise("TypeError", "unsupported operand type(s) for %s: '%s' and '%s'", symbol, className(x), className(y))
			}
		}
		return numberError(symbol, number(x), number(y), err)
	}
	a, b := className(x), className(y)
	switch {
	case symbol == "+" && a == "str":
		return raise("TypeError", "can only concatenate str (not \"%s\") to str", b)
	case symbol == "+" && a == "bytes":
		return raise("TypeError", "can't concat %s to bytes", b)
	case symbol == "+" && (a == "list" || a == "tuple"):
		return raise("TypeError", "can only concatenate %s (not \"%s\") to %s", a, b, a)
	case symbol == "*" && (isSequence(x) || isSequence(y)):
		if isSequence(x) {
			a = b
		}
		return raise("TypeError", "can't multiply sequence by non-int of type '%s'", a)
	case symbol == "**":
		symbol = "** or pow()"
	}
	return raise("TypeError", "unsupported operand type(s) for %s: '%s' and '%s'", symbol, a, b)
}

func isSequence(v starlark.Value) bool {
	switch v.(type) {
	case starlark.String, starlark.Bytes, *starlark.List, starlark.Tuple:
		return true
	}
	return false
}

func numberError(symbol string, x, y starlark.Value, err error) error {
	_, float := x.(starlark.Float)
	_, too := y.(starlark.Float)
	zero := !bool(y.Truth())
	switch {
	case zero && symbol == "/" && !float && !too:
		return raise("ZeroDivisionError", "division by zero")
	case zero && symbol == "/":
		return raise("ZeroDivisionError", "float division by zero")
	case zero && symbol == "//" && (float || too):
		return raise("ZeroDivisionError", "float floor division by zero")
	case zero && symbol == "%" && (float || too):
		return raise("ZeroDivisionError", "float modulo")
	case zero && symbol == "//":
		return raise("ZeroDivisionError", "integer division or modulo by zero")
	case zero && symbol == "%":
		return raise("ZeroDivisionError", "integer modulo by zero")
	}
	return raise("OverflowError", "%s", err)
}

// exactSteps is what a function of package exact costs.
const exactSteps = 3_000

// power is x ** y.
func (e *engine) power(x, y starlark.Value) (starlark.Value, error) {
	a, isInt := x.(starlark.Int)
	b, too := y.(starlark.Int)
	if isInt && too && b.Sign() >= 0 {
		n, small := b.Int64()
		m := bits(a)
		if m > 1 && (!small || n > maxIntBits) {
			n = maxIntBits
		}
		if err := roomBits(int(int64(m) * max(n, 1))); m > 1 && err != nil {
			return nil, err
		}
		if err := e.chargeBytes(m * int(min(n, maxIntBits)) / 8); m > 1 && err != nil {
			return nil, err
		}
		if m <= 1 && !small { // 0, 1 and -1
			n = 2
			if b.BigInt().Bit(0) == 1 {
				n = 3
			}
		}
		return starlark.MakeBigInt(new(big.Int).Exp(a.BigInt(), big.NewInt(n), nil)), nil
	}
	base, ok := starlark.AsFloat(x)
	exponent, okay := starlark.AsFloat(y)
	if !ok || !okay {
		return starlark.Binary(syntax.SLASH, x, y) // an error of its operands
	}
	switch {
	case base == 0 && exponent < 0:
		return nil, raise("ZeroDivisionError", "0.0 cannot be raised to a negative power")
	case base < 0 && exponent != math.Trunc(exponent) && !math.IsInf(exponent, 0):
		return nil, raise("ValueError", "complex numbers are not available: a negative number to a fractional power")
	}
	if err := e.charge(exactSteps); err != nil {
		return nil, err
	}
	result := exact.Pow(base, exponent)
	if math.IsInf(result, 0) && !math.IsInf(base, 0) && !math.IsInf(exponent, 0) {
		return nil, &raised{class: "OverflowError", message: "(34, 'Numerical result out of range')"}
	}
	return starlark.Float(result), nil
}

// sign is -x, +x and ~x.
func (e *engine) sign(name string, x starlark.Value) (starlark.Value, error) {
	op, symbol := syntax.MINUS, "-"
	switch name {
	case lower.Positive:
		op, symbol = syntax.PLUS, "+"
	case lower.Invert:
		op, symbol = syntax.TILDE, "~"
	}
	v, err := starlark.Unary(op, number(x))
	if err != nil {
		return nil, raise("TypeError", "bad operand type for unary %s: '%s'", symbol, className(x))
	}
	return v, nil
}
