// Command agentstubs is a host whose capabilities answer from fixed tables.
package main

import (
	"context"
	"os"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/examples/agentstubs/generated/catalog"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

func build(ctx context.Context, env host.Env) (*runtime.Server, error) {
	b := runtime.NewBuilder(runtime.Options{Server: catalog.Server(), Authorizer: authz.AllowAll(), Deployment: env.Deployment, Logger: env.Logger})
	catalog.Register(b, handlers())
	return b.Build(ctx)
}

func main() {
	runtime.ServeWorkerAndExit()
	os.Exit(host.Main(host.Options{Name: "agentstubs", Build: build}))
}
