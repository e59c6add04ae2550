package codegen

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/schema"
)

// Caps that lowering sets where the author wrote none: describe_api does not
// show them.
const (
	impliedMaxLength = 1_048_576
	impliedMaxItems  = 10_000
	impliedInteger   = 1<<53 - 1
)

// apiField is what describe_api says of one value. A member that would say
// nothing is omitted, and a field with nothing but a type and a description is
// a string, because a model pays for every word: see MarshalJSON.
type apiField struct {
	Name string `json:"-"`
	// Type is empty where it has been said: by the signature for a parameter, by
	// the list for its items, by Fields for an object.
	Type string `json:"type,omitempty"`
	// Required is false for a member that may be left out and has no default. A
	// parameter's signature says the same.
	Required         *bool           `json:"required,omitempty"`
	Default          json.RawMessage `json:"default,omitempty"`
	Description      string          `json:"description,omitempty"`
	Enum             []string        `json:"enum,omitempty"`
	Minimum          json.Number     `json:"minimum,omitempty"`
	Maximum          json.Number     `json:"maximum,omitempty"`
	ExclusiveMinimum json.Number     `json:"exclusiveMinimum,omitempty"`
	ExclusiveMaximum json.Number     `json:"exclusiveMaximum,omitempty"`
	MinLength        int             `json:"minLength,omitempty"`
	MaxLength        *int            `json:"maxLength,omitempty"`
	Pattern          string          `json:"pattern,omitempty"`
	MinItems         int             `json:"minItems,omitempty"`
	MaxItems         *int            `json:"maxItems,omitempty"`
	MultipleOf       json.Number     `json:"multipleOf,omitempty"`
	Fields           apiFields       `json:"fields,omitempty"`
	Items            *apiField       `json:"items,omitempty"`
}

// MarshalJSON
//
//	"int"
//	"int: How many."
//	"How many."  where the type has been said
//	{"type":"int","description":"How many.","minimum":1}
func (f apiField) MarshalJSON() ([]byte, error) {
	type members apiField // without this method
	object := jsonText(members(f))
	said := members{Type: f.Type, Description: f.Description}
	switch {
	case object != jsonText(said):
		return []byte(object), nil
	case f.Type == "":
		return []byte(jsonText(f.Description)), nil
	case f.Description == "":
		return []byte(jsonText(f.Type)), nil
	}
	return []byte(jsonText(f.Type + ": " + f.Description)), nil
}

// apiFields are the members of an object by name, in declaration order.
type apiFields []apiField

func (fields apiFields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, f := range fields {
		b.WriteString(pick(i == 0, "{", ","))
		b.WriteString(jsonText(f.Name) + ":" + jsonText(f))
	}
	if len(fields) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// describeInput is a JSON object of an input's parameters: of each, what its
// signature does not say.
func describeInput(t *schema.Type) string {
	var out apiFields
	for _, f := range describeProperties(resolved(t)) {
		f.Type, f.Required, f.Default = "", nil, nil
		if !f.silent() {
			out = append(out, f)
		}
	}
	return jsonText(out)
}

// describeOutput is the JSON of a result, a field without a name.
func describeOutput(t *schema.Type) string {
	f := describeType(t)
	f.forgetLengths()
	return jsonText(f)
}

// forgetLengths of strings: they bind the handler, and a program that reads a
// result does nothing with them.
func (f *apiField) forgetLengths() {
	f.MinLength, f.MaxLength = 0, nil
	for i := range f.Fields {
		f.Fields[i].forgetLengths()
	}
	if f.Items != nil {
		if f.Items.forgetLengths(); f.Items.silent() {
			f.Items = nil
		}
	}
}

func describeProperties(t *schema.Type) apiFields {
	var out apiFields
	for _, p := range t.Properties {
		f := describeType(p.Type)
		f.Name = p.Name
		switch {
		case p.Default != "":
			f.Default = json.RawMessage(p.Default)
		case !p.Required:
			f.Required = new(bool)
		}
		out = append(out, f)
	}
	return out
}

func describeType(ref *schema.Type) apiField {
	t := resolved(ref)
	f := apiField{Type: annotation(t), Description: describe(ref), Enum: t.Enum, Pattern: t.Pattern, MultipleOf: json.Number(t.MultipleOf)}
	switch t.Kind {
	case schema.String:
		if len(t.Enum) == 0 {
			f.MinLength, f.MaxLength = t.MinLength, unless(t.MaxLength, impliedMaxLength)
		}
	case schema.Integer:
		f.Minimum, f.Maximum = integerBound(t.Minimum, -impliedInteger), integerBound(t.Maximum, impliedInteger)
	case schema.Number:
		*pick(t.ExclusiveMin, &f.ExclusiveMinimum, &f.Minimum) = json.Number(t.NumberMin)
		*pick(t.ExclusiveMax, &f.ExclusiveMaximum, &f.Maximum) = json.Number(t.NumberMax)
	case schema.Array:
		f.MinItems, f.MaxItems = t.MinItems, unless(t.MaxItems, impliedMaxItems)
		items := describeType(t.Items)
		items.Type = ""
		if !items.silent() {
			f.Items = &items
		}
	case schema.Object:
		if f.Fields = describeProperties(t); len(f.Fields) > 0 {
			f.Type = ""
		}
	}
	return f
}

// silent fields add nothing to the type that has been said.
func (f apiField) silent() bool { return jsonText(f) == `""` }

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

func unless(n, implied int) *int {
	if n == implied {
		return nil
	}
	return &n
}

func integerBound(n, implied int64) json.Number {
	if n == implied {
		return ""
	}
	return json.Number(strconv.FormatInt(n, 10))
}

// annotation is a type as signatures name it: str, list[int], dict.
func annotation(ref *schema.Type) string {
	s := kinds(ref)
	return s.Annotation()
}

// kinds is the shape of ref as far as its annotation says.
func kinds(ref *schema.Type) binding.Shape {
	t := resolved(ref)
	s := binding.Shape{Kind: binding.Kind(t.Kind)}
	if t.Kind == schema.Array {
		items := kinds(t.Items)
		s.Items = &items
	}
	return s
}

// Signature is how a program calls c:
//
//	records.lookup(*, key: str, limit: int = 20)
func Signature(c *schema.Capability) string {
	b := binding.Capability{Name: c.Name, Input: bindingFields(resolved(c.Input))}
	return b.Signature()
}

// jsonText is v as compact JSON without HTML escapes.
func jsonText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "null" // a RawMessage that is not JSON; defaultOf has refused it
	}
	return strings.TrimSuffix(b.String(), "\n")
}
