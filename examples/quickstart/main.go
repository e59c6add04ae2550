// Command quickstart is the smallest host: one capability, served over stdio.
package main

import (
	"context"
	"os"
	"strings"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/examples/quickstart/generated/catalog"
	"github.com/capgen/capgen/examples/quickstart/generated/notes"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

//go:generate go run github.com/capgen/capgen/cmd/capgen generate

type notebook []string // answers the capabilities of the namespace notes

// Find returns the first notes that contain the word.
func (n notebook) Find(ctx context.Context, in notes.FindInput) (notes.FindOutput, error) {
	var found notes.FindOutput
	for _, text := range n {
		if int64(len(found)) < in.Limit && strings.Contains(strings.ToLower(text), strings.ToLower(in.Word)) {
			found = append(found, text)
		}
	}
	return found, ctx.Err()
}

func build(ctx context.Context, env host.Env) (*runtime.Server, error) {
	b := runtime.NewBuilder(runtime.Options{Server: catalog.Server(), Authorizer: authz.AllowAll(), Deployment: env.Deployment, Logger: env.Logger, IdleWorkers: env.IdleWorkers, Sandbox: env.Sandbox})
	catalog.Register(b, catalog.Handlers{Notes: notebook{"Buy milk", "Call Ada"}})
	return b.Build(ctx)
}

func main() {
	runtime.ServeWorkerAndExit() // first: a worker is this program, started again
	os.Exit(host.Main(host.Options{Name: "quickstart", Build: build}))
}
