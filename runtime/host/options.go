package host

import (
	"context"
	"flag"
	"log/slog"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/mcphttp"
	"github.com/capgen/capgen/runtime/mcpserver"
)

// The exit codes of Main.
const (
	// ExitOK: the session ended, or the command succeeded.
	ExitOK = 0
	// ExitFailed: the program failed, or a name was not found.
	ExitFailed = 1
	// ExitUsage: the command line is wrong, the server cannot be built, or
	// something inside broke.
	ExitUsage = 2
)

// Options describe a program to Main. Name and Build have no default.
type Options struct {
	// Name of the program, as users type it.
	Name string
	// Version of the program, for --version.
	Version string
	// Summary is one line on what the program is for, for help.
	Summary string
	// Deployment is the compiled-in one, the generated catalog.Deployment.
	// Empty is "default".
	Deployment string
	// Flags declares the program's own flags; nil declares none. It is called
	// once per parse and must do nothing but declare.
	Flags func(*flag.FlagSet)
	// Verifier makes what judges the bearer tokens of requests over HTTP; nil,
	// or one that returns nil, leaves that to the shared token, if there is
	// one. It is called once, before Build, by the command http alone.
	Verifier func(context.Context, Env) (authz.Verifier, error)
	// Extension adds commands of the host's own.
	Extension Extension
	// Tokens makes the verifier of the access tokens of the issuers that
	// --issuer names: bearer.Configured is one. It brings that flag and those
	// that say more of it to the command http; nil leaves them away, and with
	// them what verifies tokens out of the program. --issuer and a Verifier
	// that is not nil are not good together.
	Tokens func(authz.TokenSettings) (authz.Verifier, error)
	// Telemetry makes what traces and measures requests, over stdio and HTTP;
	// nil, or one that returns nil, leaves that out. It is called once, before
	// Build, whose Env.Logger then logs through it.
	Telemetry func(context.Context, Env) (Telemetry, error)
	// Scopes that a subject needs for any request over HTTP, besides those that
	// a capability declares. A verifier's subject without one of them gets 403
	// and a challenge with all of them.
	Scopes []string
	// HTTP bounds what clients of the command http can cost; zero fields mean
	// defaults.
	HTTP mcphttp.Limits
	// PerSubject bounds what one subject can ask for over HTTP; zero fields
	// mean defaults.
	PerSubject mcpserver.Limits
	// MaxResultBytes of a result that clients get in the answer itself; a
	// larger one is kept for some minutes, and they get a link to it. Zero
	// means mcpserver.DefaultMaxResultBytes.
	MaxResultBytes int
	// ReturnPrints answers an execution with what its program printed, up to
	// runtime.MaxPrintBytes, beside its result or error. It is off for a reason:
	// models print more than they need to read. exec then writes it to standard
	// error.
	ReturnPrints bool
	// Build makes the server after flags have been parsed. It is not called
	// for version and help. If the server has a Close method, Main calls it.
	Build func(context.Context, Env) (*runtime.Server, error)
}

// Env is what Main has worked out for Build.
type Env struct {
	// Command is the one that runs: stdio, http, exec, search, describe,
	// policy or doctor. The last four call no capability.
	Command string
	// Logger writes to standard error.
	Logger *slog.Logger
	// Deployment is the compiled-in one, for runtime.Options.Deployment. Main
	// has checked that it is the one that --deployment or CAPGEN_DEPLOYMENT
	// asks for, if they do.
	Deployment string
	// IdleWorkers is for runtime.Options.IdleWorkers: zero, or NoIdleWorkers
	// where the command runs at most one program.
	IdleWorkers int
	// Sandbox is for runtime.Options.Sandbox: SandboxRequired where others
	// than this machine can reach the server, which is refused with less.
	Sandbox runtime.Sandbox
	// PublicURL is where clients reach the server over HTTP, if --public-url
	// or CAPGEN_PUBLIC_URL says so; else nil.
	PublicURL *url.URL
}

// Telemetry observes what is served; a *telemetry.Telemetry does. It must be
// safe for concurrent use.
type Telemetry interface {
	// Middleware sees every request before any other does.
	Middleware() mcp.Middleware
	// ExecuteOption is given to every execution; nil gives none.
	ExecuteOption() runtime.ExecuteOption
	// LogHandler gets what is logged, and hands it to next.
	LogHandler(next slog.Handler) slog.Handler
	// Shutdown is called once nothing is served any more, and has 5 seconds.
	Shutdown(context.Context) error
}

func (o Options) deployment() string {
	if o.Deployment == "" {
		return "default"
	}
	return o.Deployment
}
