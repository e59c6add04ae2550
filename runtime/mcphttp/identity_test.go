package mcphttp

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
)

const sharedSecret = "correct-horse-battery"

func TestSharedToken(t *testing.T) {
	for _, bad := range []string{"", "short", "fifteen-bytes-x", "sixteen bytes xx", "sixteen-bytes-x\n", "sixteen-bytes-ä", "================", strings.Repeat("x", maxTokenBytes+1)} {
		if v, err := SharedToken(bad); err == nil || v.hash != (Shared{}).hash || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
	v, err := SharedToken(sharedSecret)
	if err != nil {
		t.Fatal(err)
	}
	f := start(t, Options{Verifier: v})
	if s, err := v.WithScopes(authz.ScopesOf("a")).Verify(t.Context(), sharedSecret); err != nil || s.String() != "shared-token" || !s.Scopes.Has("a") || s.Scopes.Has("b") {
		t.Errorf("with fewer scopes: %v %v", s, err)
	}
	for _, version := range eras {
		if got := callText(t, f.connect(version, sharedSecret), "who", nil); got != "shared-token " {
			t.Errorf("%s: called by %q", version, got)
		}
		for _, token := range []string{"", sharedSecret[:len(sharedSecret)-1], sharedSecret + "x", "development"} {
			if s, err := f.dial(version, token); err == nil {
				s.Close()
				t.Errorf("%s: %q gets in", version, token)
			}
		}
	}
}

// Each way to bring credentials that is not the one way is refused, with a
// challenge that tells nothing of why the verifier refused.
func TestCredentials(t *testing.T) {
	f := start(t, Options{
		Verifier: subjectsByToken{"good": person("ann"), "poor": {Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "bob"}, "nobody": {}},
		Scopes:   []string{"records:read"}, ResourceMetadata: "https://tools.example/.well-known/oauth-protected-resource/mcp",
		Public: map[string]http.Handler{"/.well-known/x": http.NotFoundHandler()},
	})
	const where = `scope="records:read", resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"`
	for _, tt := range []struct {
		name      string
		headers   []string
		query     string
		status    int
		challenge string
	}{
		{"good", []string{"Authorization: Bearer good"}, "", 200, ""},
		{"scheme in another case", []string{"Authorization: bearer good"}, "", 200, ""},
		{"none", nil, "", 401, "Bearer " + where},
		{"empty", []string{"Authorization: "}, "", 401, "Bearer " + where},
		{"scheme alone", []string{"Authorization: Bearer"}, "", 401, "Bearer " + where},
		{"scheme and space", []string{"Authorization: Bearer "}, "", 401, "Bearer " + where},
		{"two spaces", []string{"Authorization: Bearer  good"}, "", 401, "Bearer " + where},
		{"two tokens", []string{"Authorization: Bearer good good"}, "", 401, "Bearer " + where},
		{"two headers", []string{"Authorization: Bearer good", "Authorization: Bearer good"}, "", 401, "Bearer " + where},
		{"another scheme", []string{"Authorization: Basic good"}, "", 401, "Bearer " + where},
		{"token alone", []string{"Authorization: good"}, "", 401, "Bearer " + where},
		{"in the query", nil, "?access_token=good", 401, "Bearer " + where},
		{"in the query too", []string{"Authorization: Bearer good"}, "?access_token=good", 400, `Bearer error="invalid_request", ` + where},
		{"in another header", []string{"X-Authorization: Bearer good", "Proxy-Authorization: Bearer good", "Cookie: token=good"}, "", 401, "Bearer " + where},
		{"no token's letters", []string{"Authorization: Bearer g\"ood"}, "", 401, "Bearer " + where},
		{"unknown", []string{"Authorization: Bearer unknown"}, "", 401, `Bearer error="invalid_token", ` + where},
		{"what is sent to the SDK", []string{"Authorization: Bearer verified"}, "", 401, `Bearer error="invalid_token", ` + where},
		{"lacks a scope", []string{"Authorization: Bearer poor"}, "", 403, `Bearer error="insufficient_scope", ` + where},
		{"verifier broken", []string{"Authorization: Bearer broken"}, "", 503, ""},
		{"verifier panics", []string{"Authorization: Bearer panic"}, "", 503, ""},
		{"verifier returns nobody", []string{"Authorization: Bearer nobody"}, "", 503, ""},
	} {
		a := f.send("POST", f.url+tt.query, modernCall("who", "{}"), append(modernHeaders("tools/call", "who"), tt.headers...)...)
		if a.status != tt.status || a.header.Get("WWW-Authenticate") != tt.challenge {
			t.Errorf("%s: %d, challenge %s", tt.name, a.status, a.header.Get("WWW-Authenticate"))
		}
		if strings.Contains(a.body, "secret") || strings.Contains(a.body, "Bearer") || (a.status == 200) != strings.Contains(a.body, "oidc:https://issuer.example#ann ") {
			t.Errorf("%s: %s", tt.name, a.body)
		}
		var body struct {
			JSONRPC string
			Error   *struct{ Message string }
		}
		if a.status != 200 && (json.Unmarshal([]byte(a.body), &body) != nil || body.JSONRPC != "2.0" || body.Error == nil || body.Error.Message == "") {
			t.Errorf("%s: not an error that clients show: %s", tt.name, a.body)
		}
	}
	for _, method := range methods { // and not only for a POST
		if a := f.send(method, f.url, ""); a.status != 401 {
			t.Errorf("%s: %d", method, a.status)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := f.send("GET", "http://"+f.address+path, ""); a.status != 200 {
			t.Errorf("%s: %d: needs no token", path, a.status)
		}
	}
	if a := f.send("GET", "http://"+f.address+"/.well-known/x", ""); a.status != 404 {
		t.Errorf("a public path: %d", a.status)
	}
	if log := f.log.String(); strings.Contains(log, "good") || strings.Contains(log, "unknown") {
		t.Errorf("the log holds a token: %s", log)
	}
}

// Nothing that a client writes is who it is.
func TestNothingInARequestChangesItsSubject(t *testing.T) {
	f := start(t, Options{Verifier: subjectsByToken{"good": person("ann")}})
	claim := `"sub":"root","subject":"local","capgen/subject":"local","io.modelcontextprotocol/subject":{"Kind":"local"},"user":"root"`
	meta := strings.TrimSuffix(modernMeta, "}") + "," + claim + "}"
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who","arguments":{` + claim + `},"subject":"local","_meta":` + meta + `},"subject":"local"}`
	a := f.send("POST", f.url+"?subject=local", body, append(modernHeaders("tools/call", "who"), "Authorization: Bearer good",
		"X-Forwarded-User: root", "X-Remote-User: root", "Remote-User: root", "X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "Mcp-Param-Subject: local", "Capgen-Subject: local")...)
	if a.status != 200 || !strings.Contains(a.body, `"text":"oidc:https://issuer.example#ann "`) {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestSessionBelongsToItsSubject(t *testing.T) {
	f := start(t, Options{Verifier: subjectsByToken{"ann": person("ann"), "ann2": person("ann"), "bob": person("bob"), "shared": authz.Demo()}})
	id, a := f.initialize("Authorization: Bearer ann")
	if a.status != 200 || id == "" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	session := "Mcp-Session-Id: " + id
	const who = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"who","arguments":{}}}`
	for _, token := range []string{"bob", "shared"} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			a := f.send(method, f.url, who, session, "Authorization: Bearer "+token)
			if a.status != 403 || strings.Contains(a.body, "ann") {
				t.Errorf("%s by %s: %d %s", method, token, a.status, a.body)
			}
		}
	}
	// A new token of the same subject may go on.
	if a := f.send("POST", f.url, who, session, "Authorization: Bearer ann2"); a.status != 200 || !strings.Contains(a.body, "#ann ") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := f.send("POST", f.url, who, session); a.status != 401 {
		t.Errorf("without a token: %d", a.status)
	}
	if a := f.send("POST", f.url, who, "Mcp-Session-Id: guessed", "Authorization: Bearer bob"); a.status != 404 {
		t.Errorf("an unknown session: %d", a.status)
	}
}

// A request that did not come through identify is refused, whatever the SDK
// lets through.
func TestRequestWithoutASubjectIsRefused(t *testing.T) {
	f := start(t, Options{})
	near, far := mcp.NewInMemoryTransports()
	if _, err := f.mcp.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	if s, err := client.Connect(t.Context(), near, nil); err == nil {
		s.Close()
		t.Error("a request with no subject is answered")
	}
}
