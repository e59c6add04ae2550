package bearer

import (
	"context"
	"crypto"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/mcphttp"
)

// logged is what a server under test has logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// serve runs an MCP server behind v, with a tool that tells who calls and what
// it sees of the request's credentials.
func serve(t *testing.T, v *Verifier, scopes ...string) (endpoint string, log *logged) {
	t.Helper()
	log = new(logged)
	public, err := url.Parse(resource)
	if err != nil {
		t.Fatal(err)
	}
	h, err := mcphttp.New(mcphttp.Options{Verifier: v, Scopes: scopes, PublicURL: public, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	server.AddTool(&mcp.Tool{Name: "who", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		subject, _ := authz.SubjectFromContext(ctx)
		text := subject.String() + "|" + strings.Join(subject.Scopes.Names(), " ") + "|" + r.Extra.Header.Get("Authorization")
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	})
	server.AddReceivingMiddleware(h.Middleware()...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(ctx, l, server) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String(), log
}

type answer struct {
	status int
	header http.Header
	body   string
}

func send(t *testing.T, method, where, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, where, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

const whoModern = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

// ask calls the tool in the current era with the given headers.
func ask(t *testing.T, endpoint string, headers ...string) answer {
	t.Helper()
	return send(t, "POST", endpoint, whoModern, append([]string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: who"}, headers...)...)
}

// Every client finds the metadata without a token, in both places, and nothing
// of the rest.
func TestMetadata(t *testing.T) {
	issuer := newServer(t)
	at, _ := serve(t, verifier(t, issuer))
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		a := send(t, "GET", at+path, "")
		want := `{"resource":"https://tools.example/mcp","authorization_servers":["` + issuer.url + `"],"bearer_methods_supported":["header"],"scopes_supported":["records:read"]}`
		if a.status != 200 || a.body != want || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		if a := send(t, "POST", at+path, ""); a.status != 405 {
			t.Errorf("POST %s: %d", path, a.status)
		}
	}
	if a := send(t, "GET", at+"/.well-known/oauth-protected-resource/other", ""); a.status != 404 {
		t.Errorf("another resource: %d", a.status)
	}
	for text, want := range map[string]string{
		"https://Tools.Example:443/mcp": "https://tools.example/.well-known/oauth-protected-resource/mcp",
		"https://tools.example/":        "https://tools.example/.well-known/oauth-protected-resource",
		"http://localhost:8080/a/b":     "http://localhost:8080/.well-known/oauth-protected-resource/a/b",
	} {
		v, err := New(Options{Resource: text, Issuers: []Issuer{{URL: "https://login.example"}}})
		if err != nil || v.ResourceMetadata() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// All scopes that a request needs are in one challenge.
func TestInsufficientScope(t *testing.T) {
	issuer := newServer(t)
	issuer.put(map[string]crypto.Signer{"ec": made().ec})
	at, _ := serve(t, verifier(t, issuer), "records:read", "records:write")
	const rest = `scope="records:read records:write", resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"`
	a := ask(t, at+"/mcp", "Authorization: Bearer "+token(t, goodHeader(), goodClaims(issuer.url)))
	if got := a.header.Get("WWW-Authenticate"); a.status != 403 || got != `Bearer error="insufficient_scope", `+rest {
		t.Errorf("%d %s", a.status, got)
	}
	a = ask(t, at+"/mcp", "Authorization: Bearer "+token(t, goodHeader(), with(goodClaims(issuer.url), "scope", "records:read records:write")))
	if a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// A session is its user's, whoever else has a good token.
func TestSessionBelongsToItsUser(t *testing.T) {
	issuer, other := newServer(t), newServer(t)
	issuer.put(map[string]crypto.Signer{"ec": made().ec})
	other.put(map[string]crypto.Signer{"ec": made().ec})
	at, _ := serve(t, verifier(t, issuer, other))
	bearing := func(claims object) string { return "Authorization: Bearer " + token(t, goodHeader(), claims) }
	a := send(t, "POST", at+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, bearing(goodClaims(issuer.url)))
	session := "Mcp-Session-Id: " + a.header.Get("Mcp-Session-Id")
	if a.status != 200 || session == "Mcp-Session-Id: " {
		t.Fatalf("%d %s", a.status, a.body)
	}
	const who = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"who","arguments":{}}}`
	for name, claims := range map[string]object{
		"another subject":                  with(goodClaims(issuer.url), "sub", "bob"),
		"the same name of another issuer":  goodClaims(other.url),
		"a name that begins as the user's": with(goodClaims(issuer.url), "sub", "ann2"),
		"the same in other letters":        with(goodClaims(issuer.url), "sub", "Ann"),
	} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if a := send(t, method, at+"/mcp", who, session, bearing(claims)); a.status != 403 {
				t.Errorf("%s, %s: %d %s", name, method, a.status, a.body)
			}
		}
	}
	later := with(goodClaims(issuer.url), "exp", goodClaims("")["exp"].(int64)+60)
	if a := send(t, "POST", at+"/mcp", who, session, bearing(later)); a.status != 200 || !strings.Contains(a.body, "oidc:"+issuer.url+"#ann|records:read|") {
		t.Errorf("a newer token of the user: %d %s", a.status, a.body)
	}
}
