package host

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/mcpserver"
	"github.com/capgen/capgen/runtime/worker/sandbox"
)

// examined is what doctor asks of a server.
type examined interface {
	Workers() runtime.Workers
	Limits() runtime.Limits
}

// doctor prints what runs programs here, what confines it and what the system
// has for that. It fails when the server cannot be built: then a layer that
// its mode requires is missing, or something else is wrong.
func (p *program) doctor(ctx context.Context, env Env, server mcpserver.Runtime, failure error) int {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-14s %s\n", name, visible.Text(fmt.Sprintf(format, args...)))
	}
	line("program", "%s %s (deployment %s)", p.options.Name, p.options.Version, p.options.deployment())
	line("system", "%s/%s, %s", goruntime.GOOS, goruntime.GOARCH, goruntime.Version())
	code := ExitOK
	if failure != nil {
		code = ExitFailed
		line("server", "cannot be built: %v", failure)
		var unconfined *runtime.UnconfinedError
		if errors.As(failure, &unconfined) {
			confinement(line, unconfined.Confinement)
		}
	} else if s, ok := server.(examined); ok {
		w, l := s.Workers(), s.Limits()
		line("server", "can be built")
		line("worker", "%s", w.Binary)
		if w.Binary.SHA256 != "" {
			line("", "SHA-256 %s", w.Binary.SHA256)
		}
		if w.Binary.Passed != nil {
			line("", "not used: %v", w.Binary.Passed)
		}
		line("sandbox", "%s", w.Sandbox)
		confinement(line, w.Confinement)
		if w.Cgroup != "" {
			line("", "a control group each, below %s", w.Cgroup)
		}
		line("limits", "WorkerMemory %d bytes, MaxSteps %d, MaxExecutionTime %v, MaxConcurrentExecutions %d",
			l.WorkerMemory, l.MaxSteps, l.MaxExecutionTime, l.MaxConcurrentExecutions)
	}
	for _, f := range sandbox.Facts() {
		line(f.Name, "%s", f.Value)
	}
	if d := p.options.Extension.Doctor; d != nil && !d(ctx, env, line) {
		code = ExitFailed
	}
	if printed := p.print(b.String()); printed != ExitOK {
		return printed
	}
	return code
}

// confinement lists the layers, those that hold and those that do not.
func confinement(line func(name, format string, args ...any), c runtime.Confinement) {
	if len(c.Layers) == 0 {
		line("", "no OS boundary")
	}
	for _, l := range c.Layers {
		line("", "%s holds", l)
	}
	for _, m := range c.Missing {
		line("", "MISSING %s", m)
	}
	for _, l := range sandbox.Layers() {
		told := func(m string) bool { return strings.HasPrefix(m, string(l)+":") }
		if !slices.Contains(c.Layers, string(l)) && !slices.ContainsFunc(c.Missing, told) {
			line("", "not entered: %s", l)
		}
	}
}
