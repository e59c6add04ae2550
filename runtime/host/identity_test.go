package host

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// publicURL is where clients of the tests mean to be; they come past it.
const publicURL = "http://localhost:8080/mcp"

// issuing is an authorization server: its URL, a file with its keys, and what
// makes tokens.
func issuing(t *testing.T) (issuer, file string, token func(sub, scope string) string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString
	set, err := json.Marshal(map[string]any{"keys": []any{map[string]any{"kty": "EC", "crv": "P-256", "kid": "k", "x": text(point[1:33]), "y": text(point[33:])}}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/keys":
			w.Write(set)
		case "/.well-known/openid-configuration":
			json.NewEncoder(w).Encode(map[string]string{"issuer": "http://" + r.Host, "jwks_uri": "http://" + r.Host + "/keys"})
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	file = filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(file, set, 0o600); err != nil {
		t.Fatal(err)
	}
	return server.URL, file, func(sub, scope string) string {
		token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
			"iss": server.URL, "sub": sub, "aud": publicURL, "exp": time.Now().Add(time.Hour).Unix(), "scope": scope,
		})
		token.Header["typ"], token.Header["kid"] = "at+jwt", "k"
		signed, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
}

// An operator lets an issuer's subjects in without a line of Go, and a
// deployment that requires a verifier has one.
func TestIssuers(t *testing.T) {
	issuer, file, token := issuing(t)
	needs := requiringVariable + "=verifier"
	for name, c := range map[string]struct {
		environment []string
		args        []string
	}{
		"by flags":          {[]string{needs}, []string{"--issuer", "https://other.example", "--issuer", issuer, "--public-url", publicURL, "--require-scope", "files:use", "--offer-scope", "more"}},
		"by variables":      {[]string{needs, "CAPGEN_ISSUER=https://other.example " + issuer, "CAPGEN_PUBLIC_URL=" + publicURL, "CAPGEN_REQUIRE_SCOPE=files:use", "CAPGEN_OFFER_SCOPE=more"}, nil},
		"keys of a file":    {[]string{needs}, []string{"--issuer", issuer, "--jwks", file, "--public-url", publicURL, "--require-scope", "files:use", "--offer-scope", "more"}},
		"keys at a URL":     {[]string{needs, "CAPGEN_JWKS=" + issuer + "/keys"}, []string{"--issuer", issuer, "--public-url", publicURL, "--require-scope", "files:use", "--offer-scope", "more"}},
		"plain JWT as well": {[]string{needs}, []string{"--issuer", issuer, "--plain-jwt", "--public-url", publicURL, "--require-scope", "files:use", "--offer-scope", "more"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, url := serveHTTP(t, c.environment, append(c.args, "--listen", "127.0.0.1:0")...)
			s, err := dial(t, url, token("ann", "files:use tools:use"), "2026-07-28")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if got := executeOver(t, s, "clock.wait(millis=1)"); got != `{"result":"waited"}` {
				t.Error(got)
			}
			c.waitFor("subject=oidc:" + issuer + "#ann")
			if got := executeOver(t, s, "clock.set()"); !strings.Contains(got, "the scope clock:set is required") {
				t.Errorf("without the scope of a capability: %s", got)
			}
			for what, want := range map[string]struct {
				token  string
				status int
				says   string
			}{
				"no token":            {"", 401, `scope="tools:use files:use", resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource/mcp"`},
				"one of nobody":       {"x", 401, `error="invalid_token"`},
				"without one of both": {token("ann", "tools:use"), 403, `error="insufficient_scope", scope="tools:use files:use"`},
				"without the other":   {token("ann", "files:use"), 403, `error="insufficient_scope"`},
			} {
				r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader("{}"))
				if err != nil {
					t.Fatal(err)
				}
				answer, err := bearing{want.token}.RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				answer.Body.Close()
				if got := answer.Header.Get("WWW-Authenticate"); answer.StatusCode != want.status || !strings.Contains(got, want.says) {
					t.Errorf("%s: %d %s", what, answer.StatusCode, got)
				}
			}
			if _, body := get(t, strings.Replace(url, "/mcp", "/.well-known/oauth-protected-resource", 1)); !strings.Contains(body, `"resource":"`+publicURL+`"`) ||
				!strings.Contains(body, issuer) || !strings.Contains(body, `"scopes_supported":["files:use","more","tools:use"]`) {
				t.Errorf("metadata: %s", body)
			}
		})
	}
}

