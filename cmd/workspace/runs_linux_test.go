package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/generated/catalog"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/host"
)

// buildServer builds the server as make does. A test's own binary would not do:
// jobs outlive their server, and have processes that know nothing of a test.
func buildServer(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "workspace")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// newLab is a desk where candidates run.
func newLab(t *testing.T, binary string) desk {
	t.Helper()
	d := newDesk(t)
	d.binary = binary
	if os.Geteuid() == 0 {
		d.more = []string{"--job-uids", "70031-70034"}
	}
	t.Cleanup(d.noneLeft)
	return d
}

// noneLeft fails where a process works below the state directory, and ends it.
func (d desk) noneLeft() {
	jobs := filepath.Join(d.state, "jobs") + "/"
	names, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		d.t.Error(err)
	}
	for _, name := range names {
		if at, err := os.Readlink(name); err != nil || !strings.HasPrefix(at, jobs) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			continue
		}
		d.t.Errorf("process %d still works in a job's directory", pid)
		if p, err := os.FindProcess(pid); err == nil {
			p.Kill()
		}
	}
}

// candidate is a draft that runs.
type candidate struct {
	capability, entry, source string
}

var candidates = map[string]candidate{
	"starlark": {"drafts.evaluate", "main.star", `
def main():
    print("progress: begun")
    print("seen by who asked")
    return {"summary": "<b>" + data["model"] + "</b> holds", "metrics": {"n": data["n"] + 0.5}, "items": [{"name": "a|b", "value": 1}]}
`},
	"python3": {"drafts.evaluate_python", "main.py", `
import json, time
with open("arguments.json") as f:
    data = json.load(f)
with open("out/progress", "w") as f:
    f.write("begun")
print("seen by who asked")
time.sleep(2)
with open("out/result.json", "w") as f:
    json.dump({"summary": "<b>" + data["model"] + "</b> holds", "metrics": {"n": data["n"] + 0.5}, "items": [{"name": "a|b", "value": 1}]}, f)
`},
}

// planned is a run that waits for people.
type planned struct{ plan, token, approve string }

// plan drafts, validates and prepares a candidate.
func (c candidate) plan(ctx context.Context, t *testing.T, session *mcp.ClientSession, key string) planned {
	t.Helper()
	return c.planOf(ctx, t, session, key, "m1")
}

func (c candidate) planOf(ctx context.Context, t *testing.T, session *mcp.ClientSession, key, model string) planned {
	t.Helper()
	result, failed := execute(ctx, t, session, `
def main():
    d = drafts.create(files = [{"path": `+strconv.Quote(c.entry)+`, "text": `+strconv.Quote(c.source)+`}])
    v = drafts.validate(draft = d.draft, revision = d.revision)
    p = `+c.capability+`.prepare(validation = v.token, arguments = {"model": `+strconv.Quote(model)+`, "n": 2}, summary = "try m1", key = `+strconv.Quote(key)+`)
    return {"plan": p.plan, "token": p.token, "approve": p.approval}
`)
	if failed != "" {
		t.Fatal(failed)
	}
	return planned{result["plan"].(string), result["token"].(string), result["approve"].(string)}
}

func (c candidate) start(p planned, key string) string {
	return "def main():\n    return " + c.capability + ".start(plan = " + strconv.Quote(p.plan) + ", token = " + strconv.Quote(p.token) + ", key = " + strconv.Quote(key) + ")\n"
}

