package program

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/canon"
)

// jsonDecode is json.decode(x, default): strict JSON (RFC 8259), an int for a
// number without fraction and exponent, and of two members of one name the
// last. A text that is no JSON is an error, or the default.
func (e *engine) jsonDecode(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var text string
	var fallback starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "x", &text, "default?", &fallback); err != nil {
		return nil, err
	}
	if err := e.roomBytes(len(text)); err != nil {
		return nil, err
	}
	d := jsonDecoder{engine: e, r: canon.NewJSONReader([]byte(text), maxJSONDepth)}
	v := d.value()
	if d.err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name(), d.err)
	}
	if err := d.r.End(); err != nil {
		if fallback != nil {
			return fallback, nil
		}
		return nil, badJSON(b.Name(), err)
	}
	return v, nil
}

// badJSON says what is wrong with a text, and where.
func badJSON(name string, err error) error {
	var bad *canon.Error
	if errors.As(err, &bad) {
		return fmt.Errorf("%s: at offset %d: %s", name, bad.Offset, bad.Message)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// jsonDecoder reads values from a reader, which keeps the first error of the
// text; err is one that no default stands for.
type jsonDecoder struct {
	engine *engine
	r      *canon.Reader
	err    error
}

func (d *jsonDecoder) value() starlark.Value {
	if d.err = d.engine.charge(1); d.err != nil {
		return starlark.None
	}
	switch d.r.Peek() {
	case canon.KindBool:
		return starlark.Bool(d.r.Bool())
	case canon.KindNumber:
		return d.number()
	case canon.KindString:
		return starlark.String(d.r.String(0, math.MaxInt))
	case canon.KindArray:
		var items []starlark.Value
		d.r.BeginArray(0, math.MaxInt)
		for d.err == nil && d.r.NextElement() {
			items = append(items, d.value())
		}
		return starlark.NewList(items)
	case canon.KindObject:
		out := new(starlark.Dict)
		d.r.BeginObject()
		for d.err == nil && d.r.NextMember() {
			key := starlark.String(d.r.Key())
			_ = out.SetKey(key, d.value()) // a string hashes, and the dict is new
		}
		return out
	}
	if !d.r.Null() {
		d.r.Skip() // no value: says why
	}
	return starlark.None
}

func (d *jsonDecoder) number() starlark.Value {
	text := d.r.RawNumber()
	if text == "" {
		return starlark.None // the reader has said why
	}
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			d.r.Fail(canon.CodeRange, "the number is beyond a 64-bit float")
		}
		return starlark.Float(f)
	}
	n, err := parseDecimal(text)
	if err != nil {
		d.r.Fail(canon.CodeRange, err.Error())
	}
	return n
}

// jsonIndent is json.indent(text, prefix = "", indent = "\t").
func (e *engine) jsonIndent(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	prefix, indent := "", "\t"
	if err := starlark.UnpackArgs(b.Name(), nil, kwargs, "prefix?", &prefix, "indent?", &indent); err != nil {
		return nil, err
	}
	var text string
	if err := starlark.UnpackPositionalArgs(b.Name(), args, nil, 1, &text); err != nil {
		return nil, err
	}
	if err := e.roomBytes(len(text)); err != nil {
		return nil, err
	}
	r := canon.NewJSONReader([]byte(text), maxJSONDepth)
	r.Skip()
	err := r.End()
	var out []byte
	if err == nil {
		out, err = e.indented([]byte(text), prefix, indent)
	}
	if err != nil {
		return nil, badJSON(b.Name(), err)
	}
	return starlark.String(out), nil
}

// indented lays out valid JSON, one member or element a line. Empty arrays and
// objects stay on theirs.
func (e *engine) indented(text []byte, prefix, indent string) ([]byte, error) {
	var out []byte
	depth, quoted, fresh := 0, false, false
	line := func() error {
		if len(out)+1+len(prefix)+depth*len(indent) > maxStringBytes {
			return e.tooLarge("a text of that many bytes")
		}
		out = append(append(out, '\n'), prefix...)
		for range depth {
			out = append(out, indent...)
		}
		return nil
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if quoted {
			out = append(out, c)
			switch c {
			case '\\':
				i++
				out = append(out, text[i])
			case '"':
				quoted = false
			}
			continue
		}
		closing := c == ']' || c == '}'
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			continue
		case fresh && !closing:
			if err := line(); err != nil {
				return nil, err
			}
		}
		if closing {
			depth--
			if !fresh {
				if err := line(); err != nil {
					return nil, err
				}
			}
		}
		fresh = false
		out = append(out, c)
		switch c {
		case '"':
			quoted = true
		case '[', '{':
			depth++
			fresh = true
		case ',':
			if err := line(); err != nil {
				return nil, err
			}
		case ':':
			out = append(out, ' ')
		}
	}
	return out, e.roomBytes(len(out))
}
