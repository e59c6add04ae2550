package binding

import (
	"fmt"

	"github.com/capgen/capgen/runtime/canon"
)

// ParseCapability reads the JSON text that AppendJSON writes, strictly: an
// unknown member or kind, a member that does not apply to its kind, a duplicate
// field or more than MaxNesting levels is an error. The error wraps a
// *canon.Error, whose path leads to the place.
func ParseCapability(json string) (*Capability, error) {
	if len(json) > maxBinding {
		return nil, fmt.Errorf("binding: a capability of %d bytes, at most %d are allowed", len(json), maxBinding)
	}
	// Each level of a shape is two containers deep at most: its fields and
	// one of them.
	r := canon.NewJSONReader([]byte(json), 2*MaxNesting+4)
	c := &Capability{}
	c.decode(r)
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("binding: %w", err)
	}
	return c, nil
}

func (c *Capability) decode(r *canon.Reader) {
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		switch string(r.Key()) {
		case "id":
			seen.Mark(r, 0)
			c.ID = r.String(1, maxIDBytes)
		case "input":
			seen.Mark(r, 1)
			c.Input = decodeFields(r, 1)
		case "name":
			seen.Mark(r, 2)
			c.Name = r.String(1, maxNameBytes)
			if !ValidName(c.Name) {
				r.Fail(canon.CodePattern, "expected a capability name")
			}
		case "output":
			seen.Mark(r, 3)
			c.Output = decodeShape(r, 1)
		case "pages":
			seen.Mark(r, 5)
			c.Pages = decodePages(r)
		case "types":
			seen.Mark(r, 4)
			c.Types = decodeTypes(r)
		default:
			r.UnknownMember()
		}
	}
	r.Require(&seen, 0, "id")
	r.Require(&seen, 1, "input")
	r.Require(&seen, 2, "name")
	r.Require(&seen, 3, "output")
	c.checkRefs(r)
	c.checkPages(r)
}

// decodeFields reads the fields of an object that is level levels deep.
func decodeFields(r *canon.Reader, level int) []Field {
	fields := []Field{}
	names := make(map[string]bool)
	r.BeginArray(0, MaxFields)
	for r.NextElement() {
		f := decodeField(r, level)
		if names[f.Name] {
			r.Fail(canon.CodeDuplicate, "a field of this name was there before")
		}
		names[f.Name] = true
		fields = append(fields, f)
	}
	return fields
}

func decodeField(r *canon.Reader, level int) Field {
	var f Field
	d := shapeDecoder{shape: &f.Shape, level: level}
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		switch string(r.Key()) {
		case "name":
			seen.Mark(r, 0)
			f.Name = r.String(1, maxFieldName)
			if !validField(f.Name) {
				r.Fail(canon.CodePattern, "expected an identifier")
			}
		case "required":
			seen.Mark(r, 1)
			f.Required = r.Bool()
		case "default":
			seen.Mark(r, 2)
			f.Default = r.String(1, maxText)
			if r.Err() == nil && !validJSON(f.Default) {
				r.Fail(canon.CodeSyntax, "expected the text of a JSON value")
			}
		default:
			d.member(r)
		}
	}
	r.Require(&seen, 0, "name")
	d.finish(r)
	if f.Required && f.Default != "" {
		r.Fail(canon.CodeUnknown, "a required field has no default")
	}
	return f
}

func decodeShape(r *canon.Reader, level int) Shape {
	var s Shape
	d := shapeDecoder{shape: &s, level: level}
	r.BeginObject()
	for r.NextMember() {
		d.member(r)
	}
	d.finish(r)
	return s
}
