package mcpserver

import (
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/fault"
)

// maxListedCalls is how many records of calls the receipt of a failure has at
// most.
const maxListedCalls = 50

// foldedReceipt is a receipt as a model reads it: more than maxListedCalls are
// told in fewer records. A program that fails after a thousand calls would
// otherwise fill its author's context with them.
type foldedReceipt struct {
	Execution      string       `json:"execution"`
	Deployment     string       `json:"deployment"`
	Catalog        string       `json:"catalog"`
	Checked        bool         `json:"checked,omitempty"`
	Calls          []foldedCall `json:"calls"`
	DurationMicros int64        `json:"duration_us"`
	Steps          int64        `json:"steps"`
}

// foldedCall stands for Count calls, the first of which is Sequence, when Count
// is not 0; their durations are added up.
type foldedCall struct {
	runtime.CallRecord
	Count int `json:"count,omitempty"`
}

// kindOfCall is what calls have in common that one record stands for. Those of
// several capabilities have no ID and Name.
type kindOfCall struct {
	id, name string
	state    runtime.CallState
	err      fault.Class
	attempts int
	breaches int
}

func kindOf(c runtime.CallRecord) kindOfCall {
	return kindOfCall{c.ID, c.Name, c.State, c.Error, c.Attempts, c.Breaches}
}

// fold tells as much of the order of the calls as there is room for: first all
// of it, then which in a row ended alike, then which of all, and in the end
// only the states of those that come last.
func fold(r runtime.Receipt) *foldedReceipt {
	folded := foldedReceipt{
		Execution: r.Execution, Deployment: r.Deployment, Catalog: r.Catalog, Checked: r.Checked,
		Calls: make([]foldedCall, len(r.Calls)), DurationMicros: r.DurationMicros, Steps: r.Steps,
	}
	for i, c := range r.Calls {
		folded.Calls[i] = foldedCall{CallRecord: c}
	}
	for _, shorter := range []func([]foldedCall) []foldedCall{inARow, alike, byState} {
		if len(folded.Calls) > maxListedCalls {
			folded.Calls = shorter(folded.Calls)
		}
	}
	return &folded
}

// inARow makes one record of calls in a row that ended alike.
func inARow(calls []foldedCall) (out []foldedCall) {
	for _, c := range calls {
		if n := len(out); n > 0 && kindOf(out[n-1].CallRecord) == kindOf(c.CallRecord) {
			out[n-1].add(c)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// alike makes one record of calls that ended alike, wherever they stand.
func alike(calls []foldedCall) (out []foldedCall) {
	at := map[kindOfCall]int{}
	for _, c := range calls {
		kind := kindOf(c.CallRecord)
		if i, ok := at[kind]; ok {
			out[i].add(c)
			continue
		}
		at[kind] = len(out)
		out = append(out, c)
	}
	return out
}

// states are all that a call can have.
var states = [...]runtime.CallState{runtime.CallNotDispatched, runtime.CallDone, runtime.CallFailed, runtime.CallUnknown}

// byState keeps the first records, and makes one of all the others of a state.
func byState(calls []foldedCall) []foldedCall {
	kept := maxListedCalls - len(states)
	rest := make([]foldedCall, 0, len(calls)-kept)
	for _, c := range calls[kept:] {
		c.CallRecord = runtime.CallRecord{Sequence: c.Sequence, State: c.State, DurationMicros: c.DurationMicros}
		rest = append(rest, c)
	}
	return append(calls[:kept:kept], alike(rest)...)
}

// add has c stand for what other stands for, too.
func (c *foldedCall) add(other foldedCall) {
	c.Count = max(c.Count, 1) + max(other.Count, 1)
	c.DurationMicros += other.DurationMicros
}
