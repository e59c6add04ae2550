package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/fault"
)

// The status of a task.
const (
	taskWorking   = "working"
	taskCompleted = "completed"
	taskCancelled = "cancelled"
)

// taskRequest is one request about a job.
type taskRequest struct {
	tools   *Tools
	ctx     context.Context
	subject authz.Subject
	id      string
	receipt runtime.Receipt // of the last call
}

// call calls one of the capabilities that tell of jobs.
func (q *taskRequest) call(c runtime.JobCall) (runtime.Execution, error) {
	x, err := q.tools.runtime.CallJob(q.ctx, q.subject, c, q.id, q.tools.execution...)
	q.receipt = x.Receipt
	return x, err
}

// jobStatus is what run.status answers, as far as a task is made of it.
type jobStatus struct {
	Job        string `json:"job"`
	Plan       string `json:"plan"`
	Capability string `json:"capability"`
	State      string `json:"state"`
	Failure    string `json:"failure"`
	Message    string `json:"message"`
	Progress   string `json:"progress"`
	Created    string `json:"created"`
	Started    string `json:"started"`
	Heartbeat  string `json:"heartbeat"`
	Ended      string `json:"ended"`
}

func (q *taskRequest) status() (s jobStatus, err error) {
	x, err := q.call(runtime.JobStatus)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(x.Result, &s); err != nil {
		return s, fmt.Errorf("mcpserver: %s: %w", runtime.JobStatus, err)
	}
	if s.Job != q.id {
		return s, fmt.Errorf("mcpserver: %s: it tells of another job", runtime.JobStatus)
	}
	return s, s.check()
}

// check finds what no task could be made of.
func (s jobStatus) check() error {
	for i, at := range []string{s.Created, s.Started, s.Heartbeat, s.Ended} {
		if _, err := time.Parse(time.RFC3339, at); err != nil && (at != "" || i == 0) {
			return fmt.Errorf("mcpserver: %s: a time does not read", runtime.JobStatus)
		}
	}
	if s.word() == "" {
		return fmt.Errorf("mcpserver: %s: an unknown state", runtime.JobStatus)
	}
	return nil
}

// word is the status of the task. A job that failed is a tool call that failed,
// which is a completed task; failed is for failures of the protocol alone (Tasks
// extension, Task Execution Errors).
func (s jobStatus) word() string {
	switch s.State {
	case "QUEUED", "STARTING", "RUNNING", "CANCEL_REQUESTED":
		return taskWorking
	case "SUCCEEDED", "FAILED", "TIMED_OUT", "ORPHANED":
		return taskCompleted
	case "CANCELLED":
		return taskCancelled
	}
	return ""
}

// task is the job as a task.
func (s jobStatus) task() task {
	message := s.State
	switch {
	case s.word() == taskWorking && s.Progress != "":
		message += ": " + s.Progress
	case s.word() != taskWorking && s.Message != "":
		message += ": " + s.Message
	}
	updated := s.Created
	for _, at := range []string{s.Started, s.Heartbeat, s.Ended} {
		if later(at, updated) {
			updated = at
		}
	}
	return task{
		TaskID: s.Job, Status: s.word(), StatusMessage: message, CreatedAt: s.Created, LastUpdatedAt: updated,
		PollInterval: pollEvery.Milliseconds(),
	}
}

// later compares two moments that check has read.
func later(a, b string) bool {
	at, err := time.Parse(time.RFC3339, a)
	if err != nil {
		return false
	}
	than, err := time.Parse(time.RFC3339, b)
	return err == nil && at.After(than)
}

// get is the task with what came of it.
func (q *taskRequest) get() (*taskResult, error) {
	s, err := q.status()
	if err != nil {
		return nil, err
	}
	told := q.receipt
	result := &taskResult{ResultType: resultComplete, task: s.task()}
	switch {
	case s.State == "SUCCEEDED":
		if result.Result, err = q.succeeded(s); err != nil {
			var refused interface{ Fault() fault.Fault }
			if !errors.As(err, &refused) || !stands(refused.Fault()) {
				return nil, err
			}
			// Its client polls until the task has ended.
			result.Result = refusedResult(refused.Fault(), q.receipt)
		}
	case s.word() == taskCompleted:
		result.Result = s.failed()
	}
	q.receipt = told
	return result, nil
}

// succeeded is the tool call's result: what the start of the job would answer
// now is its structured content, which clients hold to the tool's schema, and
// what the job came to are its texts.
func (q *taskRequest) succeeded(s jobStatus) (*mcp.CallToolResult, error) {
	x, err := q.call(runtime.JobResult)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	report := ""
	if err := json.Unmarshal(x.Result, &members); err != nil {
		return nil, fmt.Errorf("mcpserver: %s: %w", runtime.JobResult, err)
	}
	if text, ok := members["report"]; ok { // it is a text of its own
		if err := json.Unmarshal(text, &report); err != nil {
			return nil, fmt.Errorf("mcpserver: %s: %w", runtime.JobResult, err)
		}
		delete(members, "report")
	}
	answer := Answer{notes: resultNotes(x)}
	if answer.Content, err = encode(members); err != nil {
		return nil, err
	}
	if answer.Receipt, err = encode(withCalls(x.Receipt)); err != nil {
		return nil, err
	}
	if kept := q.tools.keep(q.ctx, q.subject, answer.Content); kept != nil {
		answer.link, answer.linkOnly, answer.notes = kept, true, append(answer.notes, kept.note())
	}
	if report != "" {
		answer.notes = slices.Insert(answer.notes, 0, report)
	}
	result := answer.result()
	result.StructuredContent, err = encode(struct {
		Job   string `json:"job"`
		Plan  string `json:"plan"`
		State string `json:"state"`
	}{s.Job, s.Plan, s.State})
	return result, err
}

// stands tells whether a refusal of a result that is there comes again, however
// often a client asks: not if something broke, the host is busy, or the job is
// gone meanwhile, which is no task any more.
func stands(f fault.Fault) bool {
	switch f.Class {
	case fault.Denied:
		return true
	case fault.Limit:
		return slices.Contains([]string{fault.MaxValueBytes, fault.MaxValueDepth, fault.MaxIntermediateValueBytes}, f.Limit)
	case fault.CapabilityFailed:
		return !slices.Contains([]string{runtime.JobNotFound, runtime.JobInternal, runtime.JobFull}, f.Code)
	}
	return false
}

// refusedResult is the tool call's failure where the job has none.
func refusedResult(f fault.Fault, receipt runtime.Receipt) *mcp.CallToolResult {
	answer := failureAnswer(f, receipt)
	answer.textOnly = true // it fits no output schema but its own
	return answer.result()
}

// failed is the tool call's failure.
func (s jobStatus) failed() *mcp.CallToolResult {
	return refusedResult(fault.Fault{
		Class: fault.CapabilityFailed, Code: s.Failure, Message: cmp.Or(s.Message, "the job is "+s.State), Capability: s.Capability,
		Hint: "run.logs tells what " + s.Job + " wrote",
	}, runtime.Receipt{})
}
