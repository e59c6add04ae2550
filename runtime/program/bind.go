package program

import (
	"errors"
	"fmt"
	"math/big"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/internal/nearest"
	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
)

// refusal is why a value does not bind. Its path grows from the inside out.
type refusal struct {
	path    string
	message string
	hint    string
	limit   string // set when a limit fired
	bound   int64
}

// within prefixes the path with the member it was found under.
func (r *refusal) within(segment string) *refusal {
	switch {
	case r.path == "":
		r.path = segment
	case r.path[0] == '[':
		r.path = segment + r.path
	default:
		r.path = segment + "." + r.path
	}
	return r
}

// bind encodes the keyword arguments of a call as its capability's input. What
// it accepts the host's decoder accepts too; the host checks again all the
// same.
func bind(c *capability, args starlark.Tuple, kwargs []starlark.Tuple, limits Limits) ([]byte, *fault.Fault) {
	encoder := &encoder{w: canon.NewWireWriter(nil), limits: limits}
	r := encoder.arguments(c, args, kwargs)
	if r == nil {
		return encoder.w.Bytes(), nil
	}
	return nil, c.refuse(r)
}

// refuse is the fault for arguments that do not bind.
func (c *capability) refuse(r *refusal) *fault.Fault {
	f := &fault.Fault{Class: fault.InvalidArguments, Path: r.path, Message: r.message, Hint: c.signature, Capability: c.name}
	if r.hint != "" {
		f.Hint = r.hint
	}
	if r.limit != "" {
		f.Reached(r.limit, r.bound)
	}
	return f
}

// encoder writes Starlark values by their shapes and stops at the first value
// that does not fit, or as soon as the encoding is too long.
type encoder struct {
	w      *canon.Writer
	limits Limits
}

func (e *encoder) arguments(c *capability, args starlark.Tuple, kwargs []starlark.Tuple) *refusal {
	if len(args) > 0 {
		return positional(c, len(args))
	}
	values := make([]starlark.Value, len(c.input.fields))
	for _, kv := range kwargs {
		name, _ := starlark.AsString(kv[0])
		i, ok := c.input.index[name]
		if !ok {
			return unknown("parameter", name, c.input)
		}
		if values[i] != nil {
			return &refusal{path: name, message: "given twice"}
		}
		values[i] = kv[1]
	}
	return e.object("parameter", c.input, values, 1)
}

func positional(c *capability, n int) *refusal {
	return &refusal{message: fmt.Sprintf("%s takes keyword arguments only, got %d positional", c.name, n)}
}

// unknown refuses a name that s does not declare.
func unknown(what, name string, s *shape) *refusal {
	r := &refusal{path: segment(name), message: "unknown " + what}
	if near := nearest.Name(name, s.names()); near != "" {
		r.message += fmt.Sprintf(" (did you mean %s?)", near)
	} else if what == "field" {
		// Of parameters the hint tells: it is the signature.
		r.message += s.listed("; there are ")
	}
	return r
}

// segment is a member's place in a path.
func segment(name string) string {
	if isIdentifier(name) && len(name) <= 64 {
		return name
	}
	return "['" + excerpt(name) + "']"
}

func isIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// object writes the members given. None for a member that is not required is
// the same as leaving it out, unless null is one of its values.
func (e *encoder) object(what string, s *shape, values []starlark.Value, depth int) *refusal {
	if depth > e.limits.Depth {
		return tooDeep(e.limits)
	}
	given := 0
	for i, v := range values {
		if v == starlark.None && !s.fields[i].required && !s.fields[i].takesNull() {
			values[i] = nil
		}
		if values[i] != nil {
			given++
		} else if s.fields[i].required {
			return &refusal{path: s.fields[i].name, message: "required " + what + " is missing"}
		}
	}
	e.w.BeginObject(given)
	for _, i := range s.byName {
		if values[i] == nil {
			continue
		}
		name := s.fields[i].name
		e.w.Key(name)
		if r := e.value(s.fields[i].shape, values[i], depth); r != nil {
			return r.within(name)
		}
	}
	e.w.EndObject()
	return e.check()
}

