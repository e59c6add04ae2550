package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/mcphttp"
	"github.com/capgen/capgen/runtime/mcpserver"
	"github.com/capgen/capgen/runtime/search"
	"github.com/capgen/capgen/runtime/telemetry"
)

func TestMain(m *testing.M) {
	runtime.ServeWorkerAndExit()
	os.Exit(m.Run())
}

var eras = []string{"2026-07-28", "2025-11-25"}

// secret is a value; it stands in arguments, results and errors, and must be in
// nothing that is exported.
const secret = "hunter2"

// fixture is a server over HTTP whose spans, metrics and log a test reads.
type fixture struct {
	t         *testing.T
	telemetry *telemetry.Telemetry
	spans     *tracetest.SpanRecorder
	reader    *sdkmetric.ManualReader
	server    *mcp.Server
	url       string
	entered   chan struct{} // one for each call of notes.wait
	provider  *sdktrace.TracerProvider

	mu  sync.Mutex
	log bytes.Buffer
	bag string // the baggage that notes.read saw last
}

// Write takes the log.
func (f *fixture) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.Write(p)
}

func (f *fixture) logged() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.String()
}

func start(t *testing.T, public bool) *fixture {
	t.Helper()
	f := &fixture{t: t, spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader(), entered: make(chan struct{}, 10)}
	f.provider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(f.spans))
	var err error
	f.telemetry, err = telemetry.New(telemetry.Options{
		TracerProvider: f.provider,
		MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(f.reader)),
		PublicEndpoint: public,
	})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(f.telemetry.LogHandler(slog.NewTextHandler(f, nil)))
	built := f.build(log)
	web, err := mcphttp.New(mcphttp.Options{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	f.server, err = mcpserver.New(mcpserver.Options{
		Runtime: built, Subjects: authz.ContextSubject(), Logger: log,
		Middleware: append([]mcp.Middleware{f.telemetry.Middleware()}, web.Middleware()...),
		Execute:    []runtime.ExecuteOption{f.telemetry.ExecuteOption()},
	})
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(web.Handler(f.server))
	t.Cleanup(func() {
		for s := range f.server.Sessions() {
			_ = s.Close()
		}
		listening.Close()
	})
	f.url = listening.URL + mcphttp.DefaultPath
	return f
}

func (f *fixture) build(log *slog.Logger) *runtime.Server {
	f.t.Helper()
	b := runtime.NewBuilder(runtime.Options{
		Server: runtime.ServerInfo{Name: "notes", Version: "1"},
		Authorizer: authz.AuthorizerFunc(func(_ context.Context, r authz.Request) error {
			if r.Name == "notes.drop" {
				return fmt.Errorf("%w: not %s", authz.ErrDenied, r.Arguments)
			}
			return nil
		}),
		Logger: log, IdleWorkers: runtime.NoIdleWorkers,
	})
	b.Register(capability("notes.read", func(ctx context.Context, in input) (output, error) {
		f.mu.Lock()
		f.bag = baggage.FromContext(ctx).String()
		f.mu.Unlock()
		_, span := f.provider.Tracer("handler").Start(ctx, "query")
		span.End()
		return output{secret + in.Text}, nil
	}))
	b.Register(capability("notes.drop", func(context.Context, input) (output, error) { return output{}, nil }))
	b.Register(capability("notes.fail", func(_ context.Context, in input) (output, error) {
		if in.Text == "" {
			return output{}, errors.New("a secret " + secret)
		}
		return output{}, runtime.Disclose("not_found", "no note "+in.Text)
	}))
	b.Register(capability("notes.wait", func(ctx context.Context, _ input) (output, error) {
		f.entered <- struct{}{}
		<-ctx.Done()
		return output{}, ctx.Err()
	}))
	s, err := b.Build(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			f.t.Error(err)
		}
	})
	return s
}

// input and output are what the generator would emit.
type input struct{ Text string }

