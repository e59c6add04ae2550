package codegen

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/schema"
)

const describedManifest = `
capgen: 1
go: {package: example.com/x/generated}
server: {name: x, version: 1.0.0}
types:
  Entry: {type: object, description: An entry., required: [name], properties: {name: {type: string, maxLength: 9}, note: {type: string, description: More.}}}
capabilities:
  - name: x.find
    summary: Find.
    effect: read
    idempotency: natural
    world: closed
    scopes: none
    input:
      type: object
      required: [key]
      properties:
        key: {type: string, minLength: 1, pattern: "^a", description: The key.}
        limit: {type: integer, minimum: 0, maximum: 5, default: 3}
        share: {type: number, exclusiveMinimum: 0, maximum: 0.5, multipleOf: 0.1}
        any: {type: integer}
        kind: {type: string, enum: [one, two], default: one}
        tags: {type: array, maxItems: 2, items: {type: string}, default: [a]}
        rows: {type: array, items: {type: array, items: {$ref: "#/types/Entry"}}}
        entry: {$ref: "#/types/Entry"}
        filter: {type: object, properties: {deep: {type: boolean, default: true}}, default: {}}
    output: {type: array, items: {$ref: "#/types/Entry"}}
  - name: x.stop
    summary: Stop.
    effect: write
    idempotency: natural
    world: closed
    scopes: none
    input: {type: object, properties: {}}
    output: {type: boolean}
`

