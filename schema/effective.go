package schema

import (
	"encoding/json"
	"strconv"
	"strings"
)

// EffectiveSchema returns the JSON Schema (2020-12) of an effective type with
// everything that lowering made explicit: additionalProperties, bounds and
// caps. Properties come in declaration order, references as #/types/NAME, to
// be resolved in a document that has the named types under "types". The text
// is compact and the same for equal types; t has to come from Load.
func EffectiveSchema(t *Type) []byte {
	w := schemaWriter{refs: refPrefix}
	w.schema(t, "")
	return []byte(w.b.String())
}

// EffectiveDocument is EffectiveSchema of a schema that stands alone: the
// named types in defs stand under $defs, and references are #/$defs/NAME.
func EffectiveDocument(t *Type, defs []*NamedType) []byte {
	w := schemaWriter{refs: "#/$defs/", defs: defs}
	w.schema(t, "")
	return []byte(w.b.String())
}

// schemaWriter writes JSON members in a fixed order.
type schemaWriter struct {
	b    strings.Builder
	more bool // a member was written in the current object
	refs string
	// deprecated is of the property whose schema comes next.
	deprecated bool
	client     bool         // see ClientSchema
	defs       []*NamedType // to be written at the end of the outermost schema
}

func (w *schemaWriter) begin() {
	w.b.WriteByte('{')
	w.more = false
}

func (w *schemaWriter) end() {
	w.b.WriteByte('}')
	w.more = true
}

func (w *schemaWriter) key(name string) {
	if w.more {
		w.b.WriteByte(',')
	}
	w.more = true
	w.text(name)
	w.b.WriteByte(':')
}

func (w *schemaWriter) text(s string) {
	e := json.NewEncoder(&trimmer{&w.b})
	e.SetEscapeHTML(false)
	// Strings of a Type are valid UTF-8; encoding a string cannot fail.
	_ = e.Encode(s)
}

// trimmer drops the line end that json.Encoder writes.
type trimmer struct{ b *strings.Builder }

