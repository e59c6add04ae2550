package bearer

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/MicahParks/jwkset"
)

const (
	// fetchTimeout bounds one fetch of an issuer's keys, metadata included.
	fetchTimeout = 10 * time.Second
	// maxDocument bounds a key set, and a metadata document.
	maxDocument = 512 << 10
	// maxKeys of a set.
	maxKeys = 100
	// minRSABits of a key (RFC 7518 section 3.3).
	minRSABits = 2048
)

// source is where the keys of one issuer are.
type source struct {
	issuer       string
	keySet, file string // both empty where metadata tells the key set
	loopback     bool
	client       *http.Client
}

func newClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: fetchTimeout,
			MaxResponseHeaderBytes: 64 << 10,
			DisableKeepAlives:      true, // a fetch is rare, and nobody would close the connection
		}
	}
	return &http.Client{Transport: transport, Timeout: fetchTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("redirects are not followed")
	}}
}

// load fetches the keys that tokens may be signed with.
func (s source) load(ctx context.Context) ([]jwkset.JWK, error) {
	if s.file != "" {
		return s.readKeys()
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	where := s.keySet
	if where == "" {
		var err error
		if where, err = s.discover(ctx); err != nil {
			return nil, err
		}
	}
	var set jwkset.JWKSMarshal
	if found, err := s.get(ctx, where, &set); err != nil {
		return nil, err
	} else if !found {
		return nil, fmt.Errorf("%s: there is none", where)
	}
	return usable(where, set)
}

// readKeys reads the keys of a file. What is no regular file, a pipe above all,
// could keep every request waiting.
func (s source) readKeys() ([]jwkset.JWK, error) {
	info, err := os.Stat(s.file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", s.file)
	}
	f, err := os.Open(s.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var set jwkset.JWKSMarshal
	if err := decode(s.file, f, &set); err != nil {
		return nil, err
	}
	return usable(s.file, set)
}

// usable are the keys of a set that signatures can be verified with.
func usable(where string, set jwkset.JWKSMarshal) ([]jwkset.JWK, error) {
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("%s: %d keys, at most %d are read", where, len(set.Keys), maxKeys)
	}
	var keys []jwkset.JWK
	for _, m := range set.Keys {
		// Without GetX5U the library follows no URL of a key.
		key, err := jwkset.NewJWKFromMarshal(m, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
		if err != nil || m.KID == "" || !verifies(key.Key()) {
			continue // for others: the set is not for us alone
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// verifies: key is a public one that is strong enough.
func verifies(key any) bool {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return k.N.BitLen() >= minRSABits
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}

// discover finds the key set in the issuer's metadata: at the place of OpenID
// Connect Discovery 1.0, section 4, and then at that of RFC 8414, section 3.
func (s source) discover(ctx context.Context) (string, error) {
	u, err := url.Parse(s.issuer)
	if err != nil {
		return "", err
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	origin := u.Scheme + "://" + u.Host
	for _, where := range []string{
		origin + path + "/.well-known/openid-configuration",
		origin + "/.well-known/oauth-authorization-server" + path,
	} {
		var metadata struct {
			Issuer  string `json:"issuer"`
			JWKSURI string `json:"jwks_uri"`
		}
		switch found, err := s.get(ctx, where, &metadata); {
		case err != nil:
			return "", err
		case !found:
			continue
		case metadata.Issuer != s.issuer: // RFC 8414 section 3.3
			return "", fmt.Errorf("%s: it is of the issuer %.200q", where, metadata.Issuer)
		}
		if err := checkKeySetURL(metadata.JWKSURI, s.loopback); err != nil {
			return "", fmt.Errorf("%s: jwks_uri %.200q: %w", where, metadata.JWKSURI, err)
		}
		return metadata.JWKSURI, nil
	}
	return "", errors.New("the issuer has no metadata")
}

// get reads a JSON document; not found is no error.
func (s source) get(ctx context.Context, where string, into any) (found bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return false, err
	}
	r.Header.Set("Accept", "application/json")
	response, err := s.client.Do(r)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return false, nil
	default:
		return false, fmt.Errorf("%s: status %d", where, response.StatusCode)
	}
	if err := decode(where, response.Body, into); err != nil {
		return false, err
	}
	return true, nil
}

// decode reads a JSON document of bounded size.
func decode(where string, from io.Reader, into any) error {
	text, err := io.ReadAll(io.LimitReader(from, maxDocument+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", where, err)
	case len(text) > maxDocument:
		return fmt.Errorf("%s: more than %d bytes", where, maxDocument)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	return nil
}

// checkKeySet holds where an issuer's keys are to one place, and a file to keys
// that it has: it is here now, unlike an issuer that may be down.
func checkKeySet(i Issuer, loopback bool) error {
	switch {
	case i.KeySet != "" && i.KeySetFile != "":
		return fmt.Errorf("bearer: issuer %q: its key set is named twice", i.URL)
	case i.KeySet != "":
		if err := checkKeySetURL(i.KeySet, loopback); err != nil {
			return fmt.Errorf("bearer: key set %q: %w", i.KeySet, err)
		}
	case i.KeySetFile != "":
		keys, err := source{file: i.KeySetFile}.readKeys()
		if err == nil && len(keys) == 0 {
			err = fmt.Errorf("%s: no key with a kid that signatures can be verified with", i.KeySetFile)
		}
		if err != nil {
			return fmt.Errorf("bearer: key set: %w", err)
		}
	}
	return nil
}

// checkURL holds an issuer to https, and to the form of RFC 8414, section 2.
func checkURL(text string, loopback bool) error {
	if strings.ContainsAny(text, "?#") {
		return errors.New("no query and no fragment")
	}
	return checkKeySetURL(text, loopback)
}

// checkKeySetURL holds a URL to https, or to this machine where that is
// allowed.
func checkKeySetURL(text string, loopback bool) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("it does not parse")
	case u.Hostname() == "" || u.User != nil || strings.Contains(text, "#"):
		return errors.New("expected https://HOST/PATH")
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http" || !loopback:
		return errors.New("https is needed")
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return errors.New("http is for this machine only")
	}
	return nil
}
