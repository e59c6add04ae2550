package host

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/scopes"
	"github.com/capgen/capgen/runtime/mcphttp"
)

// tokenFlags are of the command http, in programs that take access tokens.
type tokenFlags struct {
	issuers                   words
	jwks                      string // URL or file
	plainJWT                  bool
	offerScopes, requireScope words
}

// issuerVariable is refused where no flag stands for it, and where it is empty:
// a deployment that means to authenticate must not serve everybody.
const issuerVariable = "CAPGEN_ISSUER"

// words are the values of a flag that may be repeated. One value, as that of a
// variable, may be several with spaces between them.
type words []string

func (w *words) String() string { return "" }

func (w *words) Set(value string) error {
	list := strings.Fields(value)
	if len(list) == 0 {
		return errors.New("it is empty")
	}
	*w = append(*w, list...)
	return nil
}

// tokens is the verifier that the flags describe; nil where they name no issuer.
func (p *program) tokens(f tokenFlags, env Env) (authz.Verifier, error) {
	value, given := p.lookup(issuerVariable)
	switch {
	case given && p.options.Tokens == nil:
		return nil, fmt.Errorf("%s is set, but this program takes no access tokens: its host.Options.Tokens is nil", issuerVariable)
	case given && strings.TrimSpace(value) == "":
		return nil, fmt.Errorf("%s is set, but empty", issuerVariable)
	case len(f.issuers) == 0:
		if f.jwks != "" || f.plainJWT || len(f.offerScopes) > 0 || len(f.requireScope) > 0 {
			return nil, errors.New("--jwks, --plain-jwt, --offer-scope and --require-scope say more of --issuer, which is not given")
		}
		return nil, nil
	case env.PublicURL == nil:
		return nil, errors.New("--issuer needs --public-url: tokens must be for the URL by which clients know the server")
	case f.jwks != "" && len(f.issuers) > 1:
		return nil, errors.New("--jwks is the key set of one issuer, and more are given")
	}
	settings := authz.TokenSettings{
		Resource:     env.PublicURL.String(),
		Scopes:       slices.Compact(slices.Sorted(slices.Values(slices.Concat(f.offerScopes, f.requireScope, p.options.Scopes)))),
		LoopbackHTTP: !mcphttp.Exposed(&net.TCPAddr{IP: net.IPv6loopback}, env.PublicURL),
	}
	for _, url := range f.issuers {
		issuer := authz.TokenIssuer{URL: url, PlainJWT: f.plainJWT}
		if strings.Contains(f.jwks, "://") {
			issuer.KeySet = f.jwks
		} else {
			issuer.KeySetFile = f.jwks
		}
		settings.Issuers = append(settings.Issuers, issuer)
	}
	verifier, err := p.options.Tokens(settings)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--issuer: %w", err)
	case verifier == nil:
		return nil, errors.New("--issuer: host.Options.Tokens made no verifier of it")
	}
	return verifier, nil
}

// noScope is the word for no scope at all, as in a manifest.
const noScope = "none"

// grant is what the subjects have that no token names scopes of: local,
// development and shared-token. Its zero value leaves them all.
type grant struct {
	limited bool
	scopes  authz.Scopes
}

func newGrant(names words) (grant, error) {
	switch {
	case len(names) == 0:
		return grant{}, nil
	case slices.Equal(names, words{noScope}):
		return grant{limited: true}, nil
	case slices.Contains(names, noScope):
		return grant{}, fmt.Errorf("--grant-scope: %s is good alone", noScope)
	}
	set, err := scopes.Of(names...)
	if err != nil {
		return grant{}, fmt.Errorf("--grant-scope: %w", err)
	}
	return grant{limited: true, scopes: set}, nil
}

// to is s with the scopes that are granted.
func (g grant) to(s authz.Subject) authz.Subject {
	if g.limited {
		s.Scopes = g.scopes
	}
	return s
}
