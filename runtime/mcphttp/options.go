package mcphttp

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/capgen/capgen/authz"
)

// DefaultPath is where the endpoint is unless PublicURL says otherwise.
const DefaultPath = "/mcp"

// ProtectedResource is what a Verifier may be too: one that knows the metadata
// of the protected resource (RFC 9728). New serves and names it, unless
// Options.ResourceMetadata is set.
type ProtectedResource interface {
	// ResourceMetadata is for Options.ResourceMetadata.
	ResourceMetadata() string
	// Public is for Options.Public, whose own entries come first.
	Public() map[string]http.Handler
}

// Options of New. All have defaults.
type Options struct {
	// Verifier judges the bearer token that each request must then carry. Nil
	// takes every request as Anonymous.
	Verifier authz.Verifier
	// Anonymous is who a request comes from where there is no Verifier. The
	// zero Subject is authz.Development().
	Anonymous authz.Subject
	// Scopes that a subject needs for any request at all.
	Scopes []string
	// ToolScopes are those that a subject needs besides for calls of a tool, by
	// its name. A call without one of them gets 403 and a challenge with all
	// that are needed, before it is read any further. New keeps the map.
	ToolScopes map[string][]string
	// NameHeaders are methods beside those of the protocol whose Mcp-Name header
	// repeats a parameter, in the current era: by method, the parameter's name. A
	// request without the header, or with another value there, gets 400. New keeps
	// the map.
	NameHeaders map[string]string
	// Listen judges the parameters of subscriptions/listen, in the current era, as
	// they were sent: the SDK drops those of extensions. What it returns is the
	// answer, with 400; nil goes on, and a Listen that is nil always does. It must
	// be safe for concurrent use.
	Listen func(params json.RawMessage) *jsonrpc.Error
	// ResourceMetadata is the URL of the protected-resource metadata (RFC
	// 9728), which a challenge names. Empty names none.
	ResourceMetadata string
	// Public are handlers by path that answer without credentials, such as
	// that metadata. Host and Origin are checked for them too.
	Public map[string]http.Handler
	// PublicURL is where clients reach the endpoint, if that is not where it
	// listens: its host is one that requests may name, its origin one that
	// they may come from, and its path the endpoint's.
	PublicURL *url.URL
	// TLS of the listener; nil serves plain HTTP.
	TLS *tls.Config
	// Limits; zero fields mean defaults.
	Limits Limits
	// Drain is how long calls that run when serving ends may take; zero means
	// DefaultDrain.
	Drain time.Duration
	// Metrics, if not nil, are counted.
	Metrics *Metrics
	// Logger gets what clients must not see. Nil discards. Tokens, arguments
	// and results are never logged.
	Logger *slog.Logger
}

// DefaultDrain is how long running calls may take when serving ends.
const DefaultDrain = 10 * time.Second

// Limits bound what clients can cost before anything is called. Zero means the
// default, a negative value is an error, and nothing means unlimited.
type Limits struct {
	// MaxMessageBytes of the body of a request. Default 8 MiB.
	MaxMessageBytes int64
	// MaxMessageDepth of arrays and objects inside each other in a body.
	// Default 1,100: the 1,024 of a call's arguments, and what is around them.
	MaxMessageDepth int
	// MaxLargeBytes of all bodies that are being read or answered at once,
	// without the first 64 KiB of each; what would be more gets 503. Serving
	// takes several times as much memory. Default 64 MiB.
	MaxLargeBytes int64
	// MaxConnections that are open at once; more wait to be accepted. Default
	// 8,192.
	MaxConnections int
	// MaxRequests that are answered at once; streams that wait for news are
	// counted with sessions once their body was read. Default 1,024.
	MaxRequests int
	// MaxSessions that live at once, and those of them of one subject. Default
	// 4,096 and 512.
	MaxSessions, MaxSessionsPerSubject int
	// SessionTimeout ends a session without requests. Default 10 minutes.
	SessionTimeout time.Duration
	// HeaderTimeout bounds how long a request's headers may take to arrive,
	// counted from the connection's first. Default 10 s.
	HeaderTimeout time.Duration
	// BodyTimeout bounds how long a body may take to arrive. Default 30 s.
	BodyTimeout time.Duration
	// WriteTimeout bounds how long a client may take to read the next 64 KiB
	// of an answer. Default 30 s.
	WriteTimeout time.Duration
}

// The default limits.
const (
	DefaultMaxMessageBytes       = 8 << 20
	DefaultMaxMessageDepth       = 1100
	DefaultMaxLargeBytes         = 64 << 20
	DefaultMaxConnections        = 8192
	DefaultMaxRequests           = 1024
	DefaultMaxSessions           = 4096
	DefaultMaxSessionsPerSubject = 512
	DefaultSessionTimeout        = 10 * time.Minute
	DefaultHeaderTimeout         = 10 * time.Second
	DefaultBodyTimeout           = 30 * time.Second
	DefaultWriteTimeout          = 30 * time.Second
)

func (l Limits) withDefaults() (Limits, error) {
	var problems []error
	fill(&problems, "MaxMessageBytes", &l.MaxMessageBytes, DefaultMaxMessageBytes)
	fill(&problems, "MaxMessageDepth", &l.MaxMessageDepth, DefaultMaxMessageDepth)
	fill(&problems, "MaxLargeBytes", &l.MaxLargeBytes, DefaultMaxLargeBytes)
	fill(&problems, "MaxConnections", &l.MaxConnections, DefaultMaxConnections)
	fill(&problems, "MaxRequests", &l.MaxRequests, DefaultMaxRequests)
	fill(&problems, "MaxSessions", &l.MaxSessions, DefaultMaxSessions)
	fill(&problems, "MaxSessionsPerSubject", &l.MaxSessionsPerSubject, DefaultMaxSessionsPerSubject)
	fill(&problems, "SessionTimeout", &l.SessionTimeout, DefaultSessionTimeout)
	fill(&problems, "HeaderTimeout", &l.HeaderTimeout, DefaultHeaderTimeout)
	fill(&problems, "BodyTimeout", &l.BodyTimeout, DefaultBodyTimeout)
	fill(&problems, "WriteTimeout", &l.WriteTimeout, DefaultWriteTimeout)
	return l, errors.Join(problems...)
}

func fill[T int | int64 | time.Duration](problems *[]error, name string, value *T, def T) {
	switch {
	case *value < 0:
		*problems = append(*problems, fmt.Errorf("mcphttp: limit %s is negative (%v)", name, *value))
	case *value == 0:
		*value = def
	}
}

// ParsePublicURL reads the URL by which clients reach the endpoint: http or
// https, with a host, without user, query and fragment. An empty path becomes
// DefaultPath.
func ParsePublicURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("mcphttp: public URL %q does not parse", text)
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return nil, fmt.Errorf("mcphttp: public URL %q: expected https://HOST or http://HOST", text)
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.RawPath != "" || strings.HasSuffix(text, "#"):
		return nil, fmt.Errorf("mcphttp: public URL %q: no user, query, fragment or escaped path", text)
	}
	switch {
	case u.Path == "":
		u.Path = DefaultPath
	case u.Path != "/" && (strings.HasSuffix(u.Path, "/") || strings.Contains(u.Path, "//") || strings.ContainsAny(u.Path, "{}")):
		return nil, fmt.Errorf("mcphttp: public URL %q: a path like %s is expected", text, DefaultPath)
	case u.Path == healthPath || u.Path == readyPath:
		return nil, fmt.Errorf("mcphttp: public URL %q: the path is taken", text)
	}
	return u, nil
}
