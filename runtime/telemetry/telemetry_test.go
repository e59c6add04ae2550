package telemetry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/capgen/capgen/runtime/telemetry"
)

const (
	traceID     = "4bf92f3577b34da6a3ce929d0e0e4736"
	parentID    = "00f067aa0ba902b7"
	traceparent = "00-" + traceID + "-" + parentID + "-01"
)

const threeCalls = `
def main():
    notes.read(text="` + secret + `")
    attempt(lambda: notes.drop(text="` + secret + `"))
    attempt(lambda: notes.fail(text="` + secret + `"))
    attempt(lambda: notes.read(txt="` + secret + `"))
    return "` + secret + `"
`

// The tree of an execution, in the trace that the client is in.
func TestSpansOfAnExecution(t *testing.T) {
	for _, era := range eras {
		f := start(t, false)
		meta := mcp.Meta{"traceparent": traceparent, "tracestate": "rojo=00f067aa0ba902b7", "baggage": "team=blue"}
		if got, err := execute(t.Context(), f.connect(era), threeCalls, meta); err != nil || got != `{"result":"`+secret+`"}` {
			t.Fatalf("%s: %s %v", era, got, err)
		}
		root := f.ended("tools/call execute")
		if p := root.Parent(); p.TraceID().String() != traceID || p.SpanID().String() != parentID || !p.IsRemote() || p.TraceState().Get("rojo") == "" {
			t.Errorf("%s: the parent is %v", era, p)
		}
		want := map[string]string{
			"kind": "server", "code": "Unset",
			"mcp.method.name": "tools/call", "mcp.protocol.version": era, "gen_ai.tool.name": "execute",
			"gen_ai.operation.name": "execute_tool", "network.transport": "tcp", "network.protocol.name": "http",
		}
		if diff := cmp.Diff(want, attributes(root)); diff != "" {
			t.Errorf("%s: attributes (-want +got):\n%s", era, diff)
		}
		if id := value(root, "mcp.session.id"); (id != "") != (era < "2026") {
			t.Errorf("%s: session %q", era, id)
		}
		calls := f.below(root)
		var got []map[string]string
		for _, c := range calls {
			a := attributes(c)
			a["name"] = c.Name()
			got = append(got, a)
			if value(c, "capgen.execution") == "" {
				t.Errorf("%s: %s does not know its execution", era, c.Name())
			}
		}
		call := func(sequence, name, decision, outcome string, more ...string) map[string]string {
			m := map[string]string{
				"name": "call " + name, "kind": "internal", "code": "Unset", "capgen.call.sequence": sequence,
				"capgen.capability.id": "id." + name, "capgen.capability.name": name,
				"capgen.call.decision": decision, "capgen.call.outcome": outcome,
			}
			for i := 0; i < len(more); i += 2 {
				m[more[i]], m["code"] = more[i+1], "Error"
			}
			return m
		}
		if diff := cmp.Diff([]map[string]string{
			call("1", "notes.read", "allowed", "done"),
			call("2", "notes.drop", "denied", "not_dispatched", "error.type", "permission_denied"),
			call("3", "notes.fail", "allowed", "failed", "error.type", "capability_failed", "capgen.error.code", "not_found"),
			call("4", "notes.read", "unbound", "not_dispatched", "error.type", "invalid_arguments"),
		}, got); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", era, diff)
		}
		if inner := f.below(calls[0]); len(inner) != 1 || inner[0].Name() != "query" {
			t.Errorf("%s: the handler's span is not below its call, which has %v", era, names(inner))
		}
		if f.bag != "team=blue" {
			t.Errorf("%s: the handler has the baggage %q", era, f.bag)
		}
		f.silent()
		if line := logLine(f.logged(), "tool call"); !strings.Contains(line, "trace_id="+traceID) ||
			!strings.Contains(line, "span_id="+root.SpanContext().SpanID().String()) {
			t.Errorf("%s: the log has no trace: %s", era, line)
		}
		if line := logLine(f.logged(), "call denied"); !strings.Contains(line, "span_id="+calls[1].SpanContext().SpanID().String()) {
			t.Errorf("%s: the log of the denial has not its span: %s", era, line)
		}
	}
}

