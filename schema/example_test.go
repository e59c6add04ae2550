package schema_test

import (
	"fmt"
	"os"

	"github.com/capgen/capgen/schema"
)

func ExampleLoad() {
	files := map[string][]byte{"capabilities.yaml": []byte(`capgen: 1
go: {package: example.com/tools/generated}
server: {name: records, version: 1.2.0}
capabilities:
  - name: records.lookup
    summary: Look up one record by key.
    effect: read
    scopes: [records:read]
    input:
      type: object
      required: [key]
      properties:
        key: {type: string, maxLength: 128}
        limit: {type: integer, minimum: 1, maximum: 100, default: 20}
    output: {type: array, items: {type: string}}
`)}
	m, diags := schema.Load(files, "capabilities.yaml")
	if m == nil {
		_ = schema.Render(os.Stdout, diags, schema.FormatText)
		return
	}
	for _, c := range m.Capabilities {
		fmt.Println(c.Name, c.Effect, c.Idempotency, c.World)
		fmt.Printf("%s\n", schema.EffectiveSchema(c.Output))
	}
	// Output:
	// records.lookup read natural closed
	// {"type":"array","items":{"type":"string","maxLength":1048576},"maxItems":10000}
}

func ExampleRender() {
	files := map[string][]byte{"capabilities.yaml": []byte("capgen: 1\nserver: {nmae: records, version: 1.2}\n")}
	_, diags := schema.Load(files, "capabilities.yaml")
	_ = schema.Render(os.Stdout, diags, schema.FormatText)
	// Output:
	// capabilities.yaml:1:1: error: a manifest needs "capabilities" [missing-field]
	//     hint: capabilities is the list of what programs may call
	// capabilities.yaml:1:1: error: a manifest needs "go" [missing-field]
	//     hint: go: {package: example.com/tools/generated}
	// capabilities.yaml:2:9: error: server needs "name" [missing-field]
	//     hint: name: records
	// capabilities.yaml:2:10: error: server takes no key "nmae" [unknown-key]
	//     hint: it takes name, title, version, instructions
	//     did you mean "name"?
	// capabilities.yaml:2:34: error: server.version has to be a string, not a number [wrong-type]
	//     hint: quote it: "1.2"
}
