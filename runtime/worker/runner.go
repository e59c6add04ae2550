package worker

import (
	"context"

	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
)

// Runner runs programs, each in a fresh process of its own. It is safe for
// concurrent use.
type Runner interface {
	// Run runs one program. When it returns, its process was killed and can
	// neither call nor answer any more; it is reaped soon after. A fault is
	// returned as *fault.Fault; any other error is the host's own trouble
	// (the process could not be started) and not for the program's author.
	// When ctx ends, the process is killed and Run returns without waiting
	// for a Job.Call that ignores its context; the error is context.Cause(ctx)
	// if that is a *fault.Fault.
	Run(ctx context.Context, job Job) (Result, error)
	// Close kills what still runs and releases everything. It is idempotent.
	Close() error
}

// Job is one execution.
type Job struct {
	Source string
	// Data is what the program is given beside its source: the text of a JSON
	// object, or empty for nothing.
	Data []byte
	// RequireMain refuses programs without main, and calls outside of it.
	RequireMain bool
	// Check has the program looked at, and nothing run: the result is a report.
	Check bool
	// Prints returns what the program prints.
	Prints bool
	Limits Limits
	// Begin, unless nil, is told of each call in the order in which the program
	// made them, before Call is. It must not wait for anything.
	Begin func(call Call)
	// Call answers one native call. It runs on another goroutine than Run's;
	// up to Limits.Parallel calls of a job overlap, if the program asked for
	// parallel ones. It must return when ctx ends: the Runner waits for it
	// only in Close, and there only so long. It must not keep call.Arguments,
	// whose bytes are used again.
	Call func(ctx context.Context, call Call) Reply
}

// Limits are the bounds that a worker enforces itself; the host checks what
// crosses to it again. All are positive.
type Limits = program.Limits

// Report is what a check found; a worker says so, and everything in it is
// hostile.
type Report = program.Report

// MaxPrintBytes bounds Prints.Text.
const MaxPrintBytes = program.MaxPrintBytes

// Prints is what a program has printed, as a worker says.
type Prints = program.Prints

// Reached is a capability that a Report names.
type Reached = program.Reached

// Call is a native call as the worker sent it; everything in it is hostile.
type Call struct {
	Sequence   uint32 // 1 for the first call of the execution, then counting
	Capability string // id
	// Path says where in the program the call is made, the same whenever the
	// program does the same, whatever order parallel calls come in. Alone it is
	// the call's ordinal in main, from 1; attempts that did not bind count, and
	// so does each call of parallel. In a callable of parallel it begins with
	// the path of that parallel and the callable's index, from 0, and ends with
	// the ordinal of the call in the callable: 2, 0, 1 is the first call of the
	// first callable of what main called second. Nil for a bind failure.
	Path []uint32
	// Arguments are the given keyword arguments in wire encoding, not longer
	// than Limits.ValueBytes. Nothing else of them was checked: it is for Call
	// to read them strictly and within Limits.Depth.
	Arguments []byte
	// BindFailure: the worker refused the arguments itself and reports the
	// attempt for counting and the receipt; Arguments is nil.
	BindFailure bool
}

// Reply is the answer to a Call: wire bytes, or a fault. The answer to a bind
// failure is empty, or a fault that ends the execution.
type Reply struct {
	Value []byte
	Fault *fault.Fault
	// Broken, if not empty, says what about the call no honest worker sends.
	// The execution ends as that of a worker that broke the protocol.
	Broken string
}

// Result is what main returned, or what a check found.
type Result struct {
	Value []byte // wire encoding
	// Report of a check, which has no value.
	Report *Report
	// WideIntegers: an integer beyond 64 bits was written as a decimal string.
	WideIntegers bool
	// NoValue: the program is a script that ends in nothing that is a value.
	NoValue bool
	// Steps the program took, as the worker says, and what it printed, if that
	// was asked for; set with a fault too when the worker lived to tell.
	Steps  int64
	Prints Prints
}
