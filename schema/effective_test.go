package schema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// document puts an effective schema beside the named types it refers to.
func jsonDocument(t *testing.T, m *Manifest, root *Type) any {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"$schema": "https://json-schema.org/draft/2020-12/schema", "types": {`)
	for i, n := range m.Types {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "%q: %s", n.Name, EffectiveSchema(n.Type))
	}
	fmt.Fprintf(&b, `}, "allOf": [%s]}`, EffectiveSchema(root))
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(b.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return v
}

func loadGood(t *testing.T, text string) *Manifest {
	t.Helper()
	m, diags := Load(map[string][]byte{"m.yaml": []byte(text)}, "m.yaml")
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

func TestEffectiveSchemasCompileAndAgree(t *testing.T) {
	text, err := os.ReadFile("testdata/good/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m := loadGood(t, string(text))
	lookup, find := m.Capabilities[1], m.Capabilities[0]
	record := `{"key": "a", "count": 1`
	for _, c := range []struct {
		t       *Type
		value   string
		accepts bool
	}{
		{lookup.Input, `{"key": "a"}`, true},
		{lookup.Input, `{}`, false},
		{lookup.Input, `{"key": ""}`, false},
		{lookup.Input, `{"key": "a", "limit": 100}`, true},
		{lookup.Input, `{"key": "a", "limit": 101}`, false},
		{lookup.Input, `{"key": "a", "limit": 1.5}`, false},
		{lookup.Input, `{"key": "a", "limit": 1.0}`, true},
		{lookup.Input, `{"key": "a", "other": 1}`, false},
		{lookup.Input, `{"key": "a", "order": "left"}`, false},
		{lookup.Input, `{"key": "a", "filter": {"depth": 9007199254740992}}`, false},
		{lookup.Input, `{"key": "a", "filter": {"depth": 9007199254740991}}`, true},
		{lookup.Input, `{"key": "a", "filter": {"x": 1}}`, false},
		{lookup.Input, `{"key": null}`, false},
		{lookup.Output, record + `}`, true},
		{lookup.Output, record + `, "key2": 1}`, false},
		{lookup.Output, record + `, "weight": 0}`, false},
		{lookup.Output, record + `, "weight": 0.25}`, true},
		{lookup.Output, record + `, "weight": 0.3}`, false},
		{lookup.Output, record + `, "tags": []}`, false},
		{lookup.Output, record + `, "tags": ["on", "q\""]}`, true},
		{lookup.Output, record + `, "tags": ["off"]}`, false},
		{lookup.Output, `{"key": "A", "count": 1}`, false},
		{find.Output, `[` + record + `}]`, true},
		{find.Output, `[` + record + `, "x": 1}]`, false},
		{find.Input, `{"text": "all"}`, true},
		{find.Input, `{"text": "some"}`, false},
	} {
		s := compileSchema(t, jsonDocument(t, m, c.t))
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(c.value))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); (err == nil) != c.accepts {
			t.Errorf("%s: %v, want %v", c.value, err, c.accepts)
		}
	}
}

// The check of defaults and the validator decide alike: random schemas,
// random values, the value as the default of a property.
func TestDefaultsAgreeWithTheValidator(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	accepted, refused := 0, 0
	for range 1500 {
		// Defaults that stand inside the schema are random too; keep the
		// ones that are themselves right.
		schema := randomSchema(r, 3)
		value := randomValue(r, schema, 3)
		withoutDefault := manifestWith(schema, "")
		m, diags := Load(map[string][]byte{"m.json": []byte(withoutDefault)}, "m.json")
		if m == nil {
			t.Fatalf("%v\n%s", diags, withoutDefault)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
		if err != nil {
			t.Fatal(err)
		}
		want := compileSchema(t, jsonDocument(t, m, m.Capabilities[0].Input.Properties[0].Type)).Validate(v)
		withDefault := manifestWith(schema, value)
		got, diags := Load(map[string][]byte{"m.json": []byte(withDefault)}, "m.json")
		if (got != nil) != (want == nil) {
			t.Fatalf("the validator says %v, the loader %v\n%s\n%s", want, diags, schema, value)
		}
		if got == nil {
			refused++
			continue
		}
		accepted++
		// The stored default is the same value, in canonical form.
		stored := got.Capabilities[0].Input.Properties[0].Default
		if stored == "" || !sameJSON(t, stored, value) {
			t.Fatalf("default %s is stored as %s", value, stored)
		}
	}
	if accepted < 200 || refused < 200 {
		t.Errorf("%d accepted, %d refused: too few to say anything", accepted, refused)
	}
}

func manifestWith(schema, value string) string {
	if value != "" {
		schema = schema[:len(schema)-1] + `, "default": ` + value + "}"
	}
	return `{"capgen": 1, "go": {"package": "example.com/x"}, "server": {"name": "x", "version": "1"}, "capabilities": [` +
		`{"name": "a.b", "summary": "s", "effect": "read", "scopes": "none", "input": {"type": "object", "properties": {"p": ` +
		schema + `}}, "output": {"type": "boolean"}}]}`
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var values [2]any
	for i, text := range []string{a, b} {
		if err := json.Unmarshal([]byte(text), &values[i]); err != nil {
			t.Fatal(err)
		}
	}
	return cmp.Equal(values[0], values[1])
}

func randomSchema(r *rand.Rand, depth int) string {
	kinds := 7
	if depth == 0 {
		kinds = 5
	}
	switch r.IntN(kinds) {
	case 0:
		return fmt.Sprintf(`{"type": "string", "minLength": %d, "maxLength": %d, "pattern": "^[aé]*$"}`, r.IntN(3), 2+r.IntN(3))
	case 1:
		return `{"type": "string", "enum": ["a", "bb", "é"]}`
	case 2:
		return fmt.Sprintf(`{"type": "integer", "minimum": %d, "exclusiveMaximum": %d, "multipleOf": %d}`, -r.IntN(5), 4+r.IntN(5), 1+r.IntN(3))
	case 3:
		return fmt.Sprintf(`{"type": "number", "exclusiveMinimum": %d, "maximum": %d.5, "multipleOf": 0.25}`, -r.IntN(3), r.IntN(3))
	case 4:
		return `{"type": "boolean"}`
	case 5:
		return fmt.Sprintf(`{"type": "array", "minItems": %d, "maxItems": %d, "items": %s}`, r.IntN(2), 1+r.IntN(3), randomSchema(r, depth-1))
	}
	return fmt.Sprintf(`{"type": "object", "required": ["a"], "properties": {"b": %s, "a": %s}}`, randomSchema(r, depth-1), randomSchema(r, depth-1))
}

// randomValue is mostly one that the schema might take.
func randomValue(r *rand.Rand, schema string, depth int) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	if r.IntN(20) == 0 {
		return pick(`"a"`, "1", "true", "[]", "{}", "1.5")
	}
	var s struct {
		Type       string
		Properties map[string]json.RawMessage
		Items      json.RawMessage
	}
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		return "1"
	}
	switch s.Type {
	case "string":
		return pick(`"a"`, `"é"`, `"aa"`, `"bb"`, `""`, `"aéa"`, `"aaaaaaa"`)
	case "integer":
		return pick("0", "1", "2", "3", "6", "-2", "1e0", "2.0", "0.5", "9", "9007199254740993")
	case "number":
		return pick("0", "0.25", "-0.25", "1.5", "0.1", "2.5", "1e-1", "-3", "25e-2")
	case "boolean":
		return pick("true", "false")
	case "array":
		var items []string
		for range r.IntN(4) {
			items = append(items, randomValue(r, string(s.Items), depth-1))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	var members []string
	for _, key := range []string{"b", "a"} {
		if r.IntN(6) > 0 {
			members = append(members, fmt.Sprintf("%q: %s", key, randomValue(r, string(s.Properties[key]), depth-1)))
		}
	}
	if r.IntN(12) == 0 {
		members = append(members, `"c": 1`)
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// Inner defaults are filled in, also through references, and members come in
// canonical order.
func TestDefaultsAreFilledIn(t *testing.T) {
	m := loadGood(t, head+`types:
  Inner: {type: object, properties: {z: {type: integer, default: 1.0}, "y": {type: string, default: "é\n"}, x: {type: string}}}
