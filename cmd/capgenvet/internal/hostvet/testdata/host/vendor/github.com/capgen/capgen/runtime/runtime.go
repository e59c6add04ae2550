// Package runtime has what hosts name of the real one.
package runtime

import (
	"context"
	"os"

	"github.com/capgen/capgen/runtime/worker"
)

type Effect string

const (
	EffectRead  Effect = "read"
	EffectWrite Effect = "write"
)

type Info struct {
	ID, Name string
	Effect   Effect
}

type Capability struct{}

func NewCapability[In, Out any](info Info, handle func(context.Context, In) (Out, error)) Capability {
	return Capability{}
}

type Builder struct{}

func NewBuilder() *Builder { return &Builder{} }

func (b *Builder) Register(c Capability) {}

func (b *Builder) Build() error { return worker.NewPool() }

func ServeWorkerAndExit() { worker.ServeWorkerAndExit() }

// Comments of capgen count in hosts.
//
//capgenvet:allow quietinit the marker of a worker
var marker = os.Getenv("CAPGEN_WORKER")
