package mcphttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
)

// firstModern is the first version of the protocol without sessions. Versions
// are dates and compare as texts (MCP specification, Versioning).
const firstModern = "2026-07-28"

const (
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
	sessionHeader = "Mcp-Session-Id"
)

// Server serves one MCP server on one endpoint. It is safe for concurrent use
// but serves once.
type Server struct {
	verifier         authz.Verifier
	anonymous        authz.Subject
	scopes           []string
	toolScopes       map[string][]string
	nameHeaders      map[string]string
	resourceMetadata string
	options          Options
	path             string
	limits           Limits
	drain            time.Duration
	metrics          *Metrics
	log              *slog.Logger
	sessions         *sessions

	requests chan struct{} // holds one for each request that is being answered
	served   atomic.Bool
	// draining ends when no more is accepted.
	draining    context.Context
	stopAccept  context.CancelFunc
	live        context.Context // ends when nothing may run any more
	cancelCalls context.CancelCauseFunc
	streams     context.Context // ends when streams that wait for news do
	endStreams  context.CancelFunc
	owed        atomic.Int64 // requests that will have an answer
	held        atomic.Int64 // bytes of large bodies
}

// New checks options. Its Middleware belongs into the MCP server that Serve
// gets.
func New(o Options) (*Server, error) {
	limits, err := o.Limits.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Drain < 0 {
		return nil, fmt.Errorf("mcphttp: Drain is negative (%v)", o.Drain)
	}
	if described, ok := o.Verifier.(ProtectedResource); ok && o.ResourceMetadata == "" {
		o.ResourceMetadata = described.ResourceMetadata()
		public := map[string]http.Handler{}
		maps.Copy(public, described.Public())
		maps.Copy(public, o.Public)
		o.Public = public
	}
	s := &Server{
		verifier: o.Verifier, anonymous: o.Anonymous, scopes: slices.Clone(o.Scopes), toolScopes: o.ToolScopes, nameHeaders: o.NameHeaders, resourceMetadata: o.ResourceMetadata,
		options: o, path: DefaultPath, limits: limits, drain: o.Drain, metrics: o.Metrics, log: o.Logger,
		sessions: newSessions(limits),
		requests: make(chan struct{}, limits.MaxRequests),
	}
	if s.drain == 0 {
		s.drain = DefaultDrain
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.anonymous.IsZero() {
		s.anonymous = authz.Development()
	}
	if o.PublicURL != nil {
		s.path = o.PublicURL.Path
	}
	for _, path := range slices.Sorted(maps.Keys(o.Public)) {
		if path == "" || path[0] != '/' || path == s.path || path == healthPath || path == readyPath {
			return nil, fmt.Errorf("mcphttp: the path %q of Public is taken, or none", path)
		}
	}
	quoted := append([]string{o.ResourceMetadata}, o.Scopes...)
	for _, scopes := range o.ToolScopes {
		quoted = append(quoted, scopes...)
	}
	for _, text := range quoted {
		for i := range len(text) {
			if c := text[i]; c <= ' ' || c == '"' || c == '\\' || c > '~' {
				return nil, fmt.Errorf("mcphttp: %q cannot stand in a challenge", text)
			}
		}
	}
	s.draining, s.stopAccept = context.WithCancel(context.Background())
	s.streams, s.endStreams = context.WithCancel(context.Background())
	s.live, s.cancelCalls = context.WithCancelCause(context.Background())
	s.metrics.watch(s)
	return s, nil
}

// Middleware brings the subject of each request into its context, where
// authz.ContextSubject finds it, bounds sessions, and ends calls when serving
// does. It is for the MCP server's outermost, inside of a recovery from panics.
func (s *Server) Middleware() []mcp.Middleware {
	return []mcp.Middleware{s.metrics.calls, subjects, s.sessions.admit, s.ending}
}

// errEnded is why a call was cancelled that outlived the server.
var errEnded = errors.New("mcphttp: the server ends")

// ending ties calls to the server's life. The SDK hides the context of a
// connection from its handlers.
func (s *Server) ending(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		stop := context.AfterFunc(s.live, func() { cancel(context.Cause(s.live)) })
		defer stop()
		return next(ctx, method, request)
	}
}

// Handler answers every path: the endpoint, /healthz, /readyz and those of
// Options.Public. Serve uses it; it is for servers that do more than that.
func (s *Server) Handler(server *mcp.Server) http.Handler {
	always := func(*http.Request) *mcp.Server { return server }
	log := slog.New(s.log.Handler())
	current := mcp.NewStreamableHTTPHandler(always, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, Logger: log,
		// Our own guard knows the public host; our own reader has bounded the body.
		DisableLocalhostProtection: true, MaxRequestBodyBytes: -1,
	})
	older := mcp.NewStreamableHTTPHandler(always, &mcp.StreamableHTTPOptions{
		SessionTimeout: s.limits.SessionTimeout, Logger: log,
		DisableLocalhostProtection: true, MaxRequestBodyBytes: -1,
	})
	endpoint := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if modern(r) {
			current.ServeHTTP(w, r)
		} else {
			older.ServeHTTP(w, r)
		}
	})
	mux := http.NewServeMux()
	path := s.path
	if path == "/" {
		path = "/{$}"
	}
	mux.Handle(path, s.identify(s.admit(endpoint)))
	mux.HandleFunc("GET "+healthPath, s.health)
	mux.HandleFunc("GET "+readyPath, s.ready)
	for path, handler := range s.options.Public {
		mux.Handle(path, handler)
	}
	return s.patiently(newGuard(s.options.PublicURL).around(mux))
}

// admit bounds what is answered at once, and reads the body. What waits for
// news, a stream that a client holds open, gives its place back once its body
// was read, and ends once all calls have ended: some clients give their calls
// up with it.
func (s *Server) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leave := func() {}
		if r.Method == http.MethodPost {
			s.owed.Add(1)
			select {
			case s.requests <- struct{}{}:
				leave = sync.OnceFunc(func() {
					<-s.requests
					s.owed.Add(-1)
				})
				defer leave()
			default:
				s.owed.Add(-1)
				refuseForNow(w, 1, fmt.Sprintf("%d requests are being answered (MaxRequests); nothing ran", s.limits.MaxRequests))
				return
			}
		}
		if s.draining.Err() != nil { // after the count, which the drain reads after it began
			w.Header().Set("Connection", "close")
			refuseForNow(w, 1, "the server is shutting down; nothing ran")
			return
		}
		if r.Method == http.MethodPost {
			release, ok := s.readBody(w, r)
			defer release()
			if !ok {
				return
			}
		}
		if s.lacksScope(w, r) || s.misnamed(w, r) || s.mayNotListen(w, r) {
			return
		}
		if waits(r) {
			leave()
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			stop := context.AfterFunc(s.streams, cancel)
			defer stop()
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// waits reports whether r asks for news that may never come. In the current
// era a header says so, and the SDK refuses one that the body does not bear
// out; in an older one nobody looks at that header.
func waits(r *http.Request) bool {
	return r.Method != http.MethodPost || modern(r) && r.Header.Get(methodHeader) == listenMethod
}

// modern reports whether r is of the current era.
func modern(r *http.Request) bool { return r.Header.Get(versionHeader) >= firstModern }
