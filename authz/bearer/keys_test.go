package bearer

import (
	"context"
	"crypto"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
)

// nowhere is a network that nothing answers on.
type nowhere struct{}

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("no network") }

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func clocked(v *Verifier) *clock {
	c := &clock{now: time.Now()}
	v.now = c.Now
	return c
}

func judge(v *Verifier, token string) string {
	switch _, err := v.Verify(context.Background(), token); {
	case err == nil:
		return "good"
	case errors.Is(err, authz.ErrUnauthenticated):
		return "refused"
	default:
		return "unknown"
	}
}

// A new key is known soon, a withdrawn one is forgotten, and in between nothing
// is asked.
func TestRotation(t *testing.T) {
	issuer := newServer(t)
	k := made()
	issuer.put(map[string]crypto.Signer{"ec": k.ec})
	v := verifier(t, issuer)
	clock := clocked(v)
	claims := with(goodClaims(issuer.url), "exp", time.Now().Add(24*time.Hour).Unix())
	first := token(t, goodHeader(), claims)
	second := sign(t, "ES256", k.ec2, encode(t, with(goodHeader(), "kid", "ec2")), encode(t, claims))
	step := func(what, token, want string, fetches int) {
		t.Helper()
		if got := judge(v, token); got != want || issuer.fetched() != fetches {
			t.Errorf("%s: %s after %d fetches, want %s after %d", what, got, issuer.fetched(), want, fetches)
		}
	}
	if issuer.fetched() != 0 {
		t.Error("New asks the issuer")
	}
	step("the first token", first, "good", 1)
	step("the same again", first, "good", 1)
	issuer.put(map[string]crypto.Signer{"ec": k.ec, "ec2": k.ec2})
	step("a new key at once", second, "refused", 1)
	clock.advance(fetchEvery)
	step("a new key a little later", second, "good", 2)
	step("the old one", first, "good", 2)
	issuer.put(map[string]crypto.Signer{"ec2": k.ec2})
	step("a key just withdrawn", first, "good", 2)
	clock.advance(refreshAfter)
	step("a key withdrawn a while ago", first, "refused", 3)
	step("the new one", second, "good", 3)
	issuer.put(map[string]crypto.Signer{"ec2": k.ec}) // the same name for another key
	clock.advance(refreshAfter)
	step("a key that was replaced", second, "refused", 4)
}

// However many unknown keys are named, an issuer is asked once in a while, and
// who has a good token does not notice.
func TestUnknownKeysDoNotAmplify(t *testing.T) {
	issuer := newServer(t)
	issuer.put(map[string]crypto.Signer{"ec": made().ec})
	v := verifier(t, issuer)
	clock := clocked(v)
	good := token(t, goodHeader(), goodClaims(issuer.url))
	unknown := make([]string, 200)
	for i := range unknown {
		unknown[i] = token(t, with(goodHeader(), "kid", strings.Repeat("k", i+1)), goodClaims(issuer.url))
	}
	for round := range 3 {
		var all sync.WaitGroup
		for _, token := range unknown {
			all.Go(func() {
				if got := judge(v, token); got != "refused" {
					t.Errorf("an unknown key: %s", got)
				}
				if got := judge(v, good); got != "good" {
					t.Errorf("the good token: %s", got)
				}
			})
		}
		all.Wait()
		if got := issuer.fetched(); got != round+1 {
			t.Errorf("%d fetches in %d rounds", got, round+1)
		}
		clock.advance(fetchEvery)
	}
	// Neither do tokens that no key is needed to refuse.
	before := issuer.fetched()
	for _, claims := range []object{with(goodClaims(issuer.url), "sub", nil), with(goodClaims(issuer.url), "iss", "https://evil.example")} {
		if got := judge(v, token(t, with(goodHeader(), "kid", "unknown"), claims)); got != "refused" || issuer.fetched() != before {
			t.Errorf("%s, %d fetches", got, issuer.fetched()-before)
		}
	}
}

// A client that goes away does not take the fetch with it.
func TestFetchOutlivesItsClient(t *testing.T) {
	issuer := newServer(t)
	issuer.put(map[string]crypto.Signer{"ec": made().ec})
	v := verifier(t, issuer)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	good := token(t, goodHeader(), goodClaims(issuer.url))
	if _, err := v.Verify(ctx, good); err != nil {
		t.Error(err)
	}
	if got := judge(v, good); got != "good" || issuer.fetched() != 1 {
		t.Errorf("%s after %d fetches", got, issuer.fetched())
	}
}

