package codegen_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// prepare is a schema of the suite as an entry of types called name: without
// $schema, which a manifest has once for all, and $comment, and with definitions
// renamed, for they become Go types.
func prepare(text json.RawMessage, name string) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	if s, ok := v.(map[string]any); ok {
		delete(s, "$schema")
		names := map[string]string{"#": "#/types/" + name}
		if defs, ok := s["$defs"].(map[string]any); ok {
			renamed := map[string]any{}
			for i, old := range slices.Sorted(maps.Keys(defs)) {
				fresh := fmt.Sprintf("%sD%d%s", name, i, strings.Map(letters, old))
				names["#/$defs/"+escapeFragment(old)] = "#/$defs/" + fresh
				renamed[fresh] = defs[old]
			}
			s["$defs"] = renamed
		}
		rename(s, names)
	}
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return out
}

func letters(r rune) rune {
	if r < 0x80 && unicode.IsLetter(r) {
		return r
	}
	return -1
}

// escapeFragment is how a reference writes a definition's name.
func escapeFragment(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "%", "%25", `"`, "%22", "^", "%5E").Replace(name)
}

func rename(v any, names map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "$comment")
		if ref, ok := v["$ref"].(string); ok && names[ref] != "" {
			v["$ref"] = names[ref]
		}
		for _, member := range v {
			rename(member, names)
		}
	case []any:
		for _, item := range v {
			rename(item, names)
		}
	}
}

// liftings are narrower schemas that a manifest may take: one for each type
// that the keywords of the schema's root imply. problem says why there is none.
func liftings(text []byte) (texts [][]byte, problem string) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	root, ok := v.(map[string]any)
	if !ok {
		root = map[string]any{}
		if v == false {
			return nil, "false"
		}
	}
	kinds := []string{""}
	if untyped(root) {
		kinds = implied(root)
	}
	for _, kind := range kinds {
		lifted, why := lift(root, kind)
		if why != "" {
			problem = why
			continue
		}
		out, err := json.Marshal(lifted)
		if err != nil {
			panic(err)
		}
		texts = append(texts, out)
	}
	return texts, problem
}