capabilities:
  - name: a.b
    summary: s
    effect: read
    scopes: none
    output: {type: boolean}
    input:
      type: object
      properties:
        p:
          type: object
          default: {list: [{z: 2e0}, {}]}
          properties:
            list: {type: array, items: {$ref: "#/types/Inner"}}
            inner: {$ref: "#/types/Inner"}
            flag: {type: boolean, default: true}
`)
	const want = `{"flag":true,"list":[{"y":"é\n","z":2},{"y":"é\n","z":1}]}`
	if got := m.Capabilities[0].Input.Properties[0].Default; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Of two bounds on one side the tighter one stays; integers get inclusive ones.
func TestBoundsAreFolded(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type": "integer", "minimum": 3, "exclusiveMinimum": 2}`:  `"minimum":3,"maximum":9007199254740991`,
		`{"type": "integer", "minimum": 5, "exclusiveMinimum": 2}`:  `"minimum":5,"maximum":9007199254740991`,
		`{"type": "integer", "minimum": 3, "exclusiveMinimum": 3}`:  `"minimum":4,"maximum":9007199254740991`,
		`{"type": "integer", "maximum": 3, "exclusiveMaximum": 3}`:  `"minimum":-9007199254740991,"maximum":2`,
		`{"type": "integer", "maximum": 3, "exclusiveMaximum": 9}`:  `"minimum":-9007199254740991,"maximum":3`,
		`{"type": "integer", "multipleOf": 1e1}`:                    `"minimum":-9007199254740991,"maximum":9007199254740991,"multipleOf":10`,
		`{"type": "number", "minimum": 1, "exclusiveMinimum": 1}`:   `"exclusiveMinimum":1`,
		`{"type": "number", "minimum": 1, "exclusiveMinimum": 0.5}`: `"minimum":1`,
		`{"type": "number", "minimum": 1, "exclusiveMinimum": 2}`:   `"exclusiveMinimum":2`,
		`{"type": "number", "maximum": 1, "exclusiveMaximum": 1}`:   `"exclusiveMaximum":1`,
		`{"type": "number", "maximum": 1, "exclusiveMaximum": 2}`:   `"maximum":1`,
		`{"type": "number", "maximum": 2, "exclusiveMaximum": 1}`:   `"exclusiveMaximum":1`,
		`{"type": "number"}`: ``,
	} {
		m := loadJSON(t, manifestWith(schema, ""))
		got := string(EffectiveSchema(m.Capabilities[0].Input.Properties[0].Type))
		var s struct{ Type string }
		if err := json.Unmarshal([]byte(schema), &s); err != nil {
			t.Fatal(err)
		}
		if want != "" {
			want = "," + want
		}
		if want = fmt.Sprintf(`{"type":%q%s}`, s.Type, want); got != want {
			t.Errorf("%s: got %s, want %s", schema, got, want)
		}
	}
}

func loadJSON(t *testing.T, text string) *Manifest {
	t.Helper()
	m, diags := Load(map[string][]byte{"m.json": []byte(text)}, "m.json")
	if m == nil {
		t.Fatal(diags)
	}
	return m
}
