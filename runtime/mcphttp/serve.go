package mcphttp

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The times of a connection that no answer depends on.
const (
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
	// grace is what cancelled calls get to answer that they were, and then
	// connections to be closed.
	grace = 2 * time.Second
	// maxMetricsConnections is far above what scrapers need.
	maxMetricsConnections = 64
)

// Serve answers requests on l until ctx ends, and then drains: it is no longer
// ready and refuses new requests, running calls are answered, for at most
// Drain, after which they are cancelled, and at last sessions and streams end.
// It returns nil then, and the error of l otherwise. It closes l, waits for what
// it started, and leaves handlers behind only if they ignore their context.
func (s *Server) Serve(ctx context.Context, l net.Listener, server *mcp.Server) error {
	if s.served.Swap(true) {
		return errors.Join(errors.New("mcphttp: Serve was called before"), l.Close())
	}
	h := &http.Server{
		Handler:           s.Handler(server),
		TLSConfig:         s.options.TLS.Clone(),
		ReadHeaderTimeout: s.limits.HeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // what clients do wrong
	}
	l = netutil.LimitListener(l, s.limits.MaxConnections)
	result := make(chan error, 1)
	go func() {
		if h.TLSConfig != nil {
			result <- h.ServeTLS(l, "", "")
		} else {
			result <- h.Serve(l)
		}
	}()
	var failure error
	select {
	case failure = <-result:
	case <-ctx.Done():
	}
	s.end(h, server)
	if failure == nil {
		<-result // http.ErrServerClosed
	}
	return failure
}

// ServeMetrics answers /metrics on l, and nothing else, until ctx ends. It
// asks for no credentials: l is to be an address for the operator alone. It
// returns nil then, and the error of l otherwise.
func ServeMetrics(ctx context.Context, l net.Listener, m *Metrics, log *slog.Logger) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m)
	h := &http.Server{
		Handler:        guard{}.around(mux),
		ReadTimeout:    DefaultHeaderTimeout,
		WriteTimeout:   DefaultWriteTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	result := make(chan error, 1)
	go func() { result <- h.Serve(netutil.LimitListener(l, maxMetricsConnections)) }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		err := h.Close()
		<-result // http.ErrServerClosed
		return err
	}
}

// end drains and closes everything.
func (s *Server) end(h *http.Server, server *mcp.Server) {
	begin := time.Now()
	s.log.Info("draining", "requests", s.owed.Load(), "sessions", s.sessions.count(), "deadline", s.drain)
	s.stopAccept()
	if !s.answered(s.drain) {
		s.log.Warn("running calls are cancelled", "requests", s.owed.Load())
		s.cancelCalls(errEnded)
		if !s.answered(grace) {
			s.log.Error("calls that were cancelled did not return", "requests", s.owed.Load())
		}
	}
	s.cancelCalls(errEnded)
	s.endStreams()

	// Sessions first: their streams would keep Shutdown waiting. Closing one
	// waits for its handlers, and a handler may ignore its context.
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		var closing sync.WaitGroup
		for session := range server.Sessions() {
			closing.Go(func() { _ = session.Close() }) // the client is told by the end of its streams
		}
		closing.Wait()
		s.sessions.waiting.Wait()
	}()
	select {
	case <-closed:
	case <-time.After(grace):
		s.log.Error("sessions ended with calls that did not return")
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := h.Shutdown(ctx); err != nil {
		s.log.Warn("connections were cut", "error", err)
		_ = h.Close() // its error is that of a listener which is closed already
	}
	s.log.Info("drained", "duration_ms", time.Since(begin).Milliseconds())
}

// answered waits, for at most patience, until no answer is owed.
func (s *Server) answered(patience time.Duration) bool {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for s.owed.Load() > 0 {
		select {
		case <-look.C:
		case <-deadline.C:
			return s.owed.Load() == 0
		}
	}
	return true
}