func tooDeep(l Limits) *refusal {
	return &refusal{message: "nested too deeply", limit: fault.MaxValueDepth, bound: int64(l.Depth)}
}

// check reports what the writer refused at this value, and the size.
func (e *encoder) check() *refusal {
	if err := e.w.Err(); err != nil {
		var c *canon.Error
		if errors.As(err, &c) {
			return &refusal{message: c.Message}
		}
		return &refusal{message: "cannot be encoded"}
	}
	return e.room(0)
}

// room reports whether n more bytes are too many.
func (e *encoder) room(n int) *refusal {
	if n > e.limits.ValueBytes || len(e.w.Bytes())+n > e.limits.ValueBytes {
		return &refusal{message: "the arguments are too large", limit: fault.MaxValueBytes, bound: int64(e.limits.ValueBytes)}
	}
	return nil
}

// value writes v as s; depth counts the containers around it.
func (e *encoder) value(s *shape, v starlark.Value, depth int) *refusal {
	if s.spec.Nullable && v == starlark.None {
		e.w.Null()
		return e.check()
	}
	switch s.kind {
	case binding.String:
		if v, ok := v.(starlark.String); ok {
			return e.string(s, string(v))
		}
	case binding.Integer, binding.Int64:
		if v, ok := v.(starlark.Int); ok {
			return e.integer(s, v)
		}
	case binding.Number:
		switch v := v.(type) {
		case starlark.Int:
			return e.whole(s, v)
		case starlark.Float:
			return e.number(s, float64(v))
		}
	case binding.Boolean:
		if v, ok := v.(starlark.Bool); ok {
			e.w.Bool(bool(v))
			if s.spec.Const != "" {
				e.w.Is(bool(v), s.spec.Const == "true")
			}
			return e.check()
		}
	case binding.Array:
		switch v := v.(type) {
		case *starlark.List:
			return e.array(s, v, depth)
		case starlark.Tuple:
			return e.array(s, v, depth)
		}
	case binding.Object:
		if v, ok := v.(starlark.IterableMapping); ok {
			return e.mapping(s, v, depth)
		}
	case binding.Bytes:
		if v, ok := v.(starlark.Bytes); ok {
			return e.bytes(s, string(v))
		}
	case binding.Map:
		if v, ok := v.(starlark.IterableMapping); ok {
			return e.dict(s, v, depth)
		}
	case binding.Free:
		if v, ok := v.(starlark.IterableMapping); ok {
			return e.free(v, depth)
		}
	case binding.Union:
		return e.union(s, v, depth)
	case binding.Opaque:
		return e.opaque(v, depth)
	}
	return mistyped(s, v)
}

func mistyped(s *shape, v starlark.Value) *refusal {
	r := &refusal{message: fmt.Sprintf("expected %s, got %s", s.word(), typeName(v))}
	switch {
	case v == starlark.None:
		r.message += ": it is required"
	case s.kind == binding.Array && s.items.holds(v):
		r.message += ": put brackets around it"
	case s.kind == binding.Bytes && typeName(v) == "str":
		r.message += ": convert it with text.encode()"
	case s.kind == binding.Object:
		r.message += s.listed(": write a dict with ")
	}
	return r
}

// typeName is a value's type in messages.
func typeName(v starlark.Value) string {
	switch v.(type) {
	case starlark.String:
		return "str"
	case *starlark.Builtin:
		return "function"
	case starlark.NoneType:
		return "None"
	case *class:
		return "type"
	}
	return excerpt(v.Type())
}

// text refuses a string that cannot be on the wire.
func (e *encoder) text(v string) *refusal {
	if r := e.room(len(v)); r != nil {
		return r
	}
	if !utf8.ValidString(v) {
		return &refusal{message: "the string is not valid UTF-8 (Starlark strings are bytes: a slice can cut a character in half)"}
	}
	return nil
}

