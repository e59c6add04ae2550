package binding

import (
	"strings"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime/canon"
)

// Signature is how a program calls c:
//
//	records.lookup(*, key: str, limit: int = 20)
func (c *Capability) Signature() string {
	var b strings.Builder
	b.WriteString(c.Name + "(")
	for i := range c.Input {
		f := &c.Input[i]
		if i == 0 {
			b.WriteByte('*')
		}
		b.WriteString(", " + f.Name + ": " + f.Annotation())
		switch {
		case f.Default != "":
			b.WriteString(" = " + Literal(f.Default))
		case !f.Required && (f.Nullable || f.Kind == Opaque):
			b.WriteString(" = ...") // None says null; left out it is absent
		case !f.Required:
			b.WriteString(" = None")
		}
	}
	b.WriteByte(')')
	return b.String()
}

// Annotation is the shape's type as signatures name it: str, list[int], dict,
// and str | None of one that may be null. An array has Items, as ParseCapability makes sure.
func (s *Shape) Annotation() string {
	if s.Nullable {
		return s.annotation() + " | None"
	}
	return s.annotation()
}

func (s *Shape) annotation() string {
	switch s.Kind {
	case String:
		return "str"
	case Integer:
		return "int"
	case Number:
		return "float"
	case Boolean:
		return "bool"
	case Opaque:
		return "any"
	case Ref:
		return s.Ref
	case Array:
		return "list[" + s.Items.Annotation() + "]"
	case Map:
		return "dict[str, " + s.Items.Annotation() + "]"
	}
	return "dict"
}

// Literal writes a JSON text as a Starlark expression, members in the order of
// the text. What is not JSON stays as it is.
func Literal(json string) string {
	r := canon.NewJSONReader([]byte(json), maxDefaultNesting)
	var b strings.Builder
	writeLiteral(&b, r)
	if r.End() != nil {
		return json
	}
	return b.String()
}

func writeLiteral(b *strings.Builder, r *canon.Reader) {
	switch r.Peek() {
	case canon.KindBool:
		if r.Bool() {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case canon.KindNumber:
		b.WriteString(r.RawNumber())
	case canon.KindString:
		b.WriteString(visible.Quote(r.String(0, maxText)))
	case canon.KindArray:
		b.WriteByte('[')
		r.BeginArray(0, maxText)
		for separator := ""; r.NextElement(); separator = ", " {
			b.WriteString(separator)
			writeLiteral(b, r)
		}
		b.WriteByte(']')
	case canon.KindObject:
		b.WriteByte('{')
		r.BeginObject()
		for separator := ""; r.NextMember(); separator = ", " {
			b.WriteString(separator + visible.Quote(string(r.Key())) + ": ")
			writeLiteral(b, r)
		}
		b.WriteByte('}')
	default:
		if r.Null() {
			b.WriteString("None")
		} else {
			r.Skip() // no value: the caller sees the error
		}
	}
}
