package host

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/capgen/capgen/internal/nearest"
	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/mcphttp"
	"github.com/capgen/capgen/runtime/mcpserver"
)

// Main runs the program and returns its exit code. It is to be called once, by
// the main function, after runtime.ServeWorkerAndExit: it takes over standard
// input and output for good.
//
// An interrupt or a termination signal cancels what runs; a second one ends
// the process at once.
func Main(o Options) int {
	return serve(o, func(ctx context.Context, env Env) (mcpserver.Runtime, error) {
		server, err := o.Build(ctx, env)
		if err != nil {
			return nil, err
		}
		if server == nil {
			return nil, errors.New("host: Build returned no server")
		}
		return server, nil
	})
}

// serve is Main for any runtime.
func serve(o Options, build func(context.Context, Env) (mcpserver.Runtime, error)) int {
	streams, err := claim()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: standard streams: %v\n", o.Name, err)
		return ExitUsage
	}
	ctx, stop := untilSignal()
	defer stop()

	token, given := os.LookupEnv(tokenVariable)
	if given { // neither for handlers nor for what they start
		if err := os.Unsetenv(tokenVariable); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %s: %v\n", o.Name, tokenVariable, err)
			return ExitUsage
		}
	}
	p := program{
		options: o,
		stdin:   streams.in,
		stdout:  streams.out,
		stderr:  os.Stderr,
		lookup: func(name string) (string, bool) {
			if name == tokenVariable {
				return token, given
			}
			return os.LookupEnv(name)
		},
		build: build,
	}
	return p.run(ctx, os.Args[1:])
}

// untilSignal is a context that ends with the first interrupt or termination
// signal. Before it does, signals have their usual effect again, so that whoever
// is told that the program ends can end it at once. stop waits for what was
// started.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(fmt.Errorf("host: %v", s))
		case <-ctx.Done():
			signal.Stop(signals)
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-stopped
	}
}

// program is one run of Main with everything it touches.
type program struct {
	options Options
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	lookup  func(string) (string, bool)
	build   func(context.Context, Env) (mcpserver.Runtime, error)
}

// command is one of the words that may follow the program's name.
type command struct {
	name, arguments, summary string
	// serves: it runs any number of programs, not one at most.
	serves bool
	// min and max positional arguments; max below zero is any number.
	min, max int
	// run is nil for commands that need no server.
	run func(p *program, ctx context.Context, s session) int
}

// session is what a command that needs a server gets.
type session struct {
	runtime   mcpserver.Runtime
	log       *slog.Logger
	arguments []string
	search    searchFlags
	exec      execFlags
	http      httpFlags
	web       *web // of http
	granted   grant
	telemetry Telemetry
}

func commands() []command {
	return []command{
		{name: "stdio", summary: "serve MCP over standard input and output", serves: true, run: (*program).stdio},
		{name: "http", summary: "serve MCP over HTTP", serves: true, run: (*program).http},
		{name: "exec", arguments: "FILE|-", summary: "run one program and print its result", min: 1, max: 1, run: (*program).exec},
		{name: "search", arguments: "QUERY", summary: "find capabilities by words", min: 1, max: -1, run: (*program).search},
		{name: "describe", arguments: "NAME...", summary: "describe capabilities by exact name", min: 1, max: -1, run: (*program).describe},
		{name: "policy", arguments: "test FILE...", summary: "compare what the policy decides with the cases in files", min: 2, max: -1, run: (*program).policy},
		{name: "audit", arguments: "verify FILE...", summary: "check whether an audit log is as it was written", min: 2, max: -1},
		{name: "doctor", summary: "say what runs programs here, and what confines it"},
		{name: "version", summary: "print the version"},
		{name: "help", summary: "print this help"},
	}
}

