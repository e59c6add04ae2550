package schema

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// referring is a manifest whose one capability returns what ref leads to.
func referring(ref string) string {
	return partHead + "capabilities:\n  - {name: a.b, summary: s, effect: read, scopes: none, input: {type: object, properties: {}}, output: {$ref: " + ref + "}}\n"
}

func load2(t *testing.T, files map[string]string) (*Manifest, []Diagnostic) {
	t.Helper()
	all := map[string][]byte{}
	for name, text := range files {
		all[name] = []byte(text)
	}
	return Load(all, "m.yaml")
}

const shop = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://example.com/shop.json",
  "type": "object", "properties": {"self": {"$ref": "#"}, "sub": {"$ref": "sub/line.json"}},
  "$defs": {
    "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "name": {"$ref": "#/$defs/Alias", "description": "Its name."}}},
    "Alias": {"$ref": "#/$defs/Name"},
    "Name": {"type": "string", "maxLength": 9},
    "Both": {"allOf": [{"$ref": "#/$defs/Node"}, {"$ref": "sub/line.json#/$defs/Line"}]},
    "unused": {"type": "nonsense"}
  }
}`

const line = `{"$ref": "#/$defs/Line", "$defs": {"Line": {"type": "object", "properties": {"count": {"$ref": "#/$defs/Count"}, "of": {"$ref": "../shop.json#/$defs/Name"}}}, "Count": {"type": "integer"}}}`

// A definition is a type as if it stood under types: what refers to it from
// where makes no difference.
func TestSchemaFiles(t *testing.T) {
	files := map[string]string{"shop.json": shop, "sub/line.json": line}
	const types = "types:\n" +
		"  Node: {type: object, properties: {next: {$ref: \"#/types/Node\"}, name: {$ref: \"#/types/Name\", description: Its name.}}}\n" +
		"  Name: {type: string, maxLength: 9}\n" +
		"  Shop: {type: object, properties: {self: {$ref: \"#/types/Shop\"}, sub: {$ref: \"#/types/Line\"}}}\n" +
		"  Both: {allOf: [{$ref: \"#/types/Node\"}, {$ref: \"#/types/Line\"}]}\n" +
		"  Line: {type: object, properties: {count: {$ref: \"#/types/Count\"}, of: {$ref: \"#/types/Name\"}}}\n" +
		"  Count: {type: integer}\n"
	for ref, want := range map[string]struct {
		name  string
		types []string
	}{
		`"./shop.json#/$defs/Node"`:    {"Node", []string{"Name", "Node"}},
		`shop.json#/$defs/Alias`:       {"Name", []string{"Name"}},
		`./shop.json`:                  {"Shop", []string{"Count", "Line", "Name", "Shop"}},
		`"shop.json#"`:                 {"Shop", []string{"Count", "Line", "Name", "Shop"}},
		`sub/line.json`:                {"Line", []string{"Count", "Line", "Name"}},
		`sub/../shop.json#/$defs/Both`: {"Both", []string{"Both", "Count", "Line", "Name", "Node"}},
	} {
		files["m.yaml"] = referring(ref)
		got, diags := load2(t, files)
		if len(diags) > 0 {
			t.Errorf("%s: %v", ref, diags)
			continue
		}
		var names []string
		for _, n := range got.Types {
			names = append(names, n.Name)
		}
		if diff := cmp.Diff(want.types, names); diff != "" {
			t.Errorf("%s:\n%s", ref, diff)
		}
		in, diags := load2(t, map[string]string{"m.yaml": types + referring(`"#/types/`+want.name+`"`)})
		if in == nil {
			t.Fatal(diags)
		}
		in.Types = slices.DeleteFunc(in.Types, func(n *NamedType) bool { return !slices.Contains(want.types, n.Name) })
		if ref == "sub/../shop.json#/$defs/Both" {
			continue // types that are merged only are not those of references
		}
		if diff := cmp.Diff(in.Types, got.Types, ignorePositions); diff != "" {
			t.Errorf("%s: under types (-), in a file (+):\n%s", ref, diff)
		}
	}
}

