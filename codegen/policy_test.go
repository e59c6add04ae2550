package codegen_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cedar-policy/cedar-go/types"
	cedar "github.com/cedar-policy/cedar-go/x/exp/schema"
	"github.com/cedar-policy/cedar-go/x/exp/schema/resolved"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/policyview"
	"github.com/capgen/capgen/schema"
)

// cedarSchema has Cedar's own parser read a generated schema.
func cedarSchema(t testing.TB, text []byte) *resolved.Schema {
	t.Helper()
	var s cedar.Schema
	if err := s.UnmarshalCedar(text); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	r, err := s.Resolve()
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return r
}

func actions(s *resolved.Schema) []string {
	var ids []string
	for uid := range s.Actions {
		ids = append(ids, uid.String())
	}
	slices.Sort(ids)
	return ids
}

// Each capability has an action of its id, or a reason why not that names a
// place in its input.
func TestCedarSchema(t *testing.T) {
	manifests := map[string]*schema.Manifest{}
	for _, file := range []string{"testdata/kinds/capabilities.yaml", "../capabilities.yaml", "../examples/agentstubs/capabilities.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, diags := schema.LoadFrom(text, filepath.Base(file), func(part string) ([]byte, error) {
			return os.ReadFile(filepath.Join(filepath.Dir(file), part))
		})
		if m == nil {
			t.Fatal(file, diags)
		}
		manifests[file] = m
	}
	refusals := map[string][]string{}
	for file, m := range manifests {
		files, diags := codegen.Generate(m)
		if files == nil {
			t.Fatal(diags)
		}
		var want []string
		for _, c := range m.Capabilities {
			at, why, refused := codegen.CedarRefusal(c)
			if !refused {
				want = append(want, fmt.Sprintf("Action::%q", c.ID))
				continue
			}
			if at.Line == 0 {
				t.Errorf("%s: no place: %s", c.Name, why)
			}
			refusals[file] = append(refusals[file], c.Name+": "+why)
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, actions(cedarSchema(t, files[codegen.CedarSchemaFile]))); diff != "" {
			t.Errorf("%s:\n%s", file, diff)
		}
	}
	want := map[string][]string{
		"testdata/kinds/capabilities.yaml": {
			`hard.take: "free": nothing is known of what it holds`,
			`more.filled: "number": Cedar has no unions`,
			`more.open: "either": Cedar has no unions`,
			`more.sets: "any": nothing is known of what it holds`,
			`more.shop: "customer": Cedar has no types that hold themselves`,
			`proof.bounds: "any": nothing is known of what it holds`,
			`shapes.free: "labels": nothing is known of what it holds`,
			`shapes.opaque: "value": nothing is known of what it holds`,
			`shapes.recursive: "tree": Cedar has no types that hold themselves`,
			`shapes.tagged: "pet": Cedar has no types that hold themselves`,
			"shapes.tree: the input holds values of its own type",
			`shapes.union: "formula": Cedar has no types that hold themselves`,
			`tables.take: "folders": Cedar has no types that hold themselves`,
		},
		"../capabilities.yaml": {
			`drafts.evaluate.prepare: "arguments": nothing is known of what it holds`,
			`drafts.evaluate_python.prepare: "arguments": nothing is known of what it holds`,
		},
		"../examples/agentstubs/capabilities.yaml": {`db.query: "params": nothing is known of what it holds`},
	}
	if diff := cmp.Diff(want, refusals); diff != "" {
		t.Error(diff)
	}
}

