package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/fault"
)

// TasksExtension is the identifier of MCP's Tasks extension, of 2026-07-28
// (SEP-2663): a tool call may be answered with a task, which the client asks for
// until it has ended. A job is a task here, and its id the task's.
const TasksExtension = "io.modelcontextprotocol/tasks"

// The methods of the extension. There is none that lists tasks.
const (
	methodGetTask    = "tasks/get"
	methodUpdateTask = "tasks/update"
	methodCancelTask = "tasks/cancel"
)

// TaskHeaders are the methods of the extension, each with the parameter that its
// Mcp-Name header repeats (Tasks extension, Streamable HTTP: Routing Headers).
func TaskHeaders() map[string]string {
	const id = "taskId"
	return map[string]string{methodGetTask: id, methodUpdateTask: id, methodCancelTask: id}
}

// pollEvery is how often a client is told to ask: a supervisor says once a
// second how far its job is.
const pollEvery = time.Second

// maxTaskID is more bytes than any id of ours has.
const maxTaskID = 64

// codeTask is of a request about a task that was refused, for the reason in its
// data: one of the codes that a server may define (JSON-RPC 2.0, section 5.1).
const codeTask = -32000

// taskParams are those of each method. What they hold besides is not looked at:
// no task asks for input.
type taskParams struct {
	mcp.ParamsBase
	// TaskID is read by taskID, whatever it is.
	TaskID json.RawMessage `json:"taskId"`
}

// task is the members that all answers about a task have.
type task struct {
	TaskID        string `json:"taskId"`
	Status        string `json:"status"`
	StatusMessage string `json:"statusMessage,omitempty"`
	CreatedAt     string `json:"createdAt"`
	LastUpdatedAt string `json:"lastUpdatedAt"`
	// TTL is null: a job is kept until the operator removes it.
	TTL          *int64 `json:"ttlMs"`
	PollInterval int64  `json:"pollIntervalMs"`
}

// taskResult answers a tool call, with the type task, or tasks/get.
type taskResult struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
	task
	Result *mcp.CallToolResult `json:"result,omitempty"` // of a completed one
}

// taskAck answers the other methods.
type taskAck struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
}

const (
	resultComplete = "complete"
	resultTask     = "task"
)

// addTasks has server answer the methods of the extension, and tool calls with
// tasks.
func (t *Tools) addTasks(server *mcp.Server) error {
	server.AddReceivingMiddleware(insteadOfResults, hiddenFromOlder)
	return errors.Join(
		mcp.AddReceivingCustomMethod(server, methodGetTask, func(ctx context.Context, _ *mcp.ServerSession, p *taskParams) (*taskResult, error) {
			var result *taskResult
			receipt, err := t.aboutTask(ctx, methodGetTask, p, func(q *taskRequest) (err error) {
				result, err = q.get()
				return err
			})
			if err != nil {
				return nil, err
			}
			result.Meta = receipt
			return result, nil
		}),
		mcp.AddReceivingCustomMethod(server, methodUpdateTask, func(ctx context.Context, _ *mcp.ServerSession, p *taskParams) (*taskAck, error) {
			// Answers to what was never asked are ignored (Tasks extension, Task
			// Update Requests), but not for a task that is not there.
			return t.acknowledge(ctx, methodUpdateTask, p, runtime.JobStatus)
		}),
		mcp.AddReceivingCustomMethod(server, methodCancelTask, func(ctx context.Context, _ *mcp.ServerSession, p *taskParams) (*taskAck, error) {
			return t.acknowledge(ctx, methodCancelTask, p, runtime.JobCancel)
		}),
	)
}

