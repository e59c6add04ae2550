package mcphttp

import (
	"io"
	"net/http"
)

const (
	healthPath = "/healthz"
	readyPath  = "/readyz"
)

// health says that the process answers.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) { state(w, http.StatusOK, "ok\n") }

// ready says whether new requests are welcome.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	if s.draining.Err() != nil {
		state(w, http.StatusServiceUnavailable, "draining\n")
		return
	}
	state(w, http.StatusOK, "ok\n")
}

func state(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // whoever asked may have gone
}