// A tool that is a capability has the tree of a program with one call, in the
// trace of its client.
func TestSpansOfADirectTool(t *testing.T) {
	for _, era := range eras {
		f := start(t, false)
		s := f.connect(era)
		for _, c := range []struct{ name, arguments, decision, outcome, failure string }{
			{"notes.read", `{"text":"` + secret + `"}`, "allowed", "done", ""},
			{"notes.drop", `{"text":"` + secret + `"}`, "denied", "not_dispatched", "permission_denied"},
			{"notes.fail", `{"text":"` + secret + `"}`, "allowed", "failed", "capability_failed"},
			{"notes.wait", `{"txt":"` + secret + `"}`, "unbound", "not_dispatched", "invalid_arguments"},
		} {
			tool := strings.ReplaceAll(c.name, ".", "_")
			result, err := s.CallTool(t.Context(), &mcp.CallToolParams{
				Meta: mcp.Meta{"traceparent": traceparent}, Name: tool, Arguments: json.RawMessage(c.arguments),
			})
			if err != nil || result.IsError != (c.failure != "") {
				t.Fatalf("%s %s: %+v, %v", era, tool, result, err)
			}
			root := f.ended("tools/call " + tool)
			if p := root.Parent(); p.TraceID().String() != traceID || p.SpanID().String() != parentID || value(root, "gen_ai.tool.name") != tool {
				t.Errorf("%s: below %v: %v", era, p, attributes(root))
			}
			calls := f.below(root)
			if len(calls) != 1 || calls[0].Name() != "call "+c.name || value(calls[0], "capgen.execution") == "" {
				t.Fatalf("%s: %s has %v", era, tool, names(calls))
			}
			got := attributes(calls[0])
			if got["capgen.call.sequence"] != "1" || got["capgen.capability.id"] != "id."+c.name || got["capgen.call.decision"] != c.decision ||
				got["capgen.call.outcome"] != c.outcome || got["error.type"] != c.failure {
				t.Errorf("%s: %v", era, got)
			}
			if c.outcome == "done" {
				if inner := f.below(calls[0]); len(inner) != 1 || inner[0].Name() != "query" {
					t.Errorf("%s: below the call is %v", era, names(inner))
				}
			}
		}
		f.silent()
	}
}

func logLine(log, message string) string {
	for line := range strings.Lines(log) {
		if strings.Contains(line, `msg="`+message+`"`) {
			return line
		}
	}
	return ""
}

// What fails says so, in the words of the conventions, and no more.
func TestFailures(t *testing.T) {
	for _, era := range eras {
		f := start(t, false)
		s := f.connect(era)
		if _, err := execute(t.Context(), s, `notes.fail()`, nil); err != nil {
			t.Fatal(err)
		}
		root := f.ended("tools/call execute")
		if got := attributes(root); got["error.type"] != "tool_error" || got["code"] != "Error" || got["status"] != "" {
			t.Errorf("%s: a program that fails: %v", era, got)
		}
		if call := f.below(root)[0]; value(call, "error.type") != "capability_failed" || value(call, "capgen.error.code") != "" {
			t.Errorf("%s: its call: %v", era, attributes(call))
		}
		if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "no_tool"}); err == nil {
			t.Error("a tool that is not there was called")
		}
		root = f.ended("tools/call")
		if got := attributes(root); got["error.type"] != "-32602" || got["rpc.response.status_code"] != "-32602" || got["gen_ai.tool.name"] != "no_tool" || got["status"] != "" {
			t.Errorf("%s: a tool that is not there: %v", era, got)
		}
		f.silent()
	}
}

// A call that the client gives up ends its span, and that of the request.
func TestCancelled(t *testing.T) {
	for _, era := range eras {
		f := start(t, false)
		s := f.connect(era)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := execute(ctx, s, `notes.wait()`, nil)
			failed <- err
		}()
		<-f.entered
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", era, err)
		}
		root, call := f.ended("tools/call execute"), f.ended("call notes.wait")
		if got := attributes(root); got["error.type"] != "tool_error" {
			t.Errorf("%s: the request: %v", era, got)
		}
		if got := attributes(call); got["error.type"] != "cancelled" || got["capgen.call.decision"] != "allowed" || got["code"] != "Error" {
			t.Errorf("%s: the call: %v", era, got)
		}
		if call.Parent().SpanID() != root.SpanContext().SpanID() {
			t.Errorf("%s: the call is not below its request", era)
		}
	}
}

