package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/mcpserver"
	"github.com/capgen/capgen/runtime/results"
)

const object = `{"type":"object"}`

// directFake has tools of every form; each answers with its arguments.
func directFake() *fake {
	tool := func(name, output string) runtime.Tool {
		return runtime.Tool{DirectTool: runtime.DirectTool{Name: name, Input: object, Output: output}, ID: "id." + name, Description: "Do it."}
	}
	object, loose, fails := tool("records_put", object), tool("records_loose", ""), tool("records_fail", object)
	object.Hints = runtime.Hints{Destructive: true, OpenWorld: true}
	loose.Hints = runtime.Hints{ReadOnly: true, Idempotent: true}
	object.Errors = []runtime.DeclaredError{{Code: "gone", Text: "It is gone."}}
	object.Deprecated = &runtime.Deprecation{Since: "2026-11-29", Use: "records.set"}
	return &fake{
		tools: []runtime.Tool{object, loose, fails},
		direct: func(id, arguments string) (runtime.Execution, error) {
			x := runtime.Execution{Receipt: runtime.Receipt{Execution: "x1", Calls: []runtime.CallRecord{{Sequence: 1, Name: "records.put", State: runtime.CallDone}}}}
			if id == "id.records_fail" {
				return x, shown{Class: fault.InvalidArguments, Message: "expected string", Path: "key"}
			}
			var in struct {
				Result json.RawMessage
				Wide   bool
			}
			if err := json.Unmarshal([]byte(arguments), &in); err != nil {
				return x, err
			}
			x.Result, x.WideIntegers = in.Result, in.Wide
			return x, nil
		},
	}
}

// What clients are told of the tools: the schemas as they are, and all four
// hints.
func TestDirectToolsAreListed(t *testing.T) {
	for _, protocol := range []string{"2026-07-28", "2025-11-25"} {
		list, err := connectAs(t, mcpserver.Options{Runtime: directFake()}, protocol).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		tools := map[string]*mcp.Tool{}
		for _, tool := range list.Tools {
			tools[tool.Name] = tool
		}
		put, loose := tools["records_put"], tools["records_loose"]
		if len(tools) != 6 || put == nil || loose == nil || tools[mcpserver.ExecuteTool] == nil {
			t.Fatalf("%s: %v", protocol, tools)
		}
		if a := put.Annotations; a.ReadOnlyHint || a.IdempotentHint || a.DestructiveHint == nil || !*a.DestructiveHint || a.OpenWorldHint == nil || !*a.OpenWorldHint {
			t.Errorf("%s: %+v", protocol, a)
		}
		if a := loose.Annotations; !a.ReadOnlyHint || !a.IdempotentHint || a.DestructiveHint == nil || *a.DestructiveHint || a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("%s: %+v", protocol, a)
		}
		if put.OutputSchema == nil || loose.OutputSchema != nil || put.InputSchema == nil {
			t.Errorf("%s: %+v, %+v", protocol, put, loose)
		}
		if want := "Do it.\n\nDeprecated since 2026-11-29. Use records.set.\n\nFails with:\ngone: It is gone."; put.Description != want {
			t.Errorf("%s: %q", protocol, put.Description)
		}
	}
}