// A key that is known is good while the set is fetched anew, for all but the
// one who fetches it.
func TestRefreshParksNobodyElse(t *testing.T) {
	issuer := newServer(t)
	issuer.put(map[string]crypto.Signer{"ec": made().ec})
	v := verifier(t, issuer)
	clock := clocked(v)
	good := token(t, goodHeader(), with(goodClaims(issuer.url), "exp", time.Now().Add(24*time.Hour).Unix()))
	if got := judge(v, good); got != "good" {
		t.Fatal(got)
	}
	entered, release, ended := make(chan struct{}), make(chan struct{}), make(chan string, 1)
	issuer.breaks(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-release
	})
	clock.advance(refreshAfter)
	go func() { ended <- judge(v, good) }()
	<-entered
	if got := judge(v, good); got != "good" {
		t.Error(got)
	}
	select {
	case <-ended:
		close(release)
		t.Fatal("it waits for the fetch of another request")
	default:
	}
	close(release)
	if got := <-ended; got != "good" {
		t.Error(got)
	}
}

// An issuer that cannot be reached is not the token's fault, and keys that are
// known stay so for a while.
func TestIssuerThatBreaks(t *testing.T) {
	issuer := newServer(t)
	issuer.put(map[string]crypto.Signer{"ec": made().ec})
	v := verifier(t, issuer)
	clock := clocked(v)
	good := token(t, goodHeader(), with(goodClaims(issuer.url), "exp", time.Now().Add(24*time.Hour).Unix()))
	for name, answer := range map[string]http.HandlerFunc{
		"status": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				w.Write([]byte(`{"issuer":"` + issuer.url + `","jwks_uri":"` + issuer.url + `/keys"}`))
				return
			}
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		},
		"no JSON": func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) },
		"too large": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"issuer":"` + issuer.url + `","jwks_uri":"` + issuer.url + `/keys"}` + strings.Repeat(" ", maxDocument)))
		},
		"another issuer": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"issuer":"https://evil.example","jwks_uri":"` + issuer.url + `/keys"}`))
		},
		"no metadata": func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
	} {
		issuer.breaks(answer)
		if got := judge(v, good); got != "unknown" || issuer.fetched() != 0 {
			t.Errorf("%s: %s after %d fetches", name, got, issuer.fetched())
		}
		clock.advance(fetchEvery)
	}
	issuer.breaks(nil)
	if got := judge(v, good); got != "good" {
		t.Errorf("when it is back: %s", got)
	}
	issuer.breaks(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	clock.advance(keepFor - time.Minute)
	if got := judge(v, good); got != "good" {
		t.Errorf("while it is away: %s", got)
	}
	clock.advance(time.Minute)
	if got := judge(v, good); got != "unknown" {
		t.Errorf("when it was away for long: %s", got)
	}
}

// documents is a network of some documents by URL, which notes what is asked.
type documents struct {
	by    map[string]string
	asked []string
}

func (d *documents) RoundTrip(r *http.Request) (*http.Response, error) {
	d.asked = append(d.asked, r.URL.String())
	w := httptest.NewRecorder()
	if text, ok := d.by[r.URL.String()]; ok {
		w.WriteString(text)
	} else {
		w.WriteHeader(http.StatusNotFound)
	}
	return w.Result(), nil
}

