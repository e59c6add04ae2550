package breaking

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/capgen/capgen/schema"
)

type object = map[string]any

// randomSchema is a small schema as a manifest has it.
func randomSchema(r *rand.Rand, depth int) object {
	kinds := 5
	if depth > 0 {
		kinds = 9
	}
	maybe := func(o object, key string, value any) {
		if r.IntN(3) == 0 {
			o[key] = value
		}
	}
	switch r.IntN(kinds) {
	case 0:
		o := object{"type": "string"}
		maybe(o, "minLength", r.IntN(2))
		maybe(o, "maxLength", 1+r.IntN(3))
		maybe(o, "pattern", []string{"^a", "b$"}[r.IntN(2)])
		return o
	case 1:
		words := [][]string{{"a"}, {"a", "b"}, {"b", "a", "ab"}}[r.IntN(3)]
		o := object{"type": "string", "enum": words}
		maybe(o, "x-open", true)
		return o
	case 2:
		o := object{"type": "integer"}
		maybe(o, "minimum", r.IntN(3)-1)
		maybe(o, "maximum", 2+r.IntN(3))
		maybe(o, "multipleOf", 1+r.IntN(3))
		return o
	case 3:
		o := object{"type": "number"}
		maybe(o, []string{"minimum", "exclusiveMinimum"}[r.IntN(2)], float64(r.IntN(3))/2)
		maybe(o, []string{"maximum", "exclusiveMaximum"}[r.IntN(2)], 1.5+float64(r.IntN(3))/2)
		maybe(o, "multipleOf", []float64{0.5, 1, 1.5}[r.IntN(3)])
		return o
	case 4:
		o := object{"type": "boolean"}
		maybe(o, "const", r.IntN(2) == 0)
		return o
	case 5:
		o := object{"type": "array", "items": randomSchema(r, depth-1)}
		maybe(o, "minItems", r.IntN(2))
		maybe(o, "maxItems", 1+r.IntN(2))
		maybe(o, "uniqueItems", true)
		return o
	case 6:
		o := object{"type": "object", "additionalProperties": randomSchema(r, depth-1)}
		maybe(o, "minProperties", r.IntN(2))
		maybe(o, "maxProperties", 1+r.IntN(2))
		return o
	case 7:
		return object{"anyOf": []any{withoutNull(randomSchema(r, depth-1)), object{"type": "null"}}}
	}
	properties, required := object{}, []string{}
	for _, name := range []string{"a", "b"} {
		if r.IntN(4) > 0 {
			properties[name] = randomSchema(r, depth-1)
			if r.IntN(2) == 0 {
				required = append(required, name)
			}
		}
	}
	return object{"type": "object", "properties": properties, "required": required}
}

// withoutNull is a schema that does not take null: null twice is an error.
func withoutNull(o object) object {
	for {
		variants, ok := o["anyOf"].([]any)
		if !ok {
			return o
		}
		o = variants[0].(object)
	}
}

// mutate changes one place of a copy of a schema, or all of it.
func mutate(r *rand.Rand, o object, depth int) object {
	c := object{}
	for k, v := range o {
		c[k] = v
	}
	for _, part := range []string{"items", "additionalProperties"} {
		if inner, ok := c[part].(object); ok && r.IntN(2) == 0 {
			c[part] = mutate(r, inner, depth-1)
			return c
		}
	}
	if properties, ok := c["properties"].(object); ok && len(properties) > 0 && r.IntN(3) > 0 {
		copied := object{}
		for k, v := range properties {
			copied[k] = v
		}
		for _, name := range []string{"a", "b"} {
			if inner, ok := copied[name].(object); ok && r.IntN(2) == 0 {
				copied[name] = mutate(r, inner, depth-1)
			}
		}
		c["properties"] = copied
		return c
	}
	for range 20 { // another of the same type, as an edit would make it
		if o := randomSchema(r, depth); o["type"] == c["type"] || r.IntN(20) == 0 {
			return o
		}
	}
	return randomSchema(r, depth)
}

// randomValue is some value of the size of the schemas.
func randomValue(r *rand.Rand, depth int) any {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch r.IntN(kinds) {
	case 0:
		return []string{"", "a", "b", "ab", "ba", "aab", "c"}[r.IntN(7)]
	case 1:
		return r.IntN(7) - 2
	case 2:
		return float64(r.IntN(12)-3) / 2
	case 3:
		return r.IntN(2) == 0
	case 4:
		return nil
	case 5:
		list := []any{}
		for range r.IntN(3) {
			list = append(list, randomValue(r, depth-1))
		}
		return list
	}
	o := object{}
	for _, name := range []string{"a", "b"} {
		if r.IntN(3) > 0 {
			o[name] = randomValue(r, depth-1)
		}
	}
	return o
}

