package codegen_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
)

// load is schema.Load of a manifest without findings but that values are opaque.
// load reads a manifest that may include the parts of the one with every kind.
func load(t testing.TB, name string, text []byte) *schema.Manifest {
	t.Helper()
	m, diags := schema.LoadFrom(text, name, func(part string) ([]byte, error) {
		return os.ReadFile("testdata/kinds/" + part)
	})
	for _, d := range diags {
		if d.Rule != "opaque" {
			t.Errorf("%v", d)
		}
	}
	if m == nil {
		t.FailNow()
	}
	return m
}

// generate is Generate of a model without findings.
func generate(t testing.TB, m *schema.Manifest) map[string][]byte {
	t.Helper()
	files, diags := codegen.Generate(m)
	for _, d := range diags {
		t.Errorf("%v", d)
	}
	if files == nil {
		t.FailNow()
	}
	return files
}

// The packages under testdata are what Generate makes of the manifest beside
// them; roundtrip_test.go compiles and runs them. After a change of emitters:
//
//	go run ./cmd/capgen generate --manifest codegen/testdata/kinds/capabilities.yaml
//	go run ./cmd/capgen generate --manifest codegen/testdata/governed/capabilities.yaml
//	go run ./cmd/capgen generate --manifest codegen/testdata/runs/capabilities.yaml
func TestGolden(t *testing.T) {
	for _, dir := range []string{"testdata/kinds", "testdata/governed", "testdata/runs"} {
		text, err := os.ReadFile(dir + "/capabilities.yaml")
		if err != nil {
			t.Fatal(err)
		}
		got := generate(t, load(t, "capabilities.yaml", text))
		want := map[string][]byte{}
		root := os.DirFS(dir + "/generated")
		err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				want[name], err = fs.ReadFile(root, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(toStrings(want), toStrings(got)); diff != "" {
			t.Errorf("%s: generated code (-testdata +now):\n%s", dir, diff)
		}
	}
}

func toStrings(files map[string][]byte) map[string]string {
	out := map[string]string{}
	for name, content := range files {
		out[name] = string(content)
	}
	return out
}

// Whatever the order of types and capabilities, the bytes are the same.
func TestOrderDoesNotMatter(t *testing.T) {
	want := toStrings(generate(t, kinds("example.com/kinds/generated")))
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := kinds("example.com/kinds/generated")
		r.Shuffle(len(m.Types), func(i, j int) { m.Types[i], m.Types[j] = m.Types[j], m.Types[i] })
		r.Shuffle(len(m.Capabilities), func(i, j int) { m.Capabilities[i], m.Capabilities[j] = m.Capabilities[j], m.Capabilities[i] })
		if diff := cmp.Diff(want, toStrings(generate(t, m))); diff != "" {
			t.Fatalf("seed %d:\n%s", seed, diff)
		}
	}
}

// YAML, JSON, and JSON with every key that has no order of its own shuffled
// are the same manifest.
func TestFormDoesNotMatter(t *testing.T) {
	const yaml = `
capgen: 1
go: {package: example.com/x/generated}
server: {name: x, version: 1.0.0}
types:
  Entry: {type: object, required: [a], properties: {a: {type: string, description: The a.}, b: {type: integer, minimum: 1}}}
  Kind: {type: string, enum: [one, two]}
capabilities:
  - name: x.get
    summary: Get.
    search: [fetch, find]
    effect: read
    idempotency: natural
    world: closed
    scopes: [r, w]
    input: {type: object, required: [k], properties: {k: {$ref: "#/types/Kind"}, limit: {type: integer, default: 3}}}
    output: {$ref: "#/types/Entry"}
  - name: y.put
    summary: Put.
    effect: write
    idempotency: key
    world: open
    scopes: none
    input: {type: object, properties: {e: {$ref: "#/types/Entry"}}}
    output: {type: boolean}
`
	const jsonText = `{"capgen":1,"go":{"package":"example.com/x/generated"},"server":{"name":"x","version":"1.0.0"},
"types":{"Entry":{"type":"object","required":["a"],"properties":{"a":{"type":"string","description":"The a."},"b":{"type":"integer","minimum":1}}},"Kind":{"type":"string","enum":["one","two"]}},
"capabilities":[
{"name":"x.get","summary":"Get.","search":["fetch","find"],"effect":"read","idempotency":"natural","world":"closed","scopes":["r","w"],
"input":{"type":"object","required":["k"],"properties":{"k":{"$ref":"#/types/Kind"},"limit":{"type":"integer","default":3}}},"output":{"$ref":"#/types/Entry"}},
{"name":"y.put","summary":"Put.","effect":"write","idempotency":"key","world":"open","scopes":"none","input":{"type":"object","properties":{"e":{"$ref":"#/types/Entry"}}},"output":{"type":"boolean"}}]}`
	want := toStrings(generate(t, load(t, "capabilities.yaml", []byte(yaml))))
	if diff := cmp.Diff(want, toStrings(generate(t, load(t, "capabilities.json", []byte(jsonText))))); diff != "" {
		t.Errorf("JSON:\n%s", diff)
	}
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 2))
		var b bytes.Buffer
		shuffled(t, r, &b, json.RawMessage(jsonText), "")
		if diff := cmp.Diff(want, toStrings(generate(t, load(t, "capabilities.json", b.Bytes())))); diff != "" {
			t.Fatalf("seed %d:\n%s\n%s", seed, b.String(), diff)
		}
	}
}

