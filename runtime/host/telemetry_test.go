package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
)

// tells is telemetry that writes to standard error what it hears.
type tells struct{}

func (tells) Middleware() mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			_, known := authz.SubjectFromContext(ctx)
			fmt.Fprintf(os.Stderr, "observed %s, subject %v\n", method, known)
			return next(ctx, method, r)
		}
	}
}

func (tells) ExecuteOption() runtime.ExecuteOption {
	return runtime.WithAround(func(ctx context.Context, c runtime.ObservedCall) (context.Context, func(runtime.ObservedCall)) {
		return ctx, func(c runtime.ObservedCall) { fmt.Fprintf(os.Stderr, "observed %s %s\n", c.Name, c.State) }
	})
}

func (tells) LogHandler(next slog.Handler) slog.Handler {
	return next.WithAttrs([]slog.Attr{slog.Bool("observed", true)})
}

func (tells) Shutdown(ctx context.Context) error {
	if _, bounded := ctx.Deadline(); !bounded || ctx.Err() != nil {
		return errors.New("no time to shut down in")
	}
	return errors.New("the exporter is gone")
}

func TestTelemetry(t *testing.T) {
	const program = "clock.wait(millis=1)"
	over, url := serveHTTP(t, []string{telemetryVariable + "=1"})
	s, err := dial(t, url, "", "2026-07-28")
	if err != nil {
		t.Fatal(err)
	}
	executeOver(t, s, program)
	s.Close()
	over.cmd.Process.Signal(os.Interrupt)
	if code := over.exit(); code != ExitOK {
		t.Errorf("http: exit code %d", code)
	}
	piped := startWith(t, []string{telemetryVariable + "=1"}, "stdio")
	piped.initialize()
	piped.send(executeCall(7, program))
	piped.receive()
	piped.in.Close()
	if code := piped.exit(); code != ExitOK {
		t.Errorf("stdio: exit code %d", code)
	}
	for name, c := range map[string]*child{"http": over, "stdio": piped} {
		for _, want := range []string{
			"observed tools/call, subject false\n", // outermost: nobody has looked who calls
			"observed clock.wait done\n",
			`msg="tool call" observed=true`,
			`msg="shut telemetry down" observed=true error="the exporter is gone"`,
		} {
			if !strings.Contains(c.stderr(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, c.stderr())
			}
		}
	}
}

// Telemetry that cannot be made keeps a server from serving, and no command
// from running.
func TestTelemetryThatCannotBeMade(t *testing.T) {
	for command, code := range map[string]int{"stdio": ExitUsage, "http": ExitUsage, "doctor": ExitOK} {
		c := childCommand(t, command)
		c.Env = append(c.Env, telemetryVariable+"=2", "CAPGEN_LISTEN=127.0.0.1:0")
		out, _ := c.CombinedOutput() // its code is looked at
		if got := c.ProcessState.ExitCode(); got != code || strings.Contains(string(out), "no exporter") != (code == ExitUsage) {
			t.Errorf("%s: exit code %d\n%s", command, got, out)
		}
	}
}