// valueOf is a value that is close to what a schema takes.
func valueOf(r *rand.Rand, o object, depth int) any {
	if r.IntN(12) == 0 || depth < 0 {
		return randomValue(r, max(depth, 0))
	}
	if variants, ok := o["anyOf"].([]any); ok {
		return valueOf(r, variants[0].(object), depth)
	}
	if words, ok := o["enum"].([]string); ok {
		return words[r.IntN(len(words))]
	}
	switch o["type"] {
	case "string":
		return []string{"", "a", "b", "ab", "ba", "aab", "c"}[r.IntN(7)]
	case "integer":
		return r.IntN(7) - 2
	case "number":
		return float64(r.IntN(12)-3) / 2
	case "boolean":
		return r.IntN(2) == 0
	case "array":
		list := []any{}
		for range r.IntN(3) {
			list = append(list, valueOf(r, o["items"].(object), depth-1))
		}
		return list
	}
	v := object{}
	properties, declared := o["properties"].(object)
	for _, name := range []string{"a", "b"} {
		if inner, ok := properties[name].(object); ok && r.IntN(4) > 0 {
			v[name] = valueOf(r, inner, depth-1)
		}
		if inner, ok := o["additionalProperties"].(object); ok && !declared && r.IntN(2) == 0 {
			v[name] = valueOf(r, inner, depth-1)
		}
	}
	return v
}

// judge is another maker's validator of an effective schema.
func judge(t *testing.T, of *schema.Type) func(any) bool {
	t.Helper()
	var doc any
	if err := json.Unmarshal(schema.EffectiveSchema(of), &doc); err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("s.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(v any) bool {
		var plain any
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &plain); err != nil {
			t.Fatal(err)
		}
		return s.Validate(plain) == nil
	}
}

// A value that was taken and is no longer, or that may come back and could not
// before, is always told of by a rule that breaks programs. The judge of what is
// taken is another maker's validator.
func TestNothingBreaksUnseen(t *testing.T) {
	const pairs, values, depth = 500, 60, 2
	r := rand.New(rand.NewPCG(5, 1))
	broken := map[direction]int{}
	for i := range pairs {
		base := randomSchema(r, depth)
		head := mutate(r, base, depth)
		for _, d := range []direction{input, output} {
			manifest := func(s object) *schema.Manifest {
				in, out := object{"type": "object", "properties": object{}}, object{"type": "boolean"}
				if d == input {
					in["properties"] = object{"p": s}
				} else {
					out = s
				}
				text, err := json.Marshal(object{
					"capgen": 1, "go": object{"package": "example.com/x/generated"}, "server": object{"name": "x", "version": "1"},
					"capabilities": []any{object{"name": "a.b", "summary": "A.", "effect": "read", "scopes": "none", "input": in, "output": out}},
				})
				if err != nil {
					t.Fatal(err)
				}
				m, diags := schema.Load(map[string][]byte{"m.json": text}, "m.json")
				if m == nil {
					t.Logf("skipped %s: %v", text, diags[0])
				}
				return m
			}
			b, h := manifest(base), manifest(head)
			if b == nil || h == nil {
				continue // two bounds that leave nothing
			}
			of := func(m *schema.Manifest) *schema.Type {
				if d == input {
					return m.Capabilities[0].Input.Properties[0].Type
				}
				return m.Capabilities[0].Output
			}
			report := Compare(b, h, today)
			tells := slices.ContainsFunc(report.Findings, func(f *Finding) bool {
				return f.Level == Breaking && slices.Contains(f.Breaks, Programs) ||
					// A member more of a result is none to who does not know it.
					d == output && (f.ID == "output-property-optional" || f.ID == "output-property-required")
			})
			if same := string(schema.EffectiveSchema(of(b))) == string(schema.EffectiveSchema(of(h))); same != (len(report.Findings) == 0) {
				t.Fatalf("pair %d, %s: equal: %v, found: %v\n%s\n%s", i, d, same, ruleIDs(report), text(base), text(head))
			}
			before, after := judge(t, of(b)), judge(t, of(h))
			for range values {
				v := valueOf(r, []object{base, head}[r.IntN(2)], depth)
				was, is := before(v), after(v)
				if breaks := d == input && was && !is || d == output && !was && is; breaks {
					broken[d]++
					if !tells {
						t.Fatalf("pair %d, %s: %v breaks unseen:\n%s\n%s\n%v", i, d, v, text(base), text(head), ruleIDs(report))
					}
				}
			}
		}
	}
	for _, d := range []direction{input, output} {
		if broken[d] < pairs {
			t.Errorf("%s: only %d values show a difference", d, broken[d])
		}
	}
	t.Log(broken)
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