// Definitions of an input, an output and an entry of types, each in its own.
func TestInlineDefinitions(t *testing.T) {
	m, diags := load2(t, map[string]string{"m.yaml": partHead + `types:
  T: {type: object, properties: {a: {$ref: "#/$defs/A"}}, $defs: {A: {type: string, maxLength: 1}}}
capabilities:
  - name: a.b
    summary: s
    effect: read
    scopes: none
    input: {$ref: "#/$defs/In", $defs: {In: {type: object, properties: {t: {$ref: "#/types/T"}, b: {$ref: "#/$defs/B"}}}, B: {type: array, items: {$ref: "#/$defs/B"}}}}
    output: {type: array, items: {$ref: "#/$defs/C"}, $defs: {C: {type: boolean}, D: {type: string}}}
`})
	expectFindings(t, diags, []string{`m.yaml:12:83: warning: nothing refers to the definition "D" [unused-type]`})
	if m == nil {
		t.FailNow()
	}
	var got []string
	for _, n := range m.Types {
		got = append(got, n.Name+" "+string(EffectiveSchema(n.Type)))
	}
	want := []string{
		`A {"type":"string","maxLength":1}`,
		`B {"type":"array","items":{"$ref":"#/types/B"},"maxItems":10000}`,
		`C {"type":"boolean"}`,
		`In {"type":"object","properties":{"t":{"$ref":"#/types/T"},"b":{"$ref":"#/types/B"}},"additionalProperties":false}`,
		`T {"type":"object","properties":{"a":{"$ref":"#/types/A"}},"additionalProperties":false}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if m.Capabilities[0].Input.Ref.Name != "In" {
		t.Error("the input is another type")
	}
}

func TestSchemaFilesRefused(t *testing.T) {
	type files = map[string]string
	defs := func(text string) files { return files{"x.json": `{"$defs": {` + text + `}}`} }
	for _, c := range []struct {
		name, ref string
		files     files
		want      []string
	}{
		{"no file", "x.json", nil, []string{`m.yaml:5:111: error: there is no file x.json [file-missing]`}},
		{"an address", `"https://example.com/x.json#/$defs/A"`, nil, []string{`m.yaml:5:111: error: "https://example.com/x.json#/$defs/A" is not in a file of this manifest, and nothing is fetched [bad-ref]`}},
		{"a urn", `"urn:x:y"`, nil, []string{`m.yaml:5:111: error: "urn:x:y" is not in a file`}},
		{"outside", "../x.json", nil, []string{`m.yaml:5:111: error: "../x.json" leaves the directory of the manifest [bad-path]`}},
		{"no definition", "x.json#/$defs/B", defs(`"A": {"type": "string"}`), []string{`m.yaml:5:111: error: no definition "B" [bad-ref]`}},
		{"another pointer", "x.json#/properties/a", defs(`"A": {"type": "string"}`), []string{`m.yaml:5:111: error: "x.json#/properties/a" is no reference to a type [bad-ref]`}},
		{"no root", "x.json", defs(`"A": {"type": "string"}`), []string{`m.yaml:5:111: error: "x.json" has nothing but $defs [bad-ref]`}},
		{"the root of the manifest", `"#"`, nil, []string{`m.yaml:5:111: error: "#" is no reference to a type [bad-ref]`}},
		{"a type of the manifest", "x.json#/$defs/A", defs(`"A": {"type": "array", "items": {"$ref": "#/types/T"}}`), []string{`x.json:1:53: error: a schema file knows nothing of the manifest's types [bad-ref]`}},
		{"a name", "x.json#/$defs/a", defs(`"a": {"type": "string"}`), []string{`x.json:1:12: error: definition "a" is no name for a type [bad-name]`}},
		{"a file name", "x.y.json", files{"x.y.json": `{"type": "string"}`, "9.json": ""}, nil},
		{"a bad file name", "9.json", files{"9.json": `{"type": "string"}`}, []string{`m.yaml:5:111: error: the file name "9.json" makes no name for a type [bad-name]`}},
		{"another dialect", "x.json", files{"x.json": `{"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"}`}, []string{`x.json:1:13: error: "http://json-schema.org/draft-07/schema#" is another JSON Schema than 2020-12 [bad-value]`}},
		{"definitions", "x.json#/definitions/A", files{"x.json": `{"definitions": {"A": {"type": "string"}}}`}, []string{`x.json:1:2: error: "definitions" is not part of the JSON Schema`, `m.yaml:5:111: error: "x.json#/definitions/A" is no reference`}},
		{"an unknown key", "x.json", files{"x.json": `{"type": "string", "x": 1}`}, []string{`x.json:1:20: error: a schema file takes no key "x"`, `x.json:1:20: error: a schema takes no key "x"`}},
		{"no mapping", "x.json", files{"x.json": `true`}, []string{`x.json:1:1: error: a schema file has to be a mapping, not a boolean [wrong-type]`}},
		{"itself", "x.json#/$defs/A", defs(`"A": {"$ref": "#/$defs/A"}`), []string{`x.json:1:26: error: the definition that this refers to stands for itself [endless-type]`}},
		{"each other", "x.json#/$defs/A", defs(`"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}`), []string{`x.json:1:54: error: the definition that this refers to stands for itself [endless-type]`}},
		{"files for each other", "x.json", files{"x.json": `{"$ref": "y.json"}`, "y.json": `{"$ref": "x.json"}`}, []string{`y.json:1:10: error: the definition that this refers to stands for itself [endless-type]`}},
		{"an endless type", "x.json", files{"x.json": `{"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}`}, []string{`x.json:1:1: error: type "X" can never end`}},
		{"beside an alias", "x.json#/$defs/A", defs(`"A": {"$ref": "#/$defs/B", "maxLength": 3}, "B": {"type": "string"}`), []string{`x.json:1:39: error: "maxLength" beside $ref [ref-sibling]`}},
		{"$defs inside", "x.json#/$defs/A", defs(`"A": {"type": "string", "$defs": {}}`), []string{`x.json:1:36: error: $defs inside of a schema [wrong-keyword]`}},
		{"a default", "x.json#/$defs/A", defs(`"A": {"type": "string", "default": "a"}`), []string{`x.json:1:36: error: a default says nothing here [misplaced-default]`}},
		{"the manifest", "m.yaml#/$defs/A", nil, []string{`m.yaml:1:1: error: a schema file takes no key "capgen"`, `m.yaml:2:1: error: a schema file takes no key "go"`, `m.yaml:3:1: error: a schema file takes no key "server"`, `m.yaml:4:1: error: a schema file takes no key "capabilities"`, `m.yaml:5:111: error: no definition "A"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := files{"m.yaml": referring(c.ref)}
			maps.Copy(files, c.files)
			m, diags := load2(t, files)
			expectFindings(t, diags, c.want)
			if (m == nil) != (c.want != nil) {
				t.Errorf("manifest: %v", m)
			}
		})
	}
}

// Two definitions of one name are an error with both places, whatever they
// say, and so is one beside an entry of types.
func TestDefinitionsCollide(t *testing.T) {
	output := func(a, b string) string {
		return partHead + "types: {T: {type: string}}\ncapabilities:\n  - {name: a.b, summary: s, effect: read, scopes: none, input: {type: object, properties: {}}, output: {type: object, properties: {t: {$ref: \"#/types/T\"}, a: {$ref: " + a + "}, b: {$ref: " + b + "}}}}\n"
	}
	for _, c := range []struct{ a, b, want string }{
		{"x.json#/$defs/A", "y.json#/$defs/A", `y.json:1:12: error: type "A" stands twice, first at x.json:1:12 [name-collision]`},
		{"x.json#/$defs/A", "a.json", `a.json:1:1: error: type "A" stands twice, first at x.json:1:12 [name-collision]`},
		{"x.json#/$defs/A", "x.json#/$defs/T", `x.json:1:37: error: type "T" stands twice, first at m.yaml:4:9 [name-collision]`},
	} {
		same := `{"$defs": {"A": {"type": "string"}, "T": {"type": "string"}}}`
		m, diags := load2(t, map[string]string{"m.yaml": output(c.a, c.b), "x.json": same, "y.json": same, "a.json": `{"type": "string"}`})
		expectFindings(t, diags, []string{c.want})
		if m != nil || len(diags) == 0 || diags[0].Related == nil {
			t.Errorf("%s, %s: %v", c.a, c.b, diags)
		}
	}
}

// Definitions that stand for each other in a row are followed up to a limit.
func TestLongChains(t *testing.T) {
	var aliases strings.Builder
	for i := range 5_000 {
		aliases.WriteString(`"A` + strconv.Itoa(i) + `": {"$ref": "#/$defs/A` + strconv.Itoa(i+1) + `"},`)
	}
	text := `{"$defs": {` + aliases.String() + `"A5000": {"type": "string"}}}`
	_, diags := load2(t, map[string]string{"m.yaml": referring("x.json#/$defs/A0"), "x.json": text})
	if len(diags) != 1 || diags[0].Rule != ruleEndlessType {
		t.Errorf("%v", diags)
	}
	m, diags := load2(t, map[string]string{"m.yaml": referring("x.json#/$defs/A4980"), "x.json": text})
	if m == nil || len(m.Types) != 1 || m.Types[0].Name != "A5000" {
		t.Errorf("%v", diags)
	}
}
