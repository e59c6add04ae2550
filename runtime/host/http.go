package host

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/mcphttp"
	"github.com/capgen/capgen/runtime/mcpserver"
	"github.com/capgen/capgen/runtime/results"
)

// httpFlags are of the command http alone.
type httpFlags struct {
	listen, metricsListen string
	publicURL             string
	tlsCert, tlsKey       string // files
	tokenFile             string
	insecure              bool
	drain                 time.Duration
	resultsDir            string
}

// web is what the command http has settled before the server is built: a
// server that must not serve is not built either.
type web struct {
	listener, metrics net.Listener // metrics is nil where none were asked for
	public            *url.URL     // nil: as listened
	tls               *tls.Config
	verifier          authz.Verifier // nil: nobody authenticates
	// tellsWho: the verifier is the host's own. A shared token tells nobody
	// from another.
	tellsWho bool
	exposed  bool
	scopes   []string // that a subject needs for any request
}

// requirer knows what its deployment requires; *runtime.Server does.
type requirer interface {
	Requires(runtime.Requirement) bool
}

// bind listens, and refuses what would let anybody in from elsewhere. It
// decides on the address that was bound.
func (p *program) bind(ctx context.Context, c config, env Env, granted grant) (w *web, err error) {
	f := c.http
	w = new(web)
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if f.drain <= 0 {
		return w, fmt.Errorf("--drain is %v: a time above 0 is needed", f.drain)
	}
	w.public = env.PublicURL
	if w.tls, err = readTLS(f, env.Logger); err != nil {
		return w, err
	}
	if w.verifier, err = p.verifier(ctx, c, env, granted); err != nil {
		return w, err
	}
	_, shared := w.verifier.(mcphttp.Shared)
	w.tellsWho = w.verifier != nil && !shared
	if w.scopes = slices.Concat(p.options.Scopes, c.tokens.requireScope); w.tellsWho && granted.limited {
		return w, errors.New("--grant-scope is for subjects whose scopes no token tells, and here a verifier tells all")
	}
	if w.listener, err = listen(ctx, f.listen); err != nil {
		return w, err
	}
	if w.exposed = mcphttp.Exposed(w.listener.Addr(), w.public); w.exposed && w.verifier == nil && !f.insecure {
		reach := fmt.Sprintf("%s can be reached from other machines", w.listener.Addr())
		if !mcphttp.Exposed(w.listener.Addr(), nil) {
			reach = fmt.Sprintf("--public-url %s says that other machines reach this server", w.public)
		}
		return w, fmt.Errorf("%s, and nobody would have to authenticate: set a shared token of at least %d bytes in %s or --token-file, or a verifier in the host's Options, or --issuer where the program has it; "+
			"or listen on localhost:8080; --insecure serves everybody", reach, mcphttp.MinSharedTokenBytes, tokenVariable)
	}
	if f.metricsListen != "" {
		if w.metrics, err = listen(ctx, f.metricsListen); err != nil {
			return w, err
		}
	}
	return w, nil
}

func (w *web) close() {
	for _, l := range []net.Listener{w.listener, w.metrics} {
		if l != nil {
			_ = l.Close() // it is closed twice where it has served
		}
	}
}

// sandbox is what workers of this server need.
func (w *web) sandbox() runtime.Sandbox {
	if w.exposed {
		return runtime.SandboxRequired
	}
	return runtime.SandboxAuto
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	var l net.ListenConfig
	listener, err := l.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", address, err)
	}
	return listener, nil
}

// verifier is the host's own, or that of the issuers, or the shared token, or
// nil.
func (p *program) verifier(ctx context.Context, c config, env Env, granted grant) (authz.Verifier, error) {
	token, given, err := sharedToken(c.http.tokenFile, p.lookup)
	if err != nil {
		return nil, err
	}
	var own authz.Verifier
	if p.options.Verifier != nil {
		if own, err = p.options.Verifier(ctx, env); err != nil {
			return nil, err
		}
	}
	issued, err := p.tokens(c.tokens, env)
	if err != nil {
		return nil, err
	}
	if own != nil && issued != nil {
		return nil, errors.New("--issuer and the host's own verifier are both set: it is not settled whose tokens are good")
	}
	if issued != nil {
		own = issued
	}
	switch {
	case own != nil && given:
		return nil, errors.New("a verifier and a shared token are both set: whoever has the token would pass the verifier by")
	case own != nil:
		return own, nil
	case given:
		shared, err := mcphttp.SharedToken(token)
		if err != nil {
			return nil, err
		}
		return shared.WithScopes(granted.to(authz.Demo()).Scopes), nil
	}
	return nil, nil
}

