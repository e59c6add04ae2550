// Command workspace is the reference server: it lets an agent read the files
// below the directories it is given and, with a state directory, propose changes
// of them, which people approve. It must never write to them itself, and never
// know how a directory is confined: that is for packages tree and govern.
//
//	workspace stdio --root DIR
//	workspace exec --root DIR --root docs=OTHER program.star
//	workspace stdio --root DIR --state STATE --trust-root FILE
//	workspace approve PLAN --state STATE --trust-root FILE --key FILE
//
// Its capabilities are declared in capabilities.yaml at the top of the module.
package main

//go:generate go run github.com/capgen/capgen/cmd/capgen generate --manifest ../../capabilities.yaml

import (
	"context"
	"errors"
	"flag"
	"os"
	"sync"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/bearer"
	"github.com/capgen/capgen/cmd/workspace/internal/tree"
	"github.com/capgen/capgen/generated/catalog"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/operate"
	"github.com/capgen/capgen/runtime/host"
)

// workerSHA256 is of the capgen-worker that was built with this program; the
// linker sets it (-X main.workerSHA256=…), and only the linker.
var workerSHA256 string

func main() {
	runtime.ServeWorkerAndExit()
	scope.ServeKeeperAndExit()
	runner.ServeStarlarkAndExit()
	os.Exit(host.Main(options(new(roots))))
}

// options describe the program to package host; given is filled by its flags.
func options(given *roots) host.Options {
	found := foundRunners(sync.OnceValue(findRunners))
	changes := &operate.Setup{
		Roots:   given.named,
		Runners: func() ([]runner.Runner, error) { return found().list, nil },
		Results: catalog.Results(),
	}
	return host.Options{
		Name:       "workspace",
		Version:    catalog.Server().Version,
		Summary:    "reads the files below some directories, for agents, and changes them as people approve",
		Deployment: catalog.Deployment,
		Flags: func(f *flag.FlagSet) {
			f.Var(given, "root", "`directory` to serve, or NAME=DIRECTORY; may be repeated, paths then begin with the name")
			changes.Flags(f)
		},
		Extension: found.said(changes.Extension()),
		Tokens:    bearer.Configured,
		Build: func(ctx context.Context, env host.Env) (*runtime.Server, error) {
			handlers := catalog.Handlers{Files: &files{}, Drafts: &drafts{}, Govern: new(govern.Service)}
			calls := env.Command == "stdio" || env.Command == "http" || env.Command == "exec"
			if calls || len(*given) > 0 {
				// No default: what a server may read is said, never inherited
				// from the directory it happens to be started in.
				if len(*given) == 0 {
					return nil, errors.New("no root given: say what may be read with --root DIR")
				}
				opened, err := tree.Open(*given)
				if err != nil {
					return nil, err
				}
				// It stays open until the process ends.
				handlers.Files = &files{tree: opened}
			}
			var disabled []string
			switch {
			case !changes.Given():
				disabled = changing()
			case calls:
				disabled = found().disabled
				service, err := changes.Open(ctx, env)
				if err != nil {
					return nil, err
				}
				// It stays open until the process ends.
				handlers.Govern, handlers.Drafts = service.Service, newDrafts(service.Service)
			}
			b := runtime.NewBuilder(runtime.Options{
				Server: catalog.Server(),
				// The roots bound what is read, and people what is changed.
				Authorizer:           authz.AllowAll(),
				DisabledCapabilities: disabled,
				Deployment:           env.Deployment,
				Logger:               env.Logger,
				IdleWorkers:          env.IdleWorkers,
				Sandbox:              env.Sandbox,

				WorkerSHA256: workerSHA256,
			})
			catalog.Register(b, handlers)
			return b.Build(ctx)
		},
	}
}

// changing are the capabilities that need a state directory.
func changing() []string {
	return []string{
		"change.cancel", "change.list", "change.show", "change.status",
		"drafts.create", "drafts.delete", "drafts.diff",
		"drafts.evaluate.prepare", "drafts.evaluate.start", "drafts.evaluate_python.prepare", "drafts.evaluate_python.start",
		"drafts.get", "drafts.list",
		"drafts.publish.apply", "drafts.publish.prepare",
		"drafts.read", "drafts.update", "drafts.validate",
		"run.cancel", "run.list", "run.logs", "run.result", "run.status",
	}
}

// roots collects the values of a repeated flag.
type roots []string

func (r *roots) String() string { return "" }

func (r *roots) Set(value string) error {
	if value == "" {
		return errors.New("a root is empty")
	}
	*r = append(*r, value)
	return nil
}

// onlyRoot is what the root is called where changes land, if it is the only one.
const onlyRoot = "root"

// named are the directories by their names.
func (r *roots) named() (map[string]string, error) {
	named := map[string]string{}
	for _, spec := range *r {
		name, dir, err := tree.Parse(spec, len(*r) == 1)
		if err != nil {
			return nil, err
		}
		if name == "" {
			name = onlyRoot
		}
		named[name] = dir
	}
	return named, nil
}