func described(t *testing.T) *schema.Manifest {
	t.Helper()
	m, diags := schema.Load(map[string][]byte{"m.yaml": []byte(describedManifest)}, "m.yaml")
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

func TestSignature(t *testing.T) {
	m := described(t)
	want := []string{
		`x.find(*, key: str, limit: int = 3, share: float = None, any: int = None, kind: str = "one", tags: list[str] = ["a"], rows: list[list[dict]] = None, entry: dict = None, filter: dict = {"deep": True})`,
		`x.stop()`,
	}
	for i, c := range m.Capabilities {
		if got := Signature(c); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
}

// Members that say nothing, caps that nobody wrote and what the signature of an
// input says are not there. A field of type and description is a string.
func TestDescribe(t *testing.T) {
	c := described(t).Capabilities[0]
	want := strings.Join([]string{
		`{"key":{"description":"The key.","minLength":1,"pattern":"^a"}`,
		`"limit":{"minimum":0,"maximum":5}`,
		`"share":{"maximum":0.5,"exclusiveMinimum":0,"multipleOf":0.1}`,
		`"kind":{"enum":["one","two"]}`,
		`"tags":{"maxItems":2}`,
		`"rows":{"items":{"items":{"description":"An entry.","fields":{"name":{"type":"str","maxLength":9},"note":{"type":"str","required":false,"description":"More."}}}}}`,
		`"entry":{"description":"An entry.","fields":{"name":{"type":"str","maxLength":9},"note":{"type":"str","required":false,"description":"More."}}}`,
		`"filter":{"fields":{"deep":{"type":"bool","default":true}}}}`,
	}, ",")
	if diff := cmp.Diff(want, describeInput(c.Input)); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
	const output = `{"type":"list[dict]","items":{"description":"An entry.","fields":{"name":"str","note":{"type":"str","required":false,"description":"More."}}}}`
	if diff := cmp.Diff(output, describeResult(c)); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if got := describeInput(described(t).Capabilities[1].Input); got != "{}" {
		t.Errorf("no parameters are %s", got)
	}
}

// A run's result is JSON to a program, whatever its schema makes of the text.
func TestDescribeRunResult(t *testing.T) {
	m, diags := schema.Load(map[string][]byte{"m.yaml": []byte(`
capgen: 1
go: {package: example.com/x/generated}
server: {name: x, version: 1.0.0}
types:
  Wide: {type: integer, format: int64, minimum: 1, examples: [5]}
  Node: {type: object, required: [id], properties: {id: {$ref: "#/types/Wide"}, next: {$ref: "#/types/Node"}}}
capabilities:
  - name: x.run
    summary: Run.
    effect: run
    runner: starlark
    scopes: none
    approval: {required: true}
    input: {type: object, properties: {id: {$ref: "#/types/Wide"}}}
    output:
      type: object
      required: [id, maybe]
      properties:
        id: {$ref: "#/types/Wide"}
        maybe: {type: [integer, "null"], format: int64}
        blobs: {type: array, items: {type: string, contentEncoding: base64}}
        by_name: {type: object, additionalProperties: {type: integer, format: int64}}
        count: {type: integer, format: int64, default: 7}
        node: {$ref: "#/types/Node"}
        text: {type: string, format: date}
`)}, "m.yaml")
	if m == nil {
		t.Fatal(diags)
	}
	start := m.Capabilities[slices.IndexFunc(m.Capabilities, func(c *schema.Capability) bool { return c.Name == "x.run.start" })]
	const wide = `{"type":"str","examples":["5"],"minimum":1,"format":"int64"}`
	want := `{"fields":{"job":"str","plan":"str","state":"str"},"run.result":{"fields":{` + strings.Join([]string{
		`"id":` + wide,
		`"maybe":{"type":"str | None","format":"int64"}`,
		`"blobs":{"type":"list[str]","required":false,"items":{"format":"base64"}}`,
		`"by_name":{"type":"dict[str, str]","required":false,"values":{"format":"int64"}}`,
		`"count":{"type":"str","default":"7","format":"int64"}`,
		`"node":{"type":"Node","required":false,"fields":{"id":` + wide + `,"next":{"type":"Node","required":false}}}`,
		`"text":{"type":"str","required":false,"format":"date"}`,
	}, ",") + `}}}`
	if diff := cmp.Diff(want, describeResult(start)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	prepare := m.Capabilities[slices.IndexFunc(m.Capabilities, func(c *schema.Capability) bool { return c.Name == "x.run.prepare" })]
	if got := describeInput(prepare.Input); !strings.HasPrefix(got, `{"id":{"examples":[5],"minimum":1}`) {
		t.Errorf("a parameter is described as %s", got)
	}
}

func TestDescribeStrings(t *testing.T) {
	for want, f := range map[string]apiField{
		`"int"`:                   {Type: "int"},
		`"int: How many."`:        {Type: "int", Description: "How many."},
		`"How <many> & \"why\"."`: {Description: `How <many> & "why".`},
		`{"type":"str","required":false,"description":"Why."}`: {Type: "str", Description: "Why.", Required: new(bool)},
		`{"enum":["a"]}`:                         {Enum: []string{"a"}},
		`{"fields":{"b":"int","a":"str: Who."}}`: {Fields: apiFields{{Name: "b", Type: "int"}, {Name: "a", Type: "str", Description: "Who."}}},
	} {
		if got := jsonText(f); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// The worker's strict parser takes what the generator writes, and finds in it
// what the manifest says.
func TestBinding(t *testing.T) {
	for _, c := range described(t).Capabilities {
		got, err := binding.ParseCapability(bindingJSON(c))
		if err != nil {
			t.Fatal(err)
		}
		want := binding.Capability{ID: c.ID, Name: c.Name, Input: bindingFields(resolved(c.Input)), Output: shape(c.Output)}
		if diff := cmp.Diff(&want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-manifest +parsed):\n%s", c.Name, diff)
		}
	}
}

// The digest covers what a capability promises, types that it refers to
// included, and nothing else.
func TestDigest(t *testing.T) {
	base := Digest(described(t).Capabilities[0])
	for name, test := range map[string]struct {
		old, new string
		same     bool
	}{
		"summary":         {"summary: Find.", "summary: Seek.", false},
		"referenced type": {"maxLength: 9", "maxLength: 8", false},
		"type's text":     {"An entry.", "One entry.", false},
		"effect":          {"effect: read", "effect: destroy", false},
		"default":         {"default: 3", "default: 4", false},
		"scope":           {"scopes: none", "scopes: [a]", false},
		"order":           {"any: {type: integer}\n        kind: {type: string, enum: [one, two], default: one}", "kind: {type: string, enum: [one, two], default: one}\n        any: {type: integer}", true},
		"another package": {"example.com/x", "example.com/y", true},
	} {
		text := strings.Replace(describedManifest, test.old, test.new, 1)
		m, diags := schema.Load(map[string][]byte{"m.yaml": []byte(text)}, "m.yaml")
		if m == nil {
			t.Fatal(name, diags)
		}
		if got := Digest(m.Capabilities[0]); (got == base) != test.same {
			t.Errorf("%s: digest %s, before %s", name, got, base)
		}
	}
}
