package authz

// TokenSettings are what an operator says of the access tokens that a program
// takes. Package host makes them of flags and variables; nothing of them has
// been checked but their form. bearer.Configured makes a Verifier of them.
type TokenSettings struct {
	// Resource is the URL by which clients know the server: what tokens must be
	// for (RFC 8707 section 2).
	Resource string
	// Issuers whose tokens are good; at least one.
	Issuers []TokenIssuer
	// Scopes are what clients are told that they may ask for (RFC 9728,
	// scopes_supported). They grant nothing.
	Scopes []string
	// LoopbackHTTP: the resource is one of this machine, so that issuers may
	// be at http:// URLs of this machine too.
	LoopbackHTTP bool
}

// TokenIssuer is one authorization server.
type TokenIssuer struct {
	// URL is the issuer as it stands in tokens, byte by byte.
	URL string
	// KeySet is the URL of its JSON Web Key Set, KeySetFile the path of a file
	// that holds it. Where both are empty, the issuer's metadata tells it.
	KeySet, KeySetFile string
	// PlainJWT takes tokens whose type is not at+jwt, too.
	PlainJWT bool
}