func (e *encoder) string(s *shape, v string) *refusal {
	if r := e.text(v); r != nil {
		return r
	}
	switch {
	case len(s.spec.Enum) > 0:
		e.w.Enum(v, s.spec.Enum...)
	default:
		e.w.String(v, s.spec.MinLength, s.maxLength())
		if s.pattern != nil {
			e.w.Match(v, s.pattern)
		}
		if s.spec.Format != "" {
			e.w.Format(v, canon.Format(s.spec.Format))
		}
	}
	return e.check()
}

// maxLength is the bound, which the generator always sets.
func (s *shape) maxLength() int { return s.spec.MaxLength }

func (e *encoder) bytes(s *shape, v string) *refusal {
	if r := e.room(len(v)); r != nil {
		return r
	}
	e.w.Base64([]byte(v), s.spec.MinLength, s.maxLength())
	return e.check()
}

func (e *encoder) integer(s *shape, v starlark.Int) *refusal {
	n, ok := v.Int64()
	if !ok {
		return &refusal{message: fmt.Sprintf("expected an integer from %d to %d, got one beyond 64 bits", s.low, s.high)}
	}
	if s.kind == binding.Int64 {
		e.w.Int64(n, s.low, s.high)
	} else {
		e.w.Int(n, s.low, s.high)
	}
	if s.step != 0 {
		e.w.IntMultipleOf(n, s.step)
	}
	return e.check()
}

// whole writes an int as a number, but only one that a float64 holds exactly.
func (e *encoder) whole(s *shape, v starlark.Int) *refusal {
	const bits = 1024 // beyond it no float64 is finite
	big1 := v.BigInt()
	if big1.BitLen() <= bits {
		if f, accuracy := new(big.Float).SetInt(big1).Float64(); accuracy == big.Exact {
			return e.number(s, f)
		}
	}
	return &refusal{message: "the int cannot be a float without rounding", hint: "convert it with float() if rounding is fine"}
}

func (e *encoder) number(s *shape, v float64) *refusal {
	e.w.Float(v)
	r := s.spec.Range
	if s.minimum != nil {
		if r.ExclusiveMin {
			e.w.Above(v, *s.minimum)
		} else {
			e.w.AtLeast(v, *s.minimum)
		}
	}
	if s.maximum != nil {
		if r.ExclusiveMax {
			e.w.Below(v, *s.maximum)
		} else {
			e.w.AtMost(v, *s.maximum)
		}
	}
	if s.multiple != 0 {
		e.w.MultipleOf(v, s.multiple)
	}
	return e.check()
}

func (e *encoder) array(s *shape, v starlark.Indexable, depth int) *refusal {
	if depth++; depth > e.limits.Depth {
		return tooDeep(e.limits)
	}
	n := v.Len()
	e.w.BeginArray(n, s.spec.MinLength, s.maxLength())
	if r := e.check(); r != nil {
		return r
	}
	var ends []int // of the items on the wire, the array's header first
	for i := range n {
		if s.spec.Unique {
			ends = append(ends, len(e.w.Bytes()))
		}
		e.w.Element(i)
		if r := e.value(s.items, v.Index(i), depth); r != nil {
			return r.within(fmt.Sprintf("[%d]", i))
		}
	}
	e.w.EndArray()
	if r := e.check(); r != nil || !s.spec.Unique {
		return r
	}
	wire := e.w.Bytes()
	ends = append(ends, len(wire))
	if message := canon.UniqueWire(n, func(i int) []byte { return wire[ends[i]:ends[i+1]] }, e.limits.Depth); message != "" {
		return &refusal{message: message}
	}
	return nil
}

// mapping binds a dict or a record as an object.
func (e *encoder) mapping(s *shape, v starlark.IterableMapping, depth int) *refusal {
	values := make([]starlark.Value, len(s.fields))
	for key, item := range starlark.Entries(v) {
		name, ok := starlark.AsString(key)
		if !ok {
			return &refusal{message: fmt.Sprintf("expected string keys, got a key of type %s", typeName(key))}
		}
		i, ok := s.index[name]
		if !ok {
			return unknown("field", name, s)
		}
		values[i] = item
	}
	return e.object("field", s, values, depth+1)
}