func (p *program) run(ctx context.Context, args []string) int {
	c, positional, err := parse(p.options, args, p.lookup)
	if errors.Is(err, flag.ErrHelp) {
		c.help, err = true, nil
	}
	if err != nil {
		return p.misuse(err)
	}
	if c.help {
		positional = append([]string{"help"}, positional...)
	} else if c.version {
		positional = []string{"version"}
	}
	if len(positional) == 0 {
		return p.misuse(errors.New("no command given"))
	}
	all := commands()
	added, rest, extended := p.options.extended(positional)
	cmd := command{name: added.Name, arguments: added.Arguments, min: added.Min, max: added.Max}
	if !extended {
		i := slices.IndexFunc(all, func(c command) bool { return c.name == positional[0] })
		if i < 0 {
			return p.misuse(p.options.unknownCommand(positional[0], all))
		}
		cmd, rest = all[i], positional[1:]
	}
	switch {
	case len(rest) < cmd.min:
		return p.misuse(fmt.Errorf("%s needs an argument: %s", cmd.name, cmd.arguments))
	case cmd.max >= 0 && len(rest) > cmd.max && (cmd.run != nil || extended || cmd.name == "doctor"):
		return p.misuse(fmt.Errorf("%s: unexpected argument %q", cmd.name, rest[cmd.max]))
	}
	switch cmd.name {
	case "help":
		return p.print(usage(p.options, rest))
	case "version":
		return p.print(fmt.Sprintf("%s %s (deployment %s)\n", p.options.Name, p.options.Version, p.options.deployment()))
	}
	if err := c.foreign(cmd.name); err != nil {
		return p.misuse(err)
	}
	if err := p.options.foreignTo(added.Flags, c.given); err != nil {
		return p.misuse(fmt.Errorf("%s: %w", cmd.name, err))
	}
	if cmd.name == "audit" {
		return p.audit(rest, c.audit)
	}
	granted, err := newGrant(c.grantScopes)
	if err != nil {
		return p.misuse(err)
	}
	log, err := newLogger(p.stderr, c, cmd.name)
	if err != nil {
		return p.misuse(err)
	}
	deployment := p.options.deployment()
	if c.deployment != "" && c.deployment != deployment {
		return p.broken(fmt.Errorf("deployment %q was asked for, and this program holds %q", c.deployment, deployment))
	}
	env := Env{Command: cmd.name, Logger: log, Deployment: deployment}
	if extended {
		return p.runExtended(ctx, added, env, rest)
	}
	if !cmd.serves {
		env.IdleWorkers = runtime.NoIdleWorkers
	}
	var bound *web
	if cmd.name == "http" {
		if c.http.publicURL != "" {
			if env.PublicURL, err = mcphttp.ParsePublicURL(c.http.publicURL); err != nil {
				return p.misuse(err)
			}
		}
		if bound, err = p.bind(ctx, c, env, granted); err != nil {
			return p.broken(err)
		}
		defer bound.close()
		env.Sandbox = bound.sandbox()
	}
	telemetry, err := p.observe(ctx, cmd.serves, &env)
	if err != nil {
		return p.broken(err)
	}
	log = env.Logger
	defer flush(telemetry, log)
	server, err := p.build(ctx, env)
	if err != nil && cmd.name != "doctor" {
		return p.broken(err)
	}
	if closer, ok := server.(io.Closer); ok {
		defer func() {
			if err := closer.Close(); err != nil {
				log.Error("close", "error", err)
			}
		}()
	}
	if cmd.name == "doctor" {
		return p.doctor(ctx, env, server, err)
	}
	return cmd.run(p, ctx, session{runtime: server, log: log, arguments: rest, search: c.search, exec: c.exec, http: c.http, web: bound, granted: granted, telemetry: telemetry})
}

// print writes to standard output; a reader that has gone away is no error of
// the program.
func (p *program) print(text string) int {
	if _, err := io.WriteString(p.stdout, text); err != nil && !errors.Is(err, syscall.EPIPE) {
		return p.broken(err)
	}
	return ExitOK
}

func (p *program) misuse(err error) int {
	fmt.Fprintf(p.stderr, "%s: %v\nRun %q for usage.\n", p.options.Name, err, p.options.Name+" help")
	return ExitUsage
}

// broken prints err, whatever stands in it, as text that can be seen.
func (p *program) broken(err error) int {
	var b strings.Builder
	for line := range strings.Lines(err.Error()) {
		text, ended := strings.CutSuffix(line, "\n")
		b.WriteString(visible.Text(text))
		if ended {
			b.WriteByte('\n')
		}
	}
	fmt.Fprintf(p.stderr, "%s: %s\n", p.options.Name, b.String())
	return ExitUsage
}

func (o Options) unknownCommand(typed string, all []command) error {
	var names []string
	for _, c := range o.Extension.Commands {
		if !c.Hidden {
			names = append(names, strings.Fields(c.Name)...)
		}
	}
	for _, c := range all {
		names = append(names, c.name)
	}
	var longer []string // of two words, of which this is the first
	for _, c := range o.Extension.Commands {
		if strings.HasPrefix(c.Name, typed+" ") {
			longer = append(longer, c.Name)
		}
	}
	if longer != nil {
		return fmt.Errorf("no command %q; there is %s", typed, strings.Join(longer, ", "))
	}
	if near := nearest.Name(strings.ToLower(typed), names); near != "" {
		return fmt.Errorf("unknown command %q; did you mean %s?", typed, near)
	}
	return fmt.Errorf("unknown command %q", typed)
}