// Where keys are looked for, and that nobody is asked for them in the clear.
func TestDiscovery(t *testing.T) {
	keys := newServer(t)
	keys.put(map[string]crypto.Signer{"ec": made().ec})
	set := string(keys.set())
	manyKeys := strings.Replace(set, `{"keys":[`, `{"keys":[`+strings.Repeat(`{"kty":"new"},`, maxKeys), 1)
	for _, tt := range []struct {
		name, issuer, metadata, jwks, set string
		want                              string
		asked                             int
	}{
		{"OpenID Connect", "https://a.example", "https://a.example/.well-known/openid-configuration", "https://k.example/k", set, "good", 2},
		{"with a slash at its end", "https://a.example/", "https://a.example/.well-known/openid-configuration", "https://k.example/k", set, "good", 2},
		{"with a path", "https://a.example/b", "https://a.example/b/.well-known/openid-configuration", "https://k.example/k", set, "good", 2},
		{"RFC 8414", "https://a.example", "https://a.example/.well-known/oauth-authorization-server", "https://k.example/k", set, "good", 3},
		{"RFC 8414 with a path", "https://a.example/b", "https://a.example/.well-known/oauth-authorization-server/b", "https://k.example/k", set, "good", 3},
		{"nothing", "https://a.example", "https://b.example/", "https://k.example/k", set, "unknown", 2},
		{"without TLS", "https://a.example", "https://a.example/.well-known/openid-configuration", "http://k.example/k", set, "unknown", 1},
		{"on this machine", "https://a.example", "https://a.example/.well-known/openid-configuration", "http://127.0.0.1/k", set, "unknown", 1},
		{"a file", "https://a.example", "https://a.example/.well-known/openid-configuration", "file:///k", set, "unknown", 1},
		{"no keys", "https://a.example", "https://a.example/.well-known/openid-configuration", "https://k.example/k", `{"keys":[]}`, "refused", 2},
		{"too many keys", "https://a.example", "https://a.example/.well-known/openid-configuration", "https://k.example/k", manyKeys, "unknown", 2},
	} {
		network := &documents{by: map[string]string{tt.metadata: `{"issuer":"` + tt.issuer + `","jwks_uri":"` + tt.jwks + `"}`, tt.jwks: tt.set}}
		v, err := New(Options{Resource: resource, Issuers: []Issuer{{URL: tt.issuer}}, Transport: network})
		if err != nil {
			t.Fatal(err)
		}
		if got := judge(v, token(t, goodHeader(), goodClaims(tt.issuer))); got != tt.want || len(network.asked) != tt.asked {
			t.Errorf("%s: %s after asking for %v", tt.name, got, network.asked)
		}
	}
}

// A key set that others use too may hold what we cannot.
func TestKeySetOfManyKinds(t *testing.T) {
	issuer := newServer(t)
	issuer.put(map[string]crypto.Signer{"ec": made().ec})
	set := string(issuer.set())
	one, _, _ := strings.Cut(strings.TrimPrefix(set, `{"keys":[`), "}")
	encryption := strings.Replace(one, `"kid":"ec"`, `"kid":"enc","use":"enc"`, 1) + "}"
	set = strings.Replace(set, `{"keys":[`, `{"keys":[{"kty":"oct","kid":"secret","k":"c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"},{"kty":"new","kid":"n"},`+encryption+`,{"kty":"EC","kid":"broken","crv":"P-256","x":"AA","y":"AA"},`+
		`{"kty":"RSA","kid":"short","n":"AQ","e":"AQAB"},{"x5u":"`+issuer.url+`/x5u",`+one[1:]+"},", 1)
	v, err := New(Options{Resource: resource, LoopbackHTTP: true, Issuers: []Issuer{{URL: issuer.url, KeySet: issuer.url + "/keys?v=1"}}})
	if err != nil {
		t.Fatal(err)
	}
	issuer.breaks(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/keys" {
			t.Errorf("%s was asked for", r.URL.Path)
		}
		w.Write([]byte(set))
	})
	if got := judge(v, token(t, goodHeader(), goodClaims(issuer.url))); got != "good" {
		t.Error(got)
	}
	if got := judge(v, sign(t, "HS256", []byte("secretsecretsecretsecret"), encode(t, with(goodHeader(), "alg", "HS256", "kid", "secret")), encode(t, goodClaims(issuer.url)))); got != "refused" {
		t.Errorf("a secret of the set: %s", got)
	}
	if got := judge(v, token(t, with(goodHeader(), "kid", "enc"), goodClaims(issuer.url))); got != "refused" {
		t.Errorf("a key for encryption: %s", got)
	}
}

