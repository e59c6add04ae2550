package program

import (
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/program/format"
	"github.com/capgen/capgen/runtime/program/text"
)

// formatMethod is s.format(*args, **kwargs).
func formatMethod(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	f := formatter{engine: e, args: args, named: func(name string) (starlark.Value, error) {
		for _, pair := range kwargs {
			if pair[0] == starlark.String(name) {
				return pair[1], nil
			}
		}
		return nil, raiseKey(starlark.String(name))
	}}
	s, err := f.template(string(receiver.(starlark.String)), 2)
	return starlark.String(s), err
}

// formatMapMethod is s.format_map(mapping).
func formatMapMethod(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := noKeywords("str.format_map", kwargs); err != nil {
		return nil, err
	}
	if err := argumentCount("str.format_map", len(args), 1, 1); err != nil {
		return nil, err
	}
	from := args[0]
	f := formatter{engine: e, named: func(name string) (starlark.Value, error) { return e.index(from, starlark.String(name)) }}
	s, err := f.template(string(receiver.(starlark.String)), 2)
	return starlark.String(s), err
}

// formatter fills the fields of a str.format template.
type formatter struct {
	engine *engine
	args   starlark.Tuple
	named  func(name string) (starlark.Value, error)
	// next is the number of the next field without a name; -1 once a field
	// has a number.
	next    int
	numbers bool
}

// template formats s, whose format specifications may hold fields depth deep.
func (f *formatter) template(s string, depth int) (string, error) {
	if depth == 0 {
		return "", raise("ValueError", "Max string recursion exceeded")
	}
	pieces, err := format.Template(s)
	if err != nil {
		return "", formatError(err)
	}
	var b strings.Builder
	for _, p := range pieces {
		part := p.Text
		if p.IsField {
			if part, err = f.field(p, depth); err != nil {
				return "", err
			}
		}
		if err := f.engine.roomMore(b.Len(), len(part)); err != nil {
			return "", err
		}
		b.WriteString(part)
	}
	return b.String(), nil
}

func (f *formatter) field(p format.Piece, depth int) (string, error) {
	v, err := f.lookup(p.Name)
	if err != nil {
		return "", err
	}
	spec := p.Spec
	if strings.ContainsAny(spec, "{}") {
		if spec, err = f.template(spec, depth-1); err != nil {
			return "", err
		}
	}
	conversion := ""
	if p.Conversion != 0 {
		conversion = string(p.Conversion)
	}
	return f.engine.formatted(v, conversion, spec)
}

// lookup is the value of a field's name: an argument, then attributes and items
// of it.
func (f *formatter) lookup(name string) (starlark.Value, error) {
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	first, rest := name[:end], name[end:]
	v, err := f.argument(first)
	for err == nil && rest != "" {
		switch rest[0] {
		case '.':
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			if end == 1 {
				return nil, raise("ValueError", "Empty attribute in format string")
			}
			v, err = f.engine.attr(v, rest[1:end])
			rest = rest[end:]
		case '[':
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return nil, raise("ValueError", "Missing ']' in format string")
			}
			if end == 1 {
				return nil, raise("ValueError", "Empty attribute in format string")
			}
			var key starlark.Value = starlark.String(rest[1:end])
			if n, ok := fieldNumber(rest[1:end]); ok {
				key = starlark.MakeInt(n)
			}
			v, err = f.engine.index(v, key)
			rest = rest[end+1:]
		default:
			return nil, raise("ValueError", "Only '.' or '[' may follow ']' in format field specifier")
		}
	}
	return v, err
}

func (f *formatter) argument(name string) (starlark.Value, error) {
	n, isNumber := fieldNumber(name)
	switch {
	case name == "":
		if f.numbers {
			return nil, raise("ValueError", "cannot switch from manual field specification to automatic field numbering")
		}
		n, f.next = f.next, f.next+1
	case !isNumber:
		return f.named(name)
	case f.next > 0:
		return nil, raise("ValueError", "cannot switch from automatic field numbering to manual field specification")
	default:
		f.numbers = true
	}
	if n >= len(f.args) {
		return nil, raise("IndexError", "Replacement index %d out of range for positional args tuple", n)
	}
	return f.args[n], nil
}

func fieldNumber(s string) (int, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1 << 30, true
	}
	return n, true
}

// percent is s % v.
func (e *engine) percent(s string, v starlark.Value) (starlark.Value, error) {
	p := percentFormatter{engine: e, mapping: v}
	p.args, p.isTuple = v.(starlark.Tuple)
	if !p.isTuple {
		p.args = starlark.Tuple{v}
	}
	var b strings.Builder
	for _, d := range format.Percent(s) {
		part := d.Text
		switch d.Conversion {
		case 0:
			if d.Err != nil {
				return nil, formatError(d.Err)
			}
		case '%':
			part = "%"
		default:
			var err error
			if part, err = p.directive(d); err != nil {
				return nil, err
			}
		}
		if err := e.roomMore(b.Len(), len(part)); err != nil {
			return nil, err
		}
		b.WriteString(part)
	}
	_, isMapping := v.(starlark.Mapping)
	_, isList := v.(*starlark.List) // taken for a mapping, since both are indexed
	if p.next < len(p.args) && !p.keyed && (p.isTuple || !isMapping && !isList) {
		return nil, raise("TypeError", "not all arguments converted during string formatting")
	}
	return starlark.String(b.String()), nil
}

type percentFormatter struct {
	engine  *engine
	args    starlark.Tuple
	isTuple bool
	mapping starlark.Value
	next    int
	keyed   bool
}

