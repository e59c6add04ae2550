package host

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const childToken = "0123456789abcdef"

// serving is where a child says that it serves.
var serving = regexp.MustCompile(`msg="serving MCP".* url=(\S+)(?:.* metrics=(\S+))?`)

// serveHTTP starts a child on a port that is free and returns its endpoint.
func serveHTTP(t *testing.T, environment []string, args ...string) (c *child, url string) {
	t.Helper()
	args = append([]string{"http"}, args...)
	if !strings.Contains(strings.Join(args, " "), "--listen") {
		args = append(args, "--listen", "127.0.0.1:0")
	}
	c = startWith(t, environment, args...)
	c.waitFor("serving MCP")
	return c, serving.FindStringSubmatch(c.stderr())[1]
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

func dial(t *testing.T, url, token, protocol string) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
	transport := &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearing{token}}, MaxRetries: -1, DisableStandaloneSSE: true}
	return client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
}

func executeOver(t *testing.T, s *mcp.ClientSession, source string) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute", Arguments: map[string]any{"source": source}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Content[0].(*mcp.TextContent).Text
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	response, err := (&http.Client{Transport: &http.Transport{}}).Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

const modern, older = "2026-07-28", "2025-11-25"

var bothEras = []string{modern, older}

func TestHTTPServesBothEras(t *testing.T) {
	c, url := serveHTTP(t, nil, "--metrics-listen", "localhost:0")
	for _, protocol := range bothEras {
		s, err := dial(t, url, "", protocol)
		if err != nil {
			t.Fatal(err)
		}
		if got := executeOver(t, s, "def main():\n    print('noise')\n    return clock.wait(millis=1)"); got != `{"result":"waited"}` {
			t.Errorf("%s: %s", protocol, got)
		}
		s.Close()
	}
	c.waitFor("subject=development")
	if status, body := get(t, serving.FindStringSubmatch(c.stderr())[2]); status != 200 || !strings.Contains(body, `capgen_tool_calls_total{tool="execute",outcome="ok"} 2`) {
		t.Errorf("metrics: %d %s", status, body)
	}
	c.in.Close() // standard input has no part in this
	if status, _ := get(t, strings.Replace(url, "/mcp", "/healthz", 1)); status != 200 {
		t.Errorf("health: %d", status)
	}
}

// Who a request is: the table of SECURITY.md, row by row.
func TestWhoARequestIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(childToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const variable = "CAPGEN_TOKEN=" + childToken
	for _, tt := range []struct {
		name        string
		environment []string
		args        []string
		anonymous   string // who a request without credentials is; empty is refused
		wrong       string
		right       string // with the shared token
		exposed     bool
	}{
		{"nothing, loopback", nil, nil, "development", "development", "development", false},
		{"nothing, exposed, insecure", nil, []string{"--listen", ":0", "--insecure"}, "development", "development", "development", true},
		{"token, loopback", []string{variable}, nil, "", "", "shared-token", false},
		{"token file, loopback", nil, []string{"--token-file", file}, "", "", "shared-token", false},
		{"token file by variable", []string{"CAPGEN_TOKEN_FILE=" + file}, nil, "", "", "shared-token", false},
		{"token, loopback, insecure", []string{variable}, []string{"--insecure"}, "", "", "shared-token", false},
		{"token, exposed", []string{variable}, []string{"--listen", "0.0.0.0:0"}, "", "", "shared-token", true},
		{"token, exposed, insecure", []string{variable}, []string{"--listen", "[::]:0", "--insecure"}, "", "", "shared-token", true},
		{"verifier, loopback", []string{verifierVariable + "=1"}, nil, "", "", "", false},
		{"verifier, exposed, insecure", []string{verifierVariable + "=1"}, []string{"--listen", ":0", "--insecure"}, "", "", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.exposed {
				needsSandbox(t)
			}
			c, url := serveHTTP(t, tt.environment, tt.args...)
			url = regexp.MustCompile(`//.*:`).ReplaceAllString(url, "//127.0.0.1:")
			if strings.Contains(c.stderr(), childToken) {
				t.Error("the log holds the token")
			}
			for token, want := range map[string]string{"": tt.anonymous, "wrong-wrong-wrong": tt.wrong, childToken: tt.right} {
				for _, protocol := range bothEras {
					s, err := dial(t, url, token, protocol)
					if (err != nil) != (want == "") {
						t.Fatalf("%q, %s: %v", token, protocol, err)
					}
					if err != nil {
						continue
					}
					r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_api", Arguments: map[string]any{"query": "wait"}})
					if err != nil || r.IsError {
						t.Errorf("%v %v", r, err)
					}
					s.Close()
					c.waitFor("tool=search_api subject=" + want)
				}
			}
			if len(tt.environment) > 0 && strings.Contains(tt.environment[0], verifierVariable) {
				if s, err := dial(t, url, "bob", "2026-07-28"); err == nil {
					s.Close()
					t.Error("a subject without a scope of Options.Scopes gets in")
				}
				if s, err := dial(t, url, "ann", "2026-07-28"); err != nil {
					t.Error(err)
				} else {
					s.Close()
				}
			}
		})
	}
}

