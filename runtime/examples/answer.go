package examples

import (
	"fmt"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

// Capability is a capability with its examples.
type Capability struct {
	// Name is the dotted one.
	Name     string
	Examples []Example
}

// Example is one call and its outcome. Generated code has it from the
// manifest, checked.
type Example struct {
	Title string
	// Call is the call as a program writes it: records.lookup(key="a").
	Call string
	// Arguments are the canonical ones.
	Arguments string
	// Output is canonical JSON; empty where the call fails with Error.
	Output string
	Error  runtime.ErrorCode
	// Result is Output as a program returns it, where that is something else:
	// integers of 64 bits are numbers.
	Result string
}

// Decoder is implemented by the pointer to a generated type.
type Decoder[T any] interface {
	*T
	Decode(r *canon.Reader) error
}

// Answer is the outcome of the example of a capability that has exactly the
// arguments in, by their canonical bytes. Without one it is
// runtime.CodeNoExample, with a message that names the capability and its
// caller's arguments, and nothing of any example.
func Answer[Out any, POut Decoder[Out]](all []Capability, name string, in canon.Encoder) (out Out, err error) {
	arguments := canon.AppendCanonical(nil, in)
	e, err := find(all, name, arguments)
	if err != nil {
		return out, err
	}
	r := canon.NewJSONReader([]byte(e.Output), runtime.DefaultMaxValueDepth)
	if err := POut(&out).Decode(r); err != nil {
		return out, fmt.Errorf("examples: the output of %q of %s: %w", e.Title, name, err)
	}
	return out, r.End()
}

// Outcome is Answer of canonical arguments: the output as canonical JSON.
func Outcome(all []Capability, name string, arguments []byte) ([]byte, error) {
	e, err := find(all, name, arguments)
	return []byte(e.Output), err
}

// find is the example with those arguments, unless it fails.
func find(all []Capability, name string, arguments []byte) (Example, error) {
	for _, c := range all {
		if c.Name != name {
			continue
		}
		for _, e := range c.Examples {
			if e.Arguments != string(arguments) {
				continue
			}
			if e.Error != "" {
				return Example{}, e.Error
			}
			return e, nil
		}
	}
	return Example{}, runtime.CodeNoExample.Because(name + " has no example for " + string(arguments))
}
