package runtime

import (
	"context"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/search"
)

// GeneratedCode1 is referred to by generated code. A runtime that no longer
// understands that code lacks the constant, so that the build fails and names
// it: run go generate with the capgen of the runtime in go.mod.
const GeneratedCode1 = true

// Effect is what a capability does to the world.
type Effect string

// The effects that this version dispatches. A capability with another one is
// refused when the server is built.
const (
	EffectRead    Effect = "read"    // changes nothing
	EffectWrite   Effect = "write"   // adds, or changes what can be put back
	EffectDestroy Effect = "destroy" // may overwrite or delete
)

// Idempotency says what repeating a call does.
type Idempotency string

// The kinds of idempotency.
const (
	IdempotencyNatural Idempotency = "natural" // repeating changes nothing more
	IdempotencyKey     Idempotency = "key"     // safe to repeat with the same key
	IdempotencyNone    Idempotency = "none"    // each call has its own effect
)

// World says whether a capability touches systems outside of the host.
type World string

// The worlds.
const (
	WorldClosed World = "closed"
	WorldOpen   World = "open"
)

// Info is what generated code says of one capability. It is constant.
type Info struct {
	// ID is the stable identity for policies, filters and audit; Name is the
	// dotted name that programs use.
	ID, Name    string
	Summary     string
	Description string
	// Search are the terms of all texts that should find the capability, also
	// of those that are not here: see search.Analyze. They are never returned.
	Search      SearchEntry
	Effect      Effect
	Idempotency Idempotency
	World       World
	// Scopes must all be held by the subject; sorted.
	Scopes []string
	// Was are the names that it had before. None of them is dispatched: who
	// uses one is told the name.
	Was []string
	// Tags are what deployments select by; sorted.
	Tags []string
	// Deprecated is nil for a capability that is to stay.
	Deprecated *Deprecation
	// Signature is how a program calls it:
	// records.lookup(*, key: str, limit: int = 20).
	Signature string
	// Call bounds and repeats the calls of the handler.
	Call CallRules
	// Result says what of a result reaches a program.
	Result ResultRules
	// Binding is the JSON text of a binding.Capability.
	Binding string
	// Input and Output are the JSON texts that describe_api answers: an object
	// with a field for each parameter of which the signature does not say all,
	// and one field. A field is an object with type, required, default,
	// description, enum, bounds, fields and items as far as they say something;
	// or a string, "int: How many.", if it has type and description only. What
	// the signature, or the list that holds a field, has said is left out. Where
	// a call starts a job, Output has the field of that job's result, run.result,
	// beside its own.
	Input, Output string
	// Errors are the failures that the manifest declares, by code. Where there
	// are any, a handler discloses no others: see Disclose.
	Errors []DeclaredError
	// Standard are further codes that are disclosed where errors are declared:
	// those of what stands around the handler. Descriptions leave them out.
	Standard []ErrorCode
	// Example is a call with what it returns, answered where it is not empty.
	Example string
	// Tool is nil for a capability that only programs call.
	Tool *DirectTool
	// Job: a call starts a job, and its result is an object with the members
	// job, plan and state. See Server.CallJob.
	Job bool
}

// Deprecation says that a capability is on its way out: since when, after which
// day it may be gone, and the name of the capability to use instead. Days are
// of the form 2026-11-29 (RFC 3339 full-date); the last two may be empty.
type Deprecation struct {
	Since       string `json:"since"`
	RemoveAfter string `json:"remove_after,omitempty"`
	Use         string `json:"use,omitempty"`
}

// SearchEntry is a capability as search sees it.
type SearchEntry = search.Entry

// Input is implemented by the pointer to a generated input type.
type Input[T any] interface {
	*T
	Decode(r *canon.Reader) error
	Encode(w *canon.Writer)
}

// Output is implemented by the pointer to a generated output type.
type Output[T any] interface {
	*T
	Encode(w *canon.Writer)
}

// Capability is one entry to register: what generated code knows of it, and
// its handler. The zero Capability is refused when the server is built.
type Capability struct {
	info Info
	bind binder
}

// NewCapability joins a capability's info with its handler. Generated code
// calls it; the types tie the handler to the manifest at compile time.
func NewCapability[In, Out any, PIn Input[In], POut Output[Out]](info Info, handle func(context.Context, In) (Out, error)) Capability {
	return Capability{
		info: info,
		bind: func(r *canon.Reader) (invocation, error) {
			call := &typedInvocation[In, Out, PIn, POut]{handle: handle}
			if err := PIn(&call.in).Decode(r); err != nil {
				return nil, err
			}
			if err := r.End(); err != nil {
				return nil, err
			}
			return call, nil
		},
	}
}

// invocation is one bound call: its typed arguments, and the way to the
// handler. Encode writes the arguments.
type invocation interface {
	canon.Encoder
	call(ctx context.Context) (canon.Encoder, error)
}

type typedInvocation[In, Out any, PIn Input[In], POut Output[Out]] struct {
	in     In
	handle func(context.Context, In) (Out, error)
}

func (c *typedInvocation[In, Out, PIn, POut]) Encode(w *canon.Writer) { PIn(&c.in).Encode(w) }

func (c *typedInvocation[In, Out, PIn, POut]) call(ctx context.Context) (canon.Encoder, error) {
	out, err := c.handle(ctx, c.in)
	if err != nil {
		return nil, err
	}
	return POut(&out), nil
}

// binder reads one call's arguments with the generated decoder.
type binder func(r *canon.Reader) (invocation, error)