func TestNewRefuses(t *testing.T) {
	many := make([]Issuer, MaxIssuers+1)
	one := []Issuer{{URL: "https://login.example"}}
	for _, tt := range []struct {
		options Options
		says    string
	}{
		{Options{Resource: resource}, "0 issuers"},
		{Options{Resource: resource, Issuers: many}, "33 issuers"},
		{Options{Resource: resource, Issuers: []Issuer{one[0], one[0]}}, "there twice"},
		{Options{Resource: resource, Issuers: []Issuer{{URL: "http://login.example"}}}, "https is needed"},
		{Options{Resource: resource, Issuers: []Issuer{{URL: "http://localhost"}}}, "https is needed"},
		{Options{Resource: resource, LoopbackHTTP: true, Issuers: []Issuer{{URL: "http://login.example"}}}, "this machine only"},
		{Options{Resource: resource, Issuers: []Issuer{{URL: "login.example"}}}, "expected https://"},
		{Options{Resource: resource, Issuers: []Issuer{{URL: "https://a:b@login.example"}}}, "expected https://"},
		{Options{Resource: resource, Issuers: []Issuer{{URL: "https://login.example?x"}}}, "no query"},
		{Options{Resource: resource, Issuers: []Issuer{{URL: "https://login.example#x"}}}, "no fragment"},
		{Options{Resource: resource, Issuers: []Issuer{{URL: one[0].URL, KeySet: "http://login.example/keys"}}}, "key set"},
		{Options{Issuers: one}, "resource"},
		{Options{Resource: "tools.example", Issuers: one}, "resource"},
		{Options{Resource: resource + "#x", Issuers: one}, "resource"},
		{Options{Resource: resource, Issuers: one, Leeway: MaxLeeway + 1}, "Leeway"},
		{Options{Resource: resource, Issuers: one, Leeway: -1}, "Leeway"},
		{Options{Resource: resource, Issuers: one, Scopes: []string{"a b"}}, "no scope"},
	} {
		if _, err := New(tt.options); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v", tt.options, err)
		}
	}
}

// Keys of a file are those of an issuer that is never asked, and change with
// the file.
func TestKeySetInAFile(t *testing.T) {
	issuer := newServer(t)
	k := made()
	issuer.put(map[string]crypto.Signer{"ec": k.ec})
	file := filepath.Join(t.TempDir(), "keys.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings := authz.TokenSettings{Resource: resource, LoopbackHTTP: true, Issuers: []authz.TokenIssuer{{URL: issuer.url, KeySetFile: file}}}
	for name, text := range map[string]string{
		"none": "", "no JSON": "<html>", "no keys": `{"keys":[]}`, "a secret": `{"keys":[{"kty":"oct","kid":"s","k":"c2VjcmV0"}]}`,
		"too large": string(issuer.set()) + strings.Repeat(" ", maxDocument),
	} {
		if text != "" {
			write(text)
		}
		if v, err := Configured(settings); v != nil || err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v %v", name, v, err)
		}
	}
	settings.Issuers[0].KeySetFile = filepath.Dir(file)
	if _, err := Configured(settings); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
	settings.Issuers[0].KeySetFile, settings.Issuers[0].KeySet = file, issuer.url+"/keys"
	if _, err := Configured(settings); err == nil || !strings.Contains(err.Error(), "named twice") {
		t.Errorf("a file and a URL: %v", err)
	}
	settings.Issuers[0].KeySet = ""
	write(string(issuer.set()))
	configured, err := Configured(settings)
	if err != nil {
		t.Fatal(err)
	}
	v := configured.(*Verifier)
	clock := clocked(v)
	claims := with(goodClaims(issuer.url), "exp", time.Now().Add(24*time.Hour).Unix())
	first := token(t, goodHeader(), claims)
	second := sign(t, "ES256", k.ec2, encode(t, with(goodHeader(), "kid", "ec2")), encode(t, claims))
	if got := judge(v, first) + judge(v, second); got != "goodrefused" {
		t.Error(got)
	}
	issuer.put(map[string]crypto.Signer{"ec2": k.ec2})
	write(string(issuer.set()))
	clock.advance(refreshAfter)
	if got := judge(v, first) + judge(v, second); got != "refusedgood" {
		t.Errorf("with another file: %s", got)
	}
	write("{") // half of a file does not take the keys away
	clock.advance(refreshAfter)
	if got := judge(v, second); got != "good" {
		t.Errorf("with a broken file: %s", got)
	}
	if issuer.fetched() != 0 {
		t.Error("the issuer was asked")
	}
}
