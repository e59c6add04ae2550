package bearer_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/bearer"
	"github.com/capgen/capgen/runtime/host"
)

// verifier is for host.Options.Verifier.
func verifier(_ context.Context, env host.Env) (authz.Verifier, error) {
	if env.PublicURL == nil {
		return nil, errors.New("--public-url is needed: it is what tokens are for")
	}
	return bearer.New(bearer.Options{
		Resource: env.PublicURL.String(),
		Issuers:  []bearer.Issuer{{URL: "https://login.example"}},
		Scopes:   []string{"records:read"}, // what clients are told to ask for
	})
}

func Example() {
	options := host.Options{Name: "tools", Verifier: verifier}
	public := &url.URL{Scheme: "https", Host: "tools.example", Path: "/mcp"}
	_, err := options.Verifier(context.Background(), host.Env{PublicURL: public})
	fmt.Println(err)
	_, err = options.Verifier(context.Background(), host.Env{})
	fmt.Println(err)
	// Output:
	// <nil>
	// --public-url is needed: it is what tokens are for
}
