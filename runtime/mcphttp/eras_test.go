package mcphttp

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var eras = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"}

func TestBothErasOnOneEndpoint(t *testing.T) {
	f := start(t, Options{})
	for _, version := range eras {
		s := f.connect(version, "")
		if got := s.InitializeResult().ProtocolVersion; got != version {
			t.Errorf("negotiated %s, want %s", got, version)
		}
		tools, err := s.ListTools(t.Context(), nil)
		if err != nil || len(tools.Tools) != 3 {
			t.Errorf("%s: %v, %v", version, tools, err)
		}
		if got := callText(t, s, "who", nil); got != "development " {
			t.Errorf("%s: called by %q", version, got)
		}
	}
}

// In the current era the end of a request cancels it; before, a notification
// does. Either way nothing of the call goes on.
func TestCancelReachesTheCall(t *testing.T) {
	t.Parallel()
	f := start(t, Options{})
	for _, version := range eras {
		s := f.connect(version, "")
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "wait"})
			failed <- err
		}()
		f.began()
		cancel()
		if err := f.ended(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the call ends with %v", version, err)
		}
		if err := <-failed; err == nil {
			t.Errorf("%s: no error for the client", version)
		}
	}
}

// Nothing tells a server of a client that has gone but its connection: in the
// current era that ends the call, before it does not.
func TestClientGoneInTheMiddleOfACall(t *testing.T) {
	f := start(t, Options{})
	c, err := net.Dial("tcp", f.address)
	if err != nil {
		t.Fatal(err)
	}
	body := modernCall("wait", "{}")
	r, err := http.NewRequest("POST", f.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	for _, h := range modernHeaders("tools/call", "wait") {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	if err := r.Write(c); err != nil {
		t.Fatal(err)
	}
	f.began()
	c.Close()
	if err := f.ended(); !errors.Is(err, context.Canceled) {
		t.Errorf("without its client the call ends with %v", err)
	}
	soon(t, "no answer is owed", func() bool { return f.server.owed.Load() == 0 })
}

// What the headers of the current era say must be what the body says, for
// whoever routes by the headers (MCP specification, Streamable HTTP).
func TestHeadersAndBodyOfTheCurrentEraAgree(t *testing.T) {
	f := start(t, Options{})
	call := modernCall("who", "{}")
	if a := f.send("POST", f.url, call, modernHeaders("tools/call", "who")...); a.status != 200 || !strings.Contains(a.body, "development") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	old := strings.ReplaceAll(call, "2026-07-28", "2025-11-25")
	for name, tt := range map[string]struct {
		body    string
		headers []string
	}{
		"other tool":         {call, modernHeaders("tools/call", "wait")},
		"other method":       {call, modernHeaders("tools/list", "who")},
		"no tool":            {call, modernHeaders("tools/call", "")},
		"no method":          {call, []string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Name: who"}},
		"older body":         {old, modernHeaders("tools/call", "who")},
		"no version in body": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who"}}`, modernHeaders("tools/call", "who")},
		"no version header":  {call, []string{"Mcp-Method: tools/call", "Mcp-Name: who"}},
		"older header":       {call, []string{"Mcp-Protocol-Version: 2025-11-25", "Mcp-Method: tools/call", "Mcp-Name: who"}},
		"unknown version":    {call, []string{"Mcp-Protocol-Version: 2099-01-01", "Mcp-Method: tools/call", "Mcp-Name: who"}},
		"batch":              {"[" + call + "]", modernHeaders("tools/call", "who")},
	} {
		a := f.send("POST", f.url, tt.body, tt.headers...)
		if a.status != 400 || strings.Contains(a.body, "development") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

// A stream that waits for news ends when its session does.
func TestStreamOfASession(t *testing.T) {
	f := start(t, Options{})
	id, _ := f.initialize()
	r, err := http.NewRequestWithContext(t.Context(), "GET", f.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", id)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	if !lines.Scan() || response.StatusCode != 200 {
		t.Fatalf("%d %q", response.StatusCode, lines.Text())
	}
	if a := f.send("DELETE", f.url, "", "Mcp-Session-Id: "+id); a.status != 204 {
		t.Errorf("DELETE: %d", a.status)
	}
	for lines.Scan() {
	}
	if a := f.send("DELETE", f.url, "", "Mcp-Session-Id: "+id); a.status != 404 {
		t.Errorf("a second DELETE: %d", a.status)
	}
	soon(t, "no session", func() bool { return f.server.sessions.count() == 0 })
}
