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
// nothing is omitted, and a field with nothing but a type and a description is
// a string, because a model pays for every word: see MarshalJSON.
type apiField struct {
	Name string `json:"-"`
	// Type is empty where it has been said: by the signature for a parameter, by
	// the list for its items, by Fields for an object.
	Type string `json:"type,omitempty"`
	// Required is false for a member that may be left out and has no default. A
	// parameter's signature says the same.
	Required         *bool             `json:"required,omitempty"`
	Default          json.RawMessage   `json:"default,omitempty"`
	Deprecated       bool              `json:"deprecated,omitempty"`
	Description      string            `json:"description,omitempty"`
	Examples         []json.RawMessage `json:"examples,omitempty"`
	Enum             []string          `json:"enum,omitempty"`
	Open             bool              `json:"open,omitempty"`
	Const            json.RawMessage   `json:"const,omitempty"`
	Minimum          json.RawMessage   `json:"minimum,omitempty"`
	Maximum          json.RawMessage   `json:"maximum,omitempty"`
	ExclusiveMinimum json.RawMessage   `json:"exclusiveMinimum,omitempty"`
	ExclusiveMaximum json.RawMessage   `json:"exclusiveMaximum,omitempty"`
	MinLength        int               `json:"minLength,omitempty"`
	MaxLength        *int              `json:"maxLength,omitempty"`
	Pattern          string            `json:"pattern,omitempty"`
	Format           string            `json:"format,omitempty"`
	MinItems         int               `json:"minItems,omitempty"`
	MaxItems         *int              `json:"maxItems,omitempty"`
	UniqueItems      bool              `json:"uniqueItems,omitempty"`
	MultipleOf       json.Number       `json:"multipleOf,omitempty"`
	MinProperties    int               `json:"minProperties,omitempty"`
	MaxProperties    *int              `json:"maxProperties,omitempty"`
	Keys             *apiField         `json:"keys,omitempty"`
	Values           *apiField         `json:"values,omitempty"`
	Fields           apiFields         `json:"fields,omitempty"`
	Items            *apiField         `json:"items,omitempty"`
	Variants         []apiField        `json:"variants,omitempty"`
	// RunResult is what run.result answers of the job that a call starts.
	RunResult *apiField `json:"run.result,omitempty"`
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
	for _, f := range newDescriber().properties(resolved(t)) {
		f.Type, f.Required, f.Default = "", nil, nil
		if !f.silent() {
			out = append(out, f)
		}
	}
	return jsonText(out)
}

// describeResult is the JSON of what a program gets of a result.
func describeResult(c *schema.Capability) string {
	f := newDescriber().result(c.Result(), pagesHint(c))
	if c.Step == schema.StepStart {
		d := newDescriber()
		d.json = true
		result := d.result(c.Of.Output, "")
		f.RunResult = &result
	}
	return jsonText(f)
}

// pagesHint says how to read several pages; empty for what has none.
func pagesHint(c *schema.Capability) string {
	if c.Pagination == nil {
		return ""
	}
	return "pages(" + c.Name + ", max=10, ...) reads page after page: {items, truncated, next}."
}

// result is one, a field without a name.
func (d describer) result(t *schema.Type, hint string) apiField {
	f := d.typ(t)
	f.Description = strings.TrimSpace(f.Description + " " + hint)
	f.forgetLengths()
	return f
}

// forgetLengths of strings: they bind the handler, and a program that reads a
// result does nothing with them.
func (f *apiField) forgetLengths() {
	f.MinLength, f.MaxLength = 0, nil
	for i := range f.Fields {
		f.Fields[i].forgetLengths()
	}
	for i := range f.Variants {
		f.Variants[i].forgetLengths()
	}
	for _, part := range []**apiField{&f.Items, &f.Keys, &f.Values} {
		if *part == nil {
			continue
		}
		if (*part).forgetLengths(); (*part).silent() {
			*part = nil
		}
	}
}

