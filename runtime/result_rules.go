package runtime

import (
	"github.com/capgen/capgen/runtime/shaping"
)

// ResultRules say what of a result reaches a program. The zero ResultRules
// deliver all of one that its output schema allows, and none of any other.
type ResultRules struct {
	// Report delivers a result that breaks a bound, a length, an enum, a
	// pattern or a format of its schema, and counts it in the receipt. What
	// has no form or passes a limit stays a failure.
	Report bool
	// Keep are JSON pointers (RFC 6901, with * for every item) to what is left
	// of the result, at most shaping.MaxPointers; none for all of it.
	Keep []string
	// Cut bounds the result's list; the zero Cut leaves it whole.
	Cut Cut
}

// Cut makes a result a record {items, next, truncated}; see shaping.Cut.
type Cut = shaping.Cut

// check says what is wrong with the rules, and compiles what is to be kept.
func (r ResultRules) check() (keep *shaping.Keep, problem string) {
	if r.Cut.Items < 0 || r.Cut.Bytes < 0 || r.Cut == (Cut{List: r.Cut.List, Next: r.Cut.Next}) && r.Cut != (Cut{}) {
		return nil, "a cut has a positive number of items or bytes"
	}
	if len(r.Keep) == 0 {
		return nil, ""
	}
	keep, err := shaping.NewKeep(r.Keep)
	if err != nil {
		return nil, err.Error()
	}
	return keep, ""
}

// beforeShaping is how many times larger than MaxValueBytes a result may be
// before it is shaped.
const beforeShaping = 8

// room is how many bytes a result may have before it is shaped.
func (r ResultRules) room(limits Limits) int {
	if len(r.Keep) > 0 || r.Cut != (Cut{}) {
		return beforeShaping * limits.MaxValueBytes
	}
	return limits.MaxValueBytes
}

// shape makes of a checked result what a program gets.
func (e *entry) shape(wire []byte, limits Limits) (_ []byte, err error) {
	if e.keep != nil {
		if wire, err = e.keep.Apply(wire, limits.MaxValueDepth); err != nil {
			return nil, err
		}
	}
	if cut := e.info.Result.Cut; cut != (Cut{}) {
		return cut.Apply(wire, limits.MaxValueBytes, limits.MaxValueDepth)
	}
	return wire, nil
}
