package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	issuer    = "https://issuer.example"
	publicURL = "http://localhost:8080/mcp"
)

// issuing is a key set in a file, and access tokens that it verifies.
func issuing(t *testing.T) (file string, token func(subject string) string) {
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
	file = filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(file, set, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, func(subject string) string {
		token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
			"iss": issuer, "sub": subject, "aud": publicURL, "exp": time.Now().Add(time.Hour).Unix(), "scope": "drafts:read drafts:write drafts:run files:read",
		})
		token.Header["typ"], token.Header["kid"] = "at+jwt", "k"
		signed, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
}

// bearing adds a token to each request.
type bearing string

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// TestSubjectsAreApart: over HTTP, another subject's draft, validation and plan
// have the answers of what is not there, whatever of them somebody has seen.
func TestSubjectsAreApart(t *testing.T) {
	d := newDesk(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	file, token := issuing(t)
	url := listening(ctx, t, append(d.flags(), "--issuer", issuer, "--jwks", file, "--public-url", publicURL)...)
	as := func(subject string) *mcp.ClientSession {
		session := open(ctx, t, &mcp.StreamableClientTransport{
			Endpoint: url, HTTPClient: &http.Client{Transport: bearing(token(subject))}, MaxRetries: -1, DisableStandaloneSSE: true,
		}, "")
		t.Cleanup(func() { session.Close() })
		return session
	}
	made, failed := execute(ctx, t, as("ann"), `
def main():
    d = drafts.create(path = "notes", files = [{"path": "new.txt", "text": "secret of ann"}])
    v = drafts.validate(draft = d.draft, revision = 1).token
    p = drafts.publish.prepare(validation = v, path = "notes", summary = "secret of ann", key = "k")
    return {"draft": d.draft, "validation": v, "plan": p.plan, "token": p.token}
`)
	if failed != "" {
		t.Fatal(failed)
	}
	seen, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	answers, failed := execute(ctx, t, as("bob"), `
def tried(f):
    r = attempt(f)
    return "ok" if r.ok else r.error.code + ": " + r.error.message

def all(d, v, p, t):
    return [
        tried(lambda: drafts.get(draft = d)),
        tried(lambda: drafts.read(draft = d, path = "new.txt")),
        tried(lambda: drafts.diff(draft = d, path = "notes")),
        tried(lambda: drafts.update(draft = d, revision = 1, path = "x", text = "")),
        tried(lambda: drafts.validate(draft = d, revision = 1)),
        tried(lambda: drafts.delete(draft = d, revision = 1)),
        tried(lambda: change.show(plan = p)),
        tried(lambda: change.status(plan = p)),
        tried(lambda: change.cancel(plan = p)),
        tried(lambda: drafts.publish.apply(plan = p, token = t, key = "mine")),
    ]

def main():
    a = json.decode('`+string(seen)+`')
    none = "_" + "0" * 32
    return {
        "theirs": all(a["draft"], a["validation"], a["plan"], a["token"]), "none": all("draft" + none, "", "plan" + none, a["token"]),
        "planned": tried(lambda: drafts.publish.prepare(validation = a["validation"], path = "notes", summary = "s", key = "k")),
        "lists": [len(drafts.list().drafts), len(change.list().plans)],
    }
`)
	if failed != "" {
		t.Fatal(failed)
	}
	if diff := cmp.Diff(answers["none"], answers["theirs"]); diff != "" {
		t.Error(diff)
	}
	for _, a := range append(answers["theirs"].([]any), answers["planned"]) {
		if !strings.HasPrefix(a.(string), "not_found: ") || strings.Contains(a.(string), "ann") {
			t.Errorf("%s", a)
		}
	}
	if diff := cmp.Diff([]any{0.0, 0.0}, answers["lists"]); diff != "" {
		t.Error(diff)
	}
}
