package schema

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExamples(t *testing.T) {
	text, err := os.ReadFile("testdata/good/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, diags := Load(map[string][]byte{"m.yaml": text}, "m.yaml")
	if m == nil {
		t.Fatal(diags)
	}
	const filled = `"exact":false,"filter":{"b":[1.5,100,1e+21],"depth":3,"owner":`
	want := []Example{
		{"One record", `{` + filled + `"me"},"key":"a","limit":20,"order":"up","ratio":0}`, `{"count":100,"key":"a","tags":["on"],"weight":0.5}`, "", Position{}},
		{"None", `{` + filled + `"you"},"key":"b","limit":3,"order":"up","ratio":0}`, "", "not_found", Position{}},
	}
	var got []Example
	for _, e := range m.Capabilities[1].Examples {
		one := *e
		one.Pos = Position{}
		got = append(got, one)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var programs []Program
	for _, p := range m.Programs {
		one := *p
		one.Pos = Position{}
		programs = append(programs, one)
	}
	if diff := cmp.Diff([]Program{
		{"An earlier one", "def main(): pass", "null", Position{}},
		{"Two of them", "def main():\n    return {\"n\": 2}\n", `{"n1":[1,null],"n2":2}`, Position{}},
	}, programs); diff != "" {
		t.Error(diff)
	}
}

// Each kind of value, as an example has it and as it is stored.
func TestExampleValues(t *testing.T) {
	const manifest = `capgen: 1
go: {package: example.com/x/generated}
server: {name: x, version: "1"}
types:
  Cat: {type: object, required: [kind], properties: {kind: {type: string, const: cat}, id: {type: integer, format: int64}}}
  Dog: {type: object, required: [kind], properties: {kind: {type: string, const: dog}, m: {type: integer, default: 3}}}
  Pet: {oneOf: [{$ref: "#/types/Cat"}, {$ref: "#/types/Dog"}]}
  Word: {anyOf: [{type: string}, {type: number}, {type: array, items: {$ref: "#/types/Word"}}, {type: "null"}]}
  Tree: {type: object, properties: {up: {$ref: "#/types/Tree"}, d: {type: integer, default: 1}}}
capabilities:
  - {name: a.pet, summary: s, effect: read, scopes: none, input: {type: object, properties: {}}, output: {type: object, properties: {a: {$ref: "#/types/Pet"}, b: {$ref: "#/types/Word"}, c: {$ref: "#/types/Tree"}}}}
  - name: a.one
    summary: s
    effect: read
    scopes: none
    input: {type: object, properties: {}}
    output: %s
    examples: [{title: t, input: {}, output: %s}]
`
	for _, test := range []struct{ schema, value, want string }{
		{`{$ref: "#/types/Pet"}`, `{kind: dog}`, `{"kind":"dog","m":3}`},
		{`{$ref: "#/types/Pet"}`, `{kind: cat, id: -9007199254740993}`, `{"id":"-9007199254740993","kind":"cat"}`},
		{`{$ref: "#/types/Word"}`, `[a, 1.50, [], null]`, `["a",1.5,[],null]`},
		{`{$ref: "#/types/Word"}`, `null`, `null`},
		{`{$ref: "#/types/Tree"}`, `{up: {up: {d: 2}}}`, `{"d":1,"up":{"d":1,"up":{"d":2}}}`},
		{`{type: [integer, "null"], format: int64}`, `7`, `"7"`},
		{`{type: string, contentEncoding: base64}`, `AAE=`, `"AAE="`},
		{`{x-opaque: true}`, `{b: [1, null, "x"], a: 1e21}`, `{"a":1e+21,"b":[1,null,"x"]}`},
		{`{type: object, additionalProperties: {type: number}}`, `{z: 1.0, a: -0.0}`, `{"a":0,"z":1}`},
		{`{type: string, format: date-time}`, `"2026-11-29T18:00:00Z"`, `"2026-11-29T18:00:00Z"`},
	} {
		text := fmt.Sprintf(manifest, test.schema, test.value)
		m, diags := Load(map[string][]byte{"m.yaml": []byte(text)}, "m.yaml")
		if m == nil {
			t.Errorf("%s: %v", test.value, diags)
		} else if got := m.Capabilities[0].Examples[0].Output; got != test.want {
			t.Errorf("%s as %s: got %s, want %s", test.value, test.schema, got, test.want)
		}
	}
	for value, want := range map[string]string{
		strings.Repeat("{up: ", 40) + "{}" + strings.Repeat("}", 40): "bad-example",
		`{up: {d: ` + strings.Repeat("9", 20) + `}}`:                 "bad-example",
	} {
		_, diags := Load(map[string][]byte{"m.yaml": []byte(fmt.Sprintf(manifest, `{$ref: "#/types/Tree"}`, value))}, "m.yaml")
		if len(diags) != 1 || diags[0].Rule != want {
			t.Errorf("%.40s: %v", value, diags)
		}
	}
	for bytes, want := range map[int]string{maxExampleOutput - 2: "", maxExampleOutput - 1: "too-large"} {
		_, diags := Load(map[string][]byte{"m.yaml": []byte(fmt.Sprintf(manifest, `{type: string}`, strings.Repeat("a", bytes)))}, "m.yaml")
		if got := fmt.Sprint(diags); (want == "") != (len(diags) == 0) || !strings.Contains(got, want) {
			t.Errorf("%d bytes: %s", bytes, got)
		}
	}
}
