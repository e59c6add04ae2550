package mcphttp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
)

func TestLimitsAreChecked(t *testing.T) {
	if _, err := New(Options{Limits: Limits{MaxSessions: -1, BodyTimeout: -1}}); err == nil || !strings.Contains(err.Error(), "MaxSessions") || !strings.Contains(err.Error(), "BodyTimeout") {
		t.Errorf("%v", err)
	}
	for _, o := range []Options{{Drain: -1}, {Scopes: []string{`a"b`}}, {ResourceMetadata: "https://x/\r\nA: b"}, {Public: map[string]http.Handler{"/mcp": nil}}, {Public: map[string]http.Handler{"x": nil}}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

func TestBodiesAreBounded(t *testing.T) {
	f := start(t, Options{Limits: Limits{MaxMessageBytes: 10_000, MaxMessageDepth: 50}})
	deep := func(n int) string {
		return `{"a":` + strings.Repeat(`[{"b":`, n) + `"]}"` + strings.Repeat("}]", n) + "}"
	}
	for name, tt := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"fits":               {modernCall("who", `{"a":"`+strings.Repeat("x", 9000)+`"}`), 200, "development"},
		"too large":          {modernCall("who", `{"a":"`+strings.Repeat("x", 10_000)+`"}`), 413, "MaxMessageBytes"},
		"nested":             {modernCall("who", deep(20)), 200, "development"},
		"nested deeper":      {modernCall("who", deep(30)), 400, "MaxMessageDepth"},
		"open brackets":      {strings.Repeat("[", 9000), 400, "MaxMessageDepth"},
		"text with brackets": {modernCall("who", `{"a":"\"`+strings.Repeat("[", 1000)+`\\"}`), 200, "development"},
		"no JSON":            {"hello", 400, "-32700"},
		"cut":                {modernCall("who", "{}")[:80], 400, "-32700"},
		"two messages":       {modernCall("who", "{}") + modernCall("who", "{}"), 400, "-32700"},
		"empty":              {"", 400, "-32700"},
		"no message":         {"{}", 400, ""},
	} {
		a := f.send("POST", f.url, tt.body, modernHeaders("tools/call", "who")...)
		if a.status != tt.status || !strings.Contains(a.body, tt.says) {
			t.Errorf("%s: %d %.300s", name, a.status, a.body)
		}
	}
}

// A client may send its body as slowly as it likes, but not for ever.
func TestSlowBodyIsCut(t *testing.T) {
	t.Parallel()
	f := start(t, Options{Limits: Limits{BodyTimeout: 300 * time.Millisecond}, Verifier: subjectsByToken{"good": person("ann")}})
	for _, token := range []string{"good", "bad"} { // who may not ask may not keep a connection either
		c, err := net.Dial("tcp", f.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 1000\r\n\r\n{", token)
		if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]int{"good": 408, "bad": 401}[token]; response.StatusCode != want {
			t.Errorf("%s: %d, want %d", token, response.StatusCode, want)
		}
		if _, err := io.Copy(io.Discard, c); err != nil {
			t.Errorf("%s: the connection stays: %v", token, err)
		}
	}
	soon(t, "no answer is owed", func() bool { return f.server.owed.Load() == 0 })
}

// The deadline of a body must not end a call that takes longer.
func TestCallMayTakeLongerThanItsBody(t *testing.T) {
	t.Parallel()
	f := start(t, Options{Limits: Limits{BodyTimeout: 50 * time.Millisecond, WriteTimeout: 50 * time.Millisecond}})
	for _, version := range eras {
		s := f.connect(version, "")
		go func() {
			f.began()
			time.Sleep(300 * time.Millisecond)
			f.release <- struct{}{}
		}()
		if got := callText(t, s, "wait", nil); got != "waited" {
			t.Errorf("%s: %s", version, got)
		}
		_ = f.ended()
	}
}

// A client that does not read its answer loses the connection, and nothing
// waits for it any longer.
func TestSlowReaderIsCut(t *testing.T) {
	t.Parallel()
	f := start(t, Options{Limits: Limits{WriteTimeout: 300 * time.Millisecond}})
	id, _ := f.initialize()
	for version, tt := range map[string]struct {
		body    string
		headers []string
	}{
		"2026-07-28": {modernCall("large", "{}"), modernHeaders("tools/call", "large")},
		"2025-11-25": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"large","arguments":{}}}`, []string{"Mcp-Session-Id: " + id, "Mcp-Protocol-Version: 2025-11-25"}},
	} {
		c, err := net.Dial("tcp", f.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n%s\r\nContent-Length: %d\r\n\r\n%s",
			strings.Join(tt.headers, "\r\n"), len(tt.body), tt.body)
		soon(t, "the call begins", func() bool { return f.server.owed.Load() == 1 })
		soon(t, "no answer is owed", func() bool { return f.server.owed.Load() == 0 })
		if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if n, _ := io.Copy(io.Discard, c); n >= largeText {
			t.Errorf("%s: the whole answer was written: %d bytes", version, n)
		}
		// One that reads gets all of it.
		if got := callText(t, f.connect(version, ""), "large", nil); len(got) != largeText {
			t.Errorf("%s: %d bytes", version, len(got))
		}
	}
}

func TestSessionsAreBounded(t *testing.T) {
	f := start(t, Options{
		Limits:   Limits{MaxSessions: 5, MaxSessionsPerSubject: 3},
		Verifier: subjectsByToken{"ann": person("ann"), "bob": person("bob"), "shared": authz.Demo()},
	})
	open := func(token string) (string, answer) { return f.initialize("Authorization: Bearer " + token) }
	var ids []string
	for range 3 {
		id, a := open("ann")
		if id == "" {
			t.Fatalf("%d %s", a.status, a.body)
		}
		ids = append(ids, id)
	}
	if id, a := open("ann"); id != "" && !strings.Contains(a.body, "MaxSessionsPerSubject") {
		t.Errorf("a fourth session: %d %s", a.status, a.body)
	}
	for range 2 {
		if _, a := open("bob"); strings.Contains(a.body, "error") {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	if _, a := open("shared"); !strings.Contains(a.body, "MaxSessions") || strings.Contains(a.body, "MaxSessionsPerSubject") {
		t.Errorf("a sixth session: %d %s", a.status, a.body)
	}
	// A place comes back with the end of a session, and never without.
	if n := f.server.sessions.count(); n != 5 {
		t.Errorf("%d sessions", n)
	}
	f.send("DELETE", f.url, "", "Mcp-Session-Id: "+ids[0], "Authorization: Bearer ann")
	soon(t, "one place", func() bool { return f.server.sessions.count() == 4 })
	if _, a := open("ann"); strings.Contains(a.body, "error") {
		t.Errorf("%d %s", a.status, a.body)
	}
	// A request that opens none takes no place.
	if a := f.send("POST", f.url, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Authorization: Bearer bob"); a.status == 200 && !strings.Contains(a.body, "error") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if n := f.server.sessions.count(); n != 5 {
		t.Errorf("%d sessions", n)
	}
}

func TestIdleSessionsEnd(t *testing.T) {
	t.Parallel()
	f := start(t, Options{Limits: Limits{MaxSessions: 2, SessionTimeout: 200 * time.Millisecond}})
	for range 3 {
		for range 2 {
			if id, a := f.initialize(); id == "" {
				t.Fatalf("%d %s", a.status, a.body)
			}
		}
		soon(t, "idle sessions end", func() bool { return f.server.sessions.count() == 0 })
	}
}

func TestRequestsAreBounded(t *testing.T) {
	f := start(t, Options{Limits: Limits{MaxRequests: 2}})
	s := f.connect("2026-07-28", "")
	done := make(chan string, 2)
	soon(t, "no request", func() bool { return len(f.server.requests) == 0 })
	for range 2 {
		go func() { done <- callText(t, s, "wait", nil) }()
		f.began()
	}
	a := f.send("POST", f.url, modernCall("who", "{}"), modernHeaders("tools/call", "who")...)
	if a.status != 503 || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "MaxRequests") {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	close(f.release)
	<-done
	<-done
	soon(t, "a place", func() bool { return len(f.server.requests) == 0 })
	if a := f.send("POST", f.url, modernCall("who", "{}"), modernHeaders("tools/call", "who")...); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// Large bodies of all clients together are bounded, small ones are answered
// beside them, and what would stay in memory for long is never large.
func TestLargeBodiesAreBoundedTogether(t *testing.T) {
	f := start(t, Options{Limits: Limits{MaxLargeBytes: 100_000}})
	pad := strings.Repeat("x", 130_000)
	large := func(tool string) answer {
		return f.send("POST", f.url, modernCall(tool, `{"a":"`+pad+`"}`), modernHeaders("tools/call", tool)...)
	}
	done := make(chan answer, 1)
	go func() { done <- large("wait") }()
	f.began()
	if a := large("who"); a.status != 503 || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "MaxLargeBytes") {
		t.Errorf("beside a large one: %d %.300s", a.status, a.body)
	}
	if a := f.send("POST", f.url, modernCall("who", "{}"), modernHeaders("tools/call", "who")...); a.status != 200 {
		t.Errorf("a small one: %d %s", a.status, a.body)
	}
	close(f.release)
	if a := <-done; a.status != 200 {
		t.Errorf("the large one: %d %.300s", a.status, a.body)
	}
	soon(t, "nothing held", func() bool { return f.server.held.Load() == 0 })
	if a := large("who"); a.status != 200 {
		t.Errorf("afterwards: %d %.300s", a.status, a.body)
	}
	id, _ := f.initialize()
	begin := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"` + pad + `","version":"1"}}}`
	listen := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"a":"` + pad + `","_meta":` + modernMeta + `}}`
	if a := f.send("POST", f.url, begin); a.status != 413 || !strings.Contains(a.body, "65536") {
		t.Errorf("a session: %d %.300s", a.status, a.body)
	}
	if a := f.send("POST", f.url, begin, "Mcp-Session-Id: "+id); strings.Contains(a.body, `"result"`) {
		t.Errorf("a session begins again: %d %.300s", a.status, a.body)
	}
	f.send("DELETE", f.url, "", "Mcp-Session-Id: "+id, "Mcp-Protocol-Version: 2025-11-25")
	if a := f.send("POST", f.url, listen, modernHeaders("subscriptions/listen", "")...); a.status != 413 || !strings.Contains(a.body, "65536") {
		t.Errorf("a stream: %d %.300s", a.status, a.body)
	}
	soon(t, "nothing held", func() bool { return f.server.held.Load() == 0 })
}

// A header that promises to wait for news takes nobody past the bound: not a
// call of an older era, where nobody looks at it, and not a body that is still
// to come.
func TestNobodyPassesAsAStream(t *testing.T) {
	f := start(t, Options{Limits: Limits{MaxRequests: 1}})
	id, _ := f.initialize()
	const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait","arguments":{}}}`
	listens := []string{"Mcp-Method: subscriptions/listen"}
	older := append(listens, "Mcp-Session-Id: "+id, "Mcp-Protocol-Version: 2025-11-25")
	current := append(listens, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Name: wait")
	soon(t, "no request", func() bool { return len(f.server.requests) == 0 })
	full := func(what string) {
		t.Helper()
		for _, headers := range [][]string{older, current} {
			if a := f.send("POST", f.url, call, headers...); a.status != 503 || !strings.Contains(a.body, "MaxRequests") {
				t.Errorf("beside %s: %d %s", what, a.status, a.body)
			}
		}
	}
	done := make(chan answer, 1)
	go func() { done <- f.send("POST", f.url, call, older...) }()
	f.began()
	if n := f.server.owed.Load(); n != 1 {
		t.Errorf("%d answers are owed", n)
	}
	full("a call")
	close(f.release)
	if a := <-done; a.status != 200 || !strings.Contains(a.body, "waited") {
		t.Errorf("%d %s", a.status, a.body)
	}
	c, err := net.Dial("tcp", f.address)
	if err != nil {
		t.Fatal(err)
	}
	soon(t, "a place", func() bool { return len(f.server.requests) == 0 })
	fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n%s\r\nContent-Length: 1000\r\n\r\n{", strings.Join(current, "\r\n"))
	soon(t, "the body is read", func() bool { return len(f.server.requests) == 1 })
	full("a body")
	c.Close()
	soon(t, "a place", func() bool { return len(f.server.requests) == 0 && f.server.owed.Load() == 0 })
	// What does wait for news holds no place meanwhile.
	stream, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(stream, "POST", f.url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":`+modernMeta+`}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", "subscriptions/listen")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		t.Error(response.Status)
	}
	soon(t, "a session and a stream, and no request", func() bool { return f.server.sessions.count() == 2 && len(f.server.requests) == 0 })
}

// What is beyond MaxConnections waits, and nobody is cut for it.
func TestConnectionsAreBounded(t *testing.T) {
	f := start(t, Options{Limits: Limits{MaxConnections: 2}})
	dial := func() net.Conn {
		c, err := net.Dial("tcp", f.address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		return c
	}
	answered := func(c net.Conn) {
		t.Helper()
		if response, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || response.StatusCode != 200 {
			t.Fatalf("%v, %v", response, err)
		}
	}
	first, second := dial(), dial()
	defer second.Close()
	answered(first)
	answered(second)
	third := dial()
	defer third.Close()
	if err := third.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := third.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("a third connection is answered: %d bytes, %v", n, err)
	}
	first.Close()
	if err := third.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	answered(third)
}
