package codegen_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/internal/mcpimport"
	"github.com/capgen/capgen/schema"
)

// catalogs are tools/list documents of real servers.
func catalogs(t *testing.T) map[string][]byte {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for range 6 {
		if files, _ := filepath.Glob(filepath.Join(dir, "shared", "suites", "mcp-catalogs", "*.json")); len(files) > 0 {
			out := map[string][]byte{}
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				out[filepath.Base(f)] = text
			}
			return out
		}
		dir = filepath.Dir(dir)
	}
	t.Skip("the shared catalogs of MCP servers are not beside this repository")
	return nil
}

// imported imports a catalog with every effect confirmed.
func imported(t *testing.T, file string, document []byte, root string) (*mcpimport.Result, *schema.Manifest) {
	t.Helper()
	r := mcpimport.Import(document, mcpimport.Options{
		File: file, Namespace: mcpimport.Namespace(file), Package: root + "/" + mcpimport.Namespace(file), Confirm: true,
	})
	if r.Manifest == nil {
		t.Fatalf("%s: %v", file, r.Findings)
	}
	return r, load(t, file+".yaml", r.Manifest)
}

// Every tool is imported or listed; what is left out of an imported tool is
// listed as well.
func TestImportedCatalogs(t *testing.T) {
	want := map[string]string{
		"antvis-chart.json":          "25 tools: 25 imported, 0 narrowed, 0 listed",
		"desktop-commander.json":     "21 tools: 21 imported, 0 narrowed, 0 listed",
		"docker-hub.json":            "13 tools: 13 imported, 1 narrowed, 0 listed",
		"github.json":                "117 tools: 117 imported, 1 narrowed, 0 listed",
		"kubernetes-mcp-server.json": "46 tools: 46 imported, 2 narrowed, 0 listed",
		"posthog.json":               "44 tools: 44 imported, 5 narrowed, 0 listed",
	}
	lines, capabilities := 0, 0
	all := catalogs(t)
	for _, file := range slices.Sorted(maps.Keys(want)) {
		r, m := imported(t, file, all[file], "example.com/imported")
		got := fmt.Sprintf("%d tools: %d imported, %d narrowed, %d listed", r.Tools, r.Imported, r.Narrowed, r.Listed)
		if got != want[file] {
			t.Errorf("%s: %s, want %s", file, got, want[file])
		}
		if r.Imported+r.Listed+r.Skipped != r.Tools || len(m.Capabilities) != r.Imported {
			t.Errorf("%s: %s, and %d capabilities", file, got, len(m.Capabilities))
		}
		unmarked := mcpimport.Import(all[file], mcpimport.Options{File: file, Namespace: mcpimport.Namespace(file), Package: "example.com/x"})
		unconfirmed, diags := schema.Load(map[string][]byte{"m.yaml": unmarked.Manifest}, "m.yaml")
		diags = slices.DeleteFunc(diags, func(d schema.Diagnostic) bool {
			return d.Severity != schema.SeverityError || d.Rule == "too-many-findings"
		})
		if unconfirmed != nil || len(diags) < min(r.Imported, schema.MaxDiagnostics/2) || slices.ContainsFunc(diags, func(d schema.Diagnostic) bool { return d.Rule != "unconfirmed" }) {
			t.Errorf("%s: %d findings for %d effects that nobody has confirmed", file, len(diags), r.Imported)
		}
		left := map[string]int{}
		for _, d := range r.Findings {
			left[d.Rule]++
		}
		n, emitted := 0, generate(t, m)
		for name, text := range emitted {
			if strings.HasSuffix(name, ".go") {
				n += bytes.Count(text, []byte("\n"))
			}
		}
		t.Logf("%s: %s; findings %v; %d lines, %d each", file, got, left, n, n/max(1, r.Imported))
		lines, capabilities = lines+n, capabilities+r.Imported
	}
	t.Logf("%d capabilities, %d lines, %d each on the mean", capabilities, lines, lines/max(1, capabilities))
}

// What is imported compiles. All of it takes a while, so that ci takes the two
// catalogs with the most references and unions.
func TestImportedCatalogsCompile(t *testing.T) {
	const root = "github.com/capgen/capgen/codegen/testdata/imported"
	files := map[string]string{}
	dir := t.TempDir()
	here, err := filepath.Abs("testdata/imported")
	if err != nil {
		t.Fatal(err)
	}
	for file, document := range catalogs(t) {
		if !*soak && file != "antvis-chart.json" && file != "docker-hub.json" {
			continue
		}
		_, m := imported(t, file, document, root)
		for name, text := range generate(t, m) {
			if !strings.HasSuffix(name, ".go") {
				continue
			}
			at := filepath.Join(dir, fmt.Sprintf("%d.go", len(files)))
			if err := os.WriteFile(at, text, 0o600); err != nil {
				t.Fatal(err)
			}
			files[filepath.Join(here, mcpimport.Namespace(file), filepath.FromSlash(name))] = at
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(at, overlay, fs.FileMode(0o600)); err != nil {
		t.Fatal(err)
	}
	packages := map[string]bool{}
	for name := range files {
		packages[filepath.Dir(name)] = true
	}
	args := append([]string{"build", "-overlay", at}, slices.Sorted(maps.Keys(packages))...)
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%d files in %d packages compile", len(files), len(packages))
}

// Whatever an imported capability takes, its tool's own schema takes: no value
// is sent that the server's schema refuses.
func TestImportedCatalogsAreNotWider(t *testing.T) {
	n := 20
	if *soak {
		n = 2_000
	}
	m := &maker{Rand: rand.New(rand.NewPCG(7, 1)), patterns: map[string]*regexp.Regexp{}}
	values := 0
	for file, document := range catalogs(t) {
		_, manifest := imported(t, file, document, "example.com/imported")
		judges := judgesOf(t, document)
		for _, c := range manifest.Capabilities {
			values += notWider(t, m, c, judges[c.Source.Tool], n)
		}
	}
	t.Logf("%d values", values)
}

// judgesOf compiles the input schema of each tool as the server wrote it.
func judgesOf(t *testing.T, document []byte) map[string]*jsonschema.Schema {
	t.Helper()
	var list struct {
		Tools []struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(document, &list); err != nil {
		t.Fatal(err)
	}
	judges := make(map[string]*jsonschema.Schema, len(list.Tools))
	for _, tool := range list.Tools {
		judges[tool.Name] = compileSchema(t, tool.InputSchema)
	}
	return judges
}

// notWider makes n values of an input and has the tool's own schema judge.
func notWider(t *testing.T, m *maker, c *schema.Capability, judge *jsonschema.Schema, n int) int {
	t.Helper()
	for range n {
		m.places = m.places[:0]
		text := m.valid(c.Input, 2+m.IntN(6)).appendJSON(nil)
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := judge.Validate(v); err != nil {
			t.Errorf("%s takes %s\nbut the tool does not: %v\nas imported: %s", c.Name, text, err, codegen.InlineSchema(c.Input))
			break
		}
	}
	return n
}