// kindKeywords are the keywords that speak of one type, most telling first.
var kindKeywords = []struct {
	kind     string
	keywords []string
}{
	{"object", []string{"properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties"}},
	{"array", []string{"items", "minItems", "maxItems", "uniqueItems"}},
	{"string", []string{"minLength", "maxLength", "pattern", "format"}},
	{"number", []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
}

func untyped(s map[string]any) bool {
	for _, keyword := range []string{"type", "$ref", "oneOf", "anyOf", "allOf", "const", "enum", "x-opaque"} {
		if _, has := s[keyword]; has {
			return false
		}
	}
	return true
}

// implied are the types that keywords of s speak of; none is one, anything.
func implied(s map[string]any) []string {
	var out []string
	for _, k := range kindKeywords {
		if slices.ContainsFunc(k.keywords, func(keyword string) bool { _, has := s[keyword]; return has }) {
			out = append(out, k.kind)
		}
	}
	if out == nil {
		return []string{""}
	}
	return out
}

// lift is a schema that accepts no more than v, with the type kind, if v says
// none, or the first that v's keywords imply; why is why there is none.
func lift(v any, kind string) (lifted any, why string) {
	s, ok := v.(map[string]any)
	if !ok {
		if v == true {
			return map[string]any{"x-opaque": true}, ""
		}
		return nil, "false"
	}
	out := maps.Clone(s)
	if untyped(s) {
		if kind == "" {
			kind = implied(s)[0]
		}
		if kind == "" {
			out["x-opaque"] = true
		} else {
			out["type"] = kind
			for _, k := range kindKeywords {
				for _, keyword := range k.keywords {
					if k.kind != kind {
						delete(out, keyword) // speaks of other types only
					}
				}
			}
		}
	}
	liftValues(out)
	if list, ok := out["type"].([]any); ok && len(list) != 2 || ok && !slices.Contains(list, any("null")) {
		return liftTypes(out, list)
	}
	for _, keyword := range []string{"oneOf", "anyOf", "allOf"} {
		branches, ok := out[keyword].([]any)
		if !ok {
			continue
		}
		lifted := make([]any, len(branches))
		for i, branch := range branches {
			if lifted[i], why = lift(branch, ""); why != "" {
				return nil, why
			}
		}
		out[keyword] = lifted
	}
	for _, keyword := range []string{"properties", "$defs"} {
		members, ok := out[keyword].(map[string]any)
		if !ok {
			continue
		}
		lifted := map[string]any{}
		for name, member := range members {
			if lifted[name], why = lift(member, ""); why != "" {
				return nil, why
			}
		}
		out[keyword] = lifted
	}
	if out["type"] == "object" {
		return liftObject(out)
	}
	if out["type"] == "array" {
		if out["items"] == nil {
			out["items"] = true
		}
		if out["items"], why = lift(out["items"], ""); why != "" {
			return nil, why
		}
	}
	return out, ""
}

// liftValues adds the type of const or of enum.
func liftValues(s map[string]any) {
	if s["type"] != nil {
		return
	}
	values, ok := s["enum"].([]any)
	if c, has := s["const"]; has {
		values, ok = []any{c}, true
	}
	if !ok {
		return
	}
	kind := ""
	for _, v := range values {
		k := "null"
		switch v := v.(type) {
		case string:
			k = "string"
		case bool:
			k = "boolean"
		case json.Number:
			k = "number"
			if !strings.ContainsAny(v.String(), ".eE") {
				k = "integer"
			}
		case []any:
			k = "array"
		case map[string]any:
			k = "object"
		}
		if kind != "" && k != kind {
			return
		}
		kind = k
	}
	s["type"] = kind
}

// liftTypes makes a list of types alternatives.
func liftTypes(s map[string]any, list []any) (lifted any, why string) {
	var branches []any
	for _, kind := range list {
		if kind == "null" {
			branches = append(branches, map[string]any{"type": "null"})
			continue
		}
		branch := map[string]any{"type": kind}
		for _, k := range kindKeywords {
			if k.kind == kind || k.kind == "number" && kind == "integer" {
				for _, keyword := range k.keywords {
					if v, has := s[keyword]; has {
						branch[keyword] = v
					}
				}
			}
		}
		b, why := lift(branch, "")
		if why != "" {
			return nil, why
		}
		branches = append(branches, b)
	}
	if len(branches) == 1 {
		return branches[0], ""
	}
	out := maps.Clone(s)
	delete(out, "type")
	for _, k := range kindKeywords {
		for _, keyword := range k.keywords {
			delete(out, keyword)
		}
	}
	out["anyOf"] = branches
	return out, ""
}

// liftObject declares what is required, and closes what has properties.
func liftObject(s map[string]any) (lifted any, why string) {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	if properties != nil || len(required) > 0 {
		properties = maps.Clone(properties)
		if properties == nil {
			properties = map[string]any{}
		}
		for _, name := range required {
			if properties[name.(string)] == nil {
				rest, why := lift(s["additionalProperties"], "")
				switch {
				case s["additionalProperties"] == nil:
					rest = map[string]any{"x-opaque": true}
				case why != "":
					return nil, why
				}
				properties[name.(string)] = rest
			}
		}
		s["properties"] = properties
		delete(s, "additionalProperties") // closed, which is narrower
		return s, ""
	}
	if s["minProperties"] == nil && s["maxProperties"] == nil && s["propertyNames"] == nil && (s["additionalProperties"] == nil || s["additionalProperties"] == true) {
		s["additionalProperties"] = true
		return s, ""
	}
	if s["additionalProperties"] == false {
		s["properties"] = map[string]any{}
		return s, ""
	}
	if s["additionalProperties"] == nil {
		s["additionalProperties"] = true
	}
	if s["additionalProperties"], why = lift(s["additionalProperties"], ""); why != "" {
		return nil, why
	}
	if names, ok := s["propertyNames"].(map[string]any); ok && names["$ref"] == nil {
		names = maps.Clone(names)
		delete(names, "type")
		s["propertyNames"] = names
	}
	return s, ""
}
