package binding

import (
	"encoding/hex"
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
			b.WriteString(" = " + literal(f.Default, &f.Shape))
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
	case Integer, Int64:
		return "int"
	case Number:
		return "float"
	case Boolean:
		return "bool"
	case Opaque:
		return "any"
	case Union:
		return s.alternatives()
	case Ref:
		return s.Ref
	case Array:
		return "list[" + s.Items.Annotation() + "]"
	case Bytes:
		return "bytes"
	case Map:
		return "dict[str, " + s.Items.Annotation() + "]"
	}
	return "dict"
}

// Literal writes a JSON text as a Starlark expression, members in the order of
// the text. What is not JSON stays as it is.
func Literal(json string) string { return literal(json, nil) }

// literal writes what is another kind in a program than in JSON as s says; nil
// is no shape.
func literal(json string, s *Shape) string {
	r := canon.NewJSONReader([]byte(json), maxDefaultNesting)
	var b strings.Builder
	writeLiteral(&b, r, s)
	if r.End() != nil {
		return json
	}
	return b.String()
}

func writeLiteral(b *strings.Builder, r *canon.Reader, s *Shape) {
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
		writeText(b, r.String(0, maxText), s)
	case canon.KindArray:
		b.WriteByte('[')
		r.BeginArray(0, maxText)
		for separator := ""; r.NextElement(); separator = ", " {
			b.WriteString(separator)
			writeLiteral(b, r, s.inside(""))
		}
		b.WriteByte(']')
	case canon.KindObject:
		b.WriteByte('{')
		r.BeginObject()
		for separator := ""; r.NextMember(); separator = ", " {
			key := string(r.Key())
			b.WriteString(separator + visible.Quote(key) + ": ")
			writeLiteral(b, r, s.inside(key))
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

// inside is the shape of a member or item, nil where there is none to know.
func (s *Shape) inside(key string) *Shape {
	if s == nil {
		return nil
	}
	if s.Items != nil {
		return s.Items
	}
	for i := range s.Fields {
		if s.Fields[i].Name == key {
			return &s.Fields[i].Shape
		}
	}
	return nil
}

func writeText(b *strings.Builder, text string, s *Shape) {
	switch {
	case s != nil && s.Kind == Int64:
		b.WriteString(text)
	case s != nil && s.Kind == Bytes && canon.ValidBase64(text):
		b.WriteString(BytesLiteral(text))
	default:
		b.WriteString(visible.Quote(text))
	}
}

// BytesLiteral is what base64 text stands for as a program writes it: b"a\x00".
func BytesLiteral(text string) string {
	r := canon.NewJSONReader([]byte(`"`+text+`"`), 0)
	var b strings.Builder
	b.WriteString(`b"`)
	for _, c := range r.Base64(0, maxText) {
		switch {
		case c == '"' || c == '\\':
			b.WriteString("\\" + string(rune(c)))
		case c < ' ' || c > '~':
			b.WriteString(`\x` + hex.EncodeToString([]byte{c}))
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
