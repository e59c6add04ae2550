package mcpimport

import (
	"slices"
	"strings"
)

// isAnnotation tells whether a keyword says something about a value without
// refusing one.
func isAnnotation(key string) bool {
	switch key {
	case "title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "$comment", "$schema",
		"$defs", "definitions", "contentMediaType", "contentSchema", "nullable":
		return true
	}
	return strings.HasPrefix(key, "x-")
}

// keywordsOf are what refuses values of a type, and no others.
func keywordsOf(jsonType string) []string {
	switch jsonType {
	case "object":
		return []string{"properties", "required", "additionalProperties", "minProperties", "maxProperties", "propertyNames", "dependentRequired"}
	case "array":
		return []string{"items", "minItems", "maxItems", "uniqueItems"}
	case "string":
		return []string{"minLength", "maxLength", "pattern", "format", "contentEncoding"}
	case "number", "integer":
		return []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"}
	}
	return nil
}

// keywords refuses a schema with a keyword that is not known to be harmless or
// lowered: to pass over one would take what it refuses.
func (l *lowerer) keywords(v *value, p place) *flaw {
	for _, m := range v.members {
		known := isAnnotation(m.key) || slices.Contains([]string{"type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"}, m.key)
		for _, t := range []string{"object", "array", "string", "number"} {
			known = known || slices.Contains(keywordsOf(t), m.key)
		}
		switch {
		case known:
		case m.key == "not":
			if m.value.isBool("false") {
				continue
			}
			if m.value.isBool("true") || m.value.is(objectKind) && len(m.value.members) == 0 {
				return l.never(v, p)
			}
			return l.flaw(m.value, p.to(m.key), "not: a manifest says what is taken, not what is refused")
		default:
			return l.flaw(m.value, p.to(m.key), "the keyword %s is not part of what a manifest takes", quote(m.key))
		}
	}
	return nil
}

// byType lowers a schema without alternatives of its own, one for each type
// that it names.
func (l *lowerer) byType(v *value, p place, used []string) (*alternatives, *flaw) {
	if len(used) == 0 {
		return &alternatives{any: true}, nil
	}
	types, bad := l.typesOf(v, p, used)
	if bad != nil {
		return nil, bad
	}
	values, bad := l.enumOf(v, p)
	if bad != nil {
		return nil, bad
	}
	a := &alternatives{}
	for _, t := range types {
		var only []*value // what an enum leaves of the type
		for _, e := range values {
			if jsonTypeOf(e) == t || t == "number" && jsonTypeOf(e) == "integer" {
				only = append(only, e)
			}
		}
		if values != nil && len(only) == 0 || t == "integer" && slices.Contains(types, "number") {
			continue
		}
		if t == "null" {
			a.nulls = 1
			continue
		}
		out, bad := l.ofType(v, t, only, p)
		switch {
		case bad != nil && bad.never && len(types) > 1:
			continue
		case bad != nil:
			return nil, bad
		}
		a.all = append(a.all, alternative{t, out, v, p})
	}
	return a, nil
}

func (l *lowerer) ofType(v *value, t string, only []*value, p place) (*value, *flaw) {
	switch t {
	case "string":
		return l.stringType(v, only, p)
	case "integer", "number":
		return l.numberType(v, t, only, p)
	case "boolean":
		out := typed("boolean")
		if len(only) > 0 && !slices.ContainsFunc(only, func(e *value) bool { return e.text != only[0].text }) {
			out.set("const", only[0])
		}
		return out, nil
	}
	if len(only) > 0 {
		return nil, l.flaw(v, p, "an enum of values of type %s", t)
	}
	if t == "array" {
		return l.arrayType(v, p)
	}
	return l.objectType(v, p)
}

// typesOf is what `type` says, or what must have been meant: the types of the
// values listed, or the one type that the keywords speak of. To read
// {properties: …} as an object narrows: without type it takes a string, too.
func (l *lowerer) typesOf(v *value, p place, used []string) ([]string, *flaw) {
	known := []string{"object", "array", "string", "integer", "number", "boolean", "null"}
	if t := v.get("type"); t != nil {
		items := t.items
		if t.kind == stringKind {
			items = []*value{t}
		}
		var types []string
		for _, item := range items {
			if !item.is(stringKind) || !slices.Contains(known, item.text) {
				return nil, l.flaw(t, p.to("type"), "type is none of %s", strings.Join(known, ", "))
			}
			if !slices.Contains(types, item.text) {
				types = append(types, item.text)
			}
		}
		if len(types) == 0 {
			return nil, l.flaw(t, p.to("type"), "type is a name or a list of names")
		}
		return types, nil
	}
	if v.get("enum") != nil || v.get("const") != nil {
		values, bad := l.enumOf(v, p)
		if bad != nil {
			return nil, bad
		}
		var types []string
		for _, e := range values {
			if t := jsonTypeOf(e); !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
		return types, nil
	}
	var meant []string
	for _, t := range []string{"object", "array", "string", "number"} {
		if slices.ContainsFunc(used, func(k string) bool { return k != "format" && slices.Contains(keywordsOf(t), k) }) {
			meant = append(meant, t)
		}
	}
	if len(meant) != 1 || p.strict {
		return nil, l.flaw(v, p, "a schema without type, with keywords that refuse something (%s)", strings.Join(used, ", "))
	}
	l.note(v, p, "taken for type %s, which its keywords speak of", meant[0])
	return meant, nil
}

// enumOf are the values of enum and const, nil for none of the two.
func (l *lowerer) enumOf(v *value, p place) ([]*value, *flaw) {
	enum, constant := v.get("enum"), v.get("const")
	switch {
	case enum != nil && constant != nil:
		return nil, l.flaw(v, p.to("const"), "const beside enum")
	case constant != nil:
		return []*value{constant}, nil
	case enum == nil:
		return nil, nil
	case enum.kind != listKind || len(enum.items) == 0:
		return nil, l.flaw(enum, p.to("enum"), "enum is a list of values")
	}
	return enum.items, nil
}

// jsonTypeOf is the type of a value: integer for a number whose value is whole.
func jsonTypeOf(v *value) string {
	switch v.kind {
	case nullKind:
		return "null"
	case boolKind:
		return "boolean"
	case stringKind:
		return "string"
	case listKind:
		return "array"
	case objectKind:
		return "object"
	}
	if r, ok := rational(v); ok && r.IsInt() {
		return "integer"
	}
	return "number"
}
