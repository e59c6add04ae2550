package fault

import "fmt"

// Names of the limits, as Fault.Limit carries them and runtime.Limits has them.
const (
	MaxSourceBytes            = "MaxSourceBytes"
	MaxSteps                  = "MaxSteps"
	MaxExecutionTime          = "MaxExecutionTime"
	MaxCallsPerSubject        = "MaxCallsPerSubject"
	MaxCallsPerSecond         = "MaxCallsPerSecond"
	Timeout                   = "timeout_ms" // of the request itself
	MaxNativeCalls            = "MaxNativeCalls"
	MaxValueDepth             = "MaxValueDepth"
	MaxValueBytes             = "MaxValueBytes"
	MaxIntermediateValueBytes = "MaxIntermediateValueBytes"
	MaxParallelCalls          = "MaxParallelCalls"
	MaxDenials                = "MaxDenials"
	MaxUnfinishedCalls        = "MaxUnfinishedCalls"
	MaxQueuedExecutions       = "MaxQueuedExecutions"
	MaxQueuedPerSubject       = "MaxQueuedPerSubject"
	WorkerMemory              = "WorkerMemory"
	MaxSearchQueryBytes       = "MaxSearchQueryBytes"
)

// Reached is the fault of a limit that fired. Its message says what happened,
// and names the limit with its value: "the query has 5000 bytes
// (MaxSearchQueryBytes is 4096)".
func Reached(limit string, bound int64, format string, args ...any) *Fault {
	f := &Fault{Message: fmt.Sprintf(format, args...)}
	return f.Reached(limit, bound)
}

// Reached makes f the fault of a limit, keeping all else that it says.
func (f *Fault) Reached(limit string, bound int64) *Fault {
	f.Class, f.Limit, f.Bound = Limit, limit, bound
	f.Message += fmt.Sprintf(" (%s is %d)", limit, bound)
	return f
}
