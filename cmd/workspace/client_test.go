package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
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
	for _, protocol := range []string{"2026-07-28", "2025-11-25"} {
		for transport, connect := range map[string]func(context.Context, *testing.T, string, string) *mcp.ClientSession{"stdio": overStdio, "http": overHTTP} {
			t.Run(transport+" "+protocol, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				session := connect(ctx, t, dir, protocol)
				if got := session.InitializeResult().ProtocolVersion; got != protocol {
					t.Errorf("negotiated %s", got)
				}
				converse(ctx, t, session)
			})
		}
	}
}

// program is the server as a process over dir.
func program(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if *server != "" {
		self = *server
	}
	return programOf(ctx, self, args...)
}

// programOf is a binary of this package as a process.
func programOf(ctx context.Context, binary string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, binary, args...)
	command.Env = append(os.Environ(), asServer+"=1", "GORACE=atexit_sleep_ms=0")
	return command
}

func overStdio(ctx context.Context, t *testing.T, dir, protocol string) *mcp.ClientSession {
	t.Helper()
	command := program(ctx, t, "stdio", "--root", dir, "--log-level", "error")
	command.Stderr = os.Stderr
	return open(ctx, t, &mcp.CommandTransport{Command: command}, protocol)
}

// overHTTP starts a server that listens, and expects it to end in good order.
func overHTTP(ctx context.Context, t *testing.T, dir, protocol string) *mcp.ClientSession {
	t.Helper()
	return open(ctx, t, &mcp.StreamableClientTransport{Endpoint: listening(ctx, t, "--root", dir)}, protocol)
}

// listening is the URL of a server that listens.
func listening(ctx context.Context, t *testing.T, flags ...string) (url string) {
	t.Helper()
	return listens(t, program(context.WithoutCancel(ctx), t, serving(flags...)...))
}

func serving(flags ...string) []string {
	return append([]string{"http", "--listen", "127.0.0.1:0"}, flags...)
}

// listens starts a server, and expects it to end in good order.
func listens(t *testing.T, command *exec.Cmd) (url string) {
	t.Helper()
	log, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	for url == "" && lines.Scan() {
		if m := regexp.MustCompile(` url=(\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			url = m[1]
		}
	}
	var rest sync.WaitGroup
	rest.Go(func() {
		for lines.Scan() {
		}
	})
	t.Cleanup(func() {
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		rest.Wait()
		if err := command.Wait(); err != nil {
			t.Errorf("the server did not leave in good order: %v", err)
		}
	})
	return url
}

func open(ctx context.Context, t *testing.T, transport mcp.Transport, protocol string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// converse makes calls of all three tools, those that fail included.
func converse(ctx context.Context, t *testing.T, session *mcp.ClientSession) {
	t.Helper()
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
