// Command evaluate is a host that runs candidates: an agent writes a spam
// filter, a person reads and approves it, and it runs under supervision, to
// clients that know MCP's tasks as one. It needs Linux, and CGO_ENABLED=0.
package main

import (
	"context"
	"os"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/bearer"
	"github.com/capgen/capgen/examples/evaluate/generated/catalog"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/operate"
	"github.com/capgen/capgen/runtime/host"
)

//go:generate go run github.com/capgen/capgen/cmd/capgen generate

func main() {
	// First: the processes of programs and of runs are this program, started again.
	runtime.ServeWorkerAndExit()
	scope.ServeKeeperAndExit()
	runner.ServeStarlarkAndExit()
	os.Exit(host.Main(options()))
}

func options() host.Options {
	runs := &operate.Setup{Runners: runners, Results: catalog.Results()}
	return host.Options{
		Name:       "evaluate",
		Version:    catalog.Server().Version,
		Summary:    "evaluates spam filters that people have approved",
		Deployment: catalog.Deployment,
		Flags:      runs.Flags,
		Extension:  runs.Extension(),
		Tokens:     bearer.Configured,
		Build: func(ctx context.Context, env host.Env) (*runtime.Server, error) {
			service, err := runs.Open(ctx, env) // open until the process ends
			if err != nil {
				return nil, err
			}
			b := runtime.NewBuilder(runtime.Options{
				Server: catalog.Server(),
				// People decide what runs, and whose a job is the service knows.
				Authorizer:  authz.AllowAll(),
				Deployment:  env.Deployment,
				Logger:      env.Logger,
				IdleWorkers: env.IdleWorkers,
				Sandbox:     env.Sandbox,
			})
			catalog.Register(b, catalog.Handlers{Filters: evaluation{}, Govern: service.Service})
			return b.Build(ctx)
		},
	}
}

// runners are what the manifest's runs may name.
func runners() ([]runner.Runner, error) {
	starlark, err := runner.Starlark()
	return []runner.Runner{starlark}, err
}
