package program

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/program/text"
)

// newInt is int(x, base).
func (e *engine) newInt(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v, base starlark.Value = nil, nil
	if err := unpackArguments("int", args, kwargs, "x?", &v, "base?", &base); err != nil {
		return nil, err
	}
	if v == nil {
		return starlark.MakeInt(0), nil
	}
	radix := 10
	if base != nil {
		var err error
		if radix, err = intArgument(base); err != nil {
			return nil, err
		}
		if radix != 0 && (radix < 2 || radix > 36) {
			return nil, raise("ValueError", "int() base must be >= 2 and <= 36, or 0")
		}
		switch v.(type) {
		case starlark.String, starlark.Bytes:
		default:
			return nil, raise("TypeError", "int() can't convert non-string with explicit base")
		}
	}
	switch x := number(v).(type) {
	case starlark.Int:
		return x, nil
	case starlark.Float:
		switch f := float64(x); {
		case math.IsNaN(f):
			return nil, raise("ValueError", "cannot convert float NaN to integer")
		case math.IsInf(f, 0):
			return nil, raise("OverflowError", "cannot convert float infinity to integer")
		}
		return starlark.NumberToInt(x)
	case starlark.String:
		return e.parseInt(string(x), radix, x)
	case starlark.Bytes:
		return e.parseInt(string(x), radix, x)
	}
	return nil, raise("TypeError", "int() argument must be a string, a bytes-like object or a real number, not '%s'", className(v))
}

// parseInt reads what int() reads: white space around, a sign, a prefix of the
// base, underscores between digits, digits of any script. It is shown in errors.
func (e *engine) parseInt(s string, base int, shown starlark.Value) (starlark.Value, error) {
	invalid := func() error {
		return raise("ValueError", "invalid literal for int() with base %d: %s", base, e.brief(shown))
	}
	digits := asciiDigits(text.Strip(s, nil, true, true))
	negative := strings.HasPrefix(digits, "-")
	if negative || strings.HasPrefix(digits, "+") {
		digits = digits[1:]
	}
	radix := base
	if len(digits) > 1 && digits[0] == '0' {
		prefix := map[byte]int{'x': 16, 'o': 8, 'b': 2}[digits[1]|0x20]
		if prefix != 0 && (base == 0 || base == prefix) {
			radix = prefix
			digits = strings.TrimPrefix(digits[2:], "_")
		}
	}
	if radix == 0 {
		radix = 10
		if strings.Trim(digits, "0_") != "" && strings.HasPrefix(digits, "0") {
			return nil, invalid()
		}
	}
	if digits == "" || digits[0] == '_' || strings.HasSuffix(digits, "_") || strings.Contains(digits, "__") || strings.ContainsAny(digits, "+-") {
		return nil, invalid()
	}
	digits = strings.ReplaceAll(digits, "_", "")
	if radix&(radix-1) != 0 && len(digits) > maxDigits {
		return nil, tooManyDigits()
	}
	if err := roomBits(len(digits) * 4); err != nil {
		return nil, err
	}
	if err := e.chargeWords(4*len(digits), 4*len(digits)); err != nil {
		return nil, err
	}
	n, ok := new(big.Int).SetString(digits, radix)
	if !ok {
		return nil, invalid()
	}
	if negative {
		n.Neg(n)
	}
	return starlark.MakeBigInt(n), nil
}

// asciiDigits writes the decimal digits of other scripts as 0 to 9.
func asciiDigits(s string) string {
	if text.IsASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if d, ok := text.DecimalDigit(r); ok {
			return '0' + rune(d)
		}
		return r
	}, s)
}

// newFloat is float(x).
func (e *engine) newFloat(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(kwargs) > 0 {
		return nil, raise("TypeError", "float() takes no keyword arguments")
	}
	if err := argumentCount("float", len(args), 0, 1); err != nil {
		return nil, err
	}
	if len(args) == 0 {
		return starlark.Float(0), nil
	}
	switch x := number(args[0]).(type) {
	case starlark.Float:
		return x, nil
	case starlark.Int:
		f, ok := starlark.AsFloat(x)
		if !ok || math.IsInf(f, 0) {
			return nil, raise("OverflowError", "int too large to convert to float")
		}
		return starlark.Float(f), nil
	case starlark.String, starlark.Bytes:
		s, isText := x.(starlark.String)
		if !isText {
			s = starlark.String(x.(starlark.Bytes))
		}
		f, ok := parseFloat(string(s))
		if !ok {
			return nil, raise("ValueError", "could not convert string to float: %s", e.brief(x))
		}
		return starlark.Float(f), nil
	}
	return nil, raise("TypeError", "float() argument must be a string or a real number, not '%s'", className(args[0]))
}

