package host

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/mcpserver"
	"github.com/capgen/capgen/runtime/results"
)

// How long a session may take to end.
const (
	// drainTime is what running calls get when the client has closed its end:
	// their answers are still wanted, by a client that pipes its calls in.
	drainTime = 10 * time.Second
	// graceTime is what cancelled calls get to answer that they were.
	graceTime = 2 * time.Second
)

// stdio serves one session, whose every request comes from the owner of this
// process. It ends when the input does, or ctx.
func (p *program) stdio(ctx context.Context, s session) int {
	// Calls do not hang on ctx alone: a session that has waited long enough
	// for them cancels them too.
	live, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	kept := results.Private()
	defer s.closeResults(kept)
	outermost, execution := s.observed()
	server, err := mcpserver.New(mcpserver.Options{
		Runtime:    s.runtime,
		Subjects:   authz.StaticSubject(s.granted.to(authz.Local())),
		Logger:     s.log,
		Middleware: append(outermost, endWith(live)), Execute: execution, ReturnPrints: p.options.ReturnPrints,
		Results: kept, MaxResultBytes: p.options.MaxResultBytes,
	})
	if err != nil {
		return p.broken(err)
	}
	info := s.runtime.Info()
	s.log.Info("serving MCP", "transport", "stdio", "server", info.Name, "version", info.Version, "deployment", s.runtime.Deployment())
	transport := &stdioTransport{
		in: p.stdin, out: p.stdout, log: s.log, max: maxMessageBytes, maxUnwritten: maxUnwritten,
		stop: ctx.Done(), cancel: cancel, drain: drainTime, grace: graceTime,
		ended: make(chan struct{}),
	}
	if s.runtime.TellsOfJobs() {
		transport.listen = mcpserver.ListenWithTasks
	}
	mcpSession, err := server.Connect(ctx, transport, nil)
	if err != nil {
		return p.broken(err)
	}
	result := make(chan error, 1)
	go func() { result <- mcpSession.Wait() }()
	select {
	case err = <-result:
	case <-transport.ended:
		// The SDK waits for handlers for as long as they take; one that
		// ignores its context would keep the process alive for ever.
		select {
		case err = <-result:
		case <-time.After(graceTime):
			s.log.Error("the session ended with calls that did not return")
		}
	}
	s.log.Info("session ended")
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		return p.broken(err)
	}
	return ExitOK
}

// endWith ties every request to live. The SDK hides the context of a
// connection from its handlers, so that a signal would not reach them.
func endWith(live context.Context) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			stop := context.AfterFunc(live, func() { cancel(context.Cause(live)) })
			defer stop()
			return next(ctx, method, request)
		}
	}
}