func (v *input) Decode(r *canon.Reader) error {
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		if string(r.Key()) != "text" {
			r.UnknownMember()
			continue
		}
		seen.Mark(r, 0)
		v.Text = r.String(0, 100)
	}
	return r.Err()
}

func (v *input) Encode(w *canon.Writer) {
	w.BeginObject(1)
	w.Key("text")
	w.String(v.Text, 0, 100)
	w.EndObject()
}

type output struct{ Text string }

func (v *output) Encode(w *canon.Writer) { w.String(v.Text, 0, 1000) }

// capability is a tool of its own, too.
func capability(name string, handle func(context.Context, input) (output, error)) runtime.Capability {
	summary := "Do something."
	return runtime.NewCapability(runtime.Info{
		Tool: &runtime.DirectTool{Name: strings.ReplaceAll(name, ".", "_"), Input: `{"type":"object"}`},
		ID:   "id." + name, Name: name, Summary: summary, Effect: runtime.EffectRead,
		Idempotency: runtime.IdempotencyNatural, World: runtime.WorldClosed, Signature: name + `(*, text: str = "")`,
		Search:  search.Analyze(search.Texts{Name: name, Summary: summary}),
		Binding: `{"id":"id.` + name + `","name":"` + name + `","input":[{"name":"text","kind":"string","maxLength":100,"default":"\"\""}],"output":{"kind":"string","maxLength":1000}}`,
		Input:   `{"text":{"maxLength":100}}`, Output: `"str"`,
	}, handle)
}

// connect is the SDK's client in one era.
func (f *fixture) connect(version string) *mcp.ClientSession {
	f.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
	transport := &mcp.StreamableClientTransport{Endpoint: f.url, MaxRetries: -1, DisableStandaloneSSE: true}
	s, err := client.Connect(f.t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = s.Close() })
	return s
}

func execute(ctx context.Context, s *mcp.ClientSession, source string, meta mcp.Meta) (text string, err error) {
	r, err := s.CallTool(ctx, &mcp.CallToolParams{Meta: meta, Name: "execute", Arguments: map[string]any{"source": source}})
	if err != nil {
		return "", err
	}
	return r.Content[0].(*mcp.TextContent).Text, nil
}

// ended waits for a span of that name that has ended.
func (f *fixture) ended(name string) sdktrace.ReadOnlySpan {
	f.t.Helper()
	for range 4000 {
		for _, s := range f.spans.Ended() {
			if s.Name() == name {
				return s
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	f.t.Fatalf("no span %s has ended, of %v", name, names(f.spans.Ended()))
	return nil
}

func names(spans []sdktrace.ReadOnlySpan) (all []string) {
	for _, s := range spans {
		all = append(all, s.Name())
	}
	return all
}

// below are the spans whose parent is p, in the order in which they ended.
func (f *fixture) below(p sdktrace.ReadOnlySpan) (all []sdktrace.ReadOnlySpan) {
	for _, s := range f.spans.Ended() {
		if s.Parent().SpanID() == p.SpanContext().SpanID() && s.SpanContext().TraceID() == p.SpanContext().TraceID() {
			all = append(all, s)
		}
	}
	return all
}

// attributes of a span as text, without those that differ from run to run.
func attributes(s sdktrace.ReadOnlySpan) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes() {
		if a.Key == "capgen.execution" || a.Key == "mcp.session.id" {
			continue
		}
		all[string(a.Key)] = a.Value.String()
	}
	if s.Status().Description != "" {
		all["status"] = s.Status().Description
	}
	all["kind"], all["code"] = s.SpanKind().String(), s.Status().Code.String()
	return all
}

func value(s sdktrace.ReadOnlySpan, key attribute.Key) string {
	for _, a := range s.Attributes() {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}

// silent fails where a value was exported.
func (f *fixture) silent() {
	f.t.Helper()
	for _, s := range f.spans.Ended() {
		text := fmt.Sprint(s.Name(), s.Attributes(), s.Events(), s.Status(), s.Links())
		if strings.Contains(text, secret) {
			f.t.Errorf("a value is in the span %s", text)
		}
	}
}
