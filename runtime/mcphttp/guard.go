package mcphttp

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// guard refuses what a browser sends on behalf of a page from elsewhere, for
// every method and path: a page must neither call the server nor learn that it
// is there (MCP specification, Streamable HTTP, Security Warning).
type guard struct {
	origin string // the one that may call; empty is none
	host   string // that a request may name, besides this machine's
}

func newGuard(public *url.URL) guard {
	if public == nil {
		return guard{}
	}
	return guard{
		origin: strings.ToLower(public.Scheme + "://" + withoutDefaultPort(public.Scheme, public.Host)),
		host:   strings.ToLower(withoutDefaultPort(public.Scheme, public.Host)),
	}
}

func (g guard) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !g.knows(r):
			refuse(w, http.StatusForbidden, codeRefused, "the Host header names another server")
		case !g.from(r):
			refuse(w, http.StatusForbidden, codeRefused, "requests from pages of another origin are refused")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// knows reports whether a request that arrived at a loopback address names
// this machine, or the public host. A page of evil.example whose name was made
// to lead here still sends Host: evil.example (DNS rebinding).
func (g guard) knows(r *http.Request) bool {
	if !atLoopback(r) || loopbackHost(r.Host) {
		return true
	}
	scheme := "http"
	if strings.HasPrefix(g.origin, "https:") {
		scheme = "https"
	}
	return g.host != "" && strings.ToLower(withoutDefaultPort(scheme, r.Host)) == g.host
}

// atLoopback reports whether a request arrived at a loopback address, or at
// one of which that cannot be ruled out.
func atLoopback(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return !ok || local.IP.IsLoopback()
}

// from reports whether a request comes from no page, or from one of the public
// origin or of the very loopback address that it is sent to, whose Host knows
// has checked. A browser leaves Origin out of some requests; Sec-Fetch-Site is then
// what tells (Fetch Metadata Request Headers, section 2.2).
func (g guard) from(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) > 0 {
		scheme := "http://"
		if r.TLS != nil {
			scheme = "https://"
		}
		origin := strings.ToLower(origins[0])
		own := atLoopback(r) && loopbackHost(r.Host) && origin == scheme+strings.ToLower(r.Host)
		return len(origins) == 1 && (own || g.origin != "" && origin == g.origin)
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	return true
}

func withoutDefaultPort(scheme, host string) string {
	port := ":80"
	if scheme == "https" {
		port = ":443"
	}
	return strings.TrimSuffix(host, port)
}