func (t *trimmer) Write(p []byte) (int, error) {
	t.b.WriteString(strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

func (w *schemaWriter) string(key, s string) {
	if s != "" {
		w.key(key)
		w.text(s)
	}
}

func (w *schemaWriter) raw(key, literal string) {
	if literal != "" {
		w.key(key)
		w.b.WriteString(literal)
	}
}

func (w *schemaWriter) integer(key string, i int64) { w.raw(key, strconv.FormatInt(i, 10)) }

// atLeast writes a lower bound on a length; zero says nothing.
func (w *schemaWriter) atLeast(key string, n int) {
	if n > 0 {
		w.integer(key, int64(n))
	}
}

// schema writes t, with the default of the property it belongs to.
func (w *schemaWriter) schema(t *Type, defaultText string) {
	defs, deprecated := w.defs, w.deprecated
	w.defs, w.deprecated = nil, false
	if w.client {
		t = clientType(t)
	}
	outer, null := t, ""
	if t.Kind == Nullable && !w.client && plainNullable(t.Items) {
		t, null = t.Items, `,"null"]`
	}
	w.begin()
	switch {
	case t.Kind == Ref:
		w.string("$ref", w.refs+t.Ref.Name)
	case t.Kind == Opaque:
		if !w.client {
			w.raw(opaqueKey, "true")
		}
	case null != "":
		w.raw("type", `["`+jsonType(t.Kind)+`"`+null)
	case t.Kind != Nullable && t.Kind != Union:
		w.string("type", jsonType(t.Kind))
	}
	w.string("title", outer.Title)
	w.string("description", outer.Description)
	switch t.Kind {
	case Nullable:
		w.key("anyOf")
		w.b.WriteByte('[')
		w.schema(t.Items, "")
		w.b.WriteString(`,{"type":"null"}]`)
	case Union:
		w.union(t)
	case String:
		w.stringRules(t, null != "")
	case Integer:
		w.integer("minimum", t.Minimum)
		w.integer("maximum", t.Maximum)
	case Number:
		w.raw(pick(t.ExclusiveMin, "exclusiveMinimum", "minimum"), t.NumberMin)
		w.raw(pick(t.ExclusiveMax, "exclusiveMaximum", "maximum"), t.NumberMax)
	case Array:
		w.key("items")
		w.schema(t.Items, "")
		w.atLeast("minItems", t.MinItems)
		w.integer("maxItems", int64(t.MaxItems))
		if t.Unique {
			w.raw("uniqueItems", "true")
		}
	case Object:
		w.object(t)
	case Int64:
		w.int64Rules(t)
	case Bytes:
		w.string("contentEncoding", "base64")
		w.atLeast("minLength", t.MinLength)
		w.integer("maxLength", int64(t.MaxLength))
		w.string("pattern", base64Pattern)
	case Map:
		w.mapRules(t)
	case FreeObject:
		w.integer("maxProperties", MaxMembers)
		w.raw("additionalProperties", "true")
	}
	if len(outer.Examples) > 0 {
		w.raw("examples", "["+strings.Join(outer.Examples, ",")+"]")
	}
	w.raw("const", t.Const)
	w.raw("multipleOf", t.MultipleOf)
	w.raw("default", defaultText)
	if deprecated {
		w.raw("deprecated", "true")
	}
	if len(defs) > 0 {
		w.key("$defs")
		w.begin()
		for _, d := range defs {
			w.key(d.Name)
			w.schema(d.Type, "")
		}
		w.end()
	}
	w.end()
}

func pick(exclusive bool, yes, no string) string {
	if exclusive {
		return yes
	}
	return no
}

// jsonType is the word for a kind under `type`.
func jsonType(k Kind) string {
	switch k {
	case FreeObject, Map:
		return string(Object)
	case Int64, Bytes:
		return string(String)
	}
	return string(k)
}

// plainNullable tells whether null can stand beside the type of t.
func plainNullable(t *Type) bool {
	return t.Kind != Ref && t.Kind != Nullable && t.Kind != Opaque && t.Kind != Union && t.Title == "" && t.Description == "" && t.Examples == nil
}

func (w *schemaWriter) stringRules(t *Type, null bool) {
	if t.Enum == nil {
		w.atLeast("minLength", t.MinLength)
		w.integer("maxLength", int64(t.MaxLength))
		w.string("pattern", t.Pattern)
		w.string("format", t.Format)
		return
	}
	if t.Open {
		// Known values for who reads the schema; any string for who judges by it.
		w.integer("maxLength", int64(t.MaxLength))
		w.key("anyOf")
		w.b.WriteString("[{")
		w.more = false
		w.enum(t, null)
		w.b.WriteString(`},{"type":` + pick(null, `["string","null"]`, `"string"`) + "}]")
		return
	}
	w.enum(t, null)
}

func (w *schemaWriter) enum(t *Type, null bool) {
	w.key("enum")
	for i, s := range t.Enum {
		w.b.WriteByte("[,"[min(i, 1)])
		w.text(s)
	}
	if null {
		w.b.WriteString(",null")
	}
	w.b.WriteByte(']')
}

// base64Pattern is base64 text in the one form it has for some bytes.
const base64Pattern = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$"

// int64Pattern is the decimal text of an integer, in the one form it has.
const int64Pattern = "^(0|-?[1-9][0-9]{0,18})$"

// int64Rules writes an integer that is a string of digits. JSON Schema has no
// bounds for such a string; formatMinimum and formatMaximum are what
// validators that have them call them.
func (w *schemaWriter) int64Rules(t *Type) {
	if w.client {
		w.string("pattern", int64Pattern)
		return
	}
	w.string("format", "int64")
	w.string("pattern", int64Pattern)
	w.string("formatMinimum", strconv.FormatInt(t.Minimum, 10))
	w.string("formatMaximum", strconv.FormatInt(t.Maximum, 10))
}

// mapRules writes what keys and values of a map are.
func (w *schemaWriter) mapRules(t *Type) {
	w.key("propertyNames")
	w.begin()
	w.stringRules(t.Keys, false)
	w.end()
	w.key("additionalProperties")
	w.schema(t.Items, "")
	w.atLeast("minProperties", t.MinItems)
	w.integer("maxProperties", int64(t.MaxItems))
}

func (w *schemaWriter) object(t *Type) {
	w.key("properties")
	w.begin()
	required := ""
	for _, p := range t.Properties {
		w.key(p.Name)
		w.deprecated = p.Deprecated
		w.schema(p.Type, p.Default)
		if p.Required {
			required += "," + strconv.Quote(p.Name)
		}
	}
	w.end()
	if required != "" {
		w.raw("required", "["+required[1:]+"]")
	}
	w.raw("additionalProperties", "false")
}
