package host

import (
	"context"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/runtime"
)

// shutdownTime is what telemetry has to send what it holds.
const shutdownTime = 5 * time.Second

// observe makes the host's telemetry, which is nil where there is none, and
// has the logger of env log through it.
func (p *program) observe(ctx context.Context, serves bool, env *Env) (Telemetry, error) {
	if p.options.Telemetry == nil || !serves {
		return nil, nil
	}
	t, err := p.options.Telemetry(ctx, *env)
	if err != nil || t == nil {
		return nil, err
	}
	env.Logger = slog.New(t.LogHandler(env.Logger.Handler()))
	return t, nil
}

// flush ends telemetry. The context of the program may be over by then.
func flush(t Telemetry, log *slog.Logger) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if err := t.Shutdown(ctx); err != nil {
		log.Error("shut telemetry down", "error", err)
	}
}

// observed are the middleware and the options that telemetry adds.
func (s session) observed() (outermost []mcp.Middleware, execution []runtime.ExecuteOption) {
	if s.telemetry == nil {
		return nil, nil
	}
	if option := s.telemetry.ExecuteOption(); option != nil {
		execution = []runtime.ExecuteOption{option}
	}
	return []mcp.Middleware{s.telemetry.Middleware()}, execution
}