// A server that would let anybody in, or that is set up in two ways, does not
// start, and says what to do.
func TestHTTPRefusesToStart(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		return name
	}
	good := write("good", childToken, 0o600)
	for _, tt := range []struct {
		name        string
		environment []string
		args        []string
		says        string
	}{
		{"all addresses", nil, []string{"--listen", ":0"}, "CAPGEN_TOKEN or --token-file"},
		{"IPv4 addresses", nil, []string{"--listen", "0.0.0.0:0"}, "can be reached from other machines"},
		{"IPv6 addresses", nil, []string{"--listen", "[::]:0"}, "--insecure serves everybody"},
		{"by variable", []string{"CAPGEN_LISTEN=:0"}, nil, "can be reached from other machines"},
		{"known elsewhere", nil, []string{"--listen", "localhost:0", "--public-url", "https://tools.example"}, "--public-url https://tools.example/mcp says"},
		{"empty token", []string{"CAPGEN_TOKEN="}, nil, "0 bytes, at least 16"},
		{"short token", []string{"CAPGEN_TOKEN=0123456789abcde"}, nil, "15 bytes, at least 16"},
		{"short token file", nil, []string{"--token-file", write("short", "x\n", 0o600)}, "1 bytes, at least 16"},
		{"token with spaces", []string{"CAPGEN_TOKEN=0123456789 abcdef"}, nil, "letters, digits"},
		{"two lines", nil, []string{"--token-file", write("lines", childToken+"\n"+childToken+"\n", 0o600)}, "letters, digits"},
		{"two tokens", []string{"CAPGEN_TOKEN=" + childToken}, []string{"--token-file", good}, "both given"},
		{"world-readable", nil, []string{"--token-file", write("world", childToken, 0o604)}, "mode is 0604"},
		{"group-writable", nil, []string{"--token-file", write("group", childToken, 0o620)}, "mode is 0620"},
		{"no file", nil, []string{"--token-file", filepath.Join(dir, "none")}, "no such file"},
		{"directory", nil, []string{"--token-file", dir}, "not a regular file"},
		{"token and verifier", []string{"CAPGEN_TOKEN=" + childToken, verifierVariable + "=1"}, nil, "both set"},
		{"verifier fails", []string{verifierVariable + "=broken"}, nil, "no keys"},
		{"no address", nil, []string{"--listen", "nowhere"}, "missing port"},
		{"a public URL that is none", nil, []string{"--public-url", "tools.example"}, "public URL"},
		{"certificate alone", nil, []string{"--tls-cert", good}, "only good together"},
		{"no certificate", nil, []string{"--tls-cert", good, "--tls-key", good}, "TLS:"},
		{"no drain", nil, []string{"--drain", "0s"}, "--drain"},
		{"metrics nowhere", nil, []string{"--metrics-listen", "nowhere"}, "missing port"},
		{"argument", nil, []string{"x"}, "unexpected argument"},
		{"verifier required", []string{requiringVariable + "=verifier", "CAPGEN_TOKEN=" + childToken}, []string{"--listen", "127.0.0.1:0"}, "deployment prod requires a verifier"},
		{"an issuer, but no public URL", nil, []string{"--issuer", "https://login.example"}, "--issuer needs --public-url"},
		{"an issuer in the clear", nil, []string{"--issuer", "http://login.example", "--public-url", "http://localhost/mcp"}, `--issuer: bearer: issuer "http://login.example": http is for this machine`},
		{"an issuer of this machine for others", nil, []string{"--issuer", "http://localhost:1", "--public-url", "https://tools.example/mcp"}, "https is needed"},
		{"an issuer twice", []string{"CAPGEN_ISSUER=https://login.example https://login.example"}, []string{"--public-url", "http://localhost/mcp", "--listen", "127.0.0.1:0"}, "there twice"},
		{"an issuer that is empty", []string{"CAPGEN_ISSUER="}, []string{"--listen", "127.0.0.1:0"}, "CAPGEN_ISSUER is set, but empty"},
		{"an issuer and a token", []string{"CAPGEN_TOKEN=" + childToken}, []string{"--issuer", "https://login.example", "--public-url", "http://localhost/mcp"}, "both set"},
		{"an issuer and a verifier", []string{verifierVariable + "=1"}, []string{"--issuer", "https://login.example", "--public-url", "http://localhost/mcp", "--listen", "127.0.0.1:0"}, "--issuer and the host's own verifier are both set"},
		{"keys of no issuer", nil, []string{"--jwks", "https://login.example/keys"}, "--issuer, which is not given"},
		{"scopes of no issuer", nil, []string{"--require-scope", "a"}, "--issuer, which is not given"},
		{"keys of two issuers", nil, []string{"--issuer", "https://a.example", "--issuer", "https://b.example", "--jwks", good, "--public-url", "http://localhost/mcp"}, "more are given"},
		{"keys that are none", nil, []string{"--issuer", "https://a.example", "--jwks", good, "--public-url", "http://localhost/mcp"}, "--issuer: bearer: key set: " + good},
		{"keys that are not there", nil, []string{"--issuer", "https://a.example", "--jwks", filepath.Join(dir, "none"), "--public-url", "http://localhost/mcp"}, "no such file"},
		{"a scope that is none", nil, []string{"--issuer", "https://a.example", "--require-scope", `a"b`, "--public-url", "http://localhost/mcp"}, "is no scope"},
		{"scopes for whom a verifier tells them", []string{verifierVariable + "=1"}, []string{"--grant-scope", "a", "--listen", "127.0.0.1:0"}, "a verifier tells all"},
		{"no scope and one", nil, []string{"--grant-scope", "none a"}, "none is good alone"},
		{"a granted scope that is none", nil, []string{"--grant-scope", `a"b`}, "--grant-scope: scopes:"},
		{"less than the whole sandbox", []string{sandboxVariable + "=1"}, []string{"--listen", ":0", "--insecure"}, "set runtime.Options.Sandbox to Env.Sandbox"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"http"}, tt.args...)
			if !strings.Contains(strings.Join(args, " "), "--listen") && len(tt.environment) == 0 || strings.Contains(tt.name, "token") {
				args = append(args, "--listen", "127.0.0.1:0")
			}
			c := startWith(t, tt.environment, args...)
			code := c.exit()
			if code != ExitUsage || !strings.Contains(c.stderr(), tt.says) {
				t.Errorf("exit code %d: %s", code, c.stderr())
			}
			if strings.Contains(c.stderr(), childToken) || strings.Contains(c.stderr(), "serving MCP") {
				t.Error(c.stderr())
			}
		})
	}
}

