package telemetry

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// The attributes of the conventions for MCP
// (open-telemetry/semantic-conventions-genai, docs/gen-ai/mcp.md), which no
// package of constants has yet.
const (
	methodName      = attribute.Key("mcp.method.name")
	protocolVersion = attribute.Key("mcp.protocol.version")
	sessionID       = attribute.Key("mcp.session.id")
	toolName        = attribute.Key("gen_ai.tool.name")
	operationName   = attribute.Key("gen_ai.operation.name")
	transportName   = attribute.Key("network.transport")
	protocolName    = attribute.Key("network.protocol.name")
	statusCode      = attribute.Key("rpc.response.status_code")
	errorType       = attribute.Key("error.type")
)

// maxName bounds a tool's name, which is the client's text until there is such
// a tool.
const maxName = 128

// request is what is known of a request when it comes.
type request struct {
	method string
	tool   string // as the client calls it
	fixed  []attribute.KeyValue
	span   []attribute.KeyValue // more, of the span alone
}

// Middleware observes each request and notification. It is for the outermost,
// inside of a recovery from panics.
func (t *Telemetry) Middleware() mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (result mcp.Result, err error) {
			known := describe(method, r)
			begin := t.now()
			ctx, span := t.begin(ctx, known, metaOf(r))
			returned := false
			defer func() {
				if !returned { // a panic, which is answered further out
					err = &jsonrpc.Error{Code: jsonrpc.CodeInternalError}
				}
				t.end(ctx, span, known, begin, result, err)
			}()
			result, err = next(ctx, method, r)
			returned = true
			return result, err
		}
	}
}

func (t *Telemetry) begin(ctx context.Context, r request, meta map[string]any) (context.Context, trace.Span) {
	if t.tracer == nil {
		return ctx, nil
	}
	remote, bag := t.parent(meta)
	options := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(r.fixed...), trace.WithAttributes(r.span...),
	}
	if remote.IsValid() {
		around := trace.SpanContextFromContext(ctx)
		switch {
		case t.public:
			options = append(options, trace.WithLinks(trace.Link{SpanContext: remote}))
		default:
			if around.IsValid() { // the transport's
				options = append(options, trace.WithLinks(trace.Link{SpanContext: around}))
			}
			ctx = trace.ContextWithRemoteSpanContext(ctx, remote)
		}
	}
	if bag.Len() > 0 {
		ctx = baggage.ContextWithBaggage(ctx, bag)
	}
	return t.tracer.Start(ctx, r.method, options...)
}

func (t *Telemetry) end(ctx context.Context, span trace.Span, r request, begin time.Time, result mcp.Result, err error) {
	attributes := slices.Clip(r.fixed)
	var failure *jsonrpc.Error
	answer, called := result.(*mcp.CallToolResult)
	switch {
	case err == nil:
		if called && answer != nil && answer.IsError {
			attributes = append(attributes, errorType.String("tool_error"))
		}
	case errors.As(err, &failure):
		code := strconv.FormatInt(failure.Code, 10)
		attributes = append(attributes, errorType.String(code), statusCode.String(code))
	default:
		attributes = append(attributes, errorType.String("_OTHER"))
	}
	failed := len(attributes) > len(r.fixed)
	// A name is one of a tool that there is, and no text of a client, once it
	// was answered.
	named := r.tool != "" && called && err == nil
	if span != nil {
		if named {
			span.SetName(r.method + " " + r.tool)
		}
		span.SetAttributes(attributes[len(r.fixed):]...)
		if failed {
			span.SetStatus(codes.Error, "") // without the message, which may quote the client
		}
		span.End()
	}
	if t.duration != nil {
		if named {
			attributes = append(attributes, toolName.String(r.tool))
		}
		t.duration.Record(ctx, t.now().Sub(begin).Seconds(), metric.WithAttributes(attributes...))
	}
}

// describe takes from a request what is neither a value nor of the client's
// making, or is bounded.
func describe(method string, r mcp.Request) request {
	// The SDK has looked method up: it is one of few.
	known := request{method: method, fixed: []attribute.KeyValue{methodName.String(method), transportName.String("pipe")}}
	version := ""
	if extra := r.GetExtra(); extra != nil && extra.Header != nil {
		known.fixed[1] = transportName.String("tcp")
		known.fixed = append(known.fixed, protocolName.String("http"))
		version = extra.Header.Get("Mcp-Protocol-Version")
	}
	if params, ok := r.GetParams().(*mcp.CallToolParamsRaw); ok && params != nil {
		known.fixed = append(known.fixed, operationName.String("execute_tool"))
		if len(params.Name) <= maxName {
			known.tool = params.Name
			known.span = append(known.span, toolName.String(params.Name))
		}
	}
	session, _ := r.GetSession().(*mcp.ServerSession)
	if version == "" {
		version, _ = metaOf(r)["io.modelcontextprotocol/protocolVersion"].(string)
	}
	if session != nil && version == "" {
		if p := session.InitializeParams(); p != nil {
			version = p.ProtocolVersion
		}
	}
	if isVersion(version) {
		known.span = append(known.span, protocolVersion.String(version))
	}
	if session != nil {
		if id := session.ID(); id != "" {
			known.span = append(known.span, sessionID.String(id))
		}
	}
	return known
}

// metaOf is the _meta of a request. Params that a message does not have are a
// nil pointer of the SDK's, whose methods panic.
func metaOf(r mcp.Request) (meta map[string]any) {
	defer func() { _ = recover() }()
	if p := r.GetParams(); p != nil {
		meta = p.GetMeta()
	}
	return meta
}

// isVersion tells a version of the protocol, which is a date (MCP
// specification, Versioning), from any other text.
func isVersion(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}