// describer writes types out.
type describer struct {
	// told are the types that hold themselves and are written out already: from
	// then on their name says it.
	told map[*schema.NamedType]bool
	// json describes values as JSON has them, where no binding reads them: bytes
	// and integers of 64 bits are texts.
	json bool
}

func newDescriber() describer { return describer{told: map[*schema.NamedType]bool{}} }

func (d describer) properties(t *schema.Type) apiFields {
	var out apiFields
	for _, p := range t.Properties {
		f := d.typ(p.Type)
		f.Name, f.Deprecated = p.Name, p.Deprecated
		switch {
		case p.Default != "":
			f.Default = json.RawMessage(p.Default)
			if !d.json {
				f.Default = describeDefault(p)
			}
		case !p.Required:
			f.Required = new(bool)
		}
		out = append(out, f)
	}
	return out
}

func (d describer) typ(ref *schema.Type) apiField {
	if isRecursive(ref) {
		if d.told[ref.Ref] {
			return apiField{Type: ref.Ref.Name, Description: ref.Description}
		}
		d.told[ref.Ref] = true
	}
	t := resolved(ref)
	if t.Kind == schema.Nullable {
		f := d.typ(t.Items)
		f.Type, f.Description = d.annotation(ref), describe(ref)
		if len(t.Examples) > 0 {
			f.Examples = d.examples(t)
		}
		return f
	}
	f := apiField{Type: d.annotation(ref), Description: describe(ref), Examples: d.examples(t), Enum: t.Enum, Open: t.Open, Pattern: t.Pattern, Format: d.format(t), Const: json.RawMessage(t.Const), MultipleOf: json.Number(t.MultipleOf)}
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
		f.Keys, f.Values = d.part(t, t.Keys), d.part(ref, t.Items)
	case schema.Array:
		f.MinItems, f.MaxItems, f.UniqueItems = t.MinItems, unless(t.MaxItems, impliedMaxItems), t.Unique
		f.Items = d.part(ref, t.Items)
	case schema.Union:
		for _, v := range t.Variants {
			f.Variants = append(f.Variants, d.typ(v))
		}
	case schema.Object:
		if f.Fields = d.properties(t); len(f.Fields) > 0 && !isRecursive(ref) {
			f.Type = ""
		}
	}
	return f
}

// part is what is to say of the items, keys or values of ref beyond its
// annotation, which holds their type unless it is a name.
func (d describer) part(ref, inner *schema.Type) *apiField {
	f := d.typ(inner)
	if !isRecursive(ref) {
		f.Type = ""
	}
	if f.silent() && !isRecursive(ref) {
		return nil
	}
	return &f
}

// silent fields add nothing to the type that has been said.
func (f apiField) silent() bool { return jsonText(f) == `""` }

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
func (d describer) annotation(ref *schema.Type) string {
	s := d.kinds(ref)
	return s.Annotation()
}

// format is that of a text.
func (d describer) format(t *schema.Type) string {
	switch {
	case d.json && t.Kind == schema.Int64:
		return "int64"
	case d.json && t.Kind == schema.Bytes:
		return "base64"
	}
	return t.Format
}

// kinds is the shape of ref as far as its annotation says.
func (d describer) kinds(ref *schema.Type) binding.Shape {
	if isRecursive(ref) {
		return shape(ref)
	}
	t := resolved(ref)
	if t.Kind == schema.Nullable {
		s := d.kinds(t.Items)
		s.Nullable = true
		return s
	}
	s := binding.Shape{Kind: binding.Kind(t.Kind)}
	if d.json && (t.Kind == schema.Int64 || t.Kind == schema.Bytes) {
		s.Kind = binding.String
	}
	for _, v := range t.Variants {
		s.Variants = append(s.Variants, d.kinds(v))
	}
	if t.Kind == schema.Array || t.Kind == schema.Map {
		items := d.kinds(t.Items)
		s.Items = &items
	}
	return s
}

// Signature is how a program calls c:
//
//	records.lookup(*, key: str, limit: int = 20)
func Signature(c *schema.Capability) string {
	b := binding.Capability{Name: c.Name, Input: bindingFields(resolved(c.Parameters()))}
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
