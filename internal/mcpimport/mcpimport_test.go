package mcpimport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/schema"
)

func TestNamespace(t *testing.T) {
	for file, want := range map[string]string{"docs/docs-server.json": "docs_server", `C:\x\Notes.list.json`: "notes", "": "", "日本.json": ""} {
		if got := Namespace(file); got != want {
			t.Errorf("%q makes %q, want %q", file, got, want)
		}
	}
}

// No hint makes a tool less dangerous than its name does, and no name that
// speaks of changing is anything but destroy.
func TestPropose(t *testing.T) {
	names := map[string]string{
		"get_note": "read", "notes_list": "read", "notes-get-all": "read", "searchDocs": "read", "create_note": "write", "addNote": "write",
		"delete_note": "destroy", "get_and_delete": "destroy", "list_kill": "destroy", "frobnicate": "destroy", "getter": "destroy",
		"create_or_update_file": "destroy", "sublist": "destroy", "pods_exec": "destroy", "": "destroy",
	}
	rank := map[string]int{"read": 0, "write": 1, "destroy": 2}
	for name, want := range names {
		plain := propose(&tool{name: name})
		if plain.effect != want || plain.because == "" {
			t.Errorf("%s: %+v, want %s", name, plain, want)
		}
		for i := range 81 {
			claimed := &tool{name: name}
			for j, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
				if v := i / []int{1, 3, 9, 27}[j] % 3; v > 0 {
					claimed.claims = append(claimed.claims, member{hint, boolean(v == 1)})
				}
			}
			if got := propose(claimed); rank[got.effect] < rank[plain.effect] {
				t.Errorf("%s: hints make %s of %s", name, got.effect, plain.effect)
			}
		}
	}
	for hints, want := range map[string]string{"destructiveHint true": "destroy", "readOnlyHint false": "destroy"} {
		hint, v, _ := strings.Cut(hints, " ")
		if got := propose(&tool{name: "get_note", claims: []member{{hint, boolean(v == "true")}}}); got.effect != want {
			t.Errorf("get_note with %s: %s, want %s", hints, got.effect, want)
		}
	}
}

// importOne is a tool with one required parameter p of a schema.
func importOne(input string) *Result {
	return Import(fmt.Appendf(nil, `[{"name": "probe", "inputSchema": %s}]`, input), Options{File: "t.json", Namespace: "t", Package: "example.com/t", Confirm: true})
}

