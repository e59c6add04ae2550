package bearer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/scopes"
)

const (
	// DefaultLeeway and MaxLeeway bound how far the clocks of an issuer and of
	// this machine may differ.
	DefaultLeeway = 30 * time.Second
	MaxLeeway     = 60 * time.Second
	// MaxTokenBytes of a token.
	MaxTokenBytes = 16 << 10
	// MaxSubBytes of a token's sub (OpenID Connect Core 1.0, section 2).
	MaxSubBytes = 255
	// MaxIssuers of a Verifier.
	MaxIssuers = 32
)

// Options of New. Resource and Issuers have no default.
type Options struct {
	// Resource is the URL by which clients know the server, the --public-url of
	// a host. A token must have it among its audiences (RFC 8707 section 2):
	// one for another server is refused. Scheme and host in lower case and no
	// default port are its one form.
	Resource string
	// Issuers whose tokens are good: 1 to MaxIssuers.
	Issuers []Issuer
	// Scopes are what clients are told that they may ask for (RFC 9728,
	// scopes_supported). They grant nothing.
	Scopes []string
	// Leeway for exp, nbf and iat: at most MaxLeeway. Zero means
	// DefaultLeeway.
	Leeway time.Duration
	// LoopbackHTTP lets issuers and key sets be at http:// URLs of this
	// machine. It is for tests and for development.
	LoopbackHTTP bool
	// Transport fetches key sets; nil is one of its own, which trusts the
	// certificates that this machine trusts. Size, time and redirects are
	// bounded around it.
	Transport http.RoundTripper
}

// Issuer is one authorization server.
type Issuer struct {
	// URL is the issuer as it stands in tokens, byte by byte: https, without
	// user, query and fragment (RFC 8414 section 2).
	URL string
	// KeySet is the URL of its JSON Web Key Set, and KeySetFile the path of a
	// file that holds it; at most one is set. Where both are empty, it is found
	// in the issuer's metadata (OpenID Connect Discovery 1.0, RFC 8414). A file
	// is read when a URL would be fetched, and once by New.
	KeySet, KeySetFile string
	// PlainJWT takes tokens of type JWT, and without a type, for access tokens
	// too: some providers do not send at+jwt (RFC 9068 section 2.1). ID tokens
	// are then told by their audience and by nonce, at_hash and c_hash.
	PlainJWT bool
}

// methods sign with a private key. A key set holds no secret, so that none of
// it can be taken for one (RFC 8725 section 3.1).
var methods = [...]string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// Verifier is an authz.Verifier of access tokens. It is safe for concurrent
// use, starts no goroutine, and keeps no token.
type Verifier struct {
	resource    string
	metadataURL string
	metadata    map[string]http.Handler
	issuers     map[string]*issuer
	parser      *jwt.Parser
	now         func() time.Time
}

type issuer struct {
	plainJWT bool
	keys     keyfunc.Keyfunc
}

// Configured is New with what an operator says. It is for host.Options.Tokens.
func Configured(s authz.TokenSettings) (authz.Verifier, error) {
	o := Options{Resource: s.Resource, Scopes: s.Scopes, LoopbackHTTP: s.LoopbackHTTP}
	for _, i := range s.Issuers {
		o.Issuers = append(o.Issuers, Issuer(i))
	}
	v, err := New(o)
	if err != nil {
		return nil, err // not a Verifier that is nil
	}
	return v, nil
}