// A program that verifies no tokens has none of the flags, and does not start
// where the environment says that it should.
func TestProgramsWithoutTokens(t *testing.T) {
	for _, s := range Settings(Options{Name: "x"}) {
		if s.Flag == "issuer" || s.Flag == "jwks" || s.Flag == "require-scope" {
			t.Errorf("it has --%s", s.Flag)
		}
	}
	p := program{options: Options{Name: "x"}, lookup: func(name string) (string, bool) { return "https://login.example", name == issuerVariable }}
	if v, err := p.tokens(tokenFlags{}, Env{}); err == nil || v != nil || !strings.Contains(err.Error(), "takes no access tokens") {
		t.Errorf("%v %v", v, err)
	}
	p = program{options: Options{Name: "x", Tokens: noTokens}, lookup: func(string) (string, bool) { return "", false }}
	if v, err := p.tokens(tokenFlags{issuers: words{"https://login.example"}}, Env{PublicURL: nil}); err == nil || v != nil {
		t.Errorf("%v %v", v, err)
	}
}

// Subjects whose scopes no token tells have all, or what the operator leaves
// them.
func TestGrantedScopes(t *testing.T) {
	const set, permitted, denied = "clock.set()", `{"result":"set"}`, "the scope clock:set is required"
	token := "CAPGEN_TOKEN=" + childToken
	for _, tt := range []struct {
		name        string
		environment []string
		args        []string
		says        string // empty: no request at all is answered
	}{
		{"development, all", nil, nil, permitted},
		{"development, enough", nil, []string{"--grant-scope", "tools:use", "--grant-scope", "clock:set"}, permitted},
		{"development, fewer", nil, []string{"--grant-scope", "tools:use"}, denied},
		{"development, fewer by variable", []string{"CAPGEN_GRANT_SCOPE=tools:use other"}, nil, denied},
		{"development, not what the host needs", nil, []string{"--grant-scope", "clock:set"}, ""},
		{"development, none", nil, []string{"--grant-scope", "none"}, ""},
		{"shared token, all", []string{token}, nil, permitted},
		{"shared token, fewer", []string{token}, []string{"--grant-scope", "tools:use"}, denied},
		{"shared token, none", []string{token}, []string{"--grant-scope", "none"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, url := serveHTTP(t, tt.environment, append(tt.args, "--listen", "127.0.0.1:0")...)
			s, err := dial(t, url, childToken, "2026-07-28")
			if tt.says == "" {
				if err == nil {
					s.Close()
					t.Error("it is let in")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if got := executeOver(t, s, set); !strings.Contains(got, tt.says) {
				t.Error(got)
			}
		})
	}
}

// A certificate that is renewed is served without a restart, and one that
// cannot be used leaves the last in place.
func TestRenewedCertificate(t *testing.T) {
	cert, key, _ := certificate(t)
	now := time.Now()
	for _, f := range []httpFlags{{tlsCert: filepath.Dir(cert), tlsKey: key}, {tlsCert: cert, tlsKey: os.DevNull}} { // nor a pipe, which would keep handshakes waiting
		if _, err := readTLS(f, nil); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if _, err := readTLS(httpFlags{tlsCert: cert}, nil); err == nil {
		t.Error("a certificate without a key")
	}
	c := &certificateFiles{cert: cert, key: key, log: slog.New(slog.NewTextHandler(io.Discard, nil)), now: func() time.Time { return now }}
	if err := c.read(); err != nil {
		t.Fatal(err)
	}
	served := func() string {
		t.Helper()
		pair, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(pair.Certificate[0])
	}
	replace := func(name, by string) {
		t.Helper()
		text, err := os.ReadFile(by)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		now = now.Add(certificateEvery)
		if err := os.Chtimes(name, now, now); err != nil { // clocks of file systems are coarse
			t.Fatal(err)
		}
	}
	first := served()
	newCert, newKey, _ := certificate(t)
	replace(cert, newCert)
	if served() != first {
		t.Error("a certificate is served whose key is not there yet")
	}
	replace(key, newKey)
	second := served()
	if second == first {
		t.Error("the old certificate is served")
	}
	if err := os.Remove(cert); err != nil {
		t.Fatal(err)
	}
	now = now.Add(certificateEvery)
	if served() != second {
		t.Error("without a file another certificate is served")
	}
	replace(cert, newCert)
	third, thirdKey, _ := certificate(t)
	replace(key, thirdKey)
	replace(cert, third)
	now = now.Add(certificateEvery)
	if served() == second {
		t.Error("it is not looked for a new certificate again")
	}
	for i, name := range []string{third, thirdKey} {
		replace([]string{cert, key}[i], name)
	}
	now = now.Add(-certificateEvery)
	last := served()
	replace(cert, newCert)
	replace(key, newKey)
	now = now.Add(-2*certificateEvery + time.Second) // a clock that was set back must not keep the files from being looked at
	if c.looked = now.Add(-time.Second); served() != last {
		t.Error("the files are looked at with each handshake")
	}
	c.looked = now.Add(time.Hour)
	if served() == last {
		t.Error("a clock that is set back hides new files")
	}
}