// What each schema becomes, as the effective schema of a required parameter, or
// why the tool is not imported.
func TestSchemas(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"type": "string", "minLength": 2, "maxLength": 9e9}`, `{"type":"string","minLength":2,"maxLength":1048576}`},
		{`{"type": "string", "enum": ["b_c", "b-c"]}`, `{"type":"string","maxLength":1048576,"pattern":"^(b_c|b-c)$"}`},
		{`{"type": "string", "enum": ["a", "long", "a"], "maxLength": 1}`, `{"type":"string","enum":["a"]}`},
		{`{"type": ["string", "null"], "enum": ["a", "b", null]}`, `{"type":["string","null"],"enum":["a","b",null]}`},
		{`{"type": ["string", "null"], "enum": ["a", "b"]}`, `{"type":"string","enum":["a","b"]}`},
		{`{"enum": ["a", 2, null]}`, `{"anyOf":[{"oneOf":[{"type":"string","enum":["a"]},{"type":"integer","minimum":2,"maximum":2}]},{"type":"null"}]}`},
		{`{"type": "integer", "exclusiveMinimum": 0.5, "maximum": 7.5, "minimum": 1}`, `{"type":"integer","minimum":1,"maximum":7}`},
		{`{"type": "integer", "minimum": -1e300}`, `{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991}`},
		{`{"type": "integer", "multipleOf": 0.5, "maximum": 5, "minimum": 1}`, `{"type":"integer","minimum":1,"maximum":5}`},
		{`{"type": "number", "enum": [3, 4, 5]}`, `{"type":"integer","minimum":3,"maximum":5}`},
		{`{"type": "number", "enum": [3, 5, 7]}`, "an enum of numbers with gaps"},
		{`{"type": "integer", "enum": [1.5]}`, "no value satisfies"},
		{`{}`, `{"x-opaque":true}`},
		{`true`, `{"x-opaque":true}`},
		{`{"type": "object"}`, `{"type":"object","maxProperties":10000,"additionalProperties":true}`},
		{`{"type": "object", "properties": {"a": {"type": "boolean"}}}`, `{"type":"object","properties":{"a":{"type":"boolean"}},"additionalProperties":false}`},
		{`{"type": "object", "required": ["a"]}`, `{"type":"object","properties":{"a":{"x-opaque":true}},"required":["a"],"additionalProperties":false}`},
		{`{"type": "object", "required": ["a"], "additionalProperties": false}`, "no value satisfies"},
		{`{"type": "object", "additionalProperties": {"type": "boolean"}, "propertyNames": {"enum": ["a", "b"]}}`, `{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"boolean"}},"additionalProperties":false}`},
		{`{"type": "object", "properties": {"a": {"type": "boolean"}}, "patternProperties": {"^a": false}}`, `the keyword "patternProperties"`},
		{`{"anyOf": [{"type": "string"}, {"type": "null"}, {"not": {}}]}`, `{"type":["string","null"],"maxLength":1048576}`},
		{`{"oneOf": [{"type": "string"}, {"minimum": 3}]}`, "a schema without type"},
		{`{"oneOf": [{"type": "string"}, {"type": "string", "minLength": 2}]}`, "nothing tells this variant from another"},
		{`{"oneOf": [{"type": ["string", "null"]}, {"type": "null"}]}`, "null satisfies two schemas of oneOf"},
		{`{"oneOf": [{"anyOf": [{"type": "string"}, {"type": "number", "if": {}}]}, {"type": "number"}]}`, `the keyword "if"`},
		{`{"oneOf": [{}, {"type": "string"}]}`, "takes every value"},
		{`{"type": "string", "oneOf": [{"properties": {}}, {"$ref": "#/$defs/any"}]}`, "a schema of no one type"},
		{`{"anyOf": [{"$ref": "#/$defs/any"}, {"type": "string"}]}`, `{"type":"string","maxLength":1048576}`},
		{`{"$ref": "other.json"}`, "a reference out of this schema"},
		{`{"$ref": "#/properties/p"}`, "references that lead in a circle"},
		{`{"$ref": "#/nowhere"}`, "a reference to what is not there"},
		{`{"type": "string", "pattern": "^a.c$"}`, "a pattern with a dot"},
		{`{"type": "string", "pattern": "\\s"}`, "means other characters"},
		{`{"type": "array", "items": [{"type": "string"}]}`, "no schema"},
		{`{"type": "array", "items": {"type": "string"}, "uniqueItems": true}`, `{"type":"array","items":{"type":"string","maxLength":1048576},"maxItems":10000,"uniqueItems":true}`},
		{`{"type": "array", "items": {"type": "string"}, "uniqueItems": false}`, `{"type":"array","items":{"type":"string","maxLength":1048576},"maxItems":10000}`},
		{`{"type": "array", "items": {"type": "string"}, "uniqueItems": "yes"}`, "uniqueItems is true or false"},
		{`{"type": "array", "items": false}`, `{"type":"array","items":{"x-opaque":true},"maxItems":0}`},
		{`{"type": "string", "nullable": true, "x-order": 3}`, `{"type":"string","maxLength":1048576}`},
		{`{"type": "string", "minlength": 3}`, `the keyword "minlength"`},
		{`{"type": "null"}`, "it takes null only"},
	} {
		r := importOne(`{"type": "object", "required": ["p"], "properties": {"p": ` + c.in + `}, "$defs": {"any": {}}}`)
		got := fmt.Sprint(r.Findings)
		if r.Imported == 1 {
			m, diags := schema.Load(map[string][]byte{"m.yaml": r.Manifest}, "m.yaml")
			if m == nil {
				t.Errorf("%s: %v", c.in, diags)
				continue
			}
			got = string(schema.EffectiveSchema(m.Capabilities[0].Input.Properties[0].Type))
		}
		if r.Imported == 1 && got != c.want || r.Imported == 0 && (!strings.Contains(got, c.want) || strings.HasPrefix(c.want, "{")) {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// Every tool is there once: imported, or listed with its place.
func TestEveryToolIsAccountedFor(t *testing.T) {
	document := `{"tools": [
		{"name": "a-b", "inputSchema": {"type": "object"}},
		{"name": "a_b", "inputSchema": {"type": "object"}},
		{"name": "1st", "inputSchema": {"type": "object"}},
		{"name": "import", "inputSchema": {"type": "object"}},
		{"name": "a\u202eb", "inputSchema": {"type": "object"}},
		{"name": "` + "x123456789012345678901234567890123456789012345678901234567890123" + `", "inputSchema": {"type": "object"}},
		{"name": "none"},
		3,
		{"name": "annotated", "annotations": {"readOnlyHint": "yes"}, "inputSchema": {"type": "object"}},
		{"name": "long", "description": "` + strings.Repeat("ä", 20_001) + `", "inputSchema": {"type": "object"}},
		{"name": "fine", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}, "title": null}
	]}`
	r := Import([]byte(document), Options{File: "t.json", Namespace: "t", Package: "example.com/t", Confirm: true})
	var got []string
	for _, d := range r.Findings {
		got = append(got, fmt.Sprintf("%d %s %s", d.Line, d.Rule, d.Message))
	}
	want := []string{
		`3 import-listed /tools/1/name: the tool "a_b" is not imported: "a_b" becomes t.a_b, as "a-b" at /tools/0/name does`,
		`4 import-listed /tools/2: the tool "1st" is not imported: "t.1st" is no name for a capability [bad-name]`,
		`5 import-listed /tools/3: the tool "import" is not imported: "import" in "t.import" is a keyword of the program language [reserved-name]`,
		`6 import-listed /tools/4/name: the tool "a\u202eb" is not imported: the name "a\u202eb" holds characters other than ASCII letters, digits and - _ . / :`,
		`7 import-listed /tools/5/name: the tool "x123456789012345678901234567890123456789012345678901234567890123" is not imported: the name t.x123456789012345678901234567890123456789012345678901234567890123 has more than 64 bytes`,
		`8 import-listed /tools/6: the tool "/tools/6" is not imported: a tool has an inputSchema`,
		`9 import-listed /tools/7: the tool "/tools/7" is not imported: a tool is an object`,
		`10 import-listed /tools/8/annotations/readOnlyHint: the tool "/tools/8" is not imported: readOnlyHint is true or false`,
		`11 import-listed /tools/9: the tool "long" is not imported: description has 20001 characters, the limit is 20000 [bad-text]`,
		`12 import-changed /tools/10/outputSchema: the output is x-opaque: a result of another server may hold members that its schema does not name, and outputs here are closed`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r.Tools != 11 || r.Imported != 2 || r.Listed != 9 {
		t.Errorf("%+v", r)
	}
}

// What a hint says to type is one word to a shell, whatever a server calls its
// tools and parameters.
func TestHintsAreNoCommands(t *testing.T) {
	for _, c := range []struct{ name, property, want string }{
		{"fine", "import", "--skip /0/inputSchema/properties/import=REASON"},
		{"fine", "$schema", `--skip '/0/inputSchema/properties/$schema=REASON'`},
		{"fine", "$(rm -r .)'", `--skip '/0/inputSchema/properties/$(rm -r .)'\''=REASON'`},
		{"$(rm -r .)", "p", "--skip /0/name=REASON"},
		{"import", "p", "--skip import=REASON"},
		{strings.Repeat("x", 100), "p", "--skip /0/name=REASON"},
	} {
		document, err := json.Marshal([]any{map[string]any{"name": c.name, "inputSchema": map[string]any{"type": "object", "properties": map[string]any{c.property: map[string]any{}}}}})
		if err != nil {
			t.Fatal(err)
		}
		r := Import(document, Options{File: "t.json", Namespace: "t", Package: "example.com/t"})
		if len(r.Findings) != 1 || !strings.HasSuffix(r.Findings[0].Hint, c.want) {
			t.Errorf("%s %s: %v, want %s", c.name, c.property, r.Findings, c.want)
		}
	}
}