// acknowledge answers a method that does no more than one call of a job.
func (t *Tools) acknowledge(ctx context.Context, method string, p *taskParams, c runtime.JobCall) (*taskAck, error) {
	receipt, err := t.aboutTask(ctx, method, p, func(q *taskRequest) error {
		_, err := q.call(c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &taskAck{ResultBase: mcp.ResultBase{Meta: receipt}, ResultType: resultComplete}, nil
}

// aboutTask answers one request of the extension: of a client that has declared
// it, about a task that the subject has started, within the subject's limits.
// What it returns besides an error is the _meta of the answer.
func (t *Tools) aboutTask(ctx context.Context, method string, p *taskParams, answer func(*taskRequest) error) (mcp.Meta, error) {
	if p == nil {
		p = new(taskParams)
	}
	if !declaresTasks(p.Meta) {
		return nil, undeclaredTasks()
	}
	id, ok := taskID(p.TaskID)
	if !ok {
		return nil, noTask()
	}
	start := time.Now()
	class := fault.Class("")
	subject, leave, err := t.enter(ctx)
	q := &taskRequest{tools: t, ctx: ctx, subject: subject, id: id}
	if err == nil {
		defer leave()
		err = answer(q)
	}
	if err != nil {
		f := t.fault(ctx, err)
		class, err = f.Class, taskError(f, q.receipt)
	}
	t.log.InfoContext(ctx, "task request", "method", method, "subject", subject.String(), "class", string(class),
		"duration_us", time.Since(start).Microseconds())
	if err != nil {
		return nil, err
	}
	receipt, err := encode(withCalls(q.receipt))
	if err != nil {
		return nil, err
	}
	return mcp.Meta{ReceiptKey: receipt}, nil
}

// taskID reads the id of a task. What cannot be one is not asked for.
func taskID(raw json.RawMessage) (id string, ok bool) {
	const quotes = 2
	if len(raw) > 6*maxTaskID+quotes || json.Unmarshal(raw, &id) != nil { // each byte may be escaped
		return "", false
	}
	return id, id != "" && len(id) <= maxTaskID
}

// declaresTasks tells whether a request says that its client knows tasks, in what
// a request of 2026-07-28 or later says of its client. Nothing else does: under
// an earlier version there is no such extension, whatever a session declared as
// it began (Tasks extension, Capability Negotiation and Backward Compatibility).
func declaresTasks(meta map[string]any) bool {
	if version, _ := meta[mcp.MetaKeyProtocolVersion].(string); version < firstStateless {
		return false
	}
	capabilities, _ := meta[mcp.MetaKeyClientCapabilities].(map[string]any)
	extensions, _ := capabilities["extensions"].(map[string]any)
	_, ok := extensions[TasksExtension].(map[string]any) // its settings
	return ok
}

// firstStateless is the first version of the protocol without sessions. Versions
// are dates and compare as texts (MCP specification, Versioning).
const firstStateless = "2026-07-28"

// hiddenFromOlder leaves the extension out of what the server says of itself to a
// client of an earlier version, which alone begins with initialize.
func hiddenFromOlder(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, request)
		if begun, ok := result.(*mcp.InitializeResult); ok && err == nil && begun != nil && begun.Capabilities != nil {
			delete(begun.Capabilities.Extensions, TasksExtension) // of a copy for this answer
		}
		return result, err
	}
}

// ListenWithTasks refuses the parameters of subscriptions/listen that ask for news
// of tasks and do not declare the extension; it is nil for all others (Tasks
// extension, Task Status Notifications). A transport has to ask it of a server that
// has the extension: what it needs to see the SDK drops.
func ListenWithTasks(params json.RawMessage) *jsonrpc.Error {
	// The keys of maps, unlike those of structs, match exactly.
	var p, wanted map[string]json.RawMessage
	var meta map[string]any
	var tasks []json.RawMessage
	if json.Unmarshal(params, &p) != nil || json.Unmarshal(p["notifications"], &wanted) != nil {
		return nil // the SDK refuses it
	}
	asked, ok := wanted["taskIds"]
	if !ok || json.Unmarshal(asked, &tasks) == nil && len(tasks) == 0 {
		return nil
	}
	if json.Unmarshal(p["_meta"], &meta) == nil && declaresTasks(meta) {
		return nil
	}
	return undeclaredTasks()
}

func undeclaredTasks() *jsonrpc.Error {
	return &jsonrpc.Error{
		Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the request does not declare the extension " + TasksExtension,
		Data: json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + TasksExtension + `":{}}}}`),
	}
}

// noTask is the answer for every task that is not there, or another's.
func noTask() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such task"}
}

// taskError tells of a failure with its parts, as a tool would.
func taskError(f fault.Fault, receipt runtime.Receipt) error {
	code := int64(codeTask)
	switch {
	case f.Class == fault.InvalidArguments, f.Class == fault.CapabilityFailed && f.Code == runtime.JobNotFound:
		return noTask()
	case f.Class == fault.Internal, f.Class == fault.PolicyFailure:
		code = jsonrpc.CodeInternalError
	}
	return &jsonrpc.Error{Code: code, Message: f.Message, Data: failureAnswer(f, receipt).Content}
}

// offer is where the handler of a tool leaves a task for a client that has
// declared the extension.
type offer struct {
	task    *taskResult
	instead *mcp.CallToolResult // of which it may be answered
}

type offerKey struct{}

// insteadOfResults answers a tool call with the task that its handler has left.
// It is further out than what counts and traces calls of tools: to those a task
// is a call that has succeeded.
func insteadOfResults(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		call, ok := request.(*mcp.CallToolRequest)
		if !ok || call.Params == nil || !declaresTasks(call.Params.Meta) {
			return next(ctx, method, request)
		}
		o := new(offer)
		result, err := next(context.WithValue(ctx, offerKey{}, o), method, request)
		if answer, ok := result.(*mcp.CallToolResult); ok && err == nil && o.task != nil && answer == o.instead {
			o.task.Meta = answer.Meta
			return o.task, nil
		}
		return result, err
	}
}

// offerTask leaves the task of a job that has been started, and whose start is
// kept, if the client knows tasks. There is none for a client that could not ask
// for it: the task is what tasks/get would answer now.
func (t *Tools) offerTask(ctx context.Context, answer Answer, result *mcp.CallToolResult) {
	o, ok := ctx.Value(offerKey{}).(*offer)
	if !ok {
		return
	}
	var started struct {
		Job string `json:"job"`
	}
	err := json.Unmarshal(answer.Content, &started)
	if err == nil && started.Job == "" {
		err = errors.New("it names no job")
	}
	if err != nil {
		t.log.ErrorContext(ctx, "what started a job answered something else", "error", err)
		return
	}
	subject, leave, err := t.enter(ctx)
	if err != nil {
		return
	}
	defer leave()
	q := &taskRequest{tools: t, ctx: ctx, subject: subject, id: started.Job}
	seen, err := q.status()
	if err != nil {
		f := t.fault(ctx, err)
		t.log.InfoContext(ctx, "no task of a job that was started", "class", string(f.Class), "error", fmt.Sprintf("%.200s", f.Error()))
		return
	}
	o.task, o.instead = &taskResult{ResultType: resultTask, task: seen.task()}, result
}
