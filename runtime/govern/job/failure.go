package job

import "slices"

// Failure tells apart why a run did not succeed.
type Failure string

// The kinds of failure.
const (
	FailCandidate      Failure = "candidate"      // it ended with a status of its own, or crashed
	FailLimit          Failure = "resource_limit" // the system ended it for memory, processor time, output or processes
	FailTimeout        Failure = "timeout"        // it ran, or waited for its start, for too long
	FailResult         Failure = "result"         // it ended well, and its result does not hold
	FailInput          Failure = "input"          // what was approved is not there any more as it was
	FailInfrastructure Failure = "infrastructure" // the host could not start or supervise it
	FailCancelled      Failure = "cancelled"
	FailOrphaned       Failure = "orphaned"
)

// failures are what a run can have failed of, by the state it ended in.
var failures = map[State][]Failure{
	Cancelled: {FailCancelled},
	Failed:    {FailCandidate, FailLimit, FailResult, FailInput, FailInfrastructure},
	TimedOut:  {FailTimeout},
	Orphaned:  {FailOrphaned},
}

// Failures are what a run in s can have failed of; none where it has not ended,
// or has succeeded. The caller owns what it gets.
func Failures(s State) []Failure { return slices.Clone(failures[s]) }
