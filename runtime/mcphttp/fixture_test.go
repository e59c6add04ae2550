package mcphttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
)

// fixture is a running server with tools that a test looks into.
type fixture struct {
	t       *testing.T
	url     string
	address string
	server  *Server
	mcp     *mcp.Server
	log     *bytes.Buffer
	entered chan struct{} // one for each call of wait that has begun
	left    chan error    // one for each that has ended: why
	release chan struct{} // closed, it ends waiting
	stop    func() error  // ends serving, returns what Serve did
}

// largeText is more than the buffers between a server and a client hold.
const largeText = 16 << 20

// start serves o on a loopback address.
func start(t *testing.T, o Options) *fixture {
	t.Helper()
	var mu sync.Mutex
	f := &fixture{t: t, log: new(bytes.Buffer), entered: make(chan struct{}, 100), left: make(chan error, 100), release: make(chan struct{})}
	o.Logger = slog.New(slog.NewTextHandler(&locked{mu: &mu, w: f.log}, nil))
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	f.server = s
	f.mcp = mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "1"}, &mcp.ServerOptions{
		Logger: slog.New(slog.DiscardHandler), Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}}, // so that there is news to wait for
	})
	f.tools()
	f.mcp.AddReceivingMiddleware(s.Middleware()...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.address = l.Addr().String()
	f.url = "http://" + f.address + s.path
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- s.Serve(ctx, l, f.mcp) }()
	f.stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-result:
			return err
		case <-time.After(30 * time.Second):
			return errors.New("Serve does not return")
		}
	})
	t.Cleanup(func() {
		if err := f.stop(); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if t.Failed() {
			t.Log(f.log.String())
		}
	})
	return f
}

// locked is a writer for many goroutines.
type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func (f *fixture) tools() {
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	add := func(name string, handle func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error)) {
		f.mcp.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, handle)
	}
	add("who", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		subject, _ := authz.SubjectFromContext(ctx)
		return text(subject.String() + " " + r.Extra.Header.Get("Authorization")), nil
	})
	add("wait", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		f.entered <- struct{}{}
		var err error
		select {
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-f.release:
		}
		f.left <- err
		return text("waited"), err
	})
	add("large", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(strings.Repeat("x", largeText)), nil
	})
}

// began waits until a call of wait, or of another such tool, runs.
func (f *fixture) began() {
	f.t.Helper()
	select {
	case <-f.entered:
	case <-time.After(20 * time.Second):
		f.t.Error("the call does not begin")
	}
}

// ended waits until one has ended, and returns why.
func (f *fixture) ended() error {
	f.t.Helper()
	select {
	case err := <-f.left:
		return err
	case <-time.After(20 * time.Second):
		return errors.New("the call does not end")
	}
}

// connect is the SDK's client in one era.
func (f *fixture) connect(version, token string) *mcp.ClientSession {
	f.t.Helper()
	s, err := f.dial(version, token)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { s.Close() })
	return s
}

func (f *fixture) dial(version, token string) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	transport := &mcp.StreamableClientTransport{Endpoint: f.url, HTTPClient: &http.Client{Transport: bearing{token}}, MaxRetries: -1}
	return client.Connect(f.t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
}

// bearing adds a token to each request.
type bearing struct{ token string }

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func callText(t *testing.T, s *mcp.ClientSession, tool string, arguments any) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Error(err)
		return ""
	}
	return r.Content[0].(*mcp.TextContent).Text
}

// answer is what a test looks at of a response.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends one request as a test wrote it; headers are "Name: value".
func (f *fixture) send(method, url, body string, headers ...string) answer {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Add(name, value)
		}
	}
	r.Close = true // each request has a connection of its own
	response, err := new(http.Transport).RoundTrip(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

// initialize opens a session of the older era and returns its id.
func (f *fixture) initialize(headers ...string) (id string, a answer) {
	f.t.Helper()
	a = f.send("POST", f.url, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, headers...)
	return a.header.Get("Mcp-Session-Id"), a
}

// modernHeaders are those of a call of the current era.
func modernHeaders(method, name string) []string {
	h := []string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}
	if name != "" {
		h = append(h, "Mcp-Name: "+name)
	}
	return h
}

// modernCall is the body of one.
func modernCall(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":%s}}`, tool, arguments, modernMeta)
}

const modernMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// subjectsByToken verifies tokens of a table.
type subjectsByToken map[string]authz.Subject

func (v subjectsByToken) Verify(_ context.Context, token string) (authz.Subject, error) {
	switch subject, ok := v[token]; {
	case token == "panic":
		panic("a secret of the verifier")
	case token == "broken":
		return authz.Subject{}, errors.New("a secret of the verifier")
	case !ok:
		return authz.Subject{}, fmt.Errorf("%w: a secret of the verifier", authz.ErrUnauthenticated)
	default:
		return subject, nil
	}
}

func person(name string) authz.Subject {
	return authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: name, Scopes: authz.ScopesOf("records:read")}
}

// soon waits for something that is about to be so.
func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 2000 {
		if is() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}
