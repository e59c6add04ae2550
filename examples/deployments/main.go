// Command deployments serves letters. What it holds is decided when it is
// built: with the tag capgen_default everything, with capgen_prod nothing that
// destroys, and without a tag what both have.
package main

import (
	"context"
	"os"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/examples/deployments/desk"
	"github.com/capgen/capgen/examples/deployments/generated/catalog"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

//go:generate go run github.com/capgen/capgen/cmd/capgen generate

func main() {
	runtime.ServeWorkerAndExit()
	os.Exit(host.Main(host.Options{
		Name:       "deployments",
		Version:    catalog.Server().Version,
		Summary:    "finds letters and fills them in",
		Deployment: catalog.Deployment,
		Build:      build,
	}))
}

func build(ctx context.Context, env host.Env) (*runtime.Server, error) {
	b := runtime.NewBuilder(runtime.Options{
		Server:      catalog.Server(),
		Authorizer:  authz.AuthorizerFunc(ownerOnly),
		Deployment:  env.Deployment,
		Logger:      env.Logger,
		IdleWorkers: env.IdleWorkers,
	})
	catalog.Register(b, handlers(desk.New()))
	return b.Build(ctx)
}

// ownerOnly is an authorizer that decides, as prod requires.
func ownerOnly(_ context.Context, r authz.Request) error {
	if r.Subject.Kind == authz.KindLocal {
		return nil
	}
	return authz.ErrDenied
}
