package schema

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// FuzzLoad: no input makes Load panic, the manifest is nil if and only if
// there is an error, findings stay in the file and in order, and a second run
// says the same.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "# ---\n") {
			f.Add([]byte(part), false)
			if tree := readTree("m.yaml", part); tree != nil {
				f.Add([]byte(jsonText(f, tree)), true)
			}
		}
	}
	f.Add([]byte(`{"capgen": 1, "types": {"A": {"$ref": "#/types/A"}}}`), true)
	f.Add([]byte(manifestWith(`{"type": "integer"}`, "1e5")), true)
	f.Fuzz(func(t *testing.T, text []byte, inJSON bool) {
		name := "m.yaml"
		if inJSON {
			name = "m.json"
		}
		m, diags := Load(map[string][]byte{name: text}, name)
		if (m == nil) != HasErrors(diags) {
			t.Fatalf("manifest is nil: %v; %v", m == nil, diags)
		}
		rules := map[string]bool{}
		for _, r := range Rules() {
			rules[r.ID] = true
		}
		lines := strings.Count(string(text), "\n") + 1
		for i, d := range diags {
			if !rules[d.Rule] || d.Message == "" || d.File != name || d.Line < 0 || d.Line > lines {
				t.Fatalf("finding %v", d)
			}
			if i > 0 && i < MaxDiagnostics && d.compare(diags[i-1].Position) < 0 {
				t.Fatalf("not sorted: %v", diags)
			}
		}
		again, diagsAgain := Load(map[string][]byte{name: text}, name)
		if diff := cmp.Diff(diags, diagsAgain); diff != "" {
			t.Fatalf("two runs differ:\n%s", diff)
		}
		if m == nil {
			return
		}
		if diff := cmp.Diff(m, again); diff != "" {
			t.Fatalf("two runs differ:\n%s", diff)
		}
		for _, c := range m.Capabilities {
			if c.Name == "" || c.Input == nil || c.Output == nil {
				t.Fatalf("a capability with holes: %+v", c)
			}
		}
	})
}

// Files made to be expensive stay within a generous time: what would be
// quadratic takes minutes.
func TestHostileFiles(t *testing.T) {
	const size = 1 << 19
	capability := "capabilities:\n  - {name: a.b, summary: s, effect: read, scopes: none, input: {type: object, properties: {}}, output: "
	chain := func(n int, last string) string {
		var b strings.Builder
		b.WriteString(head + "types:\n")
		for i := range n {
			fmt.Fprintf(&b, "  T%d: {type: array, items: {$ref: \"#/types/T%d\"}}\n", i, i+1)
		}
		fmt.Fprintf(&b, "  T%d: %s\n%s{$ref: \"#/types/T0\"}}\n", n, last, capability)
		return b.String()
	}
	many := func(line func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(line(i))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"commas":      "[" + strings.Repeat("a,", size/2),
		"one line":    "[" + strings.Repeat("é,", size/3) + "]",
		"keys":        many(func(i int) string { return fmt.Sprintf("k%d: 1\n", i) }),
		"same key":    many(func(int) string { return "k: 1\n" }),
		"brackets":    strings.Repeat("[", size),
		"dashes":      strings.Repeat("- ", size/2),
		"chain":       chain(10_000, "{type: string}"),
		"loop":        chain(10_000, `{type: array, items: {$ref: "#/types/T0"}}`),
		"wrong refs":  head + "types:\n" + many(func(i int) string { return fmt.Sprintf("  T%d: {type: array, items: {$ref: \"#/types/U%d\"}}\n", i, i) }),
		"wrong names": head + "capabilities:\n" + many(func(i int) string { return fmt.Sprintf("- {name: a.b, sumary%d: s}\n", i) }),
		"long string": head + "x: \"" + strings.Repeat("\\u0001", size/6) + "\"\n",
		"long number": "capgen: " + strings.Repeat("1", size),
		"required":    head + "types: {T: {type: object, properties: {}, required: [" + many(func(i int) string { return fmt.Sprintf("a%d,", i) }) + "]}}\n",
		"enum":        head + "types: {T: {type: string, enum: [" + many(func(i int) string { return fmt.Sprintf("a%d,", i) }) + "]}}\n",
		"properties":  head + "types: {T: {type: object, properties: {" + many(func(i int) string { return fmt.Sprintf("a%d: {type: string},", i) }) + "}}}\n",
		"same name":   head + many(func(i int) string { return "" + fmt.Sprintf("# %d\n", i) }) + "capabilities:\n" + strings.Repeat("- {name: a.b, summary: s, effect: read, scopes: none, input: {type: object, properties: {}}, output: {type: string}}\n", 10_000),
		"default":     head + strings.Replace(capability, "properties: {}", "properties: {p: {type: array, items: {type: string}, default: ["+many(func(int) string { return "a," })+"]}}", 1) + "{type: string}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			m, diags := Load(map[string][]byte{"m.yaml": []byte(text)}, "m.yaml")
			if (m == nil) != HasErrors(diags) || len(diags) == 0 {
				t.Errorf("manifest is nil: %v, %d findings", m == nil, len(diags))
			}
			took := time.Since(start)
			t.Logf("%v for %d bytes, %d findings, first %.200s", took, len(text), len(diags), diags[0])
			if took > 20*time.Second {
				t.Errorf("%v", took)
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	var s strings.Builder
	s.WriteString(head + "types:\n  Record: {type: object, required: [key], properties: {key: {type: string}, count: {type: integer}}}\ncapabilities:\n")
	for i := range 1000 {
		fmt.Fprintf(&s, `  - name: group%d.lookup%d
    summary: Look up one record by key.
    search: [fetch entry, find stored item]
    effect: read
    scopes: [records:read]
    input: {type: object, required: [key], properties: {key: {type: string, maxLength: 128}, limit: {type: integer, minimum: 1, maximum: 100, default: 20}}}
    output: {$ref: "#/types/Record"}
`, i%50, i)
	}
	text := []byte(s.String())
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if m, diags := Load(map[string][]byte{"m.yaml": text}, "m.yaml"); m == nil {
			b.Fatal(diags)
		}
	}
}
