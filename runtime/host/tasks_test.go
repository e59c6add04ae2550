package host

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

// jobsVariable gives a child a tool that starts jobs, what tells of them, and the
// folder where each is a file.
const jobsVariable = "HOST_TEST_JOBS"

// jobFile is a job, as whoever supervises it writes it.
type jobFile struct {
	Owner   string
	Members map[string]string // of run.status
	Result  string
}

func jobPath(dir, id string) string { return filepath.Join(dir, id) }

func readJob(dir, id string) (j jobFile, err error) {
	text, err := os.ReadFile(jobPath(dir, id))
	if err == nil {
		err = json.Unmarshal(text, &j)
	}
	return j, err
}

func writeJob(dir, id string, j jobFile) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	next := jobPath(dir, id+".next")
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	return os.Rename(next, jobPath(dir, id))
}

// textInput is an object with one text, which is called name.
type textInput struct{ text string }

func (v *textInput) Decode(r *canon.Reader) error {
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		if string(r.Key()) != "job" {
			r.UnknownMember()
			continue
		}
		v.text = seen.Mark(r, 0).String(0, 64)
	}
	return r.Err()
}

func (v *textInput) Encode(w *canon.Writer) {
	w.BeginObject(1)
	w.Key("job").String(v.text, 0, 64)
	w.EndObject()
}

type textsOutput map[string]string

func (v *textsOutput) Encode(w *canon.Writer) {
	w.BeginObject(len(*v))
	for _, name := range slices.Sorted(maps.Keys(*v)) {
		w.Key(name).String((*v)[name], 0, 1000)
	}
	w.EndObject()
}

// jobCapabilities keep jobs in dir.
func jobCapabilities(dir string) (all []runtime.Capability) {
	add := func(name string, change func(*runtime.Info), handle func(owner, id string) (textsOutput, error)) {
		i := info(name, "Do something with a job.")
		i.Binding = `{"id":"` + name + `","name":"` + name + `","input":[{"name":"job","kind":"string","maxLength":64,"default":"\"\""}],"output":{"kind":"string","maxLength":1000}}`
		i.Signature, i.Input = name+`(*, job: str = "")`, `{}`
		change(&i)
		all = append(all, runtime.NewCapability(i, func(ctx context.Context, in textInput) (textsOutput, error) {
			subject, _ := authz.SubjectFromContext(ctx)
			return handle(subject.String(), in.text)
		}))
	}
	owned := func(owner, id string) (jobFile, error) {
		j, err := readJob(dir, filepath.Base(id))
		if err != nil || j.Owner != owner || j.Members["job"] != id {
			return jobFile{}, runtime.Disclose(runtime.JobNotFound, "there is no job "+id)
		}
		return j, nil
	}
	add("code.start", func(i *runtime.Info) {
		i.Job, i.Tool = true, &runtime.DirectTool{Name: "code_start", Input: `{"type":"object"}`, Output: `{"type":"object"}`}
	}, func(owner, approved string) (textsOutput, error) {
		if approved == "unapproved" {
			return nil, runtime.Disclose("approval_required", "nobody has approved it")
		}
		var random [16]byte
		rand.Read(random[:])
		id := "job_" + hex.EncodeToString(random[:])
		members := map[string]string{"job": id, "plan": "p", "state": "QUEUED", "created": "2026-11-30T08:00:00Z"}
		return textsOutput{"job": id, "plan": "p", "state": "QUEUED"}, writeJob(dir, id, jobFile{Owner: owner, Members: members})
	})
	add(string(runtime.JobStatus), func(*runtime.Info) {}, func(owner, id string) (textsOutput, error) {
		j, err := owned(owner, id)
		return j.Members, err
	})
	add(string(runtime.JobResult), func(*runtime.Info) {}, func(owner, id string) (textsOutput, error) {
		j, err := owned(owner, id)
		return textsOutput{"job": id, "state": j.Members["state"], "sha256": "ab", "result": j.Result, "report": "# Report"}, err
	})
	add(string(runtime.JobCancel), func(i *runtime.Info) { i.Scopes = []string{"jobs:cancel"} }, func(owner, id string) (textsOutput, error) {
		j, err := owned(owner, id)
		if err == nil && j.Members["state"] != "SUCCEEDED" {
			j.Members["state"] = "CANCEL_REQUESTED"
			err = writeJob(dir, id, j)
		}
		return textsOutput{"job": id, "state": j.Members["state"]}, err
	})
	return all
}

