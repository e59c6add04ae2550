package runtime

import (
	"context"
	"fmt"
	"slices"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
)

// JobCall is the name of a capability that a server has of every job.
type JobCall string

// What may be asked of a job, whatever capability has started it. Each takes
// the job's id as its parameter job.
const (
	// JobStatus answers job, state, created and, as far as there are any,
	// failure, message, progress, started, ended and heartbeat.
	JobStatus JobCall = "run.status"
	// JobResult answers job, state, sha256, result and report of a job that
	// succeeded.
	JobResult JobCall = "run.result"
	// JobCancel asks for the end of a job. One that has ended stays as it is.
	JobCancel JobCall = "run.cancel"
)

func jobCalls() []JobCall { return []JobCall{JobStatus, JobResult, JobCancel} }

func isJobCall(name string) bool { return slices.Contains(jobCalls(), JobCall(name)) }

// Codes with which those capabilities fail.
const (
	// JobNotFound: there is no such job, or it is another subject's.
	JobNotFound = "not_found"
	// JobInternal and JobFull: the host could not do it, and may be able to later.
	JobInternal = "internal"
	JobFull     = "io_full"
)

// tooLowForJobs finds limits that could keep back the result of a job: one has
// succeeded only with a result that the default limits let through.
func (l Limits) tooLowForJobs() (problems []error) {
	for _, limit := range []struct {
		name       string
		set, least int64
	}{
		{fault.MaxValueDepth, int64(l.MaxValueDepth), DefaultMaxValueDepth},
		{fault.MaxValueBytes, int64(l.MaxValueBytes), DefaultMaxValueBytes},
		{fault.MaxIntermediateValueBytes, l.MaxIntermediateValueBytes, DefaultMaxValueBytes},
	} {
		if limit.set < limit.least {
			problems = append(problems, fmt.Errorf("limit %s is %d: with %s, at least %d is needed", limit.name, limit.set, JobResult, limit.least))
		}
	}
	return problems
}

// TellsOfJobs says whether all that CallJob may be asked for is enabled.
func (s *Server) TellsOfJobs() bool {
	for _, c := range jobCalls() {
		if s.catalog.byName(string(c)) == nil {
			return false
		}
	}
	return true
}

// CallJob asks for something of a job, as Call calls a tool: scopes and policy
// decide on a call of the capability that c names, with the job's id, which is
// recorded and bounded as any other. The capability need not be a tool.
func (s *Server) CallJob(ctx context.Context, subject authz.Subject, c JobCall, job string, options ...ExecuteOption) (Execution, error) {
	w := canon.NewCanonicalWriter(nil)
	w.BeginObject(1)
	w.Key("job").String(job, 0, s.limits.MaxValueBytes)
	w.EndObject()
	arguments := w.Bytes()
	if w.End() != nil { // it is no text, and binds as little as none
		arguments = nil
	}
	var entry *entry
	if isJobCall(string(c)) {
		entry = s.catalog.byName(string(c))
	}
	return s.callDirectly(ctx, subject, entry, arguments, options)
}
