// Package bearer verifies the access tokens of OAuth 2.1 authorization servers
// and describes the protected resource to clients. It must never know a
// capability, a session or a policy: a token goes in, a subject with scopes
// comes out. Only hosts that import it link what it needs.
//
//	verifier, err := bearer.New(bearer.Options{
//		Resource: "https://tools.example/mcp", // as clients know the server
//		Issuers:  []bearer.Issuer{{URL: "https://login.example"}},
//	})
//	if err != nil {
//		return err
//	}
//	h, err := mcphttp.New(mcphttp.Options{Verifier: verifier, PublicURL: public})
//
// A token of https://login.example with sub 42 is then the subject
// oidc:https://login.example#42, with the scopes of the token and no others.
// docs/reference/oauth.md lists what a token must have.
package bearer
