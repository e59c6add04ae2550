// Package notes is what capgen generates, in short.
package notes

import (
	"context"

	"github.com/capgen/capgen/runtime"
)

type (
	In  struct{}
	Out struct{}
)

// Handlers are what a host implements of notes.
type Handlers interface {
	Add(ctx context.Context, in In) (Out, error)
	Find(ctx context.Context, in In) (Out, error)
	List(ctx context.Context, in In) (Out, error)
}

// Register adds the capabilities of notes to b.
func Register(b *runtime.Builder, h Handlers) {
	b.Register(addCapability(h))
	b.Register(findCapability(h))
	b.Register(listCapability(h))
}

func addCapability(h Handlers) runtime.Capability {
	return runtime.NewCapability(runtime.Info{ID: "notes.add", Effect: runtime.EffectWrite}, h.Add)
}

func findCapability(h Handlers) runtime.Capability {
	return runtime.NewCapability(runtime.Info{ID: "notes.find", Effect: runtime.EffectRead}, h.Find)
}

func listCapability(h Handlers) runtime.Capability {
	return runtime.NewCapability(runtime.Info{ID: "notes.list", Effect: runtime.EffectRead}, h.List)
}
