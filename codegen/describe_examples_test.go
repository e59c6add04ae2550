package codegen_test

import (
	"strings"
	"testing"

	"github.com/capgen/capgen/codegen"
)

// Examples of schemas are in descriptions as a program has them, and in the
// effective schema and the lock in canonical form.
func TestDescribeShowsExamplesOfSchemas(t *testing.T) {
	m := load(t, "m.yaml", []byte(`capgen: 1
go: {package: example.com/x/generated}
server: {name: x, version: "1"}
capabilities:
  - name: a.b
    summary: s
    effect: read
    scopes: none
    input: {type: object, properties: {id: {type: [integer, "null"], format: int64, examples: [7, 9007199254740993, null]}, r: {type: number, examples: [1.50]}}}
    output: {type: object, properties: {c: {type: string}, k: {type: integer, default: 1}}, examples: [{c: "<x>"}]}
`))
	files, diags := codegen.Generate(m)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	got := string(files["a/b_gen.go"]) + string(files["lock/a.lock"]) + string(codegen.InlineSchema(m.Capabilities[0].Input)) + string(codegen.InlineSchema(m.Capabilities[0].Output))
	for _, want := range []string{
		`{"id":{"examples":[7,"9007199254740993",null]},"r":{"examples":[1.5]}}`,
		`"examples":[{"c":"<x>","k":1}]`,
		`a.b input.id example "9007199254740993"`,
		`"examples":["7","9007199254740993",null]`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}
