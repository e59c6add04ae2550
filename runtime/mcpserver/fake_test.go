package mcpserver_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/mcpserver"
)

// fake is a runtime whose answers a test chooses.
type fake struct {
	hints    runtime.Hints
	search   func(r runtime.SearchRequest) (runtime.SearchResult, error)
	describe func(names []string) (runtime.DescribeResult, error)
	options  int // that the last execution was given
	execute  func(ctx context.Context, subject authz.Subject, source string) (runtime.Execution, error)
	tools    []runtime.Tool
	direct   func(id, arguments string) (runtime.Execution, error)
	check    func(source string) (runtime.Check, error)
	job      func(subject authz.Subject, c runtime.JobCall, id string) (runtime.Execution, error) // nil tells of none
}

func (f *fake) Info() runtime.ServerInfo {
	return runtime.ServerInfo{Name: "records", Title: "Records", Version: "1.2.0"}
}

func (f *fake) Deployment() string   { return "prod" }
func (f *fake) Hints() runtime.Hints { return f.hints }
func (f *fake) Workers() runtime.Workers {
	return runtime.Workers{Confinement: runtime.Confinement{Layers: []string{"landlock", "seccomp"}}}
}

func (f *fake) Search(_ context.Context, _ authz.Subject, r runtime.SearchRequest) (runtime.SearchResult, error) {
	return f.search(r)
}

func (f *fake) Describe(_ context.Context, _ authz.Subject, names []string) (runtime.DescribeResult, error) {
	return f.describe(names)
}

func (f *fake) Execute(ctx context.Context, subject authz.Subject, source string, options ...runtime.ExecuteOption) (runtime.Execution, error) {
	f.options = len(options)
	return f.execute(ctx, subject, source)
}

func (f *fake) Check(_ context.Context, _ authz.Subject, source string, options ...runtime.ExecuteOption) (runtime.Check, error) {
	f.options = len(options)
	return f.check(source)
}

func (f *fake) Tools() []runtime.Tool { return f.tools }

func (f *fake) Call(_ context.Context, _ authz.Subject, id string, arguments []byte, options ...runtime.ExecuteOption) (runtime.Execution, error) {
	f.options = len(options)
	return f.direct(id, string(arguments))
}

func (f *fake) TellsOfJobs() bool { return f.job != nil }

func (f *fake) CallJob(_ context.Context, subject authz.Subject, c runtime.JobCall, id string, options ...runtime.ExecuteOption) (runtime.Execution, error) {
	f.options = len(options)
	return f.job(subject, c, id)
}

// shown is an error as *runtime.Error is one.
type shown fault.Fault

func (s shown) Error() string      { return s.Message }
func (s shown) Fault() fault.Fault { return fault.Fault(s) }

var local = authz.StaticSubject(authz.Local())

// connect serves o to the SDK's client in memory, in the current protocol.
func connect(t *testing.T, o mcpserver.Options) *mcp.ClientSession {
	t.Helper()
	return connectAs(t, o, "2026-07-28")
}

func connectAs(t *testing.T, o mcpserver.Options, protocol string) *mcp.ClientSession {
	t.Helper()
	if o.Subjects == nil {
		o.Subjects = local
	}
	server, err := mcpserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// call calls a tool with raw arguments and checks what holds for every
// answer: one text that is the structured content, which fits the schema.
func call(t *testing.T, s *mcp.ClientSession, tool, arguments string) (content string, result *mcp.CallToolResult) {
	t.Helper()
	params := &mcp.CallToolParams{Name: tool}
	if arguments != "" {
		params.Arguments = json.RawMessage(arguments)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	result, err := s.CallTool(ctx, params)
	if err != nil {
		t.Fatalf("%s %s: %v", tool, arguments, err)
	}
	if len(result.Content) != 1 {
		t.Fatalf("%d contents, want one text", len(result.Content))
	}
	content = result.Content[0].(*mcp.TextContent).Text
	structured, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if !sameJSON(t, []byte(content), structured) {
		t.Errorf("text %s\nis not structured content %s", content, structured)
	}
	if err := outputSchema(t, s, tool).Validate(decode(t, []byte(content))); err != nil {
		t.Errorf("%s: %s does not fit its schema: %v", tool, content, err)
	}
	return content, result
}