// A result is structured content where it is an object, and text always; a
// failure is text alone, since clients hold structured content to the schema.
func TestDirectAnswers(t *testing.T) {
	for _, c := range []struct {
		tool, arguments string
		structured      string // JSON; empty for none
		texts           []string
	}{
		{"records_put", `{"result":{"a":9007199254740993}}`, `{"a":9007199254740993}`, []string{`{"a":9007199254740993}`}},
		{"records_put", `{"result":{},"wide":true}`, `{}`, []string{`{}`, "an integer beyond"}},
		{"records_loose", `{"result":{"a":1}}`, `{"a":1}`, []string{`{"a":1}`}},
		{"records_loose", `{"result":[1]}`, "", []string{`[1]`}},
		{"records_loose", `{"result":null}`, "", []string{`null`}},
		{"records_fail", `{"result":{}}`, "", []string{`{"error":{"class":"invalid_arguments","message":"expected string","path":"key"},"receipt":{"execution":"x1"`}},
	} {
		for _, protocol := range []string{"2026-07-28", "2025-11-25"} {
			var seen json.RawMessage
			s := connectAs(t, mcpserver.Options{Runtime: directFake(), Middleware: []mcp.Middleware{func(next mcp.MethodHandler) mcp.MethodHandler {
				return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
					result, err := next(ctx, method, r)
					if call, ok := result.(*mcp.CallToolResult); ok { // as it was written, not as a float
						seen, _ = call.StructuredContent.(json.RawMessage)
					}
					return result, err
				}
			}}}, protocol)
			result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.arguments)})
			if err != nil {
				t.Fatalf("%s %s: %v", c.tool, c.arguments, err)
			}
			if string(seen) != c.structured || (result.StructuredContent == nil) != (c.structured == "") {
				t.Errorf("%s %s: structured content %s, want %s", c.tool, c.arguments, seen, c.structured)
			}
			if len(result.Content) != len(c.texts) {
				t.Fatalf("%s %s: %d contents", c.tool, c.arguments, len(result.Content))
			}
			for i, want := range c.texts {
				if text := result.Content[i].(*mcp.TextContent).Text; !strings.HasPrefix(text, want) {
					t.Errorf("%s %s: %s, want %s", c.tool, c.arguments, text, want)
				}
			}
			failed := c.tool == "records_fail"
			if _, receipt := result.Meta[mcpserver.ReceiptKey]; result.IsError != failed || receipt == failed {
				t.Errorf("%s %s: error %t, _meta %v", c.tool, c.arguments, result.IsError, result.Meta)
			}
		}
	}
}

// A large result is a link to those who read texts. Where the tool promises
// structured content, it is there, whole.
func TestDirectResultsAreKept(t *testing.T) {
	store := results.Private()
	t.Cleanup(func() { store.Close() })
	s := connect(t, mcpserver.Options{Runtime: directFake(), Results: store, MaxResultBytes: 16})
	for tool, promised := range map[string]bool{"records_put": true, "records_loose": false} {
		const large = `{"a":"0123456789"}`
		result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(`{"result":` + large + `}`)})
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Content) != 2 || !strings.HasPrefix(result.Content[0].(*mcp.TextContent).Text, "the result has 18 bytes") || (result.StructuredContent != nil) != promised {
			t.Fatalf("%s: %+v", tool, result)
		}
		read, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: result.Content[1].(*mcp.ResourceLink).URI})
		if err != nil || read.Contents[0].Text != large {
			t.Errorf("%s: %+v, %v", tool, read, err)
		}
	}
}

// Tools that could not be told apart are refused, and so is a name that is one
// of the three.
func TestDirectToolsHaveNamesOfTheirOwn(t *testing.T) {
	for _, name := range []string{mcpserver.SearchTool, mcpserver.DescribeTool, mcpserver.ExecuteTool, "records_put"} {
		f := directFake()
		f.tools = append(f.tools, runtime.Tool{DirectTool: runtime.DirectTool{Name: name, Input: object}, ID: "other"})
		if _, err := mcpserver.New(mcpserver.Options{Runtime: f, Subjects: local}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Who calls is asked, limits of subjects count, and progress is told, as of a
// program.
func TestDirectCallsAreCalls(t *testing.T) {
	nobody, err := connect(t, mcpserver.Options{Runtime: directFake(), Subjects: authz.ContextSubject()}).
		CallTool(t.Context(), &mcp.CallToolParams{Name: "records_put", Arguments: json.RawMessage(`{"result":{}}`)})
	if err != nil || !nobody.IsError || !strings.Contains(nobody.Content[0].(*mcp.TextContent).Text, "unauthenticated") {
		t.Errorf("nobody: %+v, %v", nobody, err)
	}
	f := directFake()
	s := connect(t, mcpserver.Options{Runtime: f, PerSubject: &mcpserver.Limits{MaxCallsPerSecond: 1}})
	refused := ""
	for range 3 { // twice as many may come at once
		params := &mcp.CallToolParams{Name: "records_put", Arguments: json.RawMessage(`{"result":{}}`)}
		params.SetProgressToken("p")
		result, err := s.CallTool(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		if result.IsError {
			refused = result.Content[0].(*mcp.TextContent).Text
		}
	}
	if !strings.Contains(refused, "MaxCallsPerSecond") || f.options != 1 {
		t.Errorf("refused: %s; %d options", refused, f.options)
	}
}
