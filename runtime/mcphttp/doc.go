// Package mcphttp serves an MCP server over HTTP: both eras of the protocol on
// one endpoint, who a request comes from, what a connection may cost, and how
// serving ends. It must never know a tool, a capability or a flag.
//
//	h, err := mcphttp.New(mcphttp.Options{Verifier: verifier, Logger: log})
//	if err != nil {
//		return err
//	}
//	server, err := mcpserver.New(mcpserver.Options{
//		Runtime:    built,
//		Subjects:   authz.ContextSubject(),
//		Middleware: h.Middleware(), // brings the subject of each request
//	})
//	if err != nil {
//		return err
//	}
//	return h.Serve(ctx, listener, server)
//
// The current era (2026-07-28) has no sessions: a request stands for itself,
// and its end cancels what it asked for. Older clients get a session, which
// belongs to the subject that opened it. Both are decided by the
// MCP-Protocol-Version header (MCP specification, Streamable HTTP).
package mcphttp
