package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/mcpserver"
)

var update = flag.Bool("update", false, "write golden files")

func decode(t *testing.T, data []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}

// sameJSON compares values as a client in JavaScript has them.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var one, two any
	for text, v := range map[*[]byte]*any{&a: &one, &b: &two} {
		if err := json.Unmarshal(*text, v); err != nil {
			t.Fatalf("%s: %v", *text, err)
		}
	}
	return cmp.Equal(one, two)
}

func list(t *testing.T, s *mcp.ClientSession) []*mcp.Tool {
	t.Helper()
	result, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return result.Tools
}

func compile(t *testing.T, schema any) *jsonschema.Schema {
	t.Helper()
	data, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///s.json", decode(t, data)); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("mem:///s.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func outputSchema(t *testing.T, s *mcp.ClientSession, tool string) *jsonschema.Schema {
	t.Helper()
	for _, d := range list(t, s) {
		if d.Name == tool {
			return compile(t, d.OutputSchema)
		}
	}
	t.Fatalf("no tool %s", tool)
	return nil
}

func TestToolsListGolden(t *testing.T) {
	s := connect(t, mcpserver.Options{Runtime: &fake{hints: runtime.Hints{Destructive: true, OpenWorld: true}}})
	tools := list(t, s)
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"describe_api", "execute", "search_api"}, names); diff != "" {
		t.Errorf("tools: %s", diff)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(tools); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "tools_list.json")
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("tools/list differs from %s; -update writes it:\n%s", golden, diff)
	}
	first, _ := json.Marshal(tools)
	again, _ := json.Marshal(list(t, s))
	if !bytes.Equal(first, again) {
		t.Error("a second tools/list answers otherwise")
	}
}

// Clients break on references and on unions with null, and they check errors
// against the output schema, so nothing may be required there.
func TestSchemasSuitEveryClient(t *testing.T) {
	s := connect(t, mcpserver.Options{Runtime: &fake{}})
	for _, tool := range list(t, s) {
		for kind, schema := range map[string]any{"input": tool.InputSchema, "output": tool.OutputSchema} {
			text, err := json.Marshal(schema)
			if err != nil {
				t.Fatal(err)
			}
			for _, bad := range []string{"$ref", "$defs", `"null"`, "anyOf", "oneOf"} {
				if bytes.Contains(text, []byte(bad)) {
					t.Errorf("%s %s schema has %s", tool.Name, kind, bad)
				}
			}
			m := schema.(map[string]any)
			if m["type"] != "object" || m["additionalProperties"] != false || m["properties"] == nil {
				t.Errorf("%s %s schema is not a closed object with properties: %s", tool.Name, kind, text)
			}
			if kind == "output" && (bytes.Contains(text, []byte(`"required"`)) || m["properties"].(map[string]any)["error"] == nil) {
				t.Errorf("%s output schema cannot hold an error: %s", tool.Name, text)
			}
			compile(t, schema)
		}
		if tool.Name == "execute" && len(tool.Description) > 1200 {
			t.Errorf("description of execute has %d bytes, want at most 1200", len(tool.Description))
		}
		if strings.TrimSpace(tool.Description) == "" || tool.Title == "" {
			t.Errorf("%s says nothing of itself", tool.Name)
		}
	}
}

func TestAnnotations(t *testing.T) {
	for _, h := range []runtime.Hints{{}, {ReadOnly: true, Idempotent: true}, {Destructive: true, OpenWorld: true}} {
		s := connect(t, mcpserver.Options{Runtime: &fake{hints: h}})
		for _, tool := range list(t, s) {
			want := runtime.Hints{ReadOnly: true, Idempotent: true}
			if tool.Name == "execute" {
				want = h
			}
			a := tool.Annotations
			if a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil {
				t.Fatalf("%s: annotations %+v, want all four", tool.Name, a)
			}
			if got := (runtime.Hints{ReadOnly: a.ReadOnlyHint, Destructive: *a.DestructiveHint, Idempotent: a.IdempotentHint, OpenWorld: *a.OpenWorldHint}); got != want {
				t.Errorf("%s: hints %+v, want %+v", tool.Name, got, want)
			}
		}
	}
}

func TestServerSaysWhatItIs(t *testing.T) {
	s := connect(t, mcpserver.Options{Runtime: &fake{}})
	r := s.InitializeResult()
	if r.ServerInfo.Name != "records" || r.ServerInfo.Version != "1.2.0" || r.ServerInfo.Description != "deployment prod; sandbox: landlock seccomp" {
		t.Errorf("server info %+v", r.ServerInfo)
	}
	if r.Instructions == "" {
		t.Error("no instructions")
	}
	capabilities, err := json.Marshal(r.Capabilities)
	if err != nil {
		t.Fatal(err)
	}
	if string(capabilities) != `{"tools":{}}` {
		t.Errorf("capabilities %s, want tools only, without list changes", capabilities)
	}
}