// A text of every character there is comes through, visible.
func TestTextsOfEveryCharacter(t *testing.T) {
	for from := rune(0); from <= utf8.MaxRune; from += 4096 {
		var b strings.Builder
		for r := from; r < from+4096; r++ {
			if utf8.ValidRune(r) {
				b.WriteRune(r)
			}
		}
		s, _ := clean(b.String())
		if s == "" {
			continue
		}
		w := newYAMLWriter()
		w.write("capgen: 1\ngo: {package: example.com/x}\nserver: {name: x, version: \"1\"}\ncapabilities:\n  -")
		w.entry(object(member{"name", text("a.b")}, member{"summary", text("s")}, member{"effect", text("read")}, member{"scopes", text("none")},
			member{"input", object(member{"type", text("object")}, member{"properties", object()})}, member{"output", opaque()},
			member{"description", text(cut(s, 20_000))}), 4)
		m, diags := schema.Load(map[string][]byte{"m.yaml": []byte(w.b.String())}, "m.yaml")
		if m == nil {
			t.Fatalf("from %U: %v", from, diags)
		}
		if got := m.Capabilities[0].Description; got != cut(s, 20_000) {
			t.Fatalf("from %U: another text came back", from)
		}
	}
}

// Whatever the bytes are: no panic, the same result again, every tool counted,
// and a manifest that the loader takes.
func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"tools": [{"name": "a", "description": "x\ny", "inputSchema": {"type": "object", "properties": {"p": {"$ref": "#"}}}}]}`))
	f.Add([]byte(`{"result": {"tools": [{"name": "get_a", "inputSchema": {"anyOf": [{"type": "object", "properties": {"a": {"enum": [1, "x", null]}}}]}}]}}`))
	f.Add([]byte(`[{"name": "b", "inputSchema": {"type": "object", "properties": {"m": {"oneOf": [{"properties": {"k": {"const": "a"}}, "required": ["k"], "type": "object"}, {"type": "null"}]}}}}]`))
	f.Add([]byte(`[{"name": "c", "inputSchema": {"$defs": {"x": {"items": {"$ref": "#/$defs/x"}, "type": "array"}}, "type": "object", "required": ["q"], "properties": {"q": {"$ref": "#/$defs/x"}}}}]`))
	f.Fuzz(func(t *testing.T, document []byte) {
		o := Options{File: "f.json", Namespace: "f", Package: "example.com/f", Confirm: true}
		r, again := Import(document, o), Import(document, o)
		if !bytes.Equal(r.Manifest, again.Manifest) || !cmp.Equal(r.Findings, again.Findings) {
			t.Fatal("another result for the same bytes")
		}
		if r.Manifest == nil {
			if len(r.Findings) == 0 {
				t.Fatal("nothing imported and nothing said")
			}
			return
		}
		if r.Imported+r.Listed+r.Skipped != r.Tools {
			t.Fatalf("%+v", r)
		}
		if r.Imported > 0 {
			if m, diags := schema.Load(map[string][]byte{"m.yaml": r.Manifest}, "m.yaml"); m == nil || len(m.Capabilities) != r.Imported {
				t.Fatalf("%v\n%s", diags, r.Manifest)
			}
		}
	})
}
