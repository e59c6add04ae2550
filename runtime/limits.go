package runtime

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/capgen/capgen/runtime/worker"
)

// Limits bound one server. Zero means the default, a negative value is an
// error at Build, and nothing means unlimited. They are set in Go only: no
// flag and no environment variable changes one. Every refusal names the limit
// that fired and its value.
type Limits struct {
	// MaxSourceBytes of a program. Default 64 KiB.
	MaxSourceBytes int
	// MaxSteps of the Starlark interpreter per execution. Default 50,000,000.
	MaxSteps int64
	// MaxExecutionTime from request to result, queueing included. Default 5 s.
	MaxExecutionTime time.Duration
	// MaxNativeCalls are the attempts of one execution, those that failed to
	// bind and those that were denied included. Default 1,000.
	MaxNativeCalls int
	// MaxDenials are the calls of one execution that may be denied; one more
	// ends it. Default 50.
	MaxDenials int
	// MaxParallelCalls are the native calls of one execution that are on their
	// way at once; more wait their turn in the worker. Default 8.
	MaxParallelCalls int
	// MaxUnfinishedCalls of one capability are in the host's code at once: its
	// authorizer and its handlers, over all executions, those that go on
	// although their execution or timeout has ended included. One more is
	// refused. Default twice MaxConcurrentExecutions times MaxParallelCalls,
	// which only calls that ignore their context reach.
	MaxUnfinishedCalls int
	// MaxValueDepth of a value that crosses between program and host, in
	// nested arrays and objects. Default 32.
	MaxValueDepth int
	// MaxValueBytes of one value that crosses, in wire encoding, and of data
	// (WithData) as JSON text. Default 1 MiB.
	MaxValueBytes int
	// MaxIntermediateValueBytes of all successful results into one program,
	// in wire encoding. Default 8 MiB.
	MaxIntermediateValueBytes int64
	// MaxSearchQueryBytes of a search query. Default 4 KiB.
	MaxSearchQueryBytes int
	// MaxSearchResults of one search. Default 20.
	MaxSearchResults int
	// MaxSearchResponseBytes of a search's or description's structured
	// content. Default 64 KiB.
	MaxSearchResponseBytes int
	// MaxConcurrentExecutions are live workers and attempts to start one, idle
	// workers included. Default 8.
	MaxConcurrentExecutions int
	// MaxQueuedExecutions wait for a worker in all; one more is refused at
	// once, and so is one of a subject of whom as many wait as places are
	// left. Default 256.
	MaxQueuedExecutions int
	// MaxQueuedPerSubject are those of them of one subject. Default 32.
	MaxQueuedPerSubject int
	// WorkerMemory is how many bytes a worker's address space may grow from
	// where it stands when the sandbox is entered: the only limit of memory.
	// Half of it is where the worker's garbage collector works harder. At
	// least 128 MiB. Default 256 MiB.
	WorkerMemory int64
}

// The default limits.
const (
	DefaultMaxSourceBytes            = 64 << 10
	DefaultMaxSteps                  = 50_000_000
	DefaultMaxExecutionTime          = 5 * time.Second
	DefaultMaxNativeCalls            = 1000
	DefaultMaxDenials                = 50
	DefaultMaxParallelCalls          = 8
	DefaultMaxValueDepth             = 32
	DefaultMaxValueBytes             = 1 << 20
	DefaultMaxIntermediateValueBytes = 8 << 20
	DefaultMaxSearchQueryBytes       = 4 << 10
	DefaultMaxSearchResults          = 20
	DefaultMaxSearchResponseBytes    = 64 << 10
	DefaultMaxConcurrentExecutions   = 8
	DefaultMaxQueuedExecutions       = 256
	DefaultMaxQueuedPerSubject       = 32
	DefaultWorkerMemory              = worker.DefaultMemory
)

// withDefaults fills zero fields and refuses negative ones, all at once.
func (l Limits) withDefaults() (Limits, error) {
	var problems []error
	fill(&problems, "MaxSourceBytes", &l.MaxSourceBytes, DefaultMaxSourceBytes)
	fill(&problems, "MaxSteps", &l.MaxSteps, DefaultMaxSteps)
	fill(&problems, "MaxExecutionTime", &l.MaxExecutionTime, DefaultMaxExecutionTime)
	fill(&problems, "MaxNativeCalls", &l.MaxNativeCalls, DefaultMaxNativeCalls)
	fill(&problems, "MaxDenials", &l.MaxDenials, DefaultMaxDenials)
	fill(&problems, "MaxParallelCalls", &l.MaxParallelCalls, DefaultMaxParallelCalls)
	fill(&problems, "MaxValueDepth", &l.MaxValueDepth, DefaultMaxValueDepth)
	fill(&problems, "MaxValueBytes", &l.MaxValueBytes, DefaultMaxValueBytes)
	fill(&problems, "MaxIntermediateValueBytes", &l.MaxIntermediateValueBytes, DefaultMaxIntermediateValueBytes)
	fill(&problems, "MaxSearchQueryBytes", &l.MaxSearchQueryBytes, DefaultMaxSearchQueryBytes)
	fill(&problems, "MaxSearchResults", &l.MaxSearchResults, DefaultMaxSearchResults)
	fill(&problems, "MaxSearchResponseBytes", &l.MaxSearchResponseBytes, DefaultMaxSearchResponseBytes)
	fill(&problems, "MaxConcurrentExecutions", &l.MaxConcurrentExecutions, DefaultMaxConcurrentExecutions)
	fill(&problems, "MaxQueuedExecutions", &l.MaxQueuedExecutions, DefaultMaxQueuedExecutions)
	fill(&problems, "MaxQueuedPerSubject", &l.MaxQueuedPerSubject, DefaultMaxQueuedPerSubject)
	// Both factors are far below in earnest; the product must not overflow.
	most := min(l.MaxConcurrentExecutions, math.MaxInt16) * min(l.MaxParallelCalls, math.MaxInt16)
	fill(&problems, "MaxUnfinishedCalls", &l.MaxUnfinishedCalls, 2*most)
	fill(&problems, "WorkerMemory", &l.WorkerMemory, DefaultWorkerMemory)
	if 0 < l.WorkerMemory && l.WorkerMemory < worker.MinMemory {
		problems = append(problems, fmt.Errorf("limit WorkerMemory is %d bytes, at least %d are needed", l.WorkerMemory, worker.MinMemory))
	}
	return l, errors.Join(problems...)
}

func fill[T int | int64 | time.Duration](problems *[]error, name string, value *T, def T) {
	switch {
	case *value < 0:
		*problems = append(*problems, fmt.Errorf("limit %s is negative (%v)", name, *value))
	case *value == 0:
		*value = def
	}
}