// taskClient sends requests as a test wrote them, to a server behind either transport.
type taskClient struct {
	t        *testing.T
	protocol string
	knows    bool // tasks
	// disguised requests of an older client say what those of a current one do.
	disguised bool
	send      func(method, name, message string) string
	n         int
}

// reply is what a test looks at of an answer.
type reply struct {
	Result map[string]any
	Error  struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
	text string
}

func (w *taskClient) capabilities() string {
	if w.knows {
		return `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	}
	return `{}`
}

// ask sends one request; name is what the current era repeats in a header.
func (w *taskClient) ask(method, name, params string) (a reply) {
	w.t.Helper()
	w.n++
	if w.protocol >= "2026-07-28" || w.disguised {
		params = strings.TrimSuffix(params, "}") + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
			`"io.modelcontextprotocol/clientCapabilities":` + w.capabilities() + `}}`
	}
	a.text = w.send(method, name, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, w.n, method, params))
	if err := json.Unmarshal([]byte(a.text), &a); err != nil {
		w.t.Fatalf("%s: %q: %v", method, a.text, err)
	}
	return a
}

func (w *taskClient) initialize() {
	w.t.Helper()
	if w.protocol < "2026-07-28" {
		a := w.ask("initialize", "", `{"protocolVersion":"`+w.protocol+`","clientInfo":{"name":"t","version":"1"},"capabilities":`+w.capabilities()+`}`)
		if a.Result["protocolVersion"] != w.protocol || strings.Contains(a.text, "io.modelcontextprotocol/tasks") {
			w.t.Fatalf("initialize: %s", a.text)
		}
	}
}

func (w *taskClient) start() reply {
	w.t.Helper()
	return w.ask("tools/call", "code_start", `{"name":"code_start","arguments":{}}`)
}

func (w *taskClient) about(method, id string) reply {
	w.t.Helper()
	return w.ask(method, id, `{"taskId":"`+id+`"}`)
}

// overStdio is a session with a process of its own, which end ends.
func overStdio(t *testing.T, environment []string, protocol string, knows bool) (w *taskClient, end func()) {
	c := startWith(t, environment, "stdio")
	w = &taskClient{t: t, protocol: protocol, knows: knows, send: func(_, _, message string) string {
		c.send(message)
		return c.receive().text
	}}
	w.initialize()
	return w, func() {
		c.in.Close()
		if code := c.exit(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
}

// overHTTP is a client of the server at url, with a token.
func overHTTP(t *testing.T, url, token, protocol string, knows bool) *taskClient {
	session := ""
	w := &taskClient{t: t, protocol: protocol, knows: knows, send: func(method, name, message string) string {
		t.Helper()
		header := http.Header{}
		if protocol >= "2026-07-28" {
			header.Set("Mcp-Method", method)
			header.Set("Mcp-Name", name)
		}
		header.Set("Mcp-Protocol-Version", protocol)
		if session != "" {
			header.Set("Mcp-Session-Id", session)
		}
		status, got, text := sendOne(t, url, token, header, message)
		if status != 200 && !(status == 400 && strings.Contains(text, `"error":{"code":-32`)) { // as the SDK answers some errors in the current era
			t.Fatalf("%s: %d %s", method, status, text)
		}
		if id := got.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		return text
	}}
	w.initialize()
	return w
}

// sendOne sends one message, and returns the one that answers it.
func sendOne(t *testing.T, url, token string, header http.Header, message string) (status int, got http.Header, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	response, err := bearing{token}.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(body)))
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			return response.StatusCode, response.Header, data
		}
	}
	return response.StatusCode, response.Header, string(body)
}

// become has a job come so far, as its supervisor would write.
func become(t *testing.T, dir, id string, change func(*jobFile)) {
	t.Helper()
	j, err := readJob(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	change(&j)
	if err := writeJob(dir, id, j); err != nil {
		t.Fatal(err)
	}
}

// A task by both transports: it is there for its subject in another process when
// the one that it was started in has ended, and tells what becomes of the job. A
// client of the older era has none, whatever it declares.
func TestTasks(t *testing.T) {
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			dir := t.TempDir()
			environment := []string{jobsVariable + "=" + dir, telemetryVariable + "=1"}
			open := func(protocol string, knows bool) (*taskClient, func()) {
				if transport == "stdio" {
					return overStdio(t, environment, protocol, knows)
				}
				c, url := serveHTTP(t, append(environment, verifierVariable+"=1"))
				return overHTTP(t, url, "ann", protocol, knows), func() {
					if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
						t.Error(err)
					}
					c.exit()
					if seen := knows && protocol == modern; seen != strings.Contains(c.stderr(), "observed run.status done\n") {
						t.Error("what observes calls has not seen that of a task")
					}
				}
			}
			first, end := open(modern, true)
			if a := first.ask("tools/call", "code_start", `{"name":"code_start","arguments":{"job":"unapproved"}}`); a.Result["isError"] != true || !strings.Contains(a.text, "approval_required") || a.Result["taskId"] != nil {
				t.Errorf("without approval: %s", a.text)
			}
			handle := first.start()
			id, _ := handle.Result["taskId"].(string)
			if handle.Result["resultType"] != "task" || handle.Result["status"] != "working" || !strings.HasPrefix(id, "job_") {
				t.Fatalf("%s", handle.text)
			}
			if _, err := readJob(dir, id); err != nil {
				t.Errorf("the task is not kept: %v", err)
			}
			end()

			second, end := open(modern, true)
			become(t, dir, id, func(j *jobFile) { j.Members["state"], j.Members["progress"] = "RUNNING", "1 of 2" })
			if a := second.about("tasks/get", id); a.Result["status"] != "working" || a.Result["statusMessage"] != "RUNNING: 1 of 2" || a.Result["resultType"] != "complete" {
				t.Errorf("in another process: %s", a.text)
			}
			if a := second.about("tasks/cancel", id); a.Error.Code != 0 || a.Result["resultType"] != "complete" || a.Result["status"] != nil {
				t.Errorf("cancel: %s", a.text)
			}
			if a := second.about("tasks/get", id); a.Result["status"] != "working" || a.Result["statusMessage"] != "CANCEL_REQUESTED: 1 of 2" {
				t.Errorf("asked to end: %s", a.text)
			}
			become(t, dir, id, func(j *jobFile) { j.Members["state"] = "CANCELLED" })
			if a := second.about("tasks/get", id); a.Result["status"] != "cancelled" || a.Result["result"] != nil {
				t.Errorf("cancelled: %s", a.text)
			}
			become(t, dir, id, func(j *jobFile) { j.Members["state"], j.Result = "SUCCEEDED", "made" })
			done := second.about("tasks/get", id)
			result, _ := done.Result["result"].(map[string]any)
			if diff := cmp.Diff(map[string]any{"job": id, "plan": "p", "state": "SUCCEEDED"}, result["structuredContent"]); diff != "" || done.Result["status"] != "completed" ||
				!strings.Contains(done.text, `\"result\":\"made\"`) || !strings.Contains(done.text, `"# Report"`) || result["isError"] != nil {
				t.Errorf("done: %s\n%s", done.text, diff)
			}
			become(t, dir, id, func(j *jobFile) {
				j.Members["state"], j.Members["failure"], j.Members["message"] = "FAILED", "candidate", "status 3"
			})
			if a := second.about("tasks/get", id); a.Result["status"] != "completed" || a.Result["result"].(map[string]any)["isError"] != true || !strings.Contains(a.text, "status 3") {
				t.Errorf("failed: %s", a.text)
			}
			if a := second.about("tasks/update", id); a.Error.Code != 0 || a.Result["resultType"] != "complete" {
				t.Errorf("update: %s", a.text)
			}
			for _, hostile := range []string{"job_" + strings.Repeat("0", 32), "../" + id, "..", id + "/../" + id, strings.Repeat("a", 200)} {
				for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
					if a := second.about(method, hostile); a.Error.Code != -32602 || a.Error.Message != "there is no such task" {
						t.Errorf("%s %s: %s", method, hostile, a.text)
					}
				}
			}
			end()

			for _, c := range []struct {
				protocol string
				knows    bool
			}{{modern, false}, {older, true}, {older, false}} {
				unaware, end := open(c.protocol, c.knows)
				if a := unaware.start(); a.Result["resultType"] == "task" || a.Result["taskId"] != nil || a.Result["structuredContent"] == nil {
					t.Errorf("%v: who does not know tasks: %s", c, a.text)
				}
				for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
					if a := unaware.about(method, id); a.Error.Code != -32021 {
						t.Errorf("%v: who does not know tasks: %s", c, a.text)
					}
				}
				if c.protocol == modern {
					if a := unaware.ask("subscriptions/listen", "", `{"notifications":{"taskIds":["`+id+`"]}}`); a.Error.Code != -32021 || !strings.Contains(string(a.Error.Data), `"io.modelcontextprotocol/tasks":{}`) {
						t.Errorf("who does not know tasks waits for news of one: %s", a.text)
					}
				}
				end()
			}
		})
	}
}