func (p *percentFormatter) argument() (starlark.Value, error) {
	if p.next >= len(p.args) {
		return nil, raise("TypeError", "not enough arguments for format string")
	}
	p.next++
	return p.args[p.next-1], nil
}

func (p *percentFormatter) star() (int, error) {
	v, err := p.argument()
	if err != nil {
		return 0, err
	}
	if _, ok := number(v).(starlark.Int); !ok {
		return 0, raise("TypeError", "* wants int")
	}
	n, err := intArgument(v)
	if n > format.MaxWidth {
		return 0, raise("ValueError", "width too big")
	}
	return n, err
}

func (p *percentFormatter) directive(d format.Directive) (string, error) {
	e, spec := p.engine, d.Spec
	var err error
	var v starlark.Value
	if d.IsKey {
		p.keyed = true
		if _, ok := p.mapping.(starlark.Mapping); !ok {
			return "", raise("TypeError", "format requires a mapping")
		}
		if v, err = e.index(p.mapping, starlark.String(d.Key)); err != nil {
			return "", err
		}
	}
	if d.StarWidth {
		if spec.Width, err = p.star(); err != nil {
			return "", err
		}
		if spec.Width < 0 {
			spec.Width, spec.Align = -spec.Width, '<'
		}
	}
	if d.StarPrecision {
		if spec.Precision, err = p.star(); err != nil {
			return "", err
		}
		spec.Precision = max(spec.Precision, 0)
	}
	if !d.IsKey {
		if v, err = p.argument(); err != nil {
			return "", err
		}
	}
	if d.Err != nil {
		return "", formatError(d.Err)
	}
	if err := e.roomBytes(spec.Bytes()); err != nil {
		return "", err
	}
	return p.value(d.Conversion, spec, v)
}

func (p *percentFormatter) value(conversion byte, spec format.Spec, v starlark.Value) (string, error) {
	e := p.engine
	right := spec
	if right.Align == 0 {
		right.Align = '>'
	}
	asText := func(s string) (string, error) {
		right.Sign, right.Alternate, right.Zero = 0, false, false
		out, err := right.Text(s, "str")
		return out, formatError(err)
	}
	switch conversion {
	case 's', 'r', 'a':
		s, err := e.converted(v, string(conversion))
		if err != nil {
			return "", err
		}
		return asText(s)
	case 'c':
		if s, ok := v.(starlark.String); ok && text.Len(string(s)) == 1 {
			return asText(string(s))
		}
		i, ok := number(v).(starlark.Int)
		if !ok {
			return "", raise("TypeError", "%%c requires int or char")
		}
		plain := format.Spec{Width: -1, Precision: -1, Type: 'c'}
		s, err := plain.Int(i.BigInt())
		if err != nil {
			return "", formatError(err)
		}
		return asText(s)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		x, ok := starlark.AsFloat(number(v))
		if !ok {
			return "", raise("TypeError", "must be real number, not %s", className(v))
		}
		spec.Type = rune(conversion)
		if spec.Align == '<' {
			spec.Zero = false
		}
		out, err := spec.Float(x)
		return out, formatError(err)
	}
	return p.integer(conversion, spec, v)
}

// integer is %d, %i, %u, %o, %x and %X.
func (p *percentFormatter) integer(conversion byte, spec format.Spec, v starlark.Value) (string, error) {
	decimal := conversion == 'd' || conversion == 'i' || conversion == 'u'
	var i starlark.Int
	switch x := number(v).(type) {
	case starlark.Int:
		i = x
	case starlark.Float:
		if !decimal {
			return "", raise("TypeError", "%%%c format: an integer is required, not float", conversion)
		}
		var err error
		if i, err = starlark.NumberToInt(x); err != nil {
			return "", raise("OverflowError", "cannot convert float infinity to integer")
		}
	default:
		what := "an integer is required"
		if decimal {
			what = "a real number is required"
		}
		return "", raise("TypeError", "%%%c format: %s, not %s", conversion, what, className(v))
	}
	if decimal {
		if err := roomDigits(i); err != nil {
			return "", err
		}
	}
	least := spec.Precision
	spec.Precision = -1
	spec.Type = rune(conversion)
	if decimal {
		spec.Type = 'd'
	}
	if spec.Align == '<' {
		spec.Zero = false
	}
	if least < 0 {
		out, err := spec.Int(i.BigInt())
		return out, formatError(err)
	}
	// A precision is the least number of digits: zeros before them, without
	// the sign and the prefix in the count.
	digits := format.Spec{Width: least, Precision: -1, Type: spec.Type, Zero: true}
	magnitude := i
	if i.Sign() < 0 {
		magnitude = starlark.MakeInt(0).Sub(i)
	}
	s, err := digits.Int(magnitude.BigInt())
	if err != nil {
		return "", formatError(err)
	}
	sign, prefix := "", ""
	switch {
	case i.Sign() < 0:
		sign = "-"
	case spec.Sign != 0:
		sign = string(spec.Sign)
	}
	if spec.Alternate && !decimal {
		prefix = "0" + string(conversion)
	}
	padded := format.Spec{Width: spec.Width, Precision: -1, Align: spec.Align}
	if padded.Align == 0 {
		padded.Align = '>'
	}
	if zeros := spec.Width - len(sign) - len(prefix) - len(s); spec.Zero && zeros > 0 {
		s = strings.Repeat("0", zeros) + s
	}
	out, err := padded.Text(sign+prefix+s, "str")
	return out, formatError(err)
}
