// Package impl has handlers that another package registers.
package impl

import (
	"context"
	"os"

	"example.com/host/generated/notes"
)

type Notes struct{}

func (Notes) Add(context.Context, notes.In) (notes.Out, error) { return notes.Out{}, save() }

func (Notes) Find(context.Context, notes.In) (notes.Out, error) { return notes.Out{}, save() }

func (Notes) List(context.Context, notes.In) (notes.Out, error) { return notes.Out{}, nil }

func save() error { return os.WriteFile("x", nil, 0o600) }
