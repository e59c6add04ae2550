package codegen

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/program"
	"github.com/capgen/capgen/schema"
)

const describedRecords = `capgen: 1
go: {package: example.com/tools/generated}
server: {name: tools, version: 1.0.0}
capabilities:
  - name: records.find
    summary: Find a record.
    description: By its <key> & nothing else.
    was: [records.get]
    effect: read
    scopes: none
    deprecated: {since: "2026-11-29", use: records.count}
    input: {type: object, required: [key], properties: {key: {type: string, maxLength: 9, description: The key.}, tenant: {type: string}}}
    fixed: {tenant: acme}
    output: {type: object, required: [count], properties: {count: {type: integer}}}
    errors: {not_found: Nothing is there., busy: Try again.}
    examples: [{title: One, input: {key: a}, output: {count: 1}}]
  - {name: records.count, summary: Count., effect: read, scopes: none, input: {type: object, properties: {}}, output: {type: integer}}
`

// A description is what a server answers that was built of the same.
func TestDescription(t *testing.T) {
	m, diags := schema.Load(map[string][]byte{"capabilities.yaml": []byte(describedRecords)}, "capabilities.yaml")
	if m == nil {
		t.Fatal(diags)
	}
	builder := runtime.NewBuilder(runtime.Options{Server: runtime.ServerInfo{Name: m.Server.Name}, Authorizer: authz.AllowAll()})
	var names []string
	for _, c := range m.Capabilities {
		names = append(names, c.Name)
		info := runtime.Info{
			ID: c.ID, Name: c.Name, Summary: c.Summary, Description: c.Description,
			Effect: runtime.Effect(c.Effect), Idempotency: runtime.Idempotency(c.Idempotency), World: runtime.World(c.World),
			Signature: Signature(c), Binding: bindingJSON(c), Input: describeInput(c.Parameters()), Output: describeResult(c),
			Example: describeExample(c), Deprecated: (*runtime.Deprecation)(c.Deprecated),
		}
		for _, e := range c.Errors {
			info.Errors = append(info.Errors, runtime.DeclaredError{Code: runtime.ErrorCode(e.Code), Text: e.Text})
		}
		builder.Register(runtime.NewCapability(info, func(context.Context, neverCalled) (neverCalled, error) { return neverCalled{}, nil }))
	}
	server, err := builder.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	answer, err := server.Describe(t.Context(), authz.Local(), names)
	if err != nil || len(answer.Capabilities) != len(names) {
		t.Fatal(answer, err)
	}
	for i, d := range answer.Capabilities {
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		for into, text := range map[*any][]byte{&want: text, &got: Description(m.Capabilities[i])} {
			if err := json.Unmarshal(text, into); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", d.Name, diff)
		}
	}
}

// With the table of a manifest a program is checked as a server would check it.
func TestBindingTable(t *testing.T) {
	m, diags := schema.Load(map[string][]byte{"capabilities.yaml": []byte(describedRecords)}, "capabilities.yaml")
	if m == nil {
		t.Fatal(diags)
	}
	table, err := BindingTable(m)
	if err != nil {
		t.Fatal(err)
	}
	limits := program.Limits{Steps: 1, Calls: 1, Depth: 32, ValueBytes: 1 << 10, ResultBytes: 1 << 10, SourceBytes: 1 << 10, Parallel: 1}
	for source, problems := range map[string]int{
		`records.find(key="a")`: 0, `records.find(key="a", tenant="b")`: 1, `records.get(key="a")`: 1, `records.find(key="0123456789")`: 1,
	} {
		report, fault := program.Check(program.Program{Source: source, Limits: limits}, table)
		if fault != nil || len(report.Problems) != problems {
			t.Errorf("%s: %v, %v", source, report, fault)
		}
	}
}
