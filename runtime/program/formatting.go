package program

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/program/format"
	"github.com/capgen/capgen/runtime/program/text"
)

// fstring joins the parts of an f-string.
func (e *engine) fstring(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	n := 0
	for _, part := range args {
		n += len(part.(starlark.String))
	}
	if err := e.roomBytes(n); err != nil {
		return nil, err
	}
	var b strings.Builder
	b.Grow(n)
	for _, part := range args {
		b.WriteString(string(part.(starlark.String)))
	}
	return starlark.String(b.String()), nil
}

// formatValue is format(x, spec) after a conversion.
func (e *engine) formatValue(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	conversion, _ := starlark.AsString(args[1])
	spec, _ := starlark.AsString(args[2])
	s, err := e.formatted(args[0], conversion, spec)
	return starlark.String(s), err
}

// formatted is x after a conversion (s, r, a or none), by a specification.
func (e *engine) formatted(x starlark.Value, conversion, spec string) (string, error) {
	if conversion != "" {
		s, err := e.converted(x, conversion)
		if err != nil {
			return "", err
		}
		x = starlark.String(s)
	}
	if spec == "" {
		return e.str(x)
	}
	if !isNumber(number(x)) {
		if _, ok := x.(starlark.String); !ok {
			return "", raise("TypeError", "unsupported format string passed to %s.__format__", className(x))
		}
	}
	parsed, err := format.Parse(spec)
	if err != nil {
		return "", formatError(format.Complete(err, spec, className(x)))
	}
	if err := e.roomBytes(parsed.Bytes()); err != nil {
		return "", err
	}
	var out string
	switch v := number(x).(type) {
	case starlark.Int:
		if err := e.chargeWords(bits(v), bits(v)); err != nil {
			return "", err
		}
		if err := roomDigits(v); err != nil && parsed.Type != 'x' && parsed.Type != 'X' && parsed.Type != 'b' && parsed.Type != 'o' {
			return "", err
		}
		out, err = parsed.Int(v.BigInt())
		if f := (*format.Error)(nil); errors.As(err, &f) && className(x) == "bool" {
			err = &format.Error{Kind: f.Kind, Message: strings.Replace(f.Message, "type 'int'", "type 'bool'", 1)}
		}
	case starlark.Float:
		out, err = parsed.Float(float64(v))
	case starlark.String:
		if err := e.chargeBytes(2 * len(v)); err != nil {
			return "", err
		}
		out, err = parsed.Text(string(v), "str")
	}
	return out, formatError(err)
}

// converted is str(x), repr(x) or ascii(x).
func (e *engine) converted(x starlark.Value, conversion string) (string, error) {
	switch conversion {
	case "r":
		return e.repr(x)
	case "a":
		if s, ok := x.(starlark.String); ok {
			if err := e.roomBytes(10 * len(s)); err != nil {
				return "", err
			}
			return text.Repr(string(s), true), nil
		}
		s, err := e.repr(x)
		if err == nil {
			s, err = e.escaped(s)
		}
		return s, err
	}
	return e.str(x)
}

// escaped is s, a repr, with its characters beyond ASCII escaped.
func (e *engine) escaped(s string) (string, error) {
	if err := e.roomBytes(10 * len(s)); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, "\\x%02x", r)
		case r < 0x10000:
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			fmt.Fprintf(&b, "\\U%08x", r)
		}
	}
	return b.String(), nil
}

// roomDigits refuses an int whose decimal text would be too long.
func roomDigits(v starlark.Int) error {
	_, err := digits(v)
	return err
}

func formatError(err error) error {
	var f *format.Error
	if errors.As(err, &f) {
		return raise(f.Kind, "%s", f.Message)
	}
	return err
}
