package runtime

import (
	"context"

	"github.com/capgen/capgen/runtime/canon"
)

// GeneratedCode1 is referred to by generated code. A runtime that no longer
// understands that code lacks the constant, so that the build fails and says
// to run go generate with the capgen of this runtime.
const GeneratedCode1 = true

// Effect is what a capability does to the world.
type Effect string

const (
	EffectRead    Effect = "read"
	EffectWrite   Effect = "write"
	EffectDestroy Effect = "destroy"
)

// Idempotency says what repeating a call does.
type Idempotency string

const (
	IdempotencyNatural Idempotency = "natural"
	IdempotencyKey     Idempotency = "key"
	IdempotencyNone    Idempotency = "none"
)

// World says whether a capability touches systems outside.
type World string

const (
	WorldClosed World = "closed"
	WorldOpen   World = "open"
)

// Info is what generated code says of one capability.
type Info struct {
	ID, Name    string
	Summary     string
	Description string
	Search      []string
	Effect      Effect
	Idempotency Idempotency
	World       World
	Scopes      []string
	// Signature as a program sees it: records.lookup(*, key: str, limit: int = 20)
	Signature string
	// Parameters are names and descriptions of the inputs, for search.
	Parameters []Parameter
	// Binding is the JSON of a binding.Capability.
	Binding string
	// Input and Output are the JSON that describe_api answers: an array of
	// fields, and one field without a name.
	Input, Output string
}

// Parameter is one input, for search.
type Parameter struct{ Name, Description string }

// Input is implemented by generated input types.
type Input[T any] interface {
	*T
	Decode(r *canon.Reader) error
	Encode(w *canon.Writer)
}

// Output is implemented by generated output types.
type Output[T any] interface {
	*T
	Encode(w *canon.Writer)
}

// Capability is an entry to register. Generated code makes one with NewCapability.
type Capability struct {
	info Info
	bind func(r *canon.Reader) (invocation, error)
}

// NewCapability joins what generated code knows of a capability with its handler.
func NewCapability[In, Out any, PIn Input[In], POut Output[Out]](info Info, handle func(context.Context, In) (Out, error)) Capability {
	panic("stub")
}

type invocation interface{}