// follow asks for a job's status until is says that it is enough, for at most two
// minutes.
func follow(ctx context.Context, t *testing.T, session *mcp.ClientSession, job string, is func(status map[string]any) bool) map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		status, failed := execute(ctx, t, session, "def main():\n    return run.status(job = "+strconv.Quote(job)+")\n")
		if failed != "" {
			t.Fatal(failed)
		}
		if is(status) {
			return status
		}
		select {
		case <-ctx.Done():
			t.Fatalf("it stays %v", status)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func ended(status map[string]any) bool { return status["ended"] != nil }

// labOf is a lab where a runner can be used, and a session with it.
func labOf(ctx context.Context, t *testing.T, binary, name string) (desk, *mcp.ClientSession, candidate) {
	t.Helper()
	c := candidates[name]
	if name == "python3" {
		if r, err := python(); err != nil {
			t.Skip(err)
		} else {
			t.Log(r.Path, r.Note)
		}
	}
	d := newLab(t, binary)
	session := d.connect(ctx)
	t.Cleanup(func() { session.Close() })
	return d, session, c
}

// TestRunADraft: an agent drafts, validates and plans a run; a person approves at a
// terminal; then, and only then, it starts, once, and its owner follows it to its
// result.
func TestRunADraft(t *testing.T) {
	binary := buildServer(t)
	for name := range candidates {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			d, session, c := labOf(ctx, t, binary, name)
			p := c.plan(ctx, t, session, "m1")
			if _, failed := execute(ctx, t, session, c.start(p, "go")); !strings.Contains(failed, "approval_required") || !strings.Contains(failed, " approve "+p.plan) {
				t.Fatalf("without an approval: %s", failed)
			}
			shown := d.decide(p.approve)
			for _, want := range []string{"try m1", c.entry, c.capability, name, `| {"model":"m1","n":2}`, "separated NONE"} {
				if !strings.Contains(shown, want) {
					t.Errorf("%s is missing:\n%s", want, shown)
				}
			}
			if strings.Contains(shown, p.token) {
				t.Error("the approver sees a token")
			}
			started, failed := execute(ctx, t, session, c.start(p, "go"))
			if failed != "" {
				t.Fatal(failed)
			}
			job := started["job"].(string)
			again, failed := execute(ctx, t, session, c.start(p, "go"))
			if failed != "" || again["job"] != job {
				t.Errorf("again: %v, %s", again, failed)
			}
			if _, failed := execute(ctx, t, session, c.start(p, "another")); !strings.Contains(failed, "token_replayed") {
				t.Errorf("with another key: %s", failed)
			}
			progress := ""
			status := follow(ctx, t, session, job, func(status map[string]any) bool {
				if said, ok := status["progress"].(string); ok {
					progress = said
				}
				return ended(status)
			})
			if status["state"] != "SUCCEEDED" || progress != "begun" || status["capability"] != c.capability {
				logs, _ := execute(ctx, t, session, "def main():\n    return run.logs(job = "+strconv.Quote(job)+")\n")
				t.Fatalf("%v, progress %q, logs %v", status, progress, logs)
			}
			result, failed := execute(ctx, t, session, "def main():\n    return run.result(job = "+strconv.Quote(job)+")\n")
			if failed != "" {
				t.Fatal(failed)
			}
			const want = `{"items":[{"name":"a|b","note":"","value":1}],"metrics":{"n":2.5},"summary":"<b>m1</b> holds"}`
			sum := sha256.Sum256([]byte(want))
			if got := compact(t, result["result"]); got != want || result["sha256"] != hex.EncodeToString(sum[:]) {
				t.Errorf("%s, %v", got, result["sha256"])
			}
			report := result["report"].(string)
			for _, want := range []string{"# Result of a run\n", "`" + c.capability + "`", "| `summary` | `\"\\u003cb\\u003em1\\u003c/b\\u003e holds\"` |", job, hex.EncodeToString(sum[:])} {
				if !strings.Contains(report, want) {
					t.Errorf("%s is missing:\n%s", want, report)
				}
			}
			logs, failed := execute(ctx, t, session, "def main():\n    return {l.name: l.text for l in run.logs(job = "+strconv.Quote(job)+").logs}\n")
			if failed != "" || !strings.Contains(logs["candidate.stdout"].(string), "seen by who asked\n") || strings.Contains(compact(t, logs), d.state) {
				t.Errorf("%v, %s", logs, failed)
			}
		})
	}
}

// compact is v as JSON, as programs see it.
func compact(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// TestCancelARun: what never ends is ended when its owner says so, and nothing of
// it is left.
func TestCancelARun(t *testing.T) {
	binary := buildServer(t)
	for name, source := range map[string]string{
		"starlark": "print('progress: begun')\nwhile True: pass",
		"python3":  "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nif os.fork() == 0: os.setsid()\nopen('out/progress', 'w').write('begun')\nwhile True: time.sleep(1)",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			d, session, c := labOf(ctx, t, binary, name)
			c.source = source
			p := c.plan(ctx, t, session, "forever")
			d.decide(p.approve)
			started, failed := execute(ctx, t, session, c.start(p, "go"))
			if failed != "" {
				t.Fatal(failed)
			}
			job := started["job"].(string)
			follow(ctx, t, session, job, func(status map[string]any) bool { return ended(status) || status["progress"] == "begun" })
			cancelled, failed := execute(ctx, t, session, "def main():\n    return run.cancel(job = "+strconv.Quote(job)+", reason = \"enough\")\n")
			if failed != "" || cancelled["already_ended"] != false {
				t.Fatalf("%v, %s", cancelled, failed)
			}
			if status := follow(ctx, t, session, job, ended); status["state"] != "CANCELLED" || status["failure"] != "cancelled" {
				t.Errorf("%v", status)
			}
			d.noneLeft()
			if _, failed := execute(ctx, t, session, "def main():\n    return run.result(job = "+strconv.Quote(job)+")\n"); !strings.Contains(failed, "conflict") {
				t.Errorf("a result: %s", failed)
			}
		})
	}
}

