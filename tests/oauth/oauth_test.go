// Package oauth tries hosts with a real authorization server, and with the
// OAuth client of the MCP SDK.
package oauth

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

var script = flag.String("provider", "", "the `script` of the authorization server, as make oauth gives it")

// provider is a running authorization server.
type provider struct {
	t       *testing.T
	in      io.Writer
	answers *bufio.Scanner
	issuer  string
}

// answer is one of its lines.
type answer struct {
	Issuer, Kid string
	Fetches     int
}

func startProvider(t *testing.T) *provider {
	t.Helper()
	if *script == "" {
		t.Skip("no authorization server is given: make oauth runs it")
	}
	command := exec.Command("node", *script)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	})
	p := &provider{t: t, in: in, answers: bufio.NewScanner(out)}
	p.issuer = p.read().Issuer
	return p
}

func (p *provider) read() (a answer) {
	p.t.Helper()
	if !p.answers.Scan() {
		p.t.Fatal("the authorization server says nothing")
	}
	if err := json.Unmarshal(p.answers.Bytes(), &a); err != nil {
		p.t.Fatal(err)
	}
	return a
}

func (p *provider) tell(line string) answer {
	p.t.Helper()
	fmt.Fprintln(p.in, line)
	return p.read()
}

// redirect is where the client of the tests says that it is; nothing listens
// there.
const redirect = "http://127.0.0.1:1/callback"

// login is a browser whose user agrees to everything: it follows the
// authorization server's redirects until they lead back to the client. asked is
// what the client asked for, as of now.
type login struct{ asked []url.Values }

func (l *login) code(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	at, err := url.Parse(args.URL)
	if err != nil {
		return nil, err
	}
	l.asked = append(l.asked, at.Query())
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	var back *url.URL
	browser := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, before []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), redirect) {
			back = r.URL
			return http.ErrUseLastResponse
		}
		if len(before) > 20 {
			return errors.New("the authorization server leads in circles")
		}
		return nil
	}}
	r, err := http.NewRequestWithContext(ctx, "GET", args.URL, nil)
	if err != nil {
		return nil, err
	}
	response, err := browser.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if back == nil {
		text, _ := io.ReadAll(response.Body)
		return nil, fmt.Errorf("the authorization server answers %d: %.500s", response.StatusCode, text)
	}
	q := back.Query()
	if q.Get("error") != "" {
		return nil, errors.New(q.Get("error") + ": " + q.Get("error_description"))
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

// client is one of the SDK that registers itself. filter, if not nil, chooses
// among the scopes that it is offered.
func client(t *testing.T, l *login, filter func([]string) []string) *auth.AuthorizationCodeHandler {
	t.Helper()
	h, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: "none", GrantTypes: []string{"authorization_code"}, ResponseTypes: []string{"code"},
		}},
		AuthorizationCodeFetcher: l.code, ScopeFilter: filter,
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func connect(t *testing.T, url, protocol string, h auth.OAuthHandler) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, OAuthHandler: h, DisableStandaloneSSE: true}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func execute(t *testing.T, s *mcp.ClientSession, source string) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute", Arguments: map[string]any{"source": source}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Content[0].(*mcp.TextContent).Text
}

