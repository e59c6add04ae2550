package runtime

import (
	"sync"
	"time"

	"github.com/capgen/capgen/runtime/fault"
)

// Receipt is what one execution did, whatever its outcome.
type Receipt struct {
	// Execution is a random id, for logs.
	Execution string `json:"execution"`
	// Deployment and Catalog say which set of capabilities answered; Catalog
	// is a SHA-256 in hexadecimal.
	Deployment string `json:"deployment"`
	Catalog    string `json:"catalog"`
	// Checked: the program was looked at, and nothing of it ran.
	Checked bool `json:"checked,omitempty"`
	// Calls are the native calls in the order the program made them.
	Calls []CallRecord `json:"calls"`
	// DurationMicros runs from request to result, in microseconds.
	DurationMicros int64 `json:"duration_us"`
	// Steps of the interpreter; 0 when the worker could not say.
	Steps int64 `json:"steps"`
}

// CallState is how far a native call came.
type CallState string

// The states of a call.
const (
	// CallNotDispatched: refused before its handler ran; nothing happened.
	CallNotDispatched CallState = "not_dispatched"
	// CallDone: the handler returned a value that passed its check.
	CallDone CallState = "done"
	// CallFailed: the handler returned an error, panicked, or its value broke
	// the manifest; what it had done by then stands.
	CallFailed CallState = "failed"
	// CallUnknown: the handler was running when the execution ended, or the
	// capability's timeout.
	CallUnknown CallState = "unknown"
)

// CallRecord is one native call of an execution.
type CallRecord struct {
	// Sequence counts from 1.
	Sequence int       `json:"sequence"`
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	State    CallState `json:"state"`
	// DurationMicros is the time on the host, in microseconds.
	DurationMicros int64 `json:"duration_us"`
	// Error is the class of the failure, empty when done.
	Error fault.Class `json:"error,omitempty"`
	// Attempts is how often the handler was called, if that is more than once.
	Attempts int `json:"attempts,omitempty"`
	// Breaches are the checks of its output schema that a result fails which
	// was delivered all the same (ResultRules.Report).
	Breaches int `json:"breaches,omitempty"`
}

// recorder collects call records while handlers run; the snapshot taken when
// an execution ends no longer changes, even if a handler returns later, and no
// handler starts after it.
type recorder struct {
	mu      sync.Mutex
	calls   []CallRecord
	started []time.Time
	closed  bool // the snapshot was taken
}

// begin adds a call in state not_dispatched.
func (r *recorder) begin(id, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, CallRecord{Sequence: len(r.calls) + 1, ID: id, Name: name, State: CallNotDispatched})
	r.started = append(r.started, time.Now())
}

// dispatched marks that the handler runs from now on. It is false when the
// execution has ended, and its receipt says that the handler did not run.
func (r *recorder) dispatched(i int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.calls[i].State = CallUnknown
	return true
}

// abandoned is the state of call i that the host's own code left without an
// outcome.
func (r *recorder) abandoned(i int) CallState {
	if state := r.record(i).State; state != CallUnknown {
		return state
	}
	return CallFailed
}

// record is what is known of call i now.
func (r *recorder) record(i int) CallRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[i]
}

// end records how call i went. A fault may stand beside CallDone: the handler
// did its work, but the value could not be delivered.
func (r *recorder) end(i int, o outcome) CallRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.calls[i]
	c.State = o.state
	if o.attempts > 1 {
		c.Attempts = o.attempts
	}
	c.Breaches = o.breaches
	c.DurationMicros = time.Since(r.started[i]).Microseconds()
	if o.fault != nil {
		c.Error = o.fault.Class
	}
	return *c
}

// snapshot returns a copy and lets no further handler start; calls still
// running get the time they took so far.
func (r *recorder) snapshot() []CallRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	calls := make([]CallRecord, len(r.calls))
	copy(calls, r.calls)
	for i := range calls {
		if calls[i].State == CallUnknown {
			calls[i].DurationMicros = time.Since(r.started[i]).Microseconds()
		}
	}
	return calls
}
