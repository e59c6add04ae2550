package binding

import (
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime/canon"
)

func encodeTypes(w *canon.Writer, types []NamedShape) {
	w.BeginArray(len(types), 1, MaxTypes)
	for i := range types {
		w.Element(i).BeginObject(2)
		w.Key("name").String(types[i].Name, 1, maxFieldName)
		w.Key("shape")
		encodeShape(w, &types[i].Shape, nil)
		w.EndObject()
	}
	w.EndArray()
}

func decodeTypes(r *canon.Reader) []NamedShape {
	var types []NamedShape
	r.BeginArray(1, MaxTypes)
	for r.NextElement() {
		t := decodeType(r)
		switch {
		case r.Err() != nil:
		case !validField(t.Name):
			r.Fail(canon.CodePattern, "expected an identifier")
		case t.Shape.Kind == Ref:
			r.Fail(canon.CodeUnknown, "a named shape refers to another")
		case len(types) > 0 && types[len(types)-1].Name >= t.Name:
			r.Fail(canon.CodeDuplicate, "names not in order, or one twice")
		}
		types = append(types, t)
	}
	return types
}

func decodeType(r *canon.Reader) (t NamedShape) {
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		switch string(r.Key()) {
		case "name":
			t.Name = seen.Mark(r, 0).String(1, maxFieldName)
		case "shape":
			t.Shape = decodeShape(seen.Mark(r, 1), 1)
		default:
			r.UnknownMember()
		}
	}
	r.Require(&seen, 0, "name")
	r.Require(&seen, 1, "shape")
	return t
}

// checkRefs refuses a capability that refers to a shape it does not have.
func (c *Capability) checkRefs(r *canon.Reader) {
	if r.Err() != nil {
		return
	}
	check := func(s *Shape) {
		s.refs(func(name string) {
			if _, ok := c.typeIndex(name); !ok {
				r.Fail(canon.CodeUnknown, "a reference to a shape that is not there")
			}
		})
	}
	for i := range c.Input {
		check(&c.Input[i].Shape)
	}
	check(&c.Output)
	for i := range c.Types {
		check(&c.Types[i].Shape)
	}
}

func (c *Capability) typeIndex(name string) (int, bool) {
	return slices.BinarySearchFunc(c.Types, name, func(t NamedShape, name string) int { return strings.Compare(t.Name, name) })
}

// refs calls f with each name that s refers to. Shapes are trees: what they
// refer to by name is not entered.
func (s *Shape) refs(f func(name string)) {
	if s.Kind == Ref {
		f(s.Ref)
	}
	if s.Items != nil {
		s.Items.refs(f)
	}
	for i := range s.Variants {
		s.Variants[i].refs(f)
	}
	for i := range s.Fields {
		s.Fields[i].refs(f)
	}
}