// TestRunOutlivesItsServer: a server that is killed takes no run with it, and the
// next one knows what came of it.
func TestRunOutlivesItsServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	d := newLab(t, buildServer(t))
	life, kill := context.WithCancel(ctx)
	defer kill()
	session, c := d.connect(life), candidates["starlark"]
	c.source = strings.Replace(c.source, "    return", "    for i in range(3000000): pass\n    return", 1) // longer than the server takes to die
	p := c.plan(ctx, t, session, "k")
	d.decide(p.approve)
	started, failed := execute(ctx, t, session, c.start(p, "go"))
	if failed != "" {
		t.Fatal(failed)
	}
	job := started["job"].(string)
	follow(ctx, t, session, job, func(status map[string]any) bool { return status["state"] == "RUNNING" || ended(status) })
	kill()
	session.Close() // fails: it was killed
	session = d.connect(ctx)
	defer session.Close()
	if again, failed := execute(ctx, t, session, c.start(p, "go")); failed != "" || again["job"] != job {
		t.Errorf("%v, %s", again, failed)
	}
	if status := follow(ctx, t, session, job, ended); status["state"] != "SUCCEEDED" {
		t.Errorf("%v", status)
	}
}

// TestJobsAreApart: another subject's job has the answers of one that is not there.
func TestJobsAreApart(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	d := newLab(t, buildServer(t))
	file, token := issuing(t)
	url := listens(t, d.program(context.WithoutCancel(ctx), serving(append(d.flags(), "--issuer", issuer, "--jwks", file, "--public-url", publicURL)...)...))
	as := func(subject string) *mcp.ClientSession {
		session := open(ctx, t, &mcp.StreamableClientTransport{
			Endpoint: url, HTTPClient: &http.Client{Transport: bearing(token(subject))}, MaxRetries: -1, DisableStandaloneSSE: true,
		}, "")
		t.Cleanup(func() { session.Close() })
		return session
	}
	ann, bob, c := as("ann"), as("bob"), candidates["starlark"]
	p := c.plan(ctx, t, ann, "k")
	d.decide(p.approve)
	if _, failed := execute(ctx, t, bob, c.start(p, "go")); failed == "" {
		t.Fatal("bob starts ann's plan")
	}
	started, failed := execute(ctx, t, ann, c.start(p, "go"))
	if failed != "" {
		t.Fatal(failed)
	}
	job := started["job"].(string)
	others, failed := execute(ctx, t, bob, `
def main():
    def ask(f):
        r = attempt(f)
        return r.error.message if r.error else "there"
    def all(job):
        return [ask(lambda: run.status(job = job)), ask(lambda: run.result(job = job)), ask(lambda: run.logs(job = job)), ask(lambda: run.cancel(job = job))]
    return {"real": all("`+job+`"), "none": all("job_`+strings.Repeat("0", 32)+`"), "list": len(run.list().jobs)}
`)
	if failed != "" {
		t.Fatal(failed)
	}
	if real, none := compact(t, others["real"]), compact(t, others["none"]); real != none || strings.Contains(real, "there\"") || others["list"] != 0. {
		t.Errorf("%v", others)
	}
	if status := follow(ctx, t, ann, job, ended); status["state"] != "SUCCEEDED" {
		t.Errorf("%v", status)
	}
}

// TestRunnersThatAreMissing: what needs a runner that is not here does not exist,
// and doctor says why.
func TestRunnersThatAreMissing(t *testing.T) {
	found := findRunners()
	if len(found.list)+len(found.missing) != 2 || len(found.disabled) != 2*len(found.missing) {
		t.Errorf("%+v", found)
	}
	for _, name := range []string{"drafts.evaluate", "drafts.evaluate_python"} {
		b := runtime.NewBuilder(runtime.Options{Authorizer: authz.AllowAll(), DisabledCapabilities: []string{name + ".prepare", name + ".start"}})
		catalog.Register(b, catalog.Handlers{Files: &files{}, Drafts: &drafts{}, Govern: new(govern.Service)})
		server, err := b.Build(t.Context())
		if err != nil {
			t.Fatal(err) // of an id that is not there, too
		}
		server.Close()
	}
	var said []string
	none := foundRunners(func() runners { return runners{missing: []error{errors.New("no interpreter")}} })
	x := none.said(host.Extension{Doctor: func(context.Context, host.Env, func(string, string, ...any)) bool { return true }})
	if !x.Doctor(t.Context(), host.Env{}, func(name, format string, args ...any) { said = append(said, name+" "+fmt.Sprintf(format, args...)) }) || len(said) != 1 || said[0] != "runner none: no interpreter" {
		t.Errorf("%q", said)
	}
}

