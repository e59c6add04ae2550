package mcphttp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Calls that run are answered, what comes later is told that nothing ran, and
// streams that wait end last: clients give their calls up with them.
func TestDrain(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		f := start(t, Options{})
		s := f.connect(version, "")
		stream, err := net.Dial("tcp", f.address)
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		id, _ := f.initialize()
		open := "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: " + id + "\r\n\r\n"
		if _, err := stream.Write([]byte(open)); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stream)
		if !lines.Scan() || !strings.Contains(lines.Text(), "200") {
			t.Fatal(lines.Text())
		}
		idle := &http.Client{Transport: &http.Transport{}} // its connection is open before the drain begins
		status := func(path string) int {
			response, err := idle.Get("http://" + f.address + path)
			if err != nil {
				return 0
			}
			defer response.Body.Close()
			return response.StatusCode
		}
		if got := status("/readyz"); got != 200 {
			t.Fatal(got)
		}
		answered := make(chan string, 1)
		go func() { answered <- callText(t, s, "wait", nil) }()
		f.began()
		stopped := make(chan error, 1)
		go func() { stopped <- f.stop() }()
		soon(t, "draining", func() bool { return status("/readyz") == 503 })
		if got := status("/healthz"); got != 200 {
			t.Errorf("/healthz: %d", got)
		}
		a := f.send("POST", f.url, modernCall("who", "{}"), modernHeaders("tools/call", "who")...)
		if a.status != 503 || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "nothing ran") {
			t.Errorf("%d %s", a.status, a.body)
		}
		select {
		case err := <-stopped:
			t.Fatalf("%s: stopped with a call running: %v", version, err)
		default:
		}
		close(f.release)
		if got := <-answered; got != "waited" {
			t.Errorf("%s: %s", version, got)
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if err := f.ended(); err != nil {
			t.Errorf("%s: the call was cancelled: %v", version, err)
		}
		for lines.Scan() { // until the stream has ended
		}
	}
}

// What does not end in time is cancelled, and still answered.
func TestDrainDeadline(t *testing.T) {
	f := start(t, Options{Drain: 100 * time.Millisecond})
	s := f.connect("2025-11-25", "")
	failed := make(chan string, 1)
	go func() {
		_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "wait"})
		failed <- fmt.Sprint(err)
	}()
	f.began()
	if err := f.stop(); err != nil {
		t.Error(err)
	}
	if err := f.ended(); err != errEnded {
		t.Errorf("cancelled by %v", err)
	}
	if got := <-failed; !strings.Contains(got, errEnded.Error()) {
		t.Errorf("the client is told %q", got)
	}
}

// A handler that ignores its context does not keep the process.
func TestDrainLeavesWhatDoesNotReturn(t *testing.T) {
	t.Parallel()
	f := start(t, Options{Drain: 50 * time.Millisecond})
	block := make(chan struct{})
	defer close(block)
	f.mcp.AddTool(&mcp.Tool{Name: "deaf", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		f.entered <- struct{}{}
		<-block
		return &mcp.CallToolResult{}, nil
	})
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		s := f.connect(version, "")
		go func() { _, _ = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "deaf"}) }()
		f.began()
	}
	begin := time.Now()
	if err := f.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestMetrics(t *testing.T) {
	m := NewMetrics()
	f := start(t, Options{Metrics: m})
	answering(f, "tasks/get")
	answering(f, "other/get")
	callText(t, f.connect("2025-11-25", ""), "who", nil)
	for _, method := range []string{"tasks/get", "tasks/none", "other/get"} {
		f.send("POST", f.url, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"id":"a","_meta":`+modernMeta+`}}`, modernHeaders(method, "")...)
	}
	f.send("POST", f.url, modernCall("none", "{}"), modernHeaders("tools/call", "none")...)
	f.send("GET", f.url, "", "Host: evil.example")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- ServeMetrics(ctx, l, m, slog.New(slog.DiscardHandler)) }()
	a := f.send("GET", "http://"+l.Addr().String()+"/metrics", "")
	for _, line := range []string{
		`capgen_http_requests_total{status="200"} `, `capgen_http_requests_total{status="403"} 1`, `capgen_mcp_sessions 1`, "capgen_http_requests_in_flight ",
		`capgen_tool_calls_total{tool="who",outcome="ok"} 1`, `capgen_tool_calls_total{tool="",outcome="error"} 1`, `capgen_tool_call_duration_seconds_count{tool="who",outcome="ok"} 1`,
		`capgen_task_requests_total{method="tasks/get",outcome="ok"} 1`,
	} {
		if !strings.Contains(a.body, line) {
			t.Errorf("no %s in\n%s", line, a.body)
		}
	}
	if strings.Contains(a.body, "none") || strings.Contains(a.body, "other/get") {
		t.Errorf("a client made a series:\n%s", a.body)
	}
	for url, want := range map[string]int{"/": 404, "/mcp": 404, "/debug/pprof/": 404} {
		if a := f.send("GET", "http://"+l.Addr().String()+url, ""); a.status != want {
			t.Errorf("%s: %d", url, a.status)
		}
	}
	if a := f.send("GET", "http://"+l.Addr().String()+"/metrics", "", "Host: evil.example"); a.status != 403 {
		t.Errorf("by another name: %d", a.status)
	}
	if a := f.send("GET", "http://"+f.address+"/metrics", ""); a.status != 404 {
		t.Errorf("/metrics of the endpoint: %d", a.status)
	}
	stop()
	if err := <-result; err != nil {
		t.Error(err)
	}
}