// New checks options. It fetches nothing: an issuer that is down keeps nobody
// from starting.
func New(o Options) (*Verifier, error) {
	if o.Leeway < 0 || o.Leeway > MaxLeeway {
		return nil, fmt.Errorf("bearer: Leeway is %v: 0 to %v are possible", o.Leeway, MaxLeeway)
	}
	if o.Leeway == 0 {
		o.Leeway = DefaultLeeway
	}
	if len(o.Issuers) == 0 || len(o.Issuers) > MaxIssuers {
		return nil, fmt.Errorf("bearer: %d issuers: 1 to %d are possible", len(o.Issuers), MaxIssuers)
	}
	if _, err := scopes.Of(o.Scopes...); err != nil {
		return nil, fmt.Errorf("bearer: %w", err)
	}
	resource, err := canonicalResource(o.Resource)
	if err != nil {
		return nil, err
	}
	v := &Verifier{issuers: map[string]*issuer{}, now: time.Now}
	client := newClient(o.Transport)
	var names []string
	for _, i := range o.Issuers {
		if err := checkURL(i.URL, o.LoopbackHTTP); err != nil {
			return nil, fmt.Errorf("bearer: issuer %q: %w", i.URL, err)
		}
		if err := checkKeySet(i, o.LoopbackHTTP); err != nil {
			return nil, err
		}
		if v.issuers[i.URL] != nil {
			return nil, fmt.Errorf("bearer: issuer %q is there twice", i.URL)
		}
		store := newKeys(source{issuer: i.URL, keySet: i.KeySet, file: i.KeySetFile, loopback: o.LoopbackHTTP, client: client}, func() time.Time { return v.now() })
		keys, err := keyfunc.New(keyfunc.Options{Storage: store, UseWhitelist: []jwkset.USE{jwkset.UseSig, ""}})
		if err != nil {
			return nil, fmt.Errorf("bearer: %w", err)
		}
		v.issuers[i.URL] = &issuer{plainJWT: i.PlainJWT, keys: keys}
		names = append(names, i.URL)
	}
	audiences := []string{resource}
	if origin(resource) { // RFC 3986 section 6.2.3: the same resource
		audiences = append(audiences, resource+"/")
	}
	v.parser = jwt.NewParser(
		jwt.WithValidMethods(methods[:]), jwt.WithStrictDecoding(), jwt.WithAudience(audiences...),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(o.Leeway),
		jwt.WithTimeFunc(func() time.Time { return v.now() }),
	)
	v.resource = resource
	v.metadataURL, v.metadata, err = describe(resource, names, o.Scopes)
	return v, err
}

// Verify implements authz.Verifier. A key set that cannot be had is an error
// that does not wrap authz.ErrUnauthenticated: the token may be good.
func (v *Verifier) Verify(ctx context.Context, token string) (authz.Subject, error) {
	subject, err := v.verify(ctx, token)
	switch {
	case errors.Is(err, errNoKeys):
		return authz.Subject{}, err
	case err != nil:
		// Cut, whatever a library quotes.
		return authz.Subject{}, fmt.Errorf("bearer: %w: %.200s", authz.ErrUnauthenticated, err)
	}
	return subject, nil
}

func (v *Verifier) verify(ctx context.Context, token string) (authz.Subject, error) {
	if len(token) > MaxTokenBytes {
		return authz.Subject{}, fmt.Errorf("more than %d bytes", MaxTokenBytes)
	}
	if err := v.strict(token); err != nil {
		return authz.Subject{}, err
	}
	var subject authz.Subject
	var noKeys error
	// What costs nothing is looked at before a key is.
	_, err := v.parser.ParseWithClaims(token, jwt.MapClaims{}, func(t *jwt.Token) (any, error) {
		claims, _ := t.Claims.(jwt.MapClaims)
		name, _ := claims["iss"].(string)
		from := v.issuers[name] // exact bytes: RFC 8725 section 3.8
		if from == nil {
			return nil, errors.New("the issuer is not one of ours")
		}
		if err := checkType(t.Header, claims, from.plainJWT); err != nil {
			return nil, err
		}
		var err error
		if subject, err = subjectOf(name, claims); err != nil {
			return nil, err
		}
		key, err := from.keys.KeyfuncCtx(ctx)(t)
		if errors.Is(err, errNoKeys) {
			noKeys = err
		}
		if err != nil {
			return nil, err
		}
		return key, checkCurve(t.Method, key)
	})
	if noKeys != nil {
		return authz.Subject{}, noKeys
	}
	return subject, err
}

// canonicalResource is the one form of a resource's URL.
func canonicalResource(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#") || u.RawPath != "" {
		return "", fmt.Errorf("bearer: resource %q: expected https://HOST/PATH, as clients know the server", text)
	}
	port := map[string]string{"https": ":443", "http": ":80"}[u.Scheme]
	return u.Scheme + "://" + strings.TrimSuffix(strings.ToLower(u.Host), port) + strings.TrimSuffix(u.EscapedPath(), "/"), nil
}

// origin: the resource has no path.
func origin(resource string) bool { return strings.Count(resource, "/") == 2 }
