package schema

import (
	"fmt"
	"strings"
	"testing"
)

// Every field that a manifest is to have works, or is an error that says that
// this version does not support it, and shows where it stands. Nothing is
// ignored: what is no field of any version is an error as well.
func TestFieldsWorkOrAreUnsupported(t *testing.T) {
	for _, test := range []struct {
		place, line string // where the line stands
		want        string // the rule of the error; empty for none
	}{
		{"manifest", `programs: [{title: t, source: "def main(): pass", result: null}]`, ""},
		{"manifest", `deployments: {default: {}}`, ""},
		{"manifest", `include: [part.yaml]`, ""},
		{"manifest", `types: {T: {type: array, items: {$ref: "./x.schema.json#/$defs/Y"}}}`, ""},
		{"manifest", `deployments: {default: none, prod: {include: [a.b], require: [sandbox]}}`, ""},
		{"manifest", `deployments: {default: {credentials: {token: {from: env, name: T, host: a.example}}}}`, ""},
		{"manifest", `tags: [x]`, ruleUnsupported},
		{"manifest", `imports: []`, ruleUnsupported},
		{"manifest", `overlay: x.yaml`, ruleUnknownKey},
		{"manifest", `extends: x.yaml`, ruleUnknownKey},
		{"capability", `id: a.other`, ""},
		{"capability", `description: D.`, ""},
		{"capability", `search: [look up]`, ""},
		{"capability", `idempotency: natural`, ""},
		{"capability", `world: open`, ""},
		{"capability", `timeout: 2s`, ""},
		{"capability", `retry: {"on": [busy], max: 2}`, ""},
		{"capability", `errors: {gone: It is gone.}`, ""},
		{"capability", `tags: [catalog]`, ""},
		{"capability", `was: [a.old]`, ""},
		{"capability", `examples: [{title: t, input: {}, output: {list: []}}]`, ""},
		{"capability", `output_check: report`, ""},
		{"capability", `fixed: {tenant: acme}`, ""},
		{"capability", `limits: {items: 3, bytes: 100}`, ruleBadLimits}, // without pagination there is no list
		{"capability", `pagination: {cursor_in: cursor, cursor_out: next, items: list}`, ""},
		{"capability", `deprecated: {since: "2026-11-29"}`, ""},
		{"capability", `source: {mcp: {tool: t}}`, ""},
		{"capability", `inferred: [effect]`, ruleUnconfirmed},
		{"capability", `approval: {required: true, min: 1, self: forbid, ttl: 1h}`, ruleBadApproval}, // of a read
		{"capability", `freeze: [draft]`, ruleUnknownKey},
		{"capability", `credentials: {token: {from: env}}`, ruleUnknownKey}, // they are of deployments
		{"effect", "write\n    approval: {required: true, min: 2, self: allow, ttl: 1h, preview: true}", ""},
		{"effect", `change`, ruleMissingField}, // without approval
		{"effect", `run`, ruleMissingField},    // without approval and runner
		{"effect", "run\n    runner: starlark\n    sandbox: worker\n    approval: {required: true}\n    limits: {wall: 60s, cpu: 60s, memory: 256MiB, output: 1MiB, result: 64KiB, processes: 8, parallel: 2}", ""},
		{"capability", `runner: starlark`, ruleBadRun},  // of a read
		{"capability", `sandbox: landlock`, ruleBadRun}, // of a read
		{"capability", `argv: [python3]`, ruleUnknownKey},
		{"effect", `destroy`, ""},
		{"property", `{type: string, format: capgen-blob}`, ruleUnsupported},
		{"property", `{type: string, contentEncoding: base64}`, ""},
		{"property", `{type: string, enum: [a, b], x-open: true}`, ""},
		{"property", `{type: array, items: {type: string}, uniqueItems: true}`, ""},
		{"property", `{x-opaque: true}`, ""},
	} {
		text := `capgen: 1
go: {package: example.com/m/generated}
server: {name: m, version: 1.0.0}
{manifest}
capabilities:
  - name: a.b
    summary: S.
    effect: {effect}
    scopes: none
    {capability}
    input: {type: object, properties: {tenant: {type: string}, cursor: {type: string}, p: {property}}}
    output: {type: object, required: [list], properties: {next: {type: string}, list: {type: array, items: {type: string}}}}
    errors: {busy: It is busy.}
`
		if strings.HasPrefix(test.line, "errors:") {
			text = strings.Replace(text, "    errors: {busy: It is busy.}\n", "", 1)
		}
		for _, p := range []struct{ place, otherwise string }{{"manifest", ""}, {"capability", ""}, {"effect", "read"}, {"property", "{type: string}"}} {
			put := p.otherwise
			if p.place == test.place {
				put = test.line
			}
			text = strings.Replace(text, "{"+p.place+"}", put, 1)
		}
		line := 0
		for i, l := range strings.Split(text, "\n") {
			if strings.Contains(l, test.line) {
				line = i + 1
			}
		}
		m, diags := LoadFrom([]byte(text), "m.yaml", func(name string) ([]byte, error) {
			if name == "part.yaml" {
				return []byte("types: {P: {type: string}}\n"), nil
			}
			return []byte(`{"$defs": {"Y": {"type": "string"}}}`), nil
		})
		var got []string
		for _, d := range diags {
			if d.Severity == SeverityError {
				got = append(got, fmt.Sprintf("%s:%d %s", d.File, d.Line, d.Rule))
			}
		}
		want := fmt.Sprintf("m.yaml:%d %s", line, test.want)
		switch {
		case test.want == "" && (m == nil || len(got) > 0):
			t.Errorf("%s: %v", test.line, diags)
		case test.want != "" && (len(got) == 0 || got[0] != want):
			t.Errorf("%s: %v, want %s", test.line, diags, want)
		}
	}
}