// What each kind becomes.
func TestCedarTypes(t *testing.T) {
	for in, want := range map[string]string{
		"{type: string, enum: [a, b]}":                                `"p"?: String`,
		"{type: integer}":                                             `"p"?: Long`,
		"{type: integer, format: int64, default: 3}":                  `"p": Long`,
		"{type: number}":                                              `"p"?: String`,
		"{type: boolean}":                                             `"p"?: Bool`,
		"{type: string, contentEncoding: base64}":                     `"p"?: String`,
		"{type: [string, \"null\"]}":                                  `"p"?: String, "p_isnull"?: Bool`,
		"{type: [string, \"null\"], default: null}":                   `"p"?: String, "p_isnull": Bool`,
		"{type: array, items: {type: [integer, \"null\"]}}":           `"p"?: {"length": Long, "at": Set<{"index": Long, "item"?: Long, "item_isnull": Bool}>, "items": Set<Long>}`,
		"{type: array, items: {type: array, items: {type: boolean}}}": `"p"?: {"length": Long, "at": Set<{"index": Long, "item": {"length": Long, "at": Set<{"index": Long, "item": Bool}>, "items": Set<Bool>}}>}`,
		"{type: object, additionalProperties: {type: number}}":        `"p"?: Set<{"key": String, "value": String}>`,
		"{type: object, properties: {}}":                              `"p"?: {}`,
		"{type: object, required: [in], properties: {in: {type: string}, __cedar: {type: string}}}": `"p"?: {"in": String, "__cedar"?: String}`,
		"{type: object, properties: {a: {type: string}, a_isnull: {type: boolean}}}":                `refused: "p": "a_isnull" stands beside "a", by which Cedar would tell that it is null`,
		"{oneOf: [{type: string}, {type: integer}]}":                                                `refused: "p": Cedar has no unions`,
		"{x-opaque: true}": `refused: "p": nothing is known of what it holds`,
		"{type: array, items: {type: object, additionalProperties: true}}": `refused: "p": nothing is known of what it holds`,
	} {
		m := load(t, "m.yaml", []byte(`capgen: 1
go: {package: example.com/g}
server: {name: t, version: 1.0.0}
capabilities:
  - name: a.b
    summary: Do.
    effect: read
    scopes: none
    input: {type: object, properties: {p: `+in+`}}
    output: {type: boolean}
`))
		files, diags := codegen.Generate(m)
		if files == nil {
			t.Fatal(diags)
		}
		text := files[codegen.CedarSchemaFile]
		cedarSchema(t, text)
		got := ""
		if at, why, refused := codegen.CedarRefusal(m.Capabilities[0]); refused {
			if got = "refused: " + why; at.Line != 9 {
				t.Errorf("%s: %s is at %s", in, why, at)
			}
		} else if _, after, ok := strings.Cut(string(text), "context: {\n"); ok {
			body, _, _ := strings.Cut(after, "\n  }")
			got = strings.TrimSuffix(strings.Join(strings.Fields(body), " "), ",")
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// Lists of lists of lists do not double at each level.
func TestCedarSchemaIsSmall(t *testing.T) {
	list := str()
	for range 30 {
		list = array(list)
	}
	c := capability("a.b", object(required("p", list)), boolean())
	files, diags := codegen.Generate(manifest("example.com/g", nil, c))
	if files == nil {
		t.Fatal(diags)
	}
	if n := len(files[codegen.CedarSchemaFile]); n > 4_000 {
		t.Errorf("%d bytes", n)
	}
}

// Every view of every value that a decoder accepts satisfies the schema of
// policies' input, and only as the capability that it is of.
func TestViewsSatisfyTheInputSchema(t *testing.T) {
	text, err := os.ReadFile("testdata/kinds/generated/" + codegen.PolicyInputFile)
	if err != nil {
		t.Fatal(err)
	}
	judge := compileSchema(t, text)
	manifestText, err := os.ReadFile("testdata/kinds/capabilities.yaml")
	if err != nil {
		t.Fatal(err)
	}
	facts := map[string]*schema.Capability{}
	for _, c := range load(t, "capabilities.yaml", manifestText).Capabilities {
		facts[c.Name] = c
	}
	m := &maker{Rand: rand.New(rand.NewPCG(5, 1)), patterns: map[string]*regexp.Regexp{}}
	all := subjects(t, m)
	n := 2_000
	if *soak {
		n = 100_000
	}
	document := func(c *schema.Capability, view map[string]any) any {
		text, err := json.Marshal(map[string]any{
			"subject":    map[string]any{"name": "local", "kind": "local", "all_scopes": true, "scopes": []string{}},
			"capability": map[string]any{"id": c.ID, "name": c.Name, "effect": c.Effect, "idempotency": c.Idempotency, "world": c.World, "tags": append([]string{}, c.Tags...)},
			"arguments":  view,
		})
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	accepted, confused := 0, 0
	for i := range n {
		s := all[i%len(all)]
		m.places = m.places[:0]
		v, err := s.decode(canon.NewJSONReader(m.valid(s.schema, 1+m.IntN(5)).appendJSON(nil), depth))
		if err != nil {
			t.Fatal(err)
		}
		view, err := policyview.New(v, depth).Map()
		if err != nil {
			t.Fatal(err)
		}
		if err := judge.Validate(document(facts[s.name], view)); err != nil {
			t.Fatalf("%s: %v\n%v", s.name, err, view)
		}
		accepted++
		other := *facts[s.name]
		if other.Effect = "destroy"; judge.Validate(document(&other, view)) == nil {
			confused++
		}
		view["no_such_parameter"] = true
		if judge.Validate(document(facts[s.name], view)) == nil {
			confused++
		}
	}
	if accepted != n || confused > 0 {
		t.Errorf("%d accepted, %d of another effect or with another member accepted", accepted, confused)
	}
}

// FuzzPolicyTexts: whatever the texts of a manifest are, the Cedar schema
// declares the same, and the input schema is JSON of the same shape.
func FuzzPolicyTexts(f *testing.F) {
	plain, _ := codegen.Generate(texts("ordinary words"))
	want := shape(f, plain[codegen.PolicyInputFile])
	for _, s := range []string{
		"", "};\nentity Root;", "\"] appliesTo {};\naction \"x\"", "// x\naction y;", "\\", "\"", "\u2028entity X;", "\r\nentity X;\r", "*/ /*", "\x00\u202e\ufeff", `","const":1}`, "]}\n", "a\\u{41}", "\u0085entity X;", "é日\U0001f600",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m := texts(s)
		files, _ := codegen.Generate(m)
		if files == nil {
			t.Skip("a manifest with this text is refused: it has no policy schema to look at")
		}
		r := cedarSchema(t, files[codegen.CedarSchemaFile])
		uids := []string{}
		for _, c := range m.Capabilities {
			uids = append(uids, types.NewEntityUID("Action", types.String(strings.ToValidUTF8(c.ID, "\ufffd"))).String())
		}
		slices.Sort(uids)
		if got := actions(r); !slices.Equal(got, slices.Compact(uids)) && strings.ToValidUTF8(s, "") == s {
			t.Errorf("actions %q, want %q", got, uids)
		}
		if entities := slices.Sorted(maps.Keys(r.Entities)); !slices.Equal(entities, []types.EntityType{"Capability", "Subject"}) || len(r.Enums) > 0 || len(r.Namespaces) > 1 {
			t.Errorf("%v %v %v", entities, r.Enums, r.Namespaces)
		}
		if got := shape(t, files[codegen.PolicyInputFile]); got != want {
			t.Errorf("with the text %q:\n%s\n%s", s, got, want)
		}
		for _, name := range []string{codegen.CedarSchemaFile, codegen.PolicyInputFile} {
			if !codegen.Generated(files[name]) {
				t.Errorf("%s does not say who wrote it", name)
			}
		}
	})
}

// shape is a JSON text with every string that is no key left out, and every
// number.
func shape(t testing.TB, text []byte) string {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var bare func(any) any
	bare = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k := range v {
				v[k] = bare(v[k])
				// A text that is empty is left out.
				if k == "description" || k == "title" {
					delete(v, k)
				}
			}
			return v
		case []any:
			for i := range v {
				v[i] = bare(v[i])
			}
			return v
		case bool:
			return v
		}
		return ""
	}
	out, err := json.Marshal(bare(v))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
