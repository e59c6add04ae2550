package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

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
	// Middleware sees every request first, the first one outermost. It runs
	// inside the recovery from panics.
	Middleware []mcp.Middleware
}

// New makes an MCP server with the three tools. It serves any number of
// sessions, of both protocol eras; its list of tools never changes.
func New(o Options) (*mcp.Server, error) {
	tools, err := NewTools(o.Runtime, o.Subjects, o.Logger)
	if err != nil {
		return nil, err
	}
	info := o.Runtime.Info()
	if info.Name == "" {
		return nil, errors.New("mcpserver: the server has no name")
	}
	instructions := info.Instructions
	if instructions == "" {
		instructions = defaultInstructions
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
			// Without this the SDK advertises logging, which the protocol deprecates.
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		})
	for _, tool := range definitions(o.Runtime.Hints()) {
		server.AddTool(tool, tools.handler(tool.Name))
	}
	// What is added last is outermost.
	server.AddReceivingMiddleware(o.Middleware...)
	server.AddReceivingMiddleware(recoverPanics(tools.log))
	return server, nil
}

// definitions are the three tools as clients see them.
func definitions(execute runtime.Hints) []*mcp.Tool {
	reading := runtime.Hints{ReadOnly: true, Idempotent: true}
	return []*mcp.Tool{
		definition(SearchTool, "Search capabilities", searchText, reading),
		definition(DescribeTool, "Describe capabilities", describeText, reading),
		definition(ExecuteTool, "Run a program", executeText, execute),
	}
}

func definition(name, title, text string, h runtime.Hints) *mcp.Tool {
	return &mcp.Tool{
		Name:         name,
		Title:        title,
		Description:  text,
		InputSchema:  json.RawMessage(inputSchema(name)),
		OutputSchema: json.RawMessage(outputSchema(name)),
		// All four, always: what is left out means its worst case to a client.
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint:    h.ReadOnly,
			DestructiveHint: &h.Destructive,
			IdempotentHint:  h.Idempotent,
			OpenWorldHint:   &h.OpenWorld,
		},
	}
}

func (t *Tools) handler(tool string) mcp.ToolHandler {
	return func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, err := t.Call(ctx, tool, request.Params.Arguments)
		if err != nil {
			return nil, err
		}
		result := &mcp.CallToolResult{
			StructuredContent: answer.Content,
			// For clients that do not read structured content.
			Content: []mcp.Content{&mcp.TextContent{Text: string(answer.Content)}},
			IsError: answer.Failed(),
		}
		if answer.Receipt != nil {
			result.Meta = mcp.Meta{ReceiptKey: answer.Receipt}
		}
		return result, nil
	}
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
