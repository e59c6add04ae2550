package program

import (
	"cmp"
	"fmt"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/fault"
)

// Limits are the bounds of one execution. All must be positive.
type Limits struct {
	Steps       int64 // Starlark steps
	Calls       int64 // native call attempts, bind failures included
	Depth       int   // containers within containers of a value that crosses
	ValueBytes  int   // bytes of one value that crosses, wire encoding
	ResultBytes int64 // bytes of all successful results into the program
	SourceBytes int   // bytes of the source
	Parallel    int   // native calls on their way at once
}

// MaxNesting is how many calls of parallel may stand within each other.
const MaxNesting = 16

// Check reports the first bound that is not positive.
func (l Limits) Check() error {
	for _, bound := range []struct {
		name  string
		value int64
	}{
		{fault.MaxSteps, l.Steps},
		{fault.MaxNativeCalls, l.Calls},
		{fault.MaxValueDepth, int64(l.Depth)},
		{fault.MaxValueBytes, int64(l.ValueBytes)},
		{fault.MaxIntermediateValueBytes, l.ResultBytes},
		{fault.MaxSourceBytes, int64(l.SourceBytes)},
		{fault.MaxParallelCalls, int64(l.Parallel)},
	} {
		if bound.value <= 0 {
			return fmt.Errorf("program: %s is %d, must be positive", bound.name, bound.value)
		}
	}
	return nil
}

// Program is one execution's input.
type Program struct {
	// Source is the program's text. It must be valid UTF-8 without NUL.
	Source string
	// Data is the text of the JSON object that the program reads as data, at
	// most Limits.Depth deep; empty for none.
	Data string
	// RequireMain refuses a program without main(), and native calls outside
	// of it.
	RequireMain bool
	// Prints keeps what the program prints; otherwise it is dropped.
	Prints bool
	// Print is called with each part of what the program prints, when it prints
	// it: valid UTF-8, of any size. Nothing is kept then. It may be nil.
	Print  func(text string)
	Limits Limits
	// Memory is what bounds the process that Run is in, in bytes. Run itself
	// holds no more than a part of it in one value; a value that cannot fit is
	// refused by this bound. Zero is 256 MiB.
	Memory int64
}

// Result is what the program returned, and what it used.
type Result struct {
	// Value is the wire encoding of the value; nil when Run returns a fault.
	Value []byte
	// WideIntegers: an integer beyond 64 bits was written as a decimal string.
	WideIntegers bool
	// NoValue: the program is a script that ends in nothing that is its value.
	NoValue bool
	// Steps the program took, and what it printed, if that is kept; set on a
	// fault too.
	Steps  int64
	Prints Prints
}

// Caller answers the native calls of one program. One goroutine uses it at a
// time.
type Caller interface {
	// Call sends one native call, named by capability id, and returns the
	// sequence under which it will be answered. path says where in the program
	// the call is made: its ordinal in main, from 1, and in a callable of
	// parallel the path of that parallel, the callable's index and the call's
	// ordinal in the callable. path and arguments are valid only during the
	// call. No more than Limits.Parallel calls are without an answer; those of
	// main are answered before the next is sent.
	Call(capability string, path []uint32, arguments []byte) (sequence uint32, f *fault.Fault)
	// Answer waits for the answer to any call that was sent: the wire bytes of
	// its result, which are valid until the next method is called, or a fault.
	// Sequence 0 is no answer: its fault ends the program.
	Answer() (sequence uint32, wire []byte, f *fault.Fault)
	// Refused reports an attempt whose arguments the binding table refused, and
	// waits until that is known. It returns a fault only when that attempt ends
	// the execution by itself. Answers that come meanwhile are not lost.
	Refused(capability string) *fault.Fault
}

func newEngine(p Program, table *binding.Table, caller Caller) *engine {
	e := &engine{
		limits: p.Limits, memory: cmp.Or(p.Memory, defaultMemory), table: table, caller: caller,
		data: p.Data, requireMain: p.RequireMain,
	}
	if p.Prints || p.Print != nil {
		e.printed = &prints{to: p.Print}
	}
	return e
}

// Run runs p to its end. table and its capabilities are only read. Exactly one
// of Result.Value and the fault is set. Run does not panic, and it returns
// when the program ends or a limit fires: to stop it from outside, end the
// process.
func Run(p Program, table *binding.Table, caller Caller) (result Result, failure *fault.Fault) {
	e := newEngine(p, table, caller)
	defer func() {
		if recover() != nil {
			// The panic's text may quote anything; the author can do
			// nothing with it.
			failure = e.fault(fault.Internal, "the interpreter failed on this program")
		}
		result.Steps, result.Prints = e.steps(), e.printed.kept()
		if failure != nil {
			result.Value, result.WideIntegers = nil, false
			failure = bounded(failure)
		}
	}()
	if err := p.Limits.Check(); err != nil {
		return result, e.fault(fault.Internal, "the limits of this execution are not valid")
	}
	code, failures := compile(p, e)
	if failures != nil {
		return result, failures[0]
	}
	value, failure := e.run(code)
	if failure != nil {
		return result, failure
	}
	result.NoValue = code.lowered.NoValue
	result.Value, result.WideIntegers, failure = encodeResult(value, p.Limits)
	return result, failure
}
