package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/mcphttp"
	"github.com/capgen/capgen/runtime/mcpserver"
)

// taskScenarios are the suite's scenarios of the Tasks extension, each with the
// checks of it that fail, by the reason. The others of that extension are about
// tasks that ask for input, and tools that only clients with the extension can
// call: a server of ours has neither.
var taskScenarios = map[string][]string{
	"tasks-lifecycle":              {"sep-2663-tasks-get-status-failed"}, // no job fails as a request of the protocol does
	"tasks-capability-negotiation": nil,
	"tasks-wire-fields":            nil,
	"tasks-request-state-removal":  nil,
	"tasks-request-headers":        nil,
	"tasks-dispatch-and-envelope":  nil,
}

// What hosts serve meets what the suite asks of the Tasks extension.
func TestTasksConform(t *testing.T) {
	needsSuite(t)
	h, err := mcphttp.New(mcphttp.Options{NameHeaders: mcpserver.TaskHeaders(), Listen: mcpserver.ListenWithTasks})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcpserver.New(mcpserver.Options{Runtime: &jobs{all: map[string]*job{}}, Subjects: authz.ContextSubject(), Middleware: h.Middleware()})
	if err != nil {
		t.Fatal(err)
	}
	tool(s, "greet", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in struct{ Name string }
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		return text("Hello, " + in.Name + "!"), nil
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, l, s) }()
	t.Run("scenario", func(t *testing.T) { // they wait more than they work
		for scenario, failing := range taskScenarios {
			t.Run(scenario, func(t *testing.T) {
				t.Parallel()
				meets(t, "http://"+l.Addr().String()+mcphttp.DefaultPath, scenario, failing)
			})
		}
	})
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// meets runs one scenario against url: all of its checks succeed but those that
// are to fail.
func meets(t *testing.T, url, scenario string, failing []string) {
	t.Helper()
	command := strings.Fields(*suite)
	command = append(command, "server", "--url", url, "--scenario", scenario, "--verbose", "--output-dir", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, command[0], command[1:]...)
	run.Dir = t.TempDir()
	out, _ := run.Output() // it fails where a check does
	t.Logf("%s", out)
	begin := bytes.IndexByte(out, '[')
	if begin < 0 {
		t.Fatal("the suite tells of no checks")
	}
	var checks []struct{ ID, Status, ErrorMessage string }
	if err := json.NewDecoder(bytes.NewReader(out[begin:])).Decode(&checks); err != nil {
		t.Fatal(err)
	}
	expected := map[string]bool{}
	for _, id := range failing {
		expected[id] = true
	}
	succeeded := 0
	for _, c := range checks {
		switch {
		case c.Status == "FAILURE" && !expected[c.ID]:
			t.Errorf("%s: %s", c.ID, c.ErrorMessage)
		case c.Status == "SUCCESS" && expected[c.ID]:
			t.Errorf("%s succeeds: expect that", c.ID)
		case c.Status == "SUCCESS":
			succeeded++
		}
	}
	if succeeded == 0 {
		t.Error("no check succeeds")
	}
}

// jobs is a runtime with tools that start jobs, which do nothing but last.
type jobs struct {
	mcpserver.Runtime // of which nothing else is called

	mu  sync.Mutex
	all map[string]*job
}

type job struct {
	created, ends time.Time
	end           string // its state then
}

func (*jobs) Info() runtime.ServerInfo { return runtime.ServerInfo{Name: "jobs", Version: "1.0.0"} }
func (*jobs) Deployment() string       { return "default" }
func (*jobs) Hints() runtime.Hints     { return runtime.Hints{} }
func (*jobs) Workers() runtime.Workers { return runtime.Workers{} }
func (*jobs) TellsOfJobs() bool        { return true }

func (*jobs) Tools() (all []runtime.Tool) {
	const object = `{"type":"object"}`
	for _, name := range []string{"slow_compute", "failing_job", "protocol_error_job", "confirm_delete"} {
		all = append(all, runtime.Tool{DirectTool: runtime.DirectTool{Name: name, Input: object, Output: object}, ID: name, Description: "A fixture of the conformance suite.", Job: true})
	}
	return all
}

func (j *jobs) Call(_ context.Context, _ authz.Subject, id string, arguments []byte, _ ...runtime.ExecuteOption) (x runtime.Execution, err error) {
	var in struct{ Seconds float64 }
	if err := json.Unmarshal(arguments, &in); err != nil {
		return x, err
	}
	started := &job{created: time.Now(), end: "SUCCEEDED"}
	if id != "slow_compute" {
		in.Seconds, started.end = 1, "FAILED"
	}
	started.ends = started.created.Add(time.Duration(in.Seconds * float64(time.Second)))
	j.mu.Lock()
	defer j.mu.Unlock()
	name := fmt.Sprintf("job_%032d", len(j.all))
	j.all[name] = started
	x.Result = fmt.Appendf(nil, `{"job":%q,"plan":"p","state":"QUEUED"}`, name)
	return x, nil
}

// absent is how run.* tell that there is no such job.
type absent struct{}

func (absent) Error() string { return "there is no such job" }
func (absent) Fault() fault.Fault {
	return fault.Fault{Class: fault.CapabilityFailed, Code: runtime.JobNotFound, Message: "there is no such job"}
}

func (j *jobs) CallJob(_ context.Context, _ authz.Subject, c runtime.JobCall, id string, _ ...runtime.ExecuteOption) (x runtime.Execution, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	asked := j.all[id]
	if asked == nil {
		return x, absent{}
	}
	over := !time.Now().Before(asked.ends)
	switch c {
	case runtime.JobResult:
		x.Result = fmt.Appendf(nil, `{"job":%q,"state":"SUCCEEDED","sha256":"","result":{},"report":"# Report"}`, id)
		return x, nil
	case runtime.JobCancel:
		if !over {
			asked.ends, asked.end, over = time.Now(), "CANCELLED", true
		}
	}
	state := "RUNNING"
	if over {
		state = asked.end
	}
	x.Result = fmt.Appendf(nil, `{"job":%q,"plan":"p","capability":"c","state":%q,"created":%q}`, id, state, asked.created.Format(time.RFC3339))
	return x, nil
}
