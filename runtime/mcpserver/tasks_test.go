package mcpserver_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/mcpserver"
	"github.com/capgen/capgen/runtime/results"
)

const (
	theJob   = "job_00000000000000000000000000000001"
	declared = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	bare     = `{}`
)

// raw is a client of which a test writes every message itself.
type raw struct {
	t    *testing.T
	c    mcp.Connection
	meta string // of each request; empty for none
	n    int
	// server is what the server said of itself.
	server reply
}

// rawClient serves o to a client of one era that declares capabilities.
func rawClient(t *testing.T, o mcpserver.Options, protocol, capabilities string) *raw {
	t.Helper()
	if o.Subjects == nil {
		o.Subjects = local
	}
	server, err := mcpserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	c, err := near.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	r := &raw{t: t, c: c}
	const client = `{"name":"t","version":"1"}`
	if protocol >= "2026-07-28" {
		r.meta = modernMeta(capabilities)
		r.server = r.send("server/discover", `{}`)
	} else {
		r.server = r.send("initialize", `{"protocolVersion":"`+protocol+`","clientInfo":`+client+`,"capabilities":`+capabilities+`}`)
	}
	if r.server.Error.Code != 0 {
		t.Fatalf("%+v", r.server.Error)
	}
	return r
}

func modernMeta(capabilities string) string {
	return `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
}

// reply is what a test looks at of an answer.
type reply struct {
	Result map[string]any
	text   string // of the result
	Error  struct {
		Code    int64
		Message string
		Data    json.RawMessage
	}
}

// send sends a request with parameters, an object, and waits for its answer.
func (r *raw) send(method, params string) (a reply) {
	r.t.Helper()
	r.n++
	if r.meta != "" {
		params = strings.TrimSuffix(params, "}") + cmp.Or(map[bool]string{true: ","}[len(params) > 2], "") + `"_meta":` + r.meta + "}"
	}
	message, err := jsonrpc.DecodeMessage(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, r.n, method, params))
	if err != nil {
		r.t.Fatalf("%s: %v", params, err)
	}
	if err := r.c.Write(r.t.Context(), message); err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	answer, err := r.c.Read(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	text, err := jsonrpc.EncodeMessage(answer)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		r.t.Fatal(err)
	}
	a.text = string(answer.(*jsonrpc.Response).Result)
	return a
}

func (r *raw) start() reply {
	r.t.Helper()
	return r.send("tools/call", `{"name":"code_start","arguments":{}}`)
}

func about(id string) string { return `{"taskId":"` + id + `"}` }

// jobs is a fake with a tool that starts the one job, of local, in a state of
// the test's.
type jobs struct {
	fake
	status string           // members of run.status, beside job
	result string           // of run.result
	fail   map[string]shown // what fails, by capability
	calls  []string         // that were made
	answer string           // of the start, instead of the usual
}

func newJobs(state string) *jobs {
	j := &jobs{
		status: `"plan":"p","capability":"code","state":"` + state + `","created":"2026-11-30T08:00:00Z"`,
		result: `{"job":"` + theJob + `","report":"# Report","result":{"n":9007199254740993},"sha256":"ab","state":"SUCCEEDED"}`,
		fail:   map[string]shown{},
	}
	j.tools = []runtime.Tool{
		{DirectTool: runtime.DirectTool{Name: "code_start", Input: object, Output: object}, ID: "code.start", Description: "Start.", Job: true},
		{DirectTool: runtime.DirectTool{Name: "code_check", Input: object, Output: object}, ID: "code.check", Description: "Check."},
	}
	j.direct = func(id, _ string) (runtime.Execution, error) {
		answer := cmp.Or(j.answer, `{"job":"`+theJob+`","plan":"p","state":"QUEUED"}`)
		return j.called(id, answer)
	}
	j.job = func(subject authz.Subject, c runtime.JobCall, id string) (runtime.Execution, error) {
		if id != theJob || subject.String() != "local" {
			j.calls = append(j.calls, string(c))
			return runtime.Execution{Receipt: receipt(string(c))}, shown{Class: fault.CapabilityFailed, Code: runtime.JobNotFound, Message: "no such job"}
		}
		switch c {
		case runtime.JobStatus:
			return j.called(string(c), `{"job":"`+theJob+`",`+j.status+`}`)
		case runtime.JobResult:
			return j.called(string(c), j.result)
		}
		return j.called(string(c), `{"job":"`+theJob+`","state":"CANCEL_REQUESTED","already_ended":false}`)
	}
	return j
}

func receipt(name string) runtime.Receipt {
	return runtime.Receipt{Execution: "of " + name, Calls: []runtime.CallRecord{{Sequence: 1, ID: name, Name: name, State: runtime.CallDone}}}
}

func (j *jobs) called(name, answer string) (runtime.Execution, error) {
	j.calls = append(j.calls, name)
	x := runtime.Execution{Receipt: receipt(name)}
	if f, ok := j.fail[name]; ok {
		return x, f
	}
	x.Result = []byte(answer)
	return x, nil
}

const modern, older = "2026-07-28", "2025-11-25"

var bothEras = []string{modern, older}

// What each state of a job is as a task, to a client that has declared the
// extension; one that has not gets the ordinary result, and no task, and so does
// one of the older era, which cannot.
func TestTasks(t *testing.T) {
	const created, later, latest = "2026-11-30T08:00:00Z", "2026-11-30T09:30:00+01:00", "2026-11-30T08:40:00Z"
	for _, c := range []struct {
		state, more      string
		status, message  string
		updated          string
		failed           string // what the result tells, of one that failed
		succeeded, ended bool
	}{
		{state: "QUEUED", status: "working", message: "QUEUED", updated: created},
		{state: "STARTING", status: "working", message: "STARTING", updated: created},
		{state: "RUNNING", more: `,"progress":"12 of 20","started":"` + later + `"`, status: "working", message: "RUNNING: 12 of 20", updated: later},
		{state: "RUNNING", more: `,"started":"` + later + `","heartbeat":"` + latest + `"`, status: "working", message: "RUNNING", updated: latest},
		{state: "CANCEL_REQUESTED", more: `,"progress":"12 of 20"`, status: "working", message: "CANCEL_REQUESTED: 12 of 20", updated: created},
		{state: "SUCCEEDED", more: `,"progress":"20 of 20","ended":"` + latest + `"`, status: "completed", message: "SUCCEEDED", updated: latest, succeeded: true},
		{state: "FAILED", more: `,"failure":"candidate","message":"it ended with status 3","ended":"` + latest + `"`, status: "completed", message: "FAILED: it ended with status 3", updated: latest,
			failed: `{"error":{"class":"capability_failed","message":"it ended with status 3","hint":"run.logs tells what ` + theJob + ` wrote","capability":"code","code":"candidate"}}`},
		{state: "TIMED_OUT", more: `,"failure":"timeout"`, status: "completed", message: "TIMED_OUT", updated: created,
			failed: `{"error":{"class":"capability_failed","message":"the job is TIMED_OUT","hint":"run.logs tells what ` + theJob + ` wrote","capability":"code","code":"timeout"}}`},
		{state: "ORPHANED", more: `,"failure":"orphaned","message":"its supervisor was lost"`, status: "completed", message: "ORPHANED: its supervisor was lost", updated: created,
			failed: `{"error":{"class":"capability_failed","message":"its supervisor was lost","hint":"run.logs tells what ` + theJob + ` wrote","capability":"code","code":"orphaned"}}`},
		{state: "CANCELLED", more: `,"failure":"cancelled","message":"somebody asked"`, status: "cancelled", message: "CANCELLED: somebody asked", updated: created},
	} {
		t.Run(c.state, func(t *testing.T) {
			j := newJobs(c.state)
			j.status += c.more
			knows := rawClient(t, mcpserver.Options{Runtime: j}, modern, declared)
			want := map[string]any{
				"resultType": "task", "taskId": theJob, "status": c.status, "statusMessage": c.message,
				"createdAt": created, "lastUpdatedAt": c.updated, "ttlMs": nil, "pollIntervalMs": 1000.0,
			}
			handle := knows.start()
			if diff := gocmp.Diff(want, without(handle.Result, "_meta")); diff != "" || receiptOf(t, handle.Result) != "of code.start" {
				t.Errorf("the handle: %s %s", handle.text, diff)
			}
			got := knows.send("tasks/get", about(theJob))
			result, _ := got.Result["result"].(map[string]any)
			want["resultType"] = "complete"
			if diff := gocmp.Diff(want, without(got.Result, "_meta", "result")); diff != "" || receiptOf(t, got.Result) != "of run.status" {
				t.Errorf("the task: %s %s", got.text, diff)
			}
			switch {
			case c.succeeded:
				want := map[string]any{
					"content": []any{text(`{"job":"` + theJob + `","result":{"n":9007199254740993},"sha256":"ab","state":"SUCCEEDED"}`), text("# Report")},
					// As the schema of the tool that started it has it.
					"structuredContent": map[string]any{"job": theJob, "plan": "p", "state": "SUCCEEDED"},
				}
				if diff := gocmp.Diff(want, without(result, "_meta")); diff != "" || receiptOf(t, result) != "of run.result" {
					t.Errorf("the result: %s %s", got.text, diff)
				}
			case c.failed != "":
				want := map[string]any{"isError": true, "content": []any{text(c.failed)}}
				if diff := gocmp.Diff(want, result); diff != "" {
					t.Errorf("the result: %s", diff)
				}
			case got.Result["result"] != nil:
				t.Errorf("there is a result: %s", got.text)
			}

			for _, client := range []struct{ protocol, capabilities string }{{modern, bare}, {older, declared}, {older, bare}} {
				unaware := rawClient(t, mcpserver.Options{Runtime: j}, client.protocol, client.capabilities)
				plain := unaware.start()
				if got, _ := plain.Result["structuredContent"].(map[string]any); plain.Result["taskId"] != nil || plain.Result["resultType"] == "task" || got["job"] != theJob {
					t.Errorf("%s: a client that does not know tasks: %s", client, plain.text)
				}
				calls := len(j.calls)
				for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
					a := unaware.send(method, about(theJob))
					if a.Error.Code != -32021 || string(a.Error.Data) != `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}` || a.Result != nil {
						t.Errorf("%s: %s of a client that does not know tasks: %+v", client, method, a)
					}
				}
				if len(j.calls) != calls {
					t.Errorf("%s: it calls %v", client, j.calls[calls:])
				}
			}
		})
	}
}

func text(t string) any { return map[string]any{"type": "text", "text": t} }

func without(m map[string]any, keys ...string) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		if !slices.Contains(keys, k) {
			out[k] = v
		}
	}
	return out
}

// receiptOf is the execution on the receipt in _meta.
func receiptOf(t *testing.T, m map[string]any) string {
	t.Helper()
	meta, _ := m["_meta"].(map[string]any)
	receipt, _ := meta[mcpserver.ReceiptKey].(map[string]any)
	execution, _ := receipt["execution"].(string)
	return execution
}

// Every state that a job can have is one of a task.
func TestTasksOfEveryState(t *testing.T) {
	for _, state := range job.States() {
		a := rawClient(t, mcpserver.Options{Runtime: newJobs(string(state))}, "2026-07-28", declared).send("tasks/get", about(theJob))
		status, _ := a.Result["status"].(string)
		if over := status != "working"; a.Error.Code != 0 || over != state.Ended() {
			t.Errorf("%s: %s %+v", state, a.text, a.Error)
		}
	}
}

// The other two methods acknowledge, and one of them cancels.
func TestTasksAreCancelled(t *testing.T) {
	j := newJobs("RUNNING")
	c := rawClient(t, mcpserver.Options{Runtime: j}, modern, declared)
	for method, calls := range map[string]string{"tasks/cancel": "run.cancel", "tasks/update": "run.status"} {
		j.calls = nil
		a := c.send(method, `{"taskId":"`+theJob+`","inputResponses":{"name":{"action":"accept"}},"more":1}`)
		if diff := gocmp.Diff(map[string]any{"resultType": "complete"}, without(a.Result, "_meta")); diff != "" || receiptOf(t, a.Result) != "of "+calls || !slices.Equal(j.calls, []string{calls}) {
			t.Errorf("%s: %s, by %v %s", method, a.text, j.calls, diff)
		}
	}
}

// What names no task of the subject is one answer, whatever it is, and what
// cannot be an id asks nobody.
func TestTasksThatAreNotThere(t *testing.T) {
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		j := newJobs("RUNNING")
		c := rawClient(t, mcpserver.Options{Runtime: j}, modern, declared)
		var first reply
		for _, params := range []string{
			about("job_00000000000000000000000000000002"), about("../" + theJob), about(" " + theJob), about(strings.ToUpper(theJob)), about(theJob + `\u0000`), about("run.status"),
			about(strings.Repeat(`\u0061`, 64)), about(strings.Repeat(`a`, 65)), about(strings.Repeat("a", 1<<20)), about(`\ud800`), about(""),
			`{"taskId":null}`, `{"taskId":1}`, `{"taskId":true}`, `{"taskId":{}}`, `{"taskId":["` + theJob + `"]}`, `{}`, `{"TaskId":"` + theJob + `"}`, `{"taskid":"` + theJob + `"}`,
		} {
			a := c.send(method, params)
			if first.Error.Code == 0 {
				first = a
			}
			if a.Error.Code != -32602 || a.Error.Message != "there is no such task" || a.Result != nil || gocmp.Diff(first.Error, a.Error) != "" {
				t.Errorf("%s %.80s: %+v", method, params, a)
			}
		}
		// Neither too long nor no text.
		if n := len(j.calls); n != 8 {
			t.Errorf("%s: %d calls: %v", method, n, j.calls)
		}
		another := authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "ann", Scopes: authz.AllScopes()}
		c = rawClient(t, mcpserver.Options{Runtime: j, Subjects: authz.StaticSubject(another)}, modern, declared)
		if a := c.send(method, about(theJob)); gocmp.Diff(first.Error, a.Error) != "" {
			t.Errorf("%s of another subject: %+v", method, a)
		}
		c = rawClient(t, mcpserver.Options{Runtime: j, Subjects: authz.ContextSubject()}, modern, declared)
		if a := c.send(method, about(theJob)); a.Error.Code != -32000 || !strings.Contains(string(a.Error.Data), `"class":"unauthenticated"`) {
			t.Errorf("%s of nobody: %+v", method, a)
		}
	}
}

// A refusal by policy, a limit, and what breaks are errors of the protocol with
// the parts that a tool would tell. A task does not end by them.
func TestTasksAreRefused(t *testing.T) {
	for _, c := range []struct {
		method, capability string
		state              string
		fault              shown
		code               int64
		message            string
	}{
		{"tasks/get", "run.status", "RUNNING", shown{Class: fault.Denied, Message: "permission denied", Capability: "run.status"}, -32000, "permission denied"},
		{"tasks/cancel", "run.cancel", "RUNNING", shown{Class: fault.Denied, Message: "permission denied", Capability: "run.cancel"}, -32000, "permission denied"},
		{"tasks/update", "run.status", "RUNNING", shown{Class: fault.Denied, Message: "permission denied", Capability: "run.status"}, -32000, "permission denied"},
		{"tasks/get", "run.status", "RUNNING", shown{Class: fault.PolicyFailure, Message: "the policy could not decide"}, -32603, "the policy could not decide"},
		{"tasks/get", "run.status", "RUNNING", shown{Class: fault.Limit, Message: "too many", Limit: "MaxQueued"}, -32000, "too many"},
		{"tasks/cancel", "run.cancel", "SUCCEEDED", shown{Class: fault.CapabilityFailed, Code: "io_full", Message: "the disk is full"}, -32000, "the disk is full"},
		{"tasks/get", "run.result", "SUCCEEDED", shown{Class: fault.CapabilityFailed, Code: runtime.JobNotFound, Message: "secret"}, -32602, "there is no such task"},
		// What may go well another time ends no task.
		{"tasks/get", "run.result", "SUCCEEDED", shown{Class: fault.CapabilityFailed, Code: string(govern.Internal), Message: "it could not be done"}, -32000, "it could not be done"},
		{"tasks/get", "run.result", "SUCCEEDED", shown{Class: fault.CapabilityFailed, Code: string(govern.Full), Message: "the disk is full"}, -32000, "the disk is full"},
		{"tasks/get", "run.result", "SUCCEEDED", shown{Class: fault.Limit, Message: "too many", Limit: fault.MaxQueuedExecutions}, -32000, "too many"},
		{"tasks/get", "run.result", "SUCCEEDED", shown{Class: fault.Limit, Message: "too slow", Limit: fault.MaxExecutionTime}, -32000, "too slow"},
		{"tasks/get", "run.result", "SUCCEEDED", shown{Class: fault.PolicyFailure, Message: "the policy could not decide"}, -32603, "the policy could not decide"},
		{"tasks/get", "run.result", "SUCCEEDED", shown{Class: fault.Internal, Message: "internal failure"}, -32603, "internal failure"},
		{"tasks/get", "run.result", "SUCCEEDED", shown{Class: fault.Cancelled, Message: "the call was cancelled"}, -32000, "the call was cancelled"},
		{"tasks/get", "run.status", "RUNNING", shown{Class: fault.InvalidArguments, Message: "secret"}, -32602, "there is no such task"},
	} {
		j := newJobs(c.state)
		j.fail[c.capability] = c.fault
		a := rawClient(t, mcpserver.Options{Runtime: j}, modern, declared).send(c.method, about(theJob))
		if a.Error.Code != c.code || a.Error.Message != c.message || a.Result != nil {
			t.Errorf("%s %s: %+v", c.method, c.capability, a)
		}
		if told := string(a.Error.Data); c.code != -32602 && (!strings.Contains(told, `"class":"`+string(c.fault.Class)) || !strings.Contains(told, `"execution":"of `+c.capability)) || c.code == -32602 && told != "" {
			t.Errorf("%s %s: %s", c.method, c.capability, told)
		}
	}
}

// Where the result of a job that succeeded is refused for good, its task has ended
// all the same, with the refusal: its client asks until it has.
func TestResultsThatAreRefused(t *testing.T) {
	for name, f := range map[string]shown{
		"by policy":   {Class: fault.Denied, Message: "permission denied", Capability: "run.result"},
		"not kept":    {Class: fault.CapabilityFailed, Code: string(govern.ConflictCode), Message: "the result is not kept any more", Capability: "run.result"},
		"unreadable":  {Class: fault.CapabilityFailed, Message: "the capability failed", Capability: "run.result"},
		"too large":   {Class: fault.Limit, Message: "too large", Limit: fault.MaxValueBytes, Bound: 7},
		"too deep":    {Class: fault.Limit, Message: "too deep", Limit: fault.MaxValueDepth, Bound: 7},
		"all too big": {Class: fault.Limit, Message: "too much", Limit: fault.MaxIntermediateValueBytes, Bound: 7},
	} {
		j := newJobs("SUCCEEDED")
		j.fail["run.result"] = f
		r := rawClient(t, mcpserver.Options{Runtime: j}, modern, declared)
		a := r.send("tasks/get", about(theJob))
		result, _ := a.Result["result"].(map[string]any)
		if a.Result["status"] != "completed" || a.Result["statusMessage"] != "SUCCEEDED" || a.Result["resultType"] != "complete" || receiptOf(t, a.Result) != "of run.status" ||
			result["isError"] != true || result["structuredContent"] != nil {
			t.Errorf("%s: %s %+v", name, a.text, a.Error)
			continue
		}
		told, _ := result["content"].([]any)[0].(map[string]any)["text"].(string)
		if !strings.Contains(told, `"class":"`+string(f.Class)+`","message":"`+f.Message+`"`) || !strings.Contains(told, `"execution":"of run.result"`) {
			t.Errorf("%s: %s", name, told)
		}
	}
}

// What is not the answer of the capability is no task.
func TestTasksOfBrokenAnswers(t *testing.T) {
	for name, status := range map[string]string{
		"no state":       `"plan":"p","created":"2026-11-30T08:00:00Z"`,
		"another state":  `"state":"DONE","created":"2026-11-30T08:00:00Z"`,
		"no time":        `"state":"RUNNING"`,
		"no good time":   `"state":"RUNNING","created":"yesterday"`,
		"no good end":    `"state":"FAILED","created":"2026-11-30T08:00:00Z","ended":"x"`,
		"another's job":  `"state":"RUNNING","created":"2026-11-30T08:00:00Z","job":"job_2"`,
		"no text at all": `"state":1,"created":"2026-11-30T08:00:00Z"`,
	} {
		j := newJobs("")
		j.status = status
		c := rawClient(t, mcpserver.Options{Runtime: j}, "2026-07-28", declared)
		if a := c.send("tasks/get", about(theJob)); a.Error.Code != -32603 || a.Error.Message != "internal failure" {
			t.Errorf("%s: %+v", name, a)
		}
		if a := c.start(); a.Result["resultType"] == "task" || a.Result["structuredContent"] == nil {
			t.Errorf("%s: %s", name, a.text)
		}
	}
	j := newJobs("SUCCEEDED")
	for _, j.result = range []string{`[]`, `{"report":1}`, `7`} {
		if a := rawClient(t, mcpserver.Options{Runtime: j}, "2026-07-28", declared).send("tasks/get", about(theJob)); a.Error.Code != -32603 {
			t.Errorf("%s: %+v", j.result, a)
		}
	}
}

// The server decides: only what starts a job, has started it, and can be asked
// for it is a task, whatever the client asks for.
func TestOrdinaryResults(t *testing.T) {
	for name, c := range map[string]struct {
		tool   string
		change func(*jobs)
	}{
		"another tool": {"code_check", func(*jobs) {}},
		"no approval": {"code_start", func(j *jobs) {
			j.fail["code.start"] = shown{Class: fault.CapabilityFailed, Code: "approval_required", Message: "ask"}
		}},
		"status is refused": {"code_start", func(j *jobs) { j.fail["run.status"] = shown{Class: fault.Denied, Message: "permission denied"} }},
		"job is gone":       {"code_start", func(j *jobs) { j.answer = `{"job":"job_9","plan":"p","state":"QUEUED"}` }},
		"no job":            {"code_start", func(j *jobs) { j.answer = `{"plan":"p","state":"QUEUED"}` }},
		"no object":         {"code_start", func(j *jobs) { j.answer = `7` }},
	} {
		for _, protocol := range bothEras {
			j := newJobs("RUNNING")
			c.change(j)
			r := rawClient(t, mcpserver.Options{Runtime: j}, protocol, declared)
			a := r.send("tools/call", `{"name":"`+c.tool+`","arguments":{},"task":{"ttl":60000}}`)
			if a.Error.Code != 0 || a.Result["taskId"] != nil || a.Result["task"] != nil || a.Result["resultType"] == "task" || len(a.Result["content"].([]any)) != 1 {
				t.Errorf("%s %s: %s", name, protocol, a.text)
			}
			if failed := name == "no approval"; (a.Result["isError"] == true) != failed || failed && (!strings.Contains(a.text, "approval_required") || len(j.calls) != 1) {
				t.Errorf("%s %s: %s, by %v", name, protocol, a.text, j.calls)
			}
		}
	}
	// What a middleware answers instead stays.
	instead := func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, r)
			if method != "tools/call" {
				return result, err
			}
			if _, ok := result.(*mcp.CallToolResult); !ok { // as it was, for what counts and traces
				return nil, errors.New("a middleware sees no tool call")
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "instead"}}}, nil
		}
	}
	r := rawClient(t, mcpserver.Options{Runtime: newJobs("RUNNING"), Middleware: []mcp.Middleware{instead}}, "2026-07-28", declared)
	if a := r.start(); a.Result["resultType"] == "task" || !strings.Contains(a.text, "instead") {
		t.Errorf("%s %+v", a.text, a.Error)
	}
}

// Requests about tasks are calls of the subject, and each is an execution with
// the options of all.
func TestTasksAreBounded(t *testing.T) {
	j := newJobs("RUNNING")
	r := rawClient(t, mcpserver.Options{Runtime: j, PerSubject: &mcpserver.Limits{MaxCallsPerSecond: 1}, Execute: []runtime.ExecuteOption{runtime.WithPrints()}}, "2026-07-28", declared)
	var refused reply
	for range 3 { // twice as many may come at once
		if a := r.send("tasks/get", about(theJob)); a.Error.Code != 0 {
			refused = a
		}
	}
	if refused.Error.Code != -32000 || !strings.Contains(string(refused.Error.Data), "MaxCallsPerSecond") || j.options != 1 {
		t.Errorf("%+v; %d options", refused, j.options)
	}
}

// A request that panics gives its subject's place back.
func TestPanicLeavesNoTask(t *testing.T) {
	j := newJobs("RUNNING")
	j.job = func(authz.Subject, runtime.JobCall, string) (runtime.Execution, error) { panic("a fault of ours") }
	r := rawClient(t, mcpserver.Options{Runtime: j, PerSubject: &mcpserver.Limits{MaxCallsPerSubject: 1}}, "2026-07-28", declared)
	broken := r.send("tasks/get", about(theJob))
	j.job = newJobs("RUNNING").job
	if a := r.send("tasks/get", about(theJob)); broken.Error.Code == 0 || a.Error.Code != 0 {
		t.Errorf("%+v, then %+v", broken, a.Error)
	}
}

// A large result is a link, as that of a tool is.
func TestResultsOfTasksAreKept(t *testing.T) {
	store := results.Private()
	t.Cleanup(func() { store.Close() })
	j := newJobs("SUCCEEDED")
	r := rawClient(t, mcpserver.Options{Runtime: j, Results: store, MaxResultBytes: 16}, "2026-07-28", declared)
	a := r.send("tasks/get", about(theJob))
	result, _ := a.Result["result"].(map[string]any)
	contents, _ := result["content"].([]any)
	if len(contents) != 3 || contents[0].(map[string]any)["text"] != "# Report" || result["structuredContent"] == nil || strings.Contains(a.text, "9007199254740993") {
		t.Fatalf("%s", a.text)
	}
	uri, _ := contents[2].(map[string]any)["uri"].(string)
	if read := r.send("resources/read", `{"uri":"`+uri+`"}`); !strings.Contains(read.text, `9007199254740993`) {
		t.Errorf("%s: %s %+v", uri, read.text, read.Error)
	}
}
