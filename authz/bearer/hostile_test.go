package bearer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

// Each hostile token is refused with a challenge, and neither the answer nor
// the log tells more of it than why.
func TestHostileTokens(t *testing.T) {
	issuer, other := newServer(t), newServer(t)
	k := made()
	issuer.put(map[string]crypto.Signer{"ec": k.ec, "rsa": k.rsa, "weak": k.weak, "ec384": k.ec384})
	other.put(map[string]crypto.Signer{"other": k.ec2})
	at, log := serve(t, verifier(t, issuer, other))
	const where = `resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"`
	const invalid, missing = `Bearer error="invalid_token", ` + where, "Bearer " + where

	header, claims := goodHeader(), goodClaims(issuer.url)
	good := token(t, header, claims)
	parts := strings.Split(good, ".")
	now := claims["iat"].(int64)
	claimed := func(members ...any) string { return token(t, header, with(claims, members...)) }
	headed := func(members ...any) string { return token(t, with(header, members...), claims) }
	raw := func(header, claims string) string { return sign(t, "ES256", k.ec, segment(header), segment(claims)) }
	text := func(o object) string {
		s, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		return string(s)
	}
	der, err := x509.MarshalPKIXPublicKey(k.rsa.Public())
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	hmac := func(secret []byte, kid string) string {
		return sign(t, "HS256", secret, encode(t, with(header, "alg", "HS256", "kid", kid)), parts[1])
	}
	own := map[string]any{"kty": "EC", "crv": "P-256", "kid": "ec", "x": segment(k.ec2.X.String()), "y": segment(k.ec2.Y.String())}
	forged := func(members ...any) string {
		return sign(t, "ES256", k.ec2, encode(t, with(header, members...)), parts[1])
	}
	otherEnd := func(s string) string { // the last character, with other bits that mean nothing
		const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		i := strings.IndexByte(letters, s[len(s)-1])
		return s[:len(s)-1] + string(letters[i^1])
	}

	for _, tt := range []struct{ name, token string }{
		{"alg none", segment(`{"typ":"at+jwt","alg":"none","kid":"ec"}`) + "." + parts[1] + "."},
		{"alg none with a signature", segment(`{"typ":"at+jwt","alg":"none","kid":"ec"}`) + "." + parts[1] + "." + parts[2]},
		{"alg None", segment(`{"typ":"at+jwt","alg":"None","kid":"ec"}`) + "." + parts[1] + "."},
		{"no alg", segment(`{"typ":"at+jwt","kid":"ec"}`) + "." + parts[1] + "." + parts[2]},
		{"alg is a number", segment(`{"typ":"at+jwt","alg":1,"kid":"ec"}`) + "." + parts[1] + "." + parts[2]},
		{"alg in small letters", headed("alg", "es256")},
		{"HS256 with the public key as PEM", hmac(public, "rsa")},
		{"HS256 with the public key as DER", hmac(der, "rsa")},
		{"HS256 with nothing", hmac([]byte{}, "ec")},
		{"HS512", sign(t, "HS512", public, encode(t, with(header, "alg", "HS512", "kid", "rsa")), parts[1])},
		{"another algorithm than the key's", headed("kid", "rsa")},
		{"another curve than the algorithm's", headed("alg", "ES384")},
		{"a key of another curve", sign(t, "ES256", k.ec, encode(t, with(header, "kid", "ec384")), parts[1])},
		{"a key that is too short", sign(t, "RS256", k.weak, encode(t, with(header, "alg", "RS256", "kid", "weak")), parts[1])},

		{"issuer with a slash at its end", claimed("iss", issuer.url+"/")},
		{"issuer in capitals", claimed("iss", strings.ToUpper(issuer.url))},
		{"another issuer", claimed("iss", "https://evil.example")},
		{"no issuer", claimed("iss", nil)},
		{"issuers", claimed("iss", []string{issuer.url})},
		{"another issuer that is trusted, with this one's key", claimed("iss", other.url)},
		{"a key of another issuer that is trusted", sign(t, "ES256", k.ec2, encode(t, with(header, "kid", "other")), parts[1])},

		{"no audience", claimed("aud", nil)},
		{"empty audience", claimed("aud", "")},
		{"audience of nobody", claimed("aud", []string{})},
		{"another audience", claimed("aud", "https://other.example/mcp")},
		{"other audiences", claimed("aud", []string{"https://other.example/mcp", "https://tools.example"})},
		{"audience with a slash at its end", claimed("aud", resource+"/")},
		{"audience that begins so", claimed("aud", resource+"2")},
		{"audience is an object", claimed("aud", object{"x": resource})},
		{"audiences, one no text", claimed("aud", []any{resource, 1})},

		{"expired", claimed("exp", now-300)},
		{"expired just beyond any leeway", claimed("exp", now-61)},
		{"no expiry", claimed("exp", nil)},
		{"expiry is null", raw(text(header), strings.Replace(text(claims), `"exp":`, `"exp":null,"x":`, 1))},
		{"expiry is a text", claimed("exp", fmt.Sprint(now+600))},
		{"expiry beyond every number", raw(text(header), strings.Replace(text(claims), `"exp":`, `"exp":1e999,"x":`, 1))},
		{"not yet good", claimed("nbf", now+120)},
		{"not yet good, and no number", claimed("nbf", "soon")},
		{"issued in the future", claimed("iat", now+300)},

		{"no sub", claimed("sub", nil)},
		{"empty sub", claimed("sub", "")},
		{"sub of 300 bytes", claimed("sub", strings.Repeat("x", 300))},
		{"sub of 256 bytes in 128 letters", claimed("sub", strings.Repeat("ä", 128))},
		{"sub of two lines", claimed("sub", "a\nb")},
		{"sub with NUL", claimed("sub", "ann\x00")},
		{"sub with a control character of C1", claimed("sub", "ann\u0085")},
		{"sub with DEL", claimed("sub", "ann\x7f")},
		{"sub is a number", claimed("sub", 42)},
		{"sub is null", raw(text(header), strings.Replace(text(claims), `"sub":"ann"`, `"sub":null`, 1))},
		{"Sub", raw(text(header), strings.Replace(text(claims), `"sub":`, `"Sub":`, 1))},

		{"an ID token", token(t, with(header, "typ", "JWT"), with(claims, "nonce", "n"))},
		{"no typ", headed("typ", nil)},
		{"typ of something else", headed("typ", "dpop+jwt")},
		{"typ is a number", headed("typ", 1)},
		{"typ with a parameter", headed("typ", "at+jwt;x=y")},
		{"no kid", headed("kid", nil)},
		{"empty kid", headed("kid", "")},
		{"kid is a number", headed("kid", 1)},
		{"unknown kid", headed("kid", "unknown")},
		{"kid of a file", headed("kid", "../../etc/passwd")},
		{"a key in the header", forged("jwk", own)},
		{"a key in the header alone", forged("jwk", own, "kid", nil)},
		{"a key set in the header", forged("jku", issuer.url+"/evil-jku")},
		{"a certificate by URL", forged("x5u", issuer.url+"/evil-x5u")},
		{"a certificate in the header", forged("x5c", []string{"MIIB"})},
		{"critical extension", headed("crit", []string{"exp"})},
		{"no critical extension", headed("crit", []string{})},
		{"payload not encoded", headed("crit", []string{"b64"}, "b64", false)},

		{"a claim twice", raw(text(header), `{"sub":"root",`+text(claims)[1:])},
		{"a header twice", raw(`{"alg":"none",`+text(header)[1:], text(claims))},
		{"no UTF-8", raw(text(header), strings.Replace(text(claims), "ann", "ann\xff", 1))},
		{"half a character", raw(text(header), strings.Replace(text(claims), "ann", `ann\ud800`, 1))},
		{"something behind the claims", raw(text(header), text(claims)+"{}")},
		{"something behind the header", raw(text(header)+"{}", text(claims))},
		{"claims are null", raw(text(header), "null")},
		{"claims are a list", raw(text(header), "["+text(claims)+"]")},
		{"header is null", raw("null", text(claims))},
		{"claims nested without end", raw(text(header), strings.Repeat("[", 5000))},

		{"scopes are a list", claimed("scope", []string{"records:read"})},
		{"scope with a quotation mark", claimed("scope", `records:read "`)},
		{"scp is an object", claimed("scp", object{"records:read": true})},
		{"scp holds a number", claimed("scp", []any{"records:read", 1})},

		{"another payload", parts[0] + "." + encode(t, with(claims, "sub", "root")) + "." + parts[2]},
		{"another header", encode(t, with(header, "x", 1)) + "." + parts[1] + "." + parts[2]},
		{"another signature", parts[0] + "." + parts[1] + "." + segment(strings.Repeat("x", 64))},
		{"signature of zeros", parts[0] + "." + parts[1] + "." + segment(strings.Repeat("\x00", 64))},
		{"signature that is cut", good[:len(good)-4]},
		{"signature with other bits behind", otherEnd(good)},
		{"no signature", parts[0] + "." + parts[1] + "."},
		{"padding", good + "=="},
		{"two parts", parts[0] + "." + parts[1]},
		{"four parts", good + "." + parts[2]},
		{"five parts", "a.b.c.d.e"},
		{"base64 of another alphabet", strings.Replace(good, ".", "+.", 1)},
		{"no base64", "x~." + parts[1] + "." + parts[2]},
		{"dots", ".."},
		{"no JWT", "0123456789abcdef"},
	} {
		a := ask(t, at+"/mcp", "Authorization: Bearer "+tt.token)
		if got := a.header.Get("WWW-Authenticate"); a.status != 401 || got != invalid {
			t.Errorf("%s: %d, challenge %s, %s", tt.name, a.status, got, a.body)
		}
		if a.body != `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"the bearer token is not good"}}`+"\n" {
			t.Errorf("%s: %s", tt.name, a.body)
		}
		if len(tt.token) > 20 && strings.Contains(log.String(), tt.token) {
			t.Errorf("%s: the log holds it", tt.name)
		}
	}

	bearing := "Authorization: Bearer " + good
	for _, tt := range []struct {
		name, query string
		headers     []string
		status      int
		challenge   string
	}{
		{"none", "", nil, 401, missing},
		{"two headers", "", []string{bearing, bearing}, 401, missing},
		{"two headers, one of another", "", []string{bearing, "Authorization: Bearer x"}, 401, missing},
		{"two in one header", "", []string{bearing + ", Bearer " + good}, 401, missing},
		{"in the query", "?access_token=" + good, nil, 401, missing},
		{"in the query too", "?access_token=" + good, []string{bearing}, 400, `Bearer error="invalid_request", ` + where},
		{"another scheme", "", []string{"Authorization: DPoP " + good}, 401, missing},
		{"a cookie", "", []string{"Cookie: access_token=" + good}, 401, missing},
		{"very long", "", []string{"Authorization: Bearer " + strings.Repeat("x", 20<<10)}, 401, missing},
		{"scheme in small letters", "", []string{strings.Replace(bearing, "Bearer", "bearer", 1)}, 200, ""},
	} {
		a := ask(t, at+"/mcp"+tt.query, tt.headers...)
		if got := a.header.Get("WWW-Authenticate"); a.status != tt.status || got != tt.challenge {
			t.Errorf("%s: %d, challenge %s", tt.name, a.status, got)
		}
		if strings.Contains(a.body, good) || strings.Contains(log.String(), good) {
			t.Errorf("%s: the token is shown", tt.name)
		}
	}
	if len(issuer.others) > 0 {
		t.Errorf("what a token points to was asked for: %v", issuer.others)
	}
}

