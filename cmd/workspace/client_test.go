package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// server lets TestClient talk to a program that is already built.
var server = flag.String("server", "", "path of the `program` that TestClient starts, instead of this one")

// An MCP client finds a capability, reads how to call it, and runs a program
// over files, as an agent would: the whole way, from the manifest to the value.
func TestClient(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": "package a\n", "sub/b.go": "package b\n\n// TODO b\n", "c.txt": "c"} {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if *server != "" {
		self = *server
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, self, "stdio", "--root", dir, "--log-level", "error")
	command.Env = append(os.Environ(), asServer+"=1", "GORACE=atexit_sleep_ms=0")
	command.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatal(err)
	}

	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	schemas := map[string]*jsonschema.Schema{}
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		schemas[tool.Name] = compileSchema(t, tool.OutputSchema)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"describe_api", "execute", "search_api"}) {
		t.Errorf("tools %q", names)
	}

	call := func(tool string, arguments map[string]any) (content map[string]any, result *mcp.CallToolResult) {
		t.Helper()
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(result.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &content); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if err := schemas[tool].Validate(instance(t, text)); err != nil {
			t.Errorf("%s: %v\n%s", tool, err, text)
		}
		return content, result
	}
	hits, _ := call("search_api", map[string]any{"query": "read many files at once"})
	if first := hits["results"].([]any)[0].(map[string]any)["name"]; first != "files.read" {
		t.Errorf("found first: %v", first)
	}
	described, _ := call("describe_api", map[string]any{"name": "files.read"})
	if list := described["capabilities"].([]any); len(list) != 1 || list[0].(map[string]any)["effect"] != "read" {
		t.Errorf("described: %v", described)
	}
	const program = `
def main():
    paths = [e.path for e in files.tree(include = ["*.go"]).entries]
    return {f.path: f.lines for f in files.read(paths = paths).files}
`
	content, result := call("execute", map[string]any{"source": program})
	if text, _ := json.Marshal(content); string(text) != `{"result":{"a.go":1,"sub/b.go":3}}` || result.IsError {
		t.Errorf("executed: %s", text)
	}
	if receipt, _ := json.Marshal(result.Meta["capgen/receipt"]); strings.Count(string(receipt), `"state":"done"`) != 2 {
		t.Errorf("receipt: %s", receipt)
	}
	failed, result := call("execute", map[string]any{"source": "files.raed(paths = [])"})
	if text, _ := json.Marshal(failed["error"]); !result.IsError || !strings.Contains(string(text), "did you mean files.read?") {
		t.Errorf("failed: %v", failed)
	}
	failed, result = call("execute", map[string]any{"source": "def main():\n    files.list()\n    return files.read(paths = [])\n"})
	calls, _ := json.Marshal(failed["receipt"].(map[string]any)["calls"])
	if strings.Count(string(calls), `"state":"done"`) != 1 || strings.Count(string(calls), `"state":"failed"`) != 1 || !result.IsError {
		t.Errorf("calls of the failed program: %s", calls)
	}
	if err := session.Close(); err != nil {
		t.Errorf("the server did not leave in good order: %v", err)
	}
}

func compileSchema(t *testing.T, schema any) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///output.json", instance(t, text)); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("mem:///output.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// instance is a JSON text as the validator has it, integers exact.
func instance(t *testing.T, text []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}
