package codegen

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/search"
	"github.com/capgen/capgen/schema"
)

// Generated code holds the terms of every text that should find a capability,
// and not the search phrases themselves.
func TestSearchEntries(t *testing.T) {
	m, diags := schema.Load(map[string][]byte{"capabilities.yaml": []byte(`capgen: 1
go: {package: example.com/tools/generated}
server: {name: tools, version: 1.0.0}
capabilities:
  - name: records.read_many
    summary: Read many directories.
    description: Unheard of.
    search: ["zanzibar's archives", grep]
    effect: read
    idempotency: natural
    world: closed
    scopes: none
    input: {type: object, properties: {max_bytes: {type: integer, description: Most bytes.}}}
    output: {type: string}
`)}, "capabilities.yaml")
	if m == nil {
		t.Fatal(diags)
	}
	want := search.Texts{
		Name: "records.read_many", Summary: "Read many directories.", Description: "Unheard of.",
		Phrases: []string{"zanzibar's archives", "grep"}, Parameters: []search.Parameter{{Name: "max_bytes", Description: "Most bytes."}},
	}
	if diff := cmp.Diff(want, searchTexts(m.Capabilities[0])); diff != "" {
		t.Error(diff)
	}
	x := SearchIndex(m)
	for query, rank := range map[string]int{"the archive of Zanzibar": 1, "zebra": 0} {
		if got := x.Rank(query, "records.read_many"); got != rank {
			t.Errorf("%s: rank %d, want %d", query, got, rank)
		}
	}
	files, diags := Generate(m)
	if files == nil {
		t.Fatal(diags)
	}
	code := string(files["records/read_many_gen.go"])
	for _, text := range []string{
		`"read mani/many"`, `"record"`, `"zanzibar archiv/archive, grep"`, `"read mani/many directori/directory"`, `"unheard"`, `"max byte"`, `"byte"`,
	} {
		if !strings.Contains(code, text) {
			t.Errorf("no %s in\n%s", text, code)
		}
	}
	if strings.Contains(code, "zanzibar's") {
		t.Error("a search phrase is in the code")
	}
}
