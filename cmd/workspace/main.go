// Command workspace is the reference server: it lets an agent read the files
// below the directories it is given, and nothing else. It must never write,
// and never know how a directory is confined: that is package tree's.
//
//	workspace stdio --root DIR
//	workspace exec --root DIR --root docs=OTHER program.star
//
// Its capabilities are declared in capabilities.yaml at the top of the module.
package main

//go:generate go run github.com/capgen/capgen/cmd/capgen generate --manifest ../../capabilities.yaml

import (
	"context"
	"errors"
	"flag"
	"os"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/bearer"
	"github.com/capgen/capgen/cmd/workspace/internal/tree"
	"github.com/capgen/capgen/generated/catalog"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

// workerSHA256 is of the capgen-worker that was built with this program; the
// linker sets it (-X main.workerSHA256=…), and only the linker.
var workerSHA256 string

func main() {
	runtime.ServeWorkerAndExit()
	os.Exit(host.Main(options(new(roots))))
}

// options describe the program to package host; given is filled by its flags.
func options(given *roots) host.Options {
	return host.Options{
		Name:       "workspace",
		Version:    catalog.Server().Version,
		Summary:    "reads the files below some directories, for agents",
		Deployment: catalog.Deployment,
		Flags: func(f *flag.FlagSet) {
			f.Var(given, "root", "`directory` to serve, or NAME=DIRECTORY; may be repeated, paths then begin with the name")
		},
		Tokens: bearer.Configured,
		Build: func(ctx context.Context, env host.Env) (*runtime.Server, error) {
			handlers := &files{}
			if reads := env.Command == "stdio" || env.Command == "http" || env.Command == "exec"; reads || len(*given) > 0 {
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
				handlers.tree = opened
			}
			b := runtime.NewBuilder(runtime.Options{
				Server: catalog.Server(),
				// All of the server reads, and the roots bound what.
				Authorizer:  authz.AllowAll(),
				Deployment:  env.Deployment,
				Logger:      env.Logger,
				IdleWorkers: env.IdleWorkers,
				Sandbox:     env.Sandbox,

				WorkerSHA256: workerSHA256,
			})
			catalog.Register(b, catalog.Handlers{Files: handlers})
			return b.Build(ctx)
		},
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
