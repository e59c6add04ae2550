package program

import (
	"errors"

	"github.com/capgen/capgen/runtime/fault"
)

// The bounds of one value inside a program. What is built is sized before it
// is built; what grows element by element is bounded by steps, and all of a
// program together by the memory of its worker.
const (
	maxStringBytes = 64 << 20 // of a str or bytes
	maxItems       = 4 << 20  // of a list or tuple that one operation builds
	maxKeys        = 1 << 20  // of a dict or set that one operation builds
	maxIntBits     = 1 << 18  // of an int
	maxNesting     = 1_000    // of values within values, for str, == and the like
	maxDigits      = 4_300    // of an int that becomes text, or the other way, as in CPython

	// defaultMemory is taken to bound a program that comes without a bound.
	defaultMemory = 256 << 20
	// bytesPerStep is how many bytes a builtin copies or looks at for one step.
	bytesPerStep = 64
)

// errSteps ends the program: outOfSteps is set, which decides what is told.
var errSteps = errors.New("too many steps")

// charge debits n steps for work that the interpreter does not see. An error
// ends the program: no builtin may go on after it.
func (e *engine) charge(n int) error {
	e.thread.Steps += uint64(max(n, 0))
	if e.thread.Steps >= uint64(e.limits.Steps) {
		e.outOfSteps = true
		return errSteps
	}
	return nil
}

// chargeBytes debits the copying of, or search through, n bytes.
func (e *engine) chargeBytes(n int) error {
	if n < bytesPerStep {
		return nil
	}
	return e.charge(n / bytesPerStep)
}

// chargeCopy debits the copying of n references.
func (e *engine) chargeCopy(n int) error { return e.chargeBytes(8 * n) }

// roomBytes refuses a string of n bytes that is too long to be built.
func (e *engine) roomBytes(n int) error {
	if n < 0 || n > maxStringBytes {
		return e.tooLarge("a string of that many bytes")
	}
	return e.chargeBytes(n)
}

// roomMore refuses to append more bytes to a string of have where that would be
// too long, and charges for those appended.
func (e *engine) roomMore(have, more int) error {
	if more < 0 || have+more > maxStringBytes {
		return e.tooLarge("a string of that many bytes")
	}
	return e.charge(1 + more/bytesPerStep)
}

// roomItems refuses a collection of n elements that is too large to be built.
// It does not charge for them.
func (e *engine) roomItems(n int) error {
	if n < 0 || n > maxItems {
		return e.tooLarge("a collection of that many elements")
	}
	return nil
}

// roomKeys refuses a dict or set of n keys that is too large to be built.
func (e *engine) roomKeys(n int) error {
	if n > maxKeys {
		return e.tooLarge("a dict or set of that many keys")
	}
	return nil
}

func (e *engine) tooLarge(what string) error {
	f := fault.Reached(fault.WorkerMemory, e.memory, "%s does not fit into the memory of a worker", what)
	f.Hint = "do it in smaller parts"
	return &nativeFailure{f}
}