// shuffled writes v with its object keys and the manifest's capabilities in a
// random order, properties excepted: their order is that of parameters.
func shuffled(t *testing.T, r *rand.Rand, b *bytes.Buffer, v json.RawMessage, at string) {
	t.Helper()
	switch v = bytes.TrimSpace(v); v[0] {
	case '{':
		var keys []string
		members := map[string]json.RawMessage{}
		d := json.NewDecoder(bytes.NewReader(v))
		for _, err := d.Token(); d.More(); {
			key, keyErr := d.Token()
			var value json.RawMessage
			if err != nil || keyErr != nil || d.Decode(&value) != nil {
				t.Fatal("not JSON")
			}
			keys = append(keys, key.(string))
			members[key.(string)] = value
		}
		if at != "properties" {
			r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		}
		for i, k := range keys {
			fmt.Fprintf(b, "%c%q:", "{,"[min(i, 1)], k)
			shuffled(t, r, b, members[k], k)
		}
		b.WriteByte('}')
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(v, &items); err != nil {
			t.Fatal(err)
		}
		if at == "capabilities" {
			r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		}
		for i, item := range items {
			b.WriteByte("[,"[min(i, 1)])
			shuffled(t, r, b, item, "")
		}
		b.WriteByte(']')
	default:
		b.Write(v)
	}
}

// Every file is in gofmt's form, says who wrote it, and is listed in the sums.
func TestFilesAreWellFormed(t *testing.T) {
	files := generate(t, kinds("example.com/kinds/generated"))
	for name, content := range files {
		if !codegen.Generated(content) {
			t.Errorf("%s has no header", name)
		}
		if path.Ext(name) == ".go" {
			formatted, err := format.Source(content)
			if err != nil || !bytes.Equal(formatted, content) {
				t.Errorf("%s is not gofmt's form: %v", name, err)
			}
		}
		if name != codegen.SumsFile && !strings.Contains(string(files[codegen.SumsFile]), "  "+name+"\n") {
			t.Errorf("%s is not in %s", name, codegen.SumsFile)
		}
	}
}

// A capability of ordinary size stays within the budget of lines.
func TestLinesPerCapability(t *testing.T) {
	const budget = 200
	files := generate(t, load(t, "capabilities.yaml", manyCapabilities(3)))
	for name, content := range files {
		if n := bytes.Count(content, []byte("\n")); strings.HasSuffix(name, "_gen.go") && n > budget {
			t.Errorf("%s has %d lines, more than %d", name, n, budget)
		}
	}
}

func TestGenerateDoesNotChangeTheModel(t *testing.T) {
	m := kinds("example.com/kinds/generated")
	slices.Reverse(m.Capabilities)
	before := slices.Clone(m.Capabilities)
	generate(t, m)
	if !slices.Equal(before, m.Capabilities) {
		t.Error("capabilities were reordered")
	}
	if diff := cmp.Diff(func() *schema.Manifest {
		m := kinds("example.com/kinds/generated")
		slices.Reverse(m.Capabilities)
		return m
	}(), m); diff != "" {
		t.Error(diff)
	}
}

// manyCapabilities is a manifest of n capabilities of ordinary size in
// namespaces of twenty.
func manyCapabilities(n int) []byte {
	var b strings.Builder
	b.WriteString("capgen: 1\ngo: {package: example.com/many/generated}\nserver: {name: many, version: 1.0.0}\n")
	b.WriteString("types:\n  Owner: {type: object, required: [name], properties: {name: {type: string, maxLength: 64}, email: {type: string, maxLength: 320}}}\ncapabilities:\n")
	for i := range n {
		fmt.Fprintf(&b, `  - name: space%d.get_record_%d
    summary: Look up record %d by its key.
    description: Returns the record and who owns it. A missing one is an error.
    search: [fetch an entry, find a stored item]
    effect: read
    idempotency: natural
    world: closed
    scopes: [records:read]
    input:
      type: object
      required: [key]
      properties:
        key: {type: string, minLength: 1, maxLength: 128, description: What the record is stored under.}
        limit: {type: integer, minimum: 1, maximum: 100, default: 20, description: How many to return at most.}
        order: {type: string, enum: [newest, oldest], default: newest}
        tags: {type: array, maxItems: 10, items: {type: string, maxLength: 32}}
    output:
      type: object
      required: [key, count, owners]
      properties:
        key: {type: string, maxLength: 128}
        count: {type: integer, minimum: 0}
        score: {type: number}
        owners: {type: array, maxItems: 20, items: {$ref: "#/types/Owner"}}
`, i/20, i, i)
	}
	return []byte(b.String())
}

// BenchmarkGenerate1000 has gofmt of the same bytes as its control: most of
// the time goes there, and no generator of Go can leave it out.
func BenchmarkGenerate1000(b *testing.B) {
	m := load(b, "capabilities.yaml", manyCapabilities(1000))
	files := generate(b, m)
	lines := 0
	for _, content := range files {
		lines += bytes.Count(content, []byte("\n"))
	}
	b.Run("generate", func(b *testing.B) {
		for b.Loop() {
			if _, diags := codegen.Generate(m); len(diags) > 0 {
				b.Fatal(diags)
			}
		}
		b.ReportMetric(float64(lines), "lines")
	})
	b.Run("control-gofmt", func(b *testing.B) {
		names := slices.Sorted(maps.Keys(files))
		for b.Loop() {
			for _, name := range names {
				if path.Ext(name) != ".go" {
					continue
				}
				if _, err := format.Source(files[name]); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