// What a second guard hides in the table: each of these is refused by itself.
func TestGuardsBehindGuards(t *testing.T) {
	issuer := newServer(t)
	k := made()
	issuer.put(map[string]crypto.Signer{"ec": k.ec})
	v := verifier(t, issuer)
	header, claims := goodHeader(), goodClaims(issuer.url)

	// A secret cannot be taken for a key even where one is offered.
	secret := []byte("secret")
	symmetric := sign(t, "HS256", secret, encode(t, with(header, "alg", "HS256")), encode(t, claims))
	if _, err := v.parser.Parse(symmetric, func(*jwt.Token) (any, error) { return secret, nil }); !errors.Is(err, jwt.ErrTokenSignatureInvalid) {
		t.Errorf("a symmetric signature: %v", err)
	}

	// A good signature by a key of P-256, in the form and with the hash of ES512.
	text := encode(t, with(header, "alg", "ES512")) + "." + encode(t, claims)
	digest := sha512.Sum512([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, k.ec, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	signature := make([]byte, 2*66)
	r.FillBytes(signature[:66])
	s.FillBytes(signature[66:])
	if got := judge(v, text+"."+base64.RawURLEncoding.EncodeToString(signature)); got != "refused" {
		t.Errorf("a key of another curve than the algorithm's: %s", got)
	}

	if got := judge(v, token(t, header, with(claims, "x", strings.Repeat("x", MaxTokenBytes)))); got != "refused" {
		t.Errorf("a token that is too long: %s", got)
	}
}

// What a good token may look like, and whom it makes a request come from.
func TestGoodTokens(t *testing.T) {
	issuer := newServer(t)
	k := made()
	issuer.put(map[string]crypto.Signer{"ec": k.ec, "rsa": k.rsa, "ed": k.ed, "ec384": k.ec384})
	at, _ := serve(t, verifier(t, issuer))
	header, claims := goodHeader(), goodClaims(issuer.url)
	now := claims["iat"].(int64)
	signed := func(alg, kid string, key any) string {
		return sign(t, alg, key, encode(t, with(header, "alg", alg, "kid", kid)), encode(t, claims))
	}
	claimed := func(members ...any) string { return token(t, header, with(claims, members...)) }
	for _, tt := range []struct{ name, token, sub, scopes string }{
		{"ES256", token(t, header, claims), "ann", "records:read"},
		{"ES384", signed("ES384", "ec384", k.ec384), "ann", "records:read"},
		{"RS256", signed("RS256", "rsa", k.rsa), "ann", "records:read"},
		{"PS512", signed("PS512", "rsa", k.rsa), "ann", "records:read"},
		{"EdDSA", signed("EdDSA", "ed", k.ed), "ann", "records:read"},
		{"typ as a media type", token(t, with(header, "typ", "application/AT+JWT"), claims), "ann", "records:read"},
		{"audiences, one ours", claimed("aud", []string{"https://other.example", resource}), "ann", "records:read"},
		{"within the leeway", claimed("exp", now-10, "nbf", now+10, "iat", now+10), "ann", "records:read"},
		{"no scopes", claimed("scope", nil), "ann", ""},
		{"empty scope", claimed("scope", ""), "ann", ""},
		{"scp", claimed("scope", nil, "scp", []string{"b", "a"}), "ann", "a b"},
		{"scp as a text", claimed("scope", nil, "scp", "b a"), "ann", "a b"},
		{"both", claimed("scp", []string{"a"}), "ann", "a records:read"},
		{"a reserved word", claimed("sub", "local"), "local", "records:read"},
		{"another reserved word", claimed("sub", "development"), "development", "records:read"},
		{"what looks like a subject", claimed("sub", "oidc:https://x#y"), "oidc:https://x#y", "records:read"},
		{"255 bytes", claimed("sub", strings.Repeat("x", 255)), strings.Repeat("x", 255), "records:read"},
		{"composed", claimed("sub", "\u00e9"), "\u00e9", "records:read"},
		{"decomposed, which is another", claimed("sub", "e\u0301"), "e\u0301", "records:read"},
		{"with spaces", claimed("sub", " ann "), " ann ", "records:read"},
	} {
		a := ask(t, at+"/mcp", "Authorization: Bearer "+tt.token)
		want, err := json.Marshal("oidc:" + issuer.url + "#" + tt.sub + "|" + tt.scopes + "|")
		if err != nil {
			t.Fatal(err)
		}
		if a.status != 200 || !strings.Contains(a.body, string(want)) {
			t.Errorf("%s: %d %s", tt.name, a.status, a.body)
		}
	}
}

// Providers that do not send at+jwt are listened to where the host says so, and
// ID tokens are still none.
func TestPlainJWT(t *testing.T) {
	issuer := newServer(t)
	issuer.put(map[string]crypto.Signer{"ec": made().ec})
	v, err := New(Options{Resource: resource, LoopbackHTTP: true, Issuers: []Issuer{{URL: issuer.url, PlainJWT: true}}})
	if err != nil {
		t.Fatal(err)
	}
	claims := goodClaims(issuer.url)
	for _, tt := range []struct {
		name  string
		token string
		good  bool
	}{
		{"JWT", token(t, with(goodHeader(), "typ", "JWT"), claims), true},
		{"no typ", token(t, with(goodHeader(), "typ", nil), claims), true},
		{"at+jwt", token(t, goodHeader(), claims), true},
		{"something else", token(t, with(goodHeader(), "typ", "logout+jwt"), claims), false},
		{"an ID token with nonce", token(t, with(goodHeader(), "typ", "JWT"), with(claims, "nonce", "n")), false},
		{"an ID token with at_hash", token(t, with(goodHeader(), "typ", "JWT"), with(claims, "at_hash", "h")), false},
		{"an ID token for its client", token(t, with(goodHeader(), "typ", "JWT"), with(claims, "aud", "client")), false},
	} {
		if _, err := v.Verify(t.Context(), tt.token); (err == nil) != tt.good {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// FuzzVerify looks for a token that is good although nobody signed it.
func FuzzVerify(f *testing.F) {
	v, err := New(Options{Resource: resource, Issuers: []Issuer{{URL: "https://login.example"}}, Transport: nowhere{}})
	if err != nil {
		f.Fatal(err)
	}
	for _, alg := range []string{"none", "HS256", "ES256"} {
		f.Add(segment(`{"alg":"`+alg+`","kid":"k","typ":"at+jwt"}`)+"."+segment(`{"iss":"https://login.example","sub":"a","aud":"`+resource+`","exp":99999999999}`)+".", false)
	}
	f.Add(`{"alg":"ES256","kid":"k","typ":"at+jwt"}`, true)
	f.Fuzz(func(t *testing.T, text string, encoded bool) {
		if encoded {
			text = segment(text) + "." + segment(text) + "." + segment(text)
		}
		if subject, err := v.Verify(t.Context(), text); err == nil || !subject.IsZero() {
			t.Errorf("%v %v", subject, err)
		}
	})
}