// http serves any number of sessions until ctx ends.
func (p *program) http(ctx context.Context, s session) int {
	w := s.web
	if got := s.runtime.Workers().Sandbox; w.exposed && got != runtime.SandboxRequired {
		return p.broken(fmt.Errorf("a server that others can reach needs the whole sandbox, and this one has %v: set runtime.Options.Sandbox to Env.Sandbox", got))
	}
	if r, ok := s.runtime.(requirer); ok && r.Requires(runtime.RequireVerifier) && !w.tellsWho {
		return p.broken(fmt.Errorf("deployment %s requires a verifier, which tells who calls: set Options.Verifier of the host, or Options.Tokens and --issuer", s.runtime.Deployment()))
	}
	options := mcphttp.Options{
		Verifier: w.verifier, Anonymous: s.granted.to(authz.Development()), Scopes: w.scopes, ToolScopes: toolScopes(s.runtime),
		PublicURL: w.public, TLS: w.tls, Limits: p.options.HTTP, Drain: s.http.drain, Logger: s.log,
	}
	if s.runtime.TellsOfJobs() {
		options.NameHeaders, options.Listen = mcpserver.TaskHeaders(), mcpserver.ListenWithTasks
	}
	if w.metrics != nil {
		options.Metrics = mcphttp.NewMetrics()
	}
	h, err := mcphttp.New(options)
	if err != nil {
		return p.broken(err)
	}
	kept := results.Private()
	if dir := s.http.resultsDir; dir != "" {
		if kept, err = results.Open(dir); err != nil {
			return p.broken(err)
		}
	}
	defer s.closeResults(kept)
	outermost, execution := s.observed()
	server, err := mcpserver.New(mcpserver.Options{
		Runtime: s.runtime, Subjects: authz.ContextSubject(), Logger: s.log,
		Middleware: append(outermost, h.Middleware()...), Execute: execution, ReturnPrints: p.options.ReturnPrints,
		PerSubject: &p.options.PerSubject, Results: kept, MaxResultBytes: p.options.MaxResultBytes,
	})
	if err != nil {
		return p.broken(err)
	}
	defer p.roomForMany()()
	p.announce(s)
	if w.metrics != nil {
		counting, stop := context.WithCancel(context.WithoutCancel(ctx))
		counted := make(chan error, 1)
		go func() { counted <- mcphttp.ServeMetrics(counting, w.metrics, options.Metrics, s.log) }()
		defer func() {
			stop()
			if err := <-counted; err != nil {
				s.log.Error("serve metrics", "error", err)
			}
		}()
	}
	if err := h.Serve(ctx, w.listener, server); err != nil {
		return p.broken(err)
	}
	return ExitOK
}

// toolScopes are what a subject needs for the capabilities that are tools.
func toolScopes(rt mcpserver.Runtime) map[string][]string {
	needed := map[string][]string{}
	for _, t := range rt.Tools() {
		if len(t.Scopes) > 0 {
			needed[t.Name] = t.Scopes
		}
	}
	return needed
}

func (s session) closeResults(kept *results.Store) {
	if err := kept.Close(); err != nil {
		s.log.Error("remove kept results", "error", err)
	}
}

// announce logs where the server is, and who may use it.
func (p *program) announce(s session) {
	w, info := s.web, s.runtime.Info()
	scheme, path := "http", mcphttp.DefaultPath
	if w.tls != nil {
		scheme = "https"
	}
	if w.public != nil {
		path = w.public.Path
	}
	who := "everybody on this machine, as development"
	switch {
	case w.verifier != nil:
		who = "with a bearer token"
	case w.exposed:
		who = "everybody, as development"
	}
	attributes := []any{
		"transport", "http", "url", scheme + "://" + w.listener.Addr().String() + path, "who", who,
		"server", info.Name, "version", info.Version, "deployment", s.runtime.Deployment(),
	}
	if w.public != nil {
		attributes = append(attributes, "public", w.public.String())
	}
	if w.metrics != nil {
		attributes = append(attributes, "metrics", "http://"+w.metrics.Addr().String()+"/metrics")
	}
	s.log.Info("serving MCP", attributes...)
	s.warn(w)
}

func (s session) warn(w *web) {
	switch {
	case w.exposed && w.verifier == nil:
		s.log.Warn("insecure: everybody who reaches this server may do everything")
	case w.exposed && w.tls == nil && (w.public == nil || w.public.Scheme != "https"):
		s.log.Warn("bearer tokens arrive unencrypted: set --tls-cert and --tls-key, or have a proxy end TLS and say so with --public-url https://…")
	}
	if w.metrics != nil && mcphttp.Exposed(w.metrics.Addr(), nil) {
		s.log.Warn("metrics can be read from other machines", slog.String("address", w.metrics.Addr().String()))
	}
}
