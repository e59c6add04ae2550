package bearer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
)

const resource = "https://tools.example/mcp"

// server is an issuer of a test: metadata, a key set, and what was asked.
type server struct {
	t   *testing.T
	url string

	mu      sync.Mutex
	keys    map[string]crypto.Signer // by kid
	fetches int                      // of the key set
	others  []string                 // paths asked for that are not there
	// answer, if not nil, stands in for every answer.
	answer http.HandlerFunc
}

func newServer(t *testing.T) *server {
	s := &server{t: t, keys: map[string]crypto.Signer{}}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/keys" {
		s.fetches++
	}
	switch {
	case s.answer != nil:
		s.answer(w, r)
	case r.URL.Path == "/.well-known/openid-configuration":
		json.NewEncoder(w).Encode(map[string]string{"issuer": s.url, "jwks_uri": s.url + "/keys"})
	case r.URL.Path == "/keys":
		w.Write(s.set())
	default:
		s.others = append(s.others, r.URL.Path)
		http.NotFound(w, r)
	}
}

// set is the key set of the public keys.
func (s *server) set() []byte {
	var set jwkset.JWKSMarshal
	for kid, key := range s.keys {
		o := jwkset.JWKMetadataOptions{KID: kid}
		if _, ok := key.(ed25519.PrivateKey); ok {
			o.ALG = jwkset.AlgEdDSA
		}
		jwk, err := jwkset.NewJWKFromKey(key.Public(), jwkset.JWKOptions{Metadata: o})
		if err != nil {
			s.t.Error(err)
		}
		set.Keys = append(set.Keys, jwk.Marshal())
	}
	text, err := json.Marshal(set)
	if err != nil {
		s.t.Error(err)
	}
	return text
}

// put replaces all keys.
func (s *server) put(keys map[string]crypto.Signer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = keys
}

func (s *server) breaks(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *server) fetched() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetches
}

// made is one of each kind of key, made once: RSA takes a while.
var made = sync.OnceValue(func() (keys struct {
	ec, ec2, ec384 *ecdsa.PrivateKey
	rsa, weak      *rsa.PrivateKey
	ed             ed25519.PrivateKey
}) {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	var err error
	keys.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	keys.ec2, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	keys.ec384, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	must(err)
	keys.rsa, err = rsa.GenerateKey(rand.Reader, 2048)
	must(err)
	keys.weak, err = rsa.GenerateKey(rand.Reader, 1024)
	must(err)
	_, keys.ed, err = ed25519.GenerateKey(rand.Reader)
	must(err)
	return keys
})

type object = map[string]any

// with is a copy of o with some members replaced; nil takes one away.
func with(o object, members ...any) object {
	c := object{}
	for k, v := range o {
		c[k] = v
	}
	for i := 0; i < len(members); i += 2 {
		if members[i+1] == nil {
			delete(c, members[i].(string))
		} else {
			c[members[i].(string)] = members[i+1]
		}
	}
	return c
}

func goodHeader() object { return object{"typ": "at+jwt", "alg": "ES256", "kid": "ec"} }

func goodClaims(issuer string) object {
	now := time.Now().Unix()
	return object{"iss": issuer, "sub": "ann", "aud": resource, "iat": now, "exp": now + 600, "scope": "records:read"}
}

func encode(t *testing.T, o object) string {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return segment(string(text))
}

func segment(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// sign makes a token of two segments by the algorithm that is named.
func sign(t *testing.T, alg string, key any, header, claims string) string {
	t.Helper()
	text := header + "." + claims
	signature, err := jwt.GetSigningMethod(alg).Sign(text, key)
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func token(t *testing.T, header, claims object) string {
	t.Helper()
	return sign(t, "ES256", made().ec, encode(t, header), encode(t, claims))
}

// verifier trusts the given issuers, whose keys are put there.
func verifier(t *testing.T, servers ...*server) *Verifier {
	t.Helper()
	o := Options{Resource: resource, LoopbackHTTP: true, Scopes: []string{"records:read"}}
	for _, s := range servers {
		o.Issuers = append(o.Issuers, Issuer{URL: s.url})
	}
	v, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
