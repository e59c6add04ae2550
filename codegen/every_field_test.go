package codegen_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
)

const everyField = `capgen: 1
go: {package: example.com/m/generated}
server: {name: m, version: 1.0.0, title: T, instructions: I.}
programs:
  - {title: whole program, source: "def main(): pass", result: [1]}
types:
  Color: {type: string, enum: [red, green], x-open: true, title: A color, description: What color.}
  Part: {type: array, items: {$ref: "./x.schema.json#/$defs/Y"}}
capabilities:
  - name: a.next
    summary: S2.
    effect: read
    scopes: none
    input: {type: object, properties: {}}
    output: {type: boolean}
  - name: a.also
    summary: S3.
    effect: read
    scopes: none
    input: {type: object, properties: {}}
    output: {type: boolean}
  - name: a.b
    id: a.stable
    summary: S1.
    description: D.
    search: [phrase one]
    effect: read
    idempotency: natural
    world: closed
    scopes: [m:read]
    timeout: 2s
    retry: {"on": [busy], max: 2}
    output_check: report
    fixed: {tenant: acme}
    limits: {items: 3, bytes: 100}
    pagination: {cursor_in: cursor, cursor_out: next, items: list}
    errors: {busy: It is busy., gone: It is gone.}
    tags: [catalog]
    was: [a.old, a.older]
    deprecated: {since: "2026-11-29", remove_after: "2027-11-29", use: a.next}
    source: {mcp: {tool: upstream, title: Up}}
    claimed: {readOnlyHint: true}
    examples:
      - {title: first example, input: {cursor: c1}, output: {list: [red], more: [red], next: n1}}
      - {title: second example, input: {cursor: c2}, error: busy}
    input:
      type: object
      properties:
        tenant: {type: string, maxLength: 99}
        cursor: {type: string, maxLength: 98, description: Where., title: Cursor title, examples: [shown], deprecated: true}
        other: {type: string, maxLength: 97}
        choice: {oneOf: [{type: string}, {type: integer}], default: 7}
        part: {$ref: "#/types/Part"}
        flags: {type: array, uniqueItems: true, maxItems: 96, items: {type: boolean}}
    output:
      type: object
      keep: [/list, /more, /next]
      required: [list, more]
      properties:
        list: {type: array, items: {$ref: "#/types/Color"}}
        more: {type: array, items: {type: string}}
        next: {type: string}
        hidden: {type: string}
`

// Whatever changes in a manifest changes the generated code, so that capgen
// check finds it stale; what changes of a capability changes its lock file and
// its digest, where a reviewer sees it.
func TestEveryFieldIsInTheGeneratedCode(t *testing.T) {
	const part = `{"$defs": {"Y": {"type": "string", "maxLength": 95}}}`
	generated := func(manifest, part string) map[string][]byte {
		t.Helper()
		m, diags := schema.LoadFrom([]byte(manifest), "m.yaml", func(string) ([]byte, error) { return []byte(part), nil })
		if m == nil {
			t.Fatal(diags)
		}
		files, diags := codegen.Generate(m)
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		return files
	}
	digest := func(files map[string][]byte) string {
		for line := range strings.Lines(string(files["lock/a.lock"])) {
			if strings.HasPrefix(line, "a.b digest ") {
				return line
			}
		}
		t.Fatal("no digest")
		return ""
	}
	before := generated(everyField, part)
	for _, test := range []struct {
		old, new string
		in       string // lock and digest, lock, or code
	}{
		{"version: 1.0.0", "version: 1.0.1", "code"},
		{"title: T,", "title: U,", "code"},
		{"instructions: I.", "instructions: J.", "code"},
		{"title: whole program", "title: half program", "code"},
		{"def main(): pass", "def main(): return", "code"},
		{"result: [1]", "result: [2]", "code"},
		{"enum: [red, green]", "enum: [red, blue]", "digest"},
		{", x-open: true", "", "digest"},
		{"title: A color, ", "", "digest"},
		{"What color.", "Which color.", "digest"},
		{"id: a.stable", "id: a.other", "lock"},
		{"summary: S1.", "summary: S4.", "digest"},
		{"description: D.", "description: E.", "digest"},
		{"phrase one", "phrase two", "lock"},
		{"idempotency: natural", "idempotency: key", "digest"},
		{"world: closed", "world: open", "digest"},
		{"m:read", "m:write", "digest"},
		{"timeout: 2s", "timeout: 3s", "digest"},
		{`"on": [busy]`, `"on": [gone]`, "digest"},
		{"max: 2}", "max: 3}", "digest"},
		{"output_check: report", "output_check: strict", "digest"},
		{"tenant: acme", "tenant: other", "digest"},
		{"fixed: {tenant: acme}", "fixed: {tenant: acme, other: x}", "digest"},
		{"items: 3, bytes", "items: 4, bytes", "digest"},
		{"bytes: 100", "bytes: 101", "digest"},
		{"items: list}", "items: more}", "digest"},
		{"cursor_in: cursor", "cursor_in: other", "digest"},
		{"It is busy.", "It was busy.", "digest"},
		{"gone: It", "lost: It", "digest"},
		{"tags: [catalog]", "tags: [list]", "lock"},
		{"a.older", "a.oldest", "lock"},
		{"since: \"2026-11-29\"", "since: \"2026-11-28\"", "lock"},
		{"remove_after: \"2027-11-29\"", "remove_after: \"2027-11-28\"", "lock"},
		{"use: a.next", "use: a.also", "lock"},
		{"tool: upstream", "tool: downstream", "lock"},
		{"title: Up", "title: Down", "lock"},
		{"readOnlyHint: true", "readOnlyHint: false", "lock"},
		{"first example", "one example", "digest"},
		{"cursor: c1", "cursor: c3", "digest"},
		{"list: [red]", "list: [green]", "digest"},
		{"error: busy", "error: gone", "digest"},
		{"maxLength: 99", "maxLength: 89", "digest"},
		{"Where.", "There.", "digest"},
		{"title: Cursor title, ", "", "digest"},
		{"examples: [shown]", "examples: [other]", "digest"},
		{", deprecated: true", "", "digest"},
		{"default: 7", "default: seven", "digest"},
		{"uniqueItems: true", "uniqueItems: false", "digest"},
		{"keep: [/list, /more, /next]", "keep: [/list, /more, /next, /hidden]", "digest"},
		{"x.schema.json", "", "part"},
	} {
		manifest, file := strings.Replace(everyField, test.old, test.new, 1), part
		if test.in == "part" {
			manifest, file = everyField, strings.Replace(part, "95", "85", 1)
		} else if manifest == everyField {
			t.Fatalf("no %q", test.old)
		}
		after := generated(manifest, file)
		if maps.EqualFunc(before, after, bytes.Equal) {
			t.Errorf("%s: the generated code is the same", test.old)
			continue
		}
		if test.in != "code" && bytes.Equal(before["lock/a.lock"], after["lock/a.lock"]) {
			t.Errorf("%s: not in the lock file", test.old)
		}
		if same := digest(before) == digest(after); slices.Contains([]string{"digest", "part"}, test.in) && same {
			t.Errorf("%s: not in the digest", test.old)
		}
		lock := func(files map[string][]byte) string {
			return strings.ReplaceAll(string(files["lock/a.lock"]), digest(files), "")
		}
		if test.in != "code" && lock(before) == lock(after) {
			t.Errorf("%s: a reviewer sees nothing of it but another digest", test.old)
		}
	}
}
