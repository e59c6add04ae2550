package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
)

// Options of New. Runtime and Subjects have no default.
type Options struct {
	Runtime Runtime
	// Subjects says who a request comes from.
	Subjects authz.SubjectResolver
	// Logger gets one line a call, without arguments and results, and what
	// clients must not see. Nil discards.
	Logger *slog.Logger
	// PerSubject bounds what one subject may ask for; nil bounds nothing, for a
	// transport that serves only one.
	PerSubject *Limits
	// Results keeps results of more than MaxResultBytes, which are then
	// answered with a link to a resource. Nil answers with all of any.
	Results ResultStore
	// MaxResultBytes of a result, in JSON text, that is not kept in Results;
	// zero means DefaultMaxResultBytes.
	MaxResultBytes int
	// ReturnPrints answers an execution with what its program printed too, up
	// to runtime.MaxPrintBytes, and says so in the list of tools. Without it
	// prints are discarded.
	ReturnPrints bool
	// Execute are options of every execution, with which those that its client
	// asks for must not collide.
	Execute []runtime.ExecuteOption
	// Middleware sees every request first, the first one outermost. It runs
	// inside the recovery from panics.
	Middleware []mcp.Middleware
}

// New makes an MCP server with the three tools, and those that the runtime's
// capabilities are by themselves. It serves any number of
// sessions, of both protocol eras; its list of tools never changes.
func New(o Options) (*mcp.Server, error) {
	tools, err := NewTools(o.Runtime, o.Subjects, o.Logger)
	if err != nil {
		return nil, err
	}
	if o.PerSubject != nil {
		if tools.fairness, err = newFairness(*o.PerSubject); err != nil {
			return nil, err
		}
	}
	if o.MaxResultBytes < 0 {
		return nil, fmt.Errorf("mcpserver: MaxResultBytes is negative (%d)", o.MaxResultBytes)
	}
	tools.results, tools.maxResult = o.Results, cmp.Or(o.MaxResultBytes, DefaultMaxResultBytes)
	tools.execution = slices.Clone(o.Execute)
	if o.ReturnPrints {
		tools.ReturnPrints()
	}
	info := o.Runtime.Info()
	if info.Name == "" {
		return nil, errors.New("mcpserver: the server has no name")
	}
	instructions := info.Instructions
	if instructions == "" {
		instructions = defaultInstructions
	}
	// Without this the SDK advertises logging, which the protocol deprecates.
	capabilities := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}
	if o.Results != nil {
		capabilities.Resources = &mcp.ResourceCapabilities{}
	}
	if o.Runtime.TellsOfJobs() {
		capabilities.AddExtension(TasksExtension, nil)
	}
	server := mcp.NewServer(
		&mcp.Implementation{
			Name:        info.Name,
			Title:       info.Title,
			Version:     info.Version,
			Description: fmt.Sprintf("deployment %s; sandbox: %s", o.Runtime.Deployment(), o.Runtime.Workers().Confinement),
		},
		&mcp.ServerOptions{
			Instructions: instructions,
			Logger:       slog.New(warnings{tools.log.Handler()}),
			Capabilities: capabilities,
		})
	for _, tool := range definitions(o.Runtime.Hints(), o.ReturnPrints) {
		server.AddTool(tool, tools.handler(tool.Name))
	}
	for _, tool := range o.Runtime.Tools() {
		server.AddTool(directDefinition(tool), tools.handler(tool.Name))
	}
	if o.Results != nil {
		server.AddResourceTemplate(resultTemplate(), tools.readResult)
	}
	// What is added last is outermost.
	server.AddReceivingMiddleware(o.Middleware...)
	if o.Runtime.TellsOfJobs() {
		if err := tools.addTasks(server); err != nil {
			return nil, err
		}
	}
	server.AddReceivingMiddleware(recoverPanics(tools.log))
	return server, nil
}

// definitions are the three tools as clients see them.
func definitions(execute runtime.Hints, prints bool) []*mcp.Tool {
	reading := runtime.Hints{ReadOnly: true, Idempotent: true}
	text, output := executeText, outputSchema(ExecuteTool)
	if prints {
		text, output = strings.Replace(text, "prints are discarded", "prints come beside it", 1), outputWith(ExecuteTool, printsOutput)
	}
	return []*mcp.Tool{
		definition(SearchTool, "Search capabilities", searchText, outputSchema(SearchTool), reading),
		definition(DescribeTool, "Describe capabilities", describeText, outputSchema(DescribeTool), reading),
		definition(ExecuteTool, "Run a program", text, output, execute),
	}
}

func definition(name, title, text, output string, h runtime.Hints) *mcp.Tool {
	return &mcp.Tool{
		Name:         name,
		Title:        title,
		Description:  text,
		InputSchema:  json.RawMessage(inputSchema(name)),
		OutputSchema: json.RawMessage(output),
		Annotations:  annotations(h),
	}
}

// annotations are all four, always: what is left out means its worst case to a
// client.
func annotations(h runtime.Hints) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{
		ReadOnlyHint:    h.ReadOnly,
		DestructiveHint: &h.Destructive,
		IdempotentHint:  h.Idempotent,
		OpenWorldHint:   &h.OpenWorld,
	}
}

func (t *Tools) handler(tool string) mcp.ToolHandler {
	return func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var progress *reporter
		if tool != SearchTool && tool != DescribeTool { // which are over at once
			progress = report(ctx, request.Session, request.Params.GetProgressToken(), progressEvery)
		}
		answer, err := t.call(ctx, tool, request.Params.Arguments, progress.options()...)
		progress.close()
		if err != nil {
			return nil, err
		}
		result := answer.result()
		if direct, ok := t.direct[tool]; ok && direct.Job && !answer.Failed() {
			t.offerTask(ctx, answer, result)
		}
		return result, nil
	}
}

// result is the answer as clients of MCP get it.
func (a Answer) result() *mcp.CallToolResult {
	result := &mcp.CallToolResult{Content: []mcp.Content{}, IsError: a.Failed()}
	if !a.textOnly {
		result.StructuredContent = a.Content
	}
	if !a.linkOnly { // for clients that do not read structured content
		result.Content = append(result.Content, &mcp.TextContent{Text: string(a.Content)})
	}
	for _, note := range a.notes {
		result.Content = append(result.Content, &mcp.TextContent{Text: note})
	}
	if a.link != nil {
		result.Content = append(result.Content, a.link.content())
	}
	if a.Receipt != nil {
		result.Meta = mcp.Meta{ReceiptKey: a.Receipt}
	}
	return result
}

// recoverPanics keeps a panic in a middleware or tool from ending the process
// and with it every other session. The client learns that it happened, the log
// where.
func recoverPanics(log *slog.Logger) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, request mcp.Request) (result mcp.Result, err error) {
			defer func() {
				if p := recover(); p != nil {
					log.ErrorContext(ctx, "panic", "method", method, "value", fmt.Sprintf("%.200v", p), "stack", string(debug.Stack()))
					result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
				}
			}()
			return next(ctx, method, request)
		}
	}
}

// warnings drops what the SDK says of its normal life.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
