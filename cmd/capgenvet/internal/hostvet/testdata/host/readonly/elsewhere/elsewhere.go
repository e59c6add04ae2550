package elsewhere

import (
	"context"

	"example.com/host/generated/notes"
	"example.com/host/impl"
	"github.com/capgen/capgen/runtime"
)

type handlers struct{ Notes notes.Handlers }

// The type is of another package, and an alias; it is converted in a literal.
type alias = impl.Notes

func Register(b *runtime.Builder) {
	h := handlers{Notes: alias{}} // want `^notes.find is declared effect read, and its handler \(impl.Notes\).Find reaches os.WriteFile \(impl.go:\d+, by way of \(impl.Notes\).Find, impl.save\)`
	notes.Register(b, h.Notes)
}

// Embedded handlers are promoted.
type wrapped struct {
	impl.Notes
}

func (wrapped) Find(context.Context, notes.In) (notes.Out, error) { return notes.Out{}, nil }

func Wrapped(b *runtime.Builder) { notes.Register(b, wrapped{}) }
