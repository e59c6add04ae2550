package codegen_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/capgen/capgen/internal/mcpimport"
)

// wild makes JSON Schemas as careless servers write them: open objects,
// overlapping unions, enums that contradict their type, and keywords that a
// manifest does not take.
type wild struct {
	*rand.Rand
	refs []string
}

type doc = map[string]any

func (w *wild) one(from ...any) any { return from[w.IntN(len(from))] }

// schema makes one that takes something, usually.
func (w *wild) schema(levels int) any {
	s := doc{}
	if w.IntN(8) == 0 {
		s["description"] = "Some words."
	}
	if w.IntN(10) == 0 {
		s["default"] = w.value()
	}
	n := 16
	if levels <= 0 {
		n = 9
	}
	switch w.IntN(n) {
	case 0:
		s["type"] = "string"
		// One at a time: the maker of values seeks texts that satisfy all.
		switch w.IntN(3) {
		case 0:
			w.some(s, "minLength", w.IntN(3), "maxLength", 3+w.IntN(5))
		case 1:
			w.some(s, "pattern", w.one("^a+b?$", "x.y", "^(p|q){1,2}$"))
		default:
			w.some(s, "format", w.one("date-time", "uuid", "color"))
		}
	case 1:
		if s["type"] = w.one("integer", "number"); s["type"] == "number" {
			w.some(s, "minimum", w.one(0, -2.5), "maximum", w.one(3, 7.5), "exclusiveMinimum", w.one(-3, 0.5))
			break
		}
		w.some(s, "minimum", w.one(0, -2.5, 1e300, -1e300), "maximum", w.one(3, 7.5, 1e300), "exclusiveMinimum", w.one(-3, 0.5), "exclusiveMaximum", w.one(8, 9.25), "multipleOf", w.one(2, 0.5, 0.3))
	case 2:
		s["type"] = w.one("boolean", []any{"boolean", "null"}, []any{"string", "number", "boolean"}, []any{"integer", "number", "null"}, []any{"string", "null"}, "null")
	case 3:
		s["enum"] = []any{w.value(), w.value(), w.value()}
		w.some(s, "type", w.one("string", "integer", "number", "boolean", []any{"string", "null"}))
	case 4:
		s["enum"] = []any{"b_c", "b-c", "a|b", nil}[:2+w.IntN(3)]
		w.some(s, "type", w.one("string", []any{"string", "null"}), "minLength", 3)
	case 5:
		s["const"] = w.value()
	case 6:
		if len(w.refs) > 0 {
			return doc{"$ref": w.refs[w.IntN(len(w.refs))]}
		}
		return w.one(true, false, doc{}, doc{"not": doc{}})
	case 7:
		return w.one(true, false, doc{}, doc{"not": doc{}}, doc{"not": doc{"type": "string"}}, doc{"minLength": 2})
	case 8:
		s["enum"] = []any{2, 3, 4}
	case 9, 10:
		s["type"] = "array"
		w.some(s, "items", w.schema(levels-1), "minItems", w.IntN(2), "maxItems", 2, "uniqueItems", w.IntN(2) == 0)
	case 11, 12:
		w.object(s, levels)
	case 13:
		s["type"] = "object"
		w.some(s, "additionalProperties", w.schema(levels-1), "minProperties", 1, "maxProperties", 2, "propertyNames", w.one(doc{"pattern": "^[ab]+$"}, doc{"enum": []any{"a", "b"}}))
	default:
		list := []any{}
		for range 1 + w.IntN(3) {
			list = append(list, w.variant(levels-1))
		}
		s[w.one("anyOf", "oneOf", "anyOf", "oneOf", "allOf").(string)] = list
		w.some(s, "type", w.one("object", "string", "integer", []any{"object", "null"}))
	}
	return s
}

// variant makes tagged objects often enough to meet unions of them.
func (w *wild) variant(levels int) any {
	if w.IntN(2) == 0 {
		return w.schema(levels)
	}
	s := doc{}
	w.object(s, levels)
	properties, _ := s["properties"].(doc)
	if properties == nil {
		properties = doc{}
		s["properties"] = properties
	}
	properties["k"] = doc{"const": w.one("x", "y", "z")}
	w.some(s, "required", []any{"k"})
	return s
}

func (w *wild) object(s doc, levels int) {
	if w.IntN(4) > 0 {
		s["type"] = "object"
	}
	properties := doc{}
	for _, name := range []string{"a", "b", "not-a-name", "c"}[:w.IntN(5)] {
		properties[name] = w.schema(levels - 1)
	}
	w.some(s, "properties", properties, "required", w.one([]any{"a"}, []any{"b", "z"}), "additionalProperties", w.one(false, true, doc{"type": "string"}),
		"minProperties", w.IntN(3), "dependentRequired", doc{"a": []any{"b"}, "b": []any{"c"}})
	if w.IntN(20) == 0 {
		s[w.one("patternProperties", "if", "dependentSchemas").(string)] = doc{"a": doc{"type": "string"}}
	}
}

// some sets each of the keywords half of the time; bounds less often.
func (w *wild) some(s doc, pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		if w.IntN(len(pairs)) < 2 {
			s[pairs[i].(string)] = pairs[i+1]
		}
	}
}

func (w *wild) value() any {
	return w.one("a", "b", "longer", 0, 1, 2, 2.5, true, false, nil, []any{}, doc{})
}

// Whatever an imported capability takes, the schema it was made of takes, for
// schemas of every careless kind.
func TestImportNeverWidens(t *testing.T) {
	n := 1_000
	if *soak {
		n = 20_000
	}
	m := &maker{Rand: rand.New(rand.NewPCG(11, 5)), patterns: map[string]*regexp.Regexp{}}
	w := &wild{Rand: rand.New(rand.NewPCG(11, 6)), refs: []string{"#/properties/p0", "#/$defs/d"}}
	imported, whole, values := 0, 0, 0
	for i := range n {
		properties := doc{}
		for j := range 1 + w.IntN(2) {
			properties[fmt.Sprintf("p%d", j)] = w.schema(3)
		}
		input, err := json.Marshal(doc{"type": "object", "properties": properties, "required": []any{"p0"}, "$defs": doc{"d": w.schema(2)}})
		if err != nil {
			t.Fatal(err)
		}
		document := fmt.Sprintf(`[{"name": "probe", "inputSchema": %s}]`, input)
		r := mcpimport.Import([]byte(document), mcpimport.Options{File: "wild.json", Namespace: "wild", Package: "example.com/x", Confirm: true})
		if r.Imported+r.Listed != 1 || r.Listed == 1 && len(r.Findings) == 0 {
			t.Fatalf("%d: %d imported, %d listed: %v\n%s", i, r.Imported, r.Listed, r.Findings, input)
		}
		if r.Imported == 0 {
			continue
		}
		imported++
		if r.Narrowed == 0 {
			whole++
		}
		c := load(t, "wild.yaml", r.Manifest).Capabilities[0]
		if values += notWider(t, m, c, compileSchema(t, input), 8); t.Failed() {
			t.Fatalf("the schema: %s", input)
		}
	}
	t.Logf("%d of %d schemas are imported, %d of them whole; %d values", imported, n, whole, values)
	if imported < n/10 || whole < n/20 {
		t.Errorf("%d of %d schemas imported, %d whole: too few to say anything", imported, n, whole)
	}
}