func parseFloat(s string) (float64, bool) {
	s = strings.ToLower(asciiDigits(text.Strip(s, nil, true, true)))
	if len(s) > maxDigits || s == "" {
		return 0, false
	}
	switch strings.TrimLeft(s, "+-") {
	case "nan", "inf", "infinity":
		if len(s)-len(strings.TrimLeft(s, "+-")) > 1 {
			return 0, false
		}
	default:
		// Go's own forms beyond Python's: hexadecimal, and underscores only
		// with a base prefix.
		if strings.ContainsAny(s, "xpin") || strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") {
			return 0, false
		}
		for i := range len(s) {
			if s[i] == '_' && (!isDecimalByte(s[i-1]) || !isDecimalByte(s[i+1])) {
				return 0, false
			}
		}
		s = strings.ReplaceAll(s, "_", "")
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

func isDecimalByte(c byte) bool { return c >= '0' && c <= '9' }

// newBool is bool(x).
func newBool(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(kwargs) > 0 {
		return nil, raise("TypeError", "bool() takes no keyword arguments")
	}
	if err := argumentCount("bool", len(args), 0, 1); err != nil {
		return nil, err
	}
	return starlark.Bool(len(args) == 1 && bool(args[0].Truth())), nil
}

// newText is str(x).
func (e *engine) newText(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 0 && len(kwargs) == 0 {
		return starlark.String(""), nil
	}
	var v, encoding, errors starlark.Value
	if err := unpackArguments("str", args, kwargs, "object?", &v, "encoding?", &encoding, "errors?", &errors); err != nil {
		return nil, err
	}
	if encoding != nil || errors != nil {
		return e.decodedText(v, encoding, errors)
	}
	if v == nil {
		return starlark.String(""), nil
	}
	s, err := e.str(v)
	return starlark.String(s), err
}

// decodedText is str(x, encoding, errors).
func (e *engine) decodedText(v, encoding, errors starlark.Value) (starlark.Value, error) {
	var args starlark.Tuple
	var kwargs []starlark.Tuple
	if encoding != nil {
		if _, ok := encoding.(starlark.String); !ok {
			return nil, raise("TypeError", "str() argument 'encoding' must be str, not %s", typeName(encoding))
		}
		args = starlark.Tuple{encoding}
	}
	if errors != nil {
		kwargs = []starlark.Tuple{{starlark.String("errors"), errors}}
	}
	switch v.(type) {
	case nil:
		return starlark.String(""), nil
	case starlark.Bytes:
		return decodeMethod(e, nil, v, args, kwargs)
	case starlark.String:
		return nil, raise("TypeError", "decoding str is not supported")
	}
	return nil, raise("TypeError", "decoding to str: need a bytes-like object, %s found", className(v))
}

// converting is repr(x) and ascii(x).
func (e *engine) converting(conversion string) native {
	return func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := argumentCount(b.Name(), len(args)+len(kwargs), 1, 1); err != nil {
			return nil, err
		}
		s, err := e.converted(args[0], conversion)
		return starlark.String(s), err
	}
}

// format is format(x, spec).
func (e *engine) format(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := argumentCount(b.Name(), len(args)+len(kwargs), 1, 2); err != nil {
		return nil, err
	}
	spec := ""
	if len(args) == 2 {
		var ok bool
		if spec, ok = starlark.AsString(args[1]); !ok {
			return nil, raise("TypeError", "format() argument 2 must be str, not %s", className(args[1]))
		}
	}
	s, err := e.formatted(args[0], "", spec)
	return starlark.String(s), err
}

// inBase is hex(x), oct(x) and bin(x).
func (e *engine) inBase(base int, prefix string) native {
	return func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := argumentCount(b.Name(), len(args)+len(kwargs), 1, 1); err != nil {
			return nil, err
		}
		i, ok := number(args[0]).(starlark.Int)
		if !ok {
			return nil, raise("TypeError", "'%s' object cannot be interpreted as an integer", className(args[0]))
		}
		n := i.BigInt()
		sign := ""
		if n.Sign() < 0 {
			sign = "-"
		}
		if err := e.roomBytes(n.BitLen()); err != nil {
			return nil, err
		}
		return starlark.String(sign + prefix + new(big.Int).Abs(n).Text(base)), nil
	}
}

// character is chr(x).
func character(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := argumentCount(b.Name(), len(args)+len(kwargs), 1, 1); err != nil {
		return nil, err
	}
	n, err := intArgument(args[0])
	if err != nil {
		return nil, err
	}
	if n < 0 || n > 0x10ffff {
		return nil, raise("ValueError", "chr() arg not in range(0x110000)")
	}
	if n >= 0xd800 && n < 0xe000 {
		return nil, raise("ValueError", "U+%04X is no character: a text holds whole characters", n)
	}
	return starlark.String(string(rune(n))), nil
}

// ordinal is ord(x).
func ordinal(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := argumentCount(b.Name(), len(args)+len(kwargs), 1, 1); err != nil {
		return nil, err
	}
	s, ok := starlark.AsString(args[0])
	if !ok {
		return nil, raise("TypeError", "ord() expected string of length 1, but %s found", className(args[0]))
	}
	if n := text.Len(s); n != 1 {
		return nil, raise("TypeError", "ord() expected a character, but string of length %d found", n)
	}
	return starlark.MakeInt(int([]rune(s)[0])), nil
}

// callable is callable(x).
func callable(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := argumentCount(b.Name(), len(args)+len(kwargs), 1, 1); err != nil {
		return nil, err
	}
	_, ok := args[0].(starlark.Callable)
	if _, isNamespace := args[0].(*namespace); isNamespace {
		ok = false
	}
	return starlark.Bool(ok), nil
}
