package mcphttp

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Exposed reports whether others than this machine can reach a server that is
// bound to addr and, if public is not nil, known under that URL. What is bound
// decides, and not how it was asked for; what is no IP address counts as
// exposed, and so does a public URL that names another machine.
func Exposed(addr net.Addr, public *url.URL) bool {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return true
	}
	return public != nil && !loopbackHost(public.Host)
}

// loopbackHost reports whether host, with or without a port, names this
// machine alone.
func loopbackHost(host string) bool {
	name := hostname(host)
	if strings.EqualFold(strings.TrimSuffix(name, "."), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// hostname is host without its port and brackets.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}