// Another subject's task is not there, policy and scopes decide on each request,
// and headers and limits hold for them.
func TestTasksOfOthers(t *testing.T) {
	dir := t.TempDir()
	c, url := serveHTTP(t, []string{jobsVariable + "=" + dir, verifierVariable + "=1"}, "--metrics-listen", "localhost:0")
	ann, cid := overHTTP(t, url, "ann", modern, true), overHTTP(t, url, "cid", modern, true)
	of := map[string]string{}
	for name, w := range map[string]*taskClient{"ann": ann, "cid": cid} {
		of[name], _ = w.start().Result["taskId"].(string)
		if a := w.about("tasks/get", of[name]); a.Result["status"] != "working" {
			t.Errorf("%s: %s", name, a.text)
		}
	}
	none := ann.about("tasks/get", "job_"+strings.Repeat("0", 32))
	if a := ann.about("tasks/get", of["cid"]); cmp.Diff(none.Error, a.Error) != "" || a.Error.Code != -32602 {
		t.Errorf("another's: %s, one that is not there: %s", a.text, none.text)
	}
	if a := ann.about("tasks/cancel", of["cid"]); cmp.Diff(none.Error, a.Error) != "" {
		t.Errorf("another's is cancelled: %s", a.text)
	}
	if a := cid.about("tasks/get", of["cid"]); a.Result["statusMessage"] != "QUEUED" {
		t.Errorf("%s", a.text)
	}
	if a := cid.about("tasks/cancel", of["cid"]); a.Error.Code != -32000 || a.Error.Message != "permission denied: the scope jobs:cancel is required" || !strings.Contains(string(a.Error.Data), `"class":"permission_denied"`) {
		t.Errorf("without its scope: %s", a.text)
	}
	for method, capability := range map[string]string{"tasks/get": "run.status", "tasks/cancel": "run.cancel", "tasks/update": "run.status"} {
		a := ann.about(method, deniedJob)
		if a.Error.Code != -32000 || a.Error.Message != "permission denied" || !strings.Contains(string(a.Error.Data), `"capability":"`+capability+`"`) || !strings.Contains(string(a.Error.Data), `"receipt"`) {
			t.Errorf("policy refuses: %s", a.text)
		}
	}
	if a := overHTTP(t, url, "ann", modern, true).ask("subscriptions/listen", "", `{"notifications":{"taskIds":["job_1"]}}`); !strings.Contains(a.text, `"notifications/subscriptions/acknowledged"`) || strings.Contains(a.text, "taskIds") {
		t.Errorf("news of a task: %s", a.text)
	}
	header := func(name string) http.Header {
		h := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tasks/get"}}
		if name != "" {
			h.Set("Mcp-Name", name)
		}
		return h
	}
	const id = "job_0123"
	body := `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"` + id + `","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`
	for name, want := range map[string]string{id: "-32602", "job_0124": "-32020", "": "-32020"} {
		status, _, text := sendOne(t, url, "ann", header(name), body)
		if !strings.Contains(text, want) || status != 400 {
			t.Errorf("the header %q: %d %s", name, status, text)
		}
	}
	// A session of the older era does not come by a task with a request that looks
	// like one of the current era.
	session := overHTTP(t, url, "ann", older, true)
	session.disguised = true
	if a := session.start(); a.Error.Code == 0 {
		t.Errorf("a session of the older era: %s", a.text)
	}
	if status, _, text := sendOne(t, url, "", header(id), body); status != 401 {
		t.Errorf("nobody: %d %s", status, text)
	}
	if _, text := get(t, serving.FindStringSubmatch(c.stderr())[2]); !strings.Contains(text, `capgen_task_requests_total{method="tasks/get",outcome="ok"}`) ||
		!strings.Contains(text, `capgen_task_requests_total{method="tasks/cancel",outcome="error"}`) || !strings.Contains(text, `capgen_tool_calls_total{tool="code_start",outcome="ok"} 2`) {
		t.Errorf("metrics: %s", text)
	}
}

// A server without jobs has neither the extension nor its methods.
func TestNoTasks(t *testing.T) {
	_, url := serveHTTP(t, nil)
	for _, protocol := range bothEras {
		session, end := overStdio(t, nil, protocol, true)
		if a := session.about("tasks/get", "job_1"); a.Error.Code != -32601 {
			t.Errorf("%s: %s", protocol, a.text)
		}
		end()
	}
	header := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tasks/get"}, "Mcp-Name": {"job_1"}}
	body := `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"job_1","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	if status, _, text := sendOne(t, url, "", header, body); status != 404 || !strings.Contains(text, "-32601") {
		t.Errorf("%d %s", status, text)
	}
}
