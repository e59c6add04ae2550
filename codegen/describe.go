package codegen

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
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
// nothing is omitted.
type apiField struct {
	Name             string          `json:"name,omitempty"`
	Type             string          `json:"type"`
	Required         bool            `json:"required,omitempty"`
	Default          json.RawMessage `json:"default,omitempty"`
	Deprecated       bool            `json:"deprecated,omitempty"`
	Description      string          `json:"description,omitempty"`
	Enum             []string        `json:"enum,omitempty"`
	Const            json.RawMessage `json:"const,omitempty"`
	Minimum          json.RawMessage `json:"minimum,omitempty"`
	Maximum          json.RawMessage `json:"maximum,omitempty"`
	ExclusiveMinimum json.RawMessage `json:"exclusiveMinimum,omitempty"`
	ExclusiveMaximum json.RawMessage `json:"exclusiveMaximum,omitempty"`
	MinLength        int             `json:"minLength,omitempty"`
	MaxLength        *int            `json:"maxLength,omitempty"`
	Pattern          string          `json:"pattern,omitempty"`
	Format           string          `json:"format,omitempty"`
	MinItems         int             `json:"minItems,omitempty"`
	MaxItems         *int            `json:"maxItems,omitempty"`
	MultipleOf       json.Number     `json:"multipleOf,omitempty"`
	MinProperties    int             `json:"minProperties,omitempty"`
	MaxProperties    *int            `json:"maxProperties,omitempty"`
	Keys             *apiField       `json:"keys,omitempty"`
	Values           *apiField       `json:"values,omitempty"`
	Fields           []apiField      `json:"fields,omitempty"`
	Items            *apiField       `json:"items,omitempty"`
	Variants         []apiField      `json:"variants,omitempty"`
}

// describeInput is the JSON array of an input's parameters.
func describeInput(t *schema.Type) string {
	return jsonText(describer{}.properties(resolved(t)))
}

// describeOutput is the JSON of a result, a field without a name.
func describeOutput(t *schema.Type) string {
	return jsonText(describer{}.typ(t))
}

// describer holds the types that hold themselves and are written out already:
// from then on their name says it.
type describer map[*schema.NamedType]bool

func (d describer) properties(t *schema.Type) []apiField {
	out := []apiField{}
	for _, p := range t.Properties {
		f := d.typ(p.Type)
		f.Name, f.Required, f.Deprecated = p.Name, p.Required, p.Deprecated
		if p.Default != "" {
			f.Default = describeDefault(p)
		}
		out = append(out, f)
	}
	return out
}

func (d describer) typ(ref *schema.Type) apiField {
	if isRecursive(ref) {
		if d[ref.Ref] {
			return apiField{Type: ref.Ref.Name, Description: ref.Description}
		}
		d[ref.Ref] = true
	}
	t := resolved(ref)
	if t.Kind == schema.Nullable {
		f := d.typ(t.Items)
		f.Type, f.Description = annotation(ref), describe(ref)
		return f
	}
	f := apiField{Type: annotation(ref), Description: describe(ref), Enum: t.Enum, Pattern: t.Pattern, Format: t.Format, Const: json.RawMessage(t.Const), MultipleOf: json.Number(t.MultipleOf)}
	switch t.Kind {
	case schema.String:
		if len(t.Enum) == 0 {
			f.MinLength, f.MaxLength = t.MinLength, unless(t.MaxLength, impliedLength(t))
		}
	case schema.Integer:
		f.Minimum, f.Maximum = integerBound(t.Minimum, -impliedInteger), integerBound(t.Maximum, impliedInteger)
	case schema.Bytes:
		f.MinLength, f.MaxLength = t.MinLength, unless(t.MaxLength, schema.MaxBase64)
	case schema.Int64:
		f.Minimum, f.Maximum = int64Bound(t.Minimum, math.MinInt64), int64Bound(t.Maximum, math.MaxInt64)
	case schema.Number:
		*pick(t.ExclusiveMin, &f.ExclusiveMinimum, &f.Minimum) = json.RawMessage(t.NumberMin)
		*pick(t.ExclusiveMax, &f.ExclusiveMaximum, &f.Maximum) = json.RawMessage(t.NumberMax)
	case schema.Map:
		f.MinProperties, f.MaxProperties = t.MinItems, unless(t.MaxItems, impliedMaxItems)
		if keys := d.typ(t.Keys); !keys.silent() {
			f.Keys = &keys
		}
		if values := d.typ(t.Items); !values.silent() || isRecursive(ref) {
			f.Values = &values
		}
	case schema.Array:
		f.MinItems, f.MaxItems = t.MinItems, unless(t.MaxItems, impliedMaxItems)
		if items := d.typ(t.Items); !items.silent() || isRecursive(ref) {
			f.Items = &items
		}
	case schema.Union:
		for _, v := range t.Variants {
			f.Variants = append(f.Variants, d.typ(v))
		}
	case schema.Object:
		f.Fields = d.properties(t)
	}
	return f
}

// silent fields say no more than their type.
func (f apiField) silent() bool {
	return jsonText(f) == jsonText(apiField{Type: f.Type})
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// describeDefault is a default as a program writes it, which for a 64-bit
// integer is no string; beyond ±(2^53−1) it is one, or a client would round it.
func describeDefault(p *schema.Property) json.RawMessage {
	t := resolved(p.Type)
	if t.Kind == schema.Nullable {
		t = resolved(t.Items)
	}
	if t.Kind == schema.Int64 {
		text := strings.Trim(p.Default, `"`)
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && -impliedInteger <= n && n <= impliedInteger {
			return json.RawMessage(text)
		}
	}
	return json.RawMessage(p.Default)
}

// impliedLength is the cap on a string where the author wrote none.
func impliedLength(t *schema.Type) int {
	if t.Format != "" {
		return canon.Format(t.Format).MaxLength()
	}
	return impliedMaxLength
}

func unless(n, implied int) *int {
	if n == implied {
		return nil
	}
	return &n
}

func integerBound(n, implied int64) json.RawMessage {
	if n == implied {
		return nil
	}
	return json.RawMessage(strconv.FormatInt(n, 10))
}

// int64Bound is a string where a client's JSON reader could round a number.
func int64Bound(n, implied int64) json.RawMessage {
	bound := integerBound(n, implied)
	if bound != nil && (n < -impliedInteger || n > impliedInteger) {
		return json.RawMessage(strconv.Quote(string(bound)))
	}
	return bound
}

// annotation is a type as signatures name it: str, list[int], dict.
func annotation(ref *schema.Type) string {
	s := kinds(ref)
	return s.Annotation()
}

// kinds is the shape of ref as far as its annotation says.
func kinds(ref *schema.Type) binding.Shape {
	if isRecursive(ref) {
		return shape(ref)
	}
	t := resolved(ref)
	if t.Kind == schema.Nullable {
		s := kinds(t.Items)
		s.Nullable = true
		return s
	}
	s := binding.Shape{Kind: binding.Kind(t.Kind)}
	for _, v := range t.Variants {
		s.Variants = append(s.Variants, kinds(v))
	}
	if t.Kind == schema.Array || t.Kind == schema.Map {
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