// Handlers and what they start do not find the token in the environment.
func TestTokenLeavesTheEnvironment(t *testing.T) {
	_, url := serveHTTP(t, []string{"CAPGEN_TOKEN=" + childToken})
	s, err := dial(t, url, childToken, "2026-07-28")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := executeOver(t, s, "def main():\n    return noise.environment()"); got != `{"result":"no token"}` {
		t.Error(got)
	}
}

func TestHTTPEndsWithASignal(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for _, protocol := range bothEras {
			c, url := serveHTTP(t, nil)
			s, err := dial(t, url, "", protocol)
			if err != nil {
				t.Fatal(err)
			}
			answered := make(chan string, 1)
			go func() {
				r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute", Arguments: map[string]any{"source": "clock.wait(millis=500)"}})
				if err != nil {
					answered <- err.Error()
					return
				}
				answered <- r.Content[0].(*mcp.TextContent).Text
			}()
			c.waitFor("waiting")
			if err := c.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if got := <-answered; got != `{"result":"waited"}` {
				t.Errorf("%v, %s: %s", signal, protocol, got)
			}
			if code := c.exit(); code != 0 {
				t.Errorf("%v, %s: exit code %d", signal, protocol, code)
			}
			s.Close()
		}
	}
}

// A second signal does not wait for what drains.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	c, url := serveHTTP(t, nil, "--drain", "1h")
	s, err := dial(t, url, "", "2026-07-28")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute", Arguments: map[string]any{"source": "clock.wait(millis=60000)"}})
	}()
	c.waitFor("waiting")
	for i := range 2 {
		if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			c.waitFor("draining")
		}
	}
	if code := c.exit(); code == 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestTLS(t *testing.T) {
	cert, key, pool := certificate(t)
	c, url := serveHTTP(t, []string{"CAPGEN_TLS_KEY=" + key}, "--tls-cert", cert)
	if !strings.HasPrefix(url, "https://127.0.0.1:") {
		t.Fatal(url)
	}
	transport := &http.Transport{TLSClientConfig: pool, ForceAttemptHTTP2: true}
	client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
	for _, protocol := range bothEras {
		s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: transport}}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
		if err != nil {
			t.Fatal(err)
		}
		if got := executeOver(t, s, "clock.wait(millis=300)"); got != `{"result":"waited"}` {
			t.Errorf("%s: %s", protocol, got)
		}
		s.Close()
	}
	transport.CloseIdleConnections()
	if response, err := http.Get(strings.Replace(url, "https", "http", 1)); err == nil {
		if response.StatusCode != 400 {
			t.Errorf("plain HTTP: %d", response.StatusCode)
		}
		response.Body.Close()
	}
	if strings.Contains(c.stderr(), "level=ERROR") {
		t.Error(c.stderr())
	}
}