// TestOneProgram: code that could never be loaded is refused before people read it.
func TestOneProgram(t *testing.T) {
	for name, refused := range map[string]bool{"main.star": false, "data.json": false, "lib.star": true, "lib/main.star": true} {
		err := oneProgram([]govern.File{{Path: "main.star"}, {Path: name}})
		if r := new(govern.Refusal); errors.As(err, &r) != refused || refused && r.Code != govern.InvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostileDrafts: what people let run by mistake comes to the end that it
// deserves, has read nothing, and leaves nothing.
func TestHostileDrafts(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	d := newLab(t, buildServer(t))
	session := d.connect(ctx)
	defer session.Close()
	for _, test := range []struct {
		name, runner, source string
		state, failure       string
		message              string // a part of it
	}{
		{"fails", "starlark", "def main():\n    return {}[\"x\"]", "FAILED", "candidate", ""},
		{"another shape", "starlark", "{\"score\": 1}", "FAILED", "result", "score"},
		{"no number", "starlark", "{\"summary\": \"x\", \"metrics\": {\"n\": \"1\"}}", "FAILED", "result", "metrics"},
		{"too much memory", "starlark", "x = ['y' * 1000000 for _ in range(1000)]\n{\"summary\": \"x\"}", "FAILED", "resource_limit", ""},
		{"prints without end", "starlark", "while True: print('x' * 100000)", "FAILED", "resource_limit", ""},
		{"a link as result", "python3", "import os\nos.symlink('/etc/passwd', 'out/result.json')", "FAILED", "result", ""},
		{"no result", "python3", "pass", "FAILED", "result", ""},
		{"a large result", "python3", "open('out/result.json', 'w').write('{\"summary\": \"' + 'x' * 70000 + '\"}')", "FAILED", "result", ""},
		{"leaves children", "python3", `
import os, signal, time
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            time.sleep(600)
        time.sleep(600)
open("out/result.json", "w").write('{"summary": "done"}')
`, "SUCCEEDED", "", ""},
		{"reads what is not its", "python3", `
import json, os, socket
found = []
def tried(name, f):
    try:
        f()
        found.append(name)
    except OSError:
        pass
state = json.load(open("arguments.json"))["model"]
for name in ["", "/keys", "/state.db", "/cas", "/jobs", "/../trust", "/../key", "/../root/notes/june.json"]:
    tried(name, lambda: os.listdir(state + name) if os.path.isdir(state + name) else open(state + name).read())
tried("home", lambda: os.listdir("/root"))
tried("shadow", lambda: open("/etc/shadow").read())
tried("network", lambda: socket.create_connection(("127.0.0.1", 22), 1))
tried("code", lambda: open("code/main.py", "a"))
json.dump({"summary": "found " + " ".join(found) + "."}, open("out/result.json", "w"))
`, "SUCCEEDED", "", "found ."},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := candidates[test.runner]
			if test.runner == "python3" {
				if _, err := python(); err != nil {
					t.Skip(err)
				}
			}
			c.source = test.source
			p := c.planOf(ctx, t, session, test.name, d.state)
			d.decide(p.approve)
			started, failed := execute(ctx, t, session, c.start(p, test.name))
			if failed != "" {
				t.Fatal(failed)
			}
			job := started["job"].(string)
			status := follow(ctx, t, session, job, ended)
			failure, _ := status["failure"].(string)
			message, _ := status["message"].(string)
			if status["state"] == "SUCCEEDED" {
				result, failed := execute(ctx, t, session, "def main():\n    return run.result(job = "+strconv.Quote(job)+").result\n")
				if failed != "" {
					t.Fatal(failed)
				}
				message = result["summary"].(string)
			}
			if status["state"] != test.state || failure != test.failure || !strings.Contains(message, test.message) || strings.Contains(message, d.state) {
				t.Errorf("%v, %q", status, message)
			}
			d.noneLeft()
		})
	}
}