// Whatever a client writes into _meta, its call runs, and nothing of what does
// not parse arrives.
func TestHostileContext(t *testing.T) {
	f := start(t, false)
	s := f.connect("2026-07-28")
	long := strings.Repeat("a", 10_000)
	members := "a=1"
	for i := range 64 {
		members += fmt.Sprintf(",k%d=1", i)
	}
	for name, tt := range map[string]struct {
		meta   mcp.Meta
		joined bool // the trace of traceparent
		state  string
		bag    string
	}{
		"good":                    {mcp.Meta{"traceparent": traceparent}, true, "", ""},
		"of a later version":      {mcp.Meta{"traceparent": "01" + traceparent[2:] + "-more"}, true, "", ""},
		"no text":                 {mcp.Meta{"traceparent": 7}, false, "", ""},
		"a list":                  {mcp.Meta{"traceparent": []string{traceparent}}, false, "", ""},
		"an object":               {mcp.Meta{"traceparent": map[string]any{"a": 1}}, false, "", ""},
		"null":                    {mcp.Meta{"traceparent": nil}, false, "", ""},
		"empty":                   {mcp.Meta{"traceparent": ""}, false, "", ""},
		"zero trace":              {mcp.Meta{"traceparent": "00-" + strings.Repeat("0", 32) + "-" + parentID + "-01"}, false, "", ""},
		"zero span":               {mcp.Meta{"traceparent": "00-" + traceID + "-" + strings.Repeat("0", 16) + "-01"}, false, "", ""},
		"upper case":              {mcp.Meta{"traceparent": strings.ToUpper(traceparent)}, false, "", ""},
		"version ff":              {mcp.Meta{"traceparent": "ff" + traceparent[2:]}, false, "", ""},
		"more of version 00":      {mcp.Meta{"traceparent": traceparent + "-more"}, false, "", ""},
		"a line":                  {mcp.Meta{"traceparent": traceparent + "\n"}, false, "", ""},
		"too long":                {mcp.Meta{"traceparent": "01" + traceparent[2:] + "-" + long}, false, "", ""},
		"long":                    {mcp.Meta{"traceparent": long}, false, "", ""},
		"state":                   {mcp.Meta{"traceparent": traceparent, "tracestate": "a=1,b=2"}, true, "a=1,b=2", ""},
		"state without parent":    {mcp.Meta{"tracestate": "a=1"}, false, "", ""},
		"bad state":               {mcp.Meta{"traceparent": traceparent, "tracestate": "\x00=1,,="}, true, "", ""},
		"long state":              {mcp.Meta{"traceparent": traceparent, "tracestate": "a=" + long}, true, "", ""},
		"state is no text":        {mcp.Meta{"traceparent": traceparent, "tracestate": 1.5}, true, "", ""},
		"baggage alone":           {mcp.Meta{"baggage": "a=b"}, false, "", "a=b"},
		"bad baggage":             {mcp.Meta{"traceparent": traceparent, "baggage": "a=b,;;=,\x00"}, true, "", ""},
		"long baggage":            {mcp.Meta{"baggage": "a=" + long}, false, "", ""},
		"much baggage":            {mcp.Meta{"baggage": members}, false, "", ""},
		"baggage is no text":      {mcp.Meta{"baggage": true}, false, "", ""},
		"other names are nothing": {mcp.Meta{"Traceparent": traceparent, "b3": traceID}, false, "", ""},
	} {
		f.spans.Reset()
		f.bag = "?"
		if got, err := execute(t.Context(), s, `len(notes.read())`, tt.meta); err != nil || got != `{"result":7}` {
			t.Errorf("%s: %s %v", name, got, err)
			continue
		}
		root := f.ended("tools/call execute")
		if joined := root.SpanContext().TraceID().String() == traceID; joined != tt.joined {
			t.Errorf("%s: in the client's trace: %v, want %v", name, joined, tt.joined)
		}
		if got := root.SpanContext().TraceState().String(); got != tt.state {
			t.Errorf("%s: trace state %q, want %q", name, got, tt.state)
		}
		if f.bag != tt.bag {
			t.Errorf("%s: baggage %q, want %q", name, f.bag, tt.bag)
		}
	}
	if log := f.logged(); strings.Contains(log, "level=WARN") || strings.Contains(log, "level=ERROR") {
		t.Errorf("the log is not silent: %s", log)
	}
}

// Where nobody vouches for clients, their traces are linked, and not joined.
func TestPublicEndpoint(t *testing.T) {
	f := start(t, true)
	s := f.connect("2026-07-28")
	if _, err := execute(t.Context(), s, `notes.read()`, mcp.Meta{"traceparent": traceparent, "baggage": "a=b"}); err != nil {
		t.Fatal(err)
	}
	root := f.ended("tools/call execute")
	if root.Parent().IsValid() || root.SpanContext().TraceID().String() == traceID {
		t.Errorf("the client is the parent: %v", root.Parent())
	}
	if links := root.Links(); len(links) != 1 || links[0].SpanContext.TraceID().String() != traceID {
		t.Errorf("links: %v", links)
	}
	if f.bag != "" {
		t.Errorf("baggage %q of a client", f.bag)
	}
}

