package fault

import "strconv"

// Class tells failures apart; a caller branches on it.
type Class string

// The classes. The set is closed: a Fault of another class does not decode.
const (
	InvalidProgram   Class = "invalid_program"   // does not parse or resolve, has no main, returns a value that cannot leave
	ProgramError     Class = "program_error"     // the program failed while it ran
	InvalidArguments Class = "invalid_arguments" // a native call's arguments, with Path
	NotFound         Class = "capability_not_found"
	Denied           Class = "permission_denied"
	PolicyFailure    Class = "policy_failure"
	Limit            Class = "resource_limit" // Limit and Bound are set
	CapabilityFailed Class = "capability_failed"
	Cancelled        Class = "cancelled"
	WorkerLost       Class = "worker_lost" // the process ended or broke the protocol
	Internal         Class = "internal_failure"
	Unauthenticated  Class = "unauthenticated"
)

// Fault is how an execution, or one native call, failed. Its texts are safe to
// show to the program's author: they speak of the program and its arguments,
// never of policy, handlers or the host.
type Fault struct {
	Class Class
	// Message says what is wrong, without the position, path and capability
	// that have fields of their own.
	Message string
	// Hint says what to do instead; may be empty.
	Hint string
	// Line and Column are 1-based positions in the program's source; 0 when
	// there is none.
	Line, Column int
	// Path of the argument, as in filter.owner or tags[1].
	Path string
	// Capability is the dotted name of the native call that failed, if one did.
	Capability string
	// Code is what the capability's manifest calls the failure (CapabilityFailed).
	Code string
	// Limit names the limit that fired (MaxSteps, …) and Bound its value; of
	// MaxExecutionTime in milliseconds.
	Limit string
	Bound int64
	// Trace is the program's own call stack, innermost last: "line 3, in main".
	Trace []string
}

// Error is the message, with its position and path when it has them:
// "line 4, column 9: tags[1]: expected string, got int".
func (f *Fault) Error() string {
	text := f.Message
	if f.Path != "" {
		text = f.Path + ": " + text
	}
	switch {
	case f.Line > 0 && f.Column > 0:
		return "line " + strconv.Itoa(f.Line) + ", column " + strconv.Itoa(f.Column) + ": " + text
	case f.Line > 0:
		return "line " + strconv.Itoa(f.Line) + ": " + text
	}
	return text
}
