// Command quickstart is the smallest host: one capability, served over stdio.
package main

import (
	"context"
	"os"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/examples/quickstart/generated/catalog"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

//go:generate go run github.com/capgen/capgen/cmd/capgen generate

func build(ctx context.Context, env host.Env) (*runtime.Server, error) {
	b := runtime.NewBuilder(runtime.Options{Server: catalog.Server(), Authorizer: authz.AllowAll(), Deployment: env.Deployment, Logger: env.Logger})
	catalog.Register(b, catalog.Handlers{Notes: notebook{"Buy milk", "Call Ada"}})
	return b.Build(ctx)
}

func main() {
	runtime.ServeWorkerAndExit() // first: a worker is this program, started again
	os.Exit(host.Main(host.Options{Name: "quickstart", Build: build}))
}
