package worker

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/capgen/capgen/runtime/fault"
)

// maxWords is how much of a lost worker's standard error is read: what can
// stand in its pipe.
const maxWords = 64 << 10

var errHungUp = errors.New("the worker closed its output")

// lostError is the end of a worker's streams; why it came is asked later.
type lostError struct{ err error }

func (e *lostError) Error() string { return "worker: lost: " + e.err.Error() }

// broken is the fault for a worker that broke the protocol.
func broken(format string, args ...any) *fault.Fault {
	return &fault.Fault{Class: fault.WorkerLost, Message: "the worker broke its protocol: " + fmt.Sprintf(format, args...)}
}

// explain is the fault of a worker that ended before its program did: state is
// how the process ended, words what it wrote to standard error, and starved
// that the kernel ended it for its control group's memory.
func explain(state *os.ProcessState, words []byte, starved bool, memory int64) *fault.Fault {
	if starved || diedOfMemory(state, words) {
		f := fault.Reached(fault.WorkerMemory, memory, "the program needs more memory than it may have")
		f.Hint = "hold less at once: smaller lists and strings, fewer pages"
		return f
	}
	return &fault.Fault{
		Class:   fault.WorkerLost,
		Message: "the worker process ended before the program did",
		Hint:    "the program may have used too much memory, or nested calls or values too deeply",
	}
}

// outOfMemory are the texts with which Go's runtime ends a process that gets no
// more memory; the last one is the race detector's. A test per release of Go
// has it say them.
var outOfMemory = [...]string{
	"fatal error: out of memory",
	"fatal error: runtime: out of memory",
	"fatal error: runtime: cannot allocate memory",
	"fatal error: too many address space collisions for -race mode",
}

// diedOfMemory reports whether Go's runtime ended the process because the
// system gave it no more memory: it then says so and exits with status 2.
func diedOfMemory(state *os.ProcessState, words []byte) bool {
	switch {
	case state == nil:
		return false
	case state.ExitCode() == 66: // the race detector's own, outside of the runtime
		return bytes.Contains(words, []byte("ThreadSanitizer failed to allocate"))
	case state.ExitCode() != 2:
		return false
	}
	for line := range bytes.Lines(words) {
		if slices.Contains(outOfMemory[:], string(bytes.TrimSuffix(line, []byte("\n")))) {
			return true
		}
	}
	return false
}