// Each request has a span, other ones than calls of tools too.
func TestEachRequestHasASpan(t *testing.T) {
	for era, want := range map[string][]string{
		"2025-11-25": {"initialize", "notifications/initialized", "ping", "tools/list", "tools/call search_api"},
		"2026-07-28": {"server/discover", "tools/list", "tools/call search_api"},
	} {
		f := start(t, false)
		s := f.connect(era)
		if era < "2026" {
			if err := s.Ping(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_api", Arguments: map[string]any{"query": secret}}); err != nil {
			t.Fatal(err)
		}
		for _, name := range want {
			if span := f.ended(name); span.SpanKind().String() != "server" || value(span, "mcp.method.name") == "" {
				t.Errorf("%s: %s is %v", era, name, attributes(span))
			}
		}
		f.silent()
	}
}

// A message without params has no _meta.
func TestMessageWithoutParams(t *testing.T) {
	f := start(t, false)
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	session := ""
	for _, body := range []string{initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":2,"method":"ping","params":null}`} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", f.url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode > 299 {
			t.Errorf("%s: %s", body, answer.Status)
		}
		if session == "" {
			session = answer.Header.Get("Mcp-Session-Id")
		}
	}
	for _, name := range []string{"initialize", "notifications/initialized", "ping"} {
		if span := f.ended(name); value(span, "error.type") != "" {
			t.Errorf("%s: %v", name, attributes(span))
		}
	}
	if strings.Contains(f.logged(), "panic") {
		t.Error(f.logged())
	}
}

// Over pipes there is no HTTP to speak of.
func TestOverAPipe(t *testing.T) {
	f := start(t, false)
	// The subject of a request comes from HTTP here, so that tools fail; lists do not.
	near, far := mcp.NewInMemoryTransports()
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	server.AddReceivingMiddleware(f.telemetry.Middleware())
	running, err := server.Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.ListResources(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	got := attributes(f.ended("resources/list"))
	if got["network.transport"] != "pipe" || got["network.protocol.name"] != "" || got["mcp.protocol.version"] == "" {
		t.Errorf("%v", got)
	}
}

// A panic behind the middleware ends the span too.
func TestPanicEndsTheSpan(t *testing.T) {
	f := start(t, false)
	f.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (result mcp.Result, err error) {
			defer func() { _ = recover() }()
			return f.telemetry.Middleware()(func(context.Context, string, mcp.Request) (mcp.Result, error) { panic(secret) })(ctx, method, r)
		}
	})
	client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
	_, _ = client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: f.url, MaxRetries: -1}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if got := attributes(f.ended("initialize")); got["error.type"] != "-32603" || got["code"] != "Error" {
		t.Errorf("%v", got)
	}
	f.silent()
}

// The histogram of the conventions, by what cannot grow without end.
func TestDuration(t *testing.T) {
	f := start(t, false)
	s := f.connect("2026-07-28")
	for range 2 {
		if _, err := execute(t.Context(), s, `1`, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := execute(t.Context(), s, `1 / 0`, nil); err != nil {
		t.Fatal(err)
	}
	_, _ = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "made_up"})
	for range 3 {
		f.ended("tools/call")
	}
	var all metricdata.ResourceMetrics
	if err := f.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	m := all.ScopeMetrics[0].Metrics[0]
	if m.Name != "mcp.server.operation.duration" || m.Unit != "s" {
		t.Errorf("%s in %s", m.Name, m.Unit)
	}
	got := map[string]uint64{}
	for _, p := range m.Data.(metricdata.Histogram[float64]).DataPoints {
		var labels []string
		for _, a := range p.Attributes.ToSlice() {
			if a.Key == "mcp.method.name" && a.Value.AsString() != "tools/call" {
				labels = nil
				break
			}
			labels = append(labels, string(a.Key)+"="+a.Value.String())
		}
		if labels != nil && p.Sum > 0 {
			got[strings.Join(labels, " ")] += p.Count
		}
	}
	const common = "mcp.method.name=tools/call network.protocol.name=http network.transport=tcp"
	if diff := cmp.Diff(map[string]uint64{
		"gen_ai.operation.name=execute_tool gen_ai.tool.name=execute " + common:                               2,
		"error.type=tool_error gen_ai.operation.name=execute_tool gen_ai.tool.name=execute " + common:         1,
		"error.type=-32602 gen_ai.operation.name=execute_tool " + common + " rpc.response.status_code=-32602": 1,
	}, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := telemetry.New(telemetry.Options{}); err == nil {
		t.Error("without a provider")
	}
	called := errors.New("called")
	one, err := telemetry.New(telemetry.Options{TracerProvider: sdktrace.NewTracerProvider(), Shutdown: func(context.Context) error { return called }})
	if err != nil || !errors.Is(one.Shutdown(t.Context()), called) {
		t.Errorf("Shutdown is not called: %v", err)
	}
}