// authorized has a client get a token without using it.
func authorized(t *testing.T, at string, filter func([]string) []string) (token string) {
	t.Helper()
	h := client(t, &login{}, filter)
	request, err := http.NewRequestWithContext(t.Context(), "POST", at, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Authorize(t.Context(), request, response); err != nil { // it closes the body
		t.Fatal(err)
	}
	return access(t, h)
}

// access is the token that a client has.
func access(t *testing.T, h *auth.AuthorizationCodeHandler) string {
	t.Helper()
	source, err := h.TokenSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, err := source.Token()
	if err != nil {
		t.Fatal(err)
	}
	return token.AccessToken
}

// ask sends a request with a token, and returns the status and the challenge.
func ask(t *testing.T, url, token string) (status int, challenge string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode, response.Header.Get("WWW-Authenticate")
}

// From a challenge to a call of the right subject: the client finds the issuer
// in the metadata that the challenge names, registers, has its user log in by
// the code flow with PKCE, and asks for a token for this resource.
func TestCodeFlow(t *testing.T) {
	p := startProvider(t)
	at := serve(t, "--issuer", p.issuer, "--offer-scope", "records:read")
	status, challenge := ask(t, at, "")
	if want := `Bearer resource_metadata="` + strings.Replace(at, "/mcp", "/.well-known/oauth-protected-resource/mcp", 1) + `"`; status != 401 || challenge != want {
		t.Errorf("%d %s", status, challenge)
	}
	for i, protocol := range []string{"2026-07-28", "2025-11-25"} {
		for _, user := range []string{"ann", "local", "development"} {
			p.tell("user " + user)
			l := &login{}
			s := connect(t, at, protocol, client(t, l, nil))
			if got, want := execute(t, s, "who.reads()"), `{"result":"oidc:`+p.issuer+"#"+user+`"}`; got != want {
				t.Errorf("%s: %s, want %s", protocol, got, want)
			}
			if got := execute(t, s, "who.writes()"); !strings.Contains(got, "permission denied: the scope records:write is required") {
				t.Errorf("%s: a call without its scope: %s", protocol, got)
			}
			if len(l.asked) != 1 || l.asked[0].Get("resource") != at || l.asked[0].Get("code_challenge_method") != "S256" || l.asked[0].Get("scope") != "records:read" {
				t.Errorf("%s: the user was asked %v", protocol, l.asked)
			}
		}
		if p.tell("fetches").Fetches > i+1 { // one, and one more where ten seconds have passed
			t.Error("the key set is fetched for each token")
		}
	}
}

// An issuer may name its users as it likes; names that could be taken for
// others, or that no log holds, get nobody in.
func TestHostileNames(t *testing.T) {
	p := startProvider(t)
	at := serve(t, "--issuer", p.issuer, "--offer-scope", "records:read")
	for name, want := range map[string]int{"a%0Ab": 401, strings.Repeat("x", 300): 401, "a%00": 401, strings.Repeat("x", 255): 200, "a%20b": 200} {
		p.tell("user " + name)
		if status, challenge := ask(t, at, authorized(t, at, nil)); status != want || want == 401 && !strings.HasPrefix(challenge, `Bearer error="invalid_token", `) {
			t.Errorf("%.20s: %d %s", name, status, challenge)
		}
	}
}

// A token that lacks what each request needs is told so, and the client gets
// its user to agree to more.
func TestStepUp(t *testing.T) {
	p := startProvider(t)
	at := serve(t, "--issuer", p.issuer, "--require-scope", "records:read", "--require-scope", "records:write")
	l, first := &login{}, true
	h := client(t, l, func(offered []string) []string {
		if first {
			first = false
			return []string{"records:read"}
		}
		return offered
	})
	s := connect(t, at, "2026-07-28", h)
	if got := execute(t, s, "who.writes()"); got != `{"result":"oidc:`+p.issuer+`#ann"}` {
		t.Error(got)
	}
	if len(l.asked) != 2 || l.asked[0].Get("scope") != "records:read" || !slices.Equal(slices.Sorted(strings.FieldsSeq(l.asked[1].Get("scope"))), []string{"records:read", "records:write"}) {
		t.Errorf("the user was asked %v", l.asked)
	}

	narrow := authorized(t, at, func([]string) []string { return []string{"records:read"} })
	status, challenge := ask(t, at, narrow)
	if status != 403 || !strings.HasPrefix(challenge, `Bearer error="insufficient_scope", scope="records:read records:write", resource_metadata="`) {
		t.Errorf("%d %s", status, challenge)
	}
}

// A token is for the server that its client asked for, and for no other that
// trusts the same issuer.
func TestAnotherResource(t *testing.T) {
	p := startProvider(t)
	at := serve(t, "--issuer", p.issuer, "--offer-scope", "records:read")
	other := serve(t, "--issuer", p.issuer, "--offer-scope", "records:read")
	h := client(t, &login{}, nil)
	connect(t, at, "2026-07-28", h)
	token := access(t, h)
	if status, _ := ask(t, at, token); status != 200 {
		t.Errorf("where it is for: %d", status)
	}
	if status, challenge := ask(t, other, token); status != 401 || !strings.HasPrefix(challenge, `Bearer error="invalid_token", `) {
		t.Errorf("elsewhere: %d %s", status, challenge)
	}
	// And a client that came by another name than the server's is not led on.
	elsewhere := strings.Replace(at, "127.0.0.1", "localhost", 1)
	c := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
	if s, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: elsewhere, OAuthHandler: client(t, &login{}, nil)}, nil); err == nil {
		s.Close()
		t.Error("the client takes the metadata of another resource")
	}
}

// A new key of the issuer is known soon, and however many unknown keys are
// named, the issuer is asked once in a while.
func TestRotation(t *testing.T) {
	p := startProvider(t)
	at := serve(t, "--issuer", p.issuer, "--offer-scope", "records:read")
	first := client(t, &login{}, nil)
	connect(t, at, "2026-07-28", first)
	old := access(t, first)
	if status, _ := ask(t, at, old); status != 200 || p.tell("fetches").Fetches != 1 {
		t.Fatalf("the first token: %d", status)
	}
	began := time.Now()
	kid := p.tell("rotate").Kid
	if strings.Contains(kidOf(t, old), kid) {
		t.Fatal("the key is the same")
	}

	renewed := authorized(t, at, nil)
	if got := kidOf(t, renewed); got != kid {
		t.Fatalf("the new token is signed with %s", got)
	}
	parts := strings.Split(renewed, ".")
	for {
		for i := range 20 {
			header := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"typ":"at+jwt","alg":"ES256","kid":"unknown-%d"}`, i))
			if status, _ := ask(t, at, header+"."+parts[1]+"."+parts[2]); status != 401 {
				t.Errorf("an unknown key: %d", status)
			}
		}
		status, challenge := ask(t, at, renewed)
		if status == 200 {
			break
		}
		if status != 401 || !strings.HasPrefix(challenge, `Bearer error="invalid_token", `) || time.Since(began) > 3*time.Minute {
			t.Fatalf("the new key after %v: %d %s", time.Since(began), status, challenge)
		}
		time.Sleep(200 * time.Millisecond)
	}
	if most := 2 + int(time.Since(began)/(10*time.Second)); p.tell("fetches").Fetches > most {
		t.Errorf("%d fetches within %v, at most %d are expected", p.tell("fetches").Fetches, time.Since(began), most)
	}
	// The provider has forgotten the old key, and so has the server with that
	// fetch.
	if status, _ := ask(t, at, old); status != 401 {
		t.Errorf("the old key: %d", status)
	}
}

func kidOf(t *testing.T, token string) string {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[0])
	if err != nil {
		t.Fatal(err)
	}
	var header struct{ Kid string }
	if err := json.Unmarshal(text, &header); err != nil {
		t.Fatal(err)
	}
	return header.Kid
}
