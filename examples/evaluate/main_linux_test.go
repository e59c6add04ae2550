package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/capgen/capgen/internal/ptytest"
	"github.com/capgen/capgen/internal/testdir"
)

// program is the server, built once for all tests. Their own binary would not do:
// jobs outlive their server, and have processes that know nothing of a test.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "evaluate")
	if err == nil {
		program = filepath.Join(dir, "evaluate")
		build := exec.Command("go", "build", "-o", program, ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		err = build.Run()
	}
	code := 1
	if err == nil {
		code = m.Run()
	}
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// desk is a state directory, and who approves what is planned there.
type desk struct {
	t          *testing.T
	dir, state string
}

func newDesk(t *testing.T) desk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(testdir.Open(t))
	if err != nil {
		t.Fatal(err)
	}
	d := desk{t: t, dir: dir, state: filepath.Join(dir, "state")}
	line, err := exec.Command(program, "keys", "new", filepath.Join(dir, "key")).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "trust"), line, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.leave)
	return d
}

// command is one of the program's, at the desk.
func (d desk) command(args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), "CAPGEN_STATE="+d.state, "CAPGEN_TRUST_ROOT="+filepath.Join(d.dir, "trust"), "CAPGEN_APPROVAL_KEY="+filepath.Join(d.dir, "key"))
	return c
}

// client is one of a server of its own.
func (d desk) client(protocol string, tasks bool) *client {
	d.t.Helper()
	return overStdio(d.t, d.command("stdio", "--log-level", "error"), protocol, tasks)
}

// nothingLeft fails where a process works in a job's directory, and ends it.
func (d desk) nothingLeft() {
	d.t.Helper()
	for _, pid := range processes(d.t, func(proc string) bool {
		at, err := os.Readlink(filepath.Join(proc, "cwd"))
		return err == nil && strings.HasPrefix(at, filepath.Join(d.state, "jobs")+"/")
	}) {
		d.t.Errorf("process %d still works in a job's directory", pid)
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// leave waits until the supervisors have ended, too, which tell of a job's end
// before.
func (d desk) leave() {
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		d.nothingLeft()
		left := processes(d.t, func(proc string) bool {
			line, err := os.ReadFile(filepath.Join(proc, "cmdline"))
			return err == nil && strings.Contains(string(line), d.state)
		})
		if len(left) == 0 {
			return
		}
		if time.Now().After(until) {
			for _, pid := range left {
				syscall.Kill(pid, syscall.SIGKILL)
			}
			d.t.Fatalf("the processes %v do not end", left)
		}
	}
}

// processes are those whose directory below /proc is like that.
func processes(t *testing.T, like func(proc string) bool) (pids []int) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if pid, err := strconv.Atoi(filepath.Base(name)); err == nil && like(name) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// approve types the line that an agent was given, reads, and confirms.
func (d desk) approve(line string) (shown string) {
	d.t.Helper()
	terminal, err := ptytest.Start(d.command(strings.Fields(line)[1:]...))
	if errors.Is(err, ptytest.ErrNoTerminals) {
		d.t.Skip(err)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	shown, words, err := terminal.Question()
	if err == nil {
		err = terminal.Answer(words + "\n")
	}
	rest, waited := terminal.Wait()
	if err := errors.Join(err, waited); err != nil {
		d.t.Fatal(shown, rest, err)
	}
	return shown
}

const (
	prepare, start = "filters_evaluate_prepare", "filters_evaluate_start"

	endless = "def is_spam(text):\n    while True:\n        pass\n"
)

// plan prepares a filter, and returns what starts it and what a person types to
// approve it.
func (c *client) plan(source string) (claim map[string]any, approve string) {
	c.t.Helper()
	key := rand.Text()
	a := c.call(prepare, map[string]any{"source": source, "summary": "try it", "key": key})
	if a.get("plan") == "" || a.get("resultType") == "task" {
		c.t.Fatal(a)
	}
	return map[string]any{"plan": a.get("plan"), "token": a.get("token"), "key": key}, a.get("approval")
}

// begin starts what has been approved, and returns its task.
func (c *client) begin(claim map[string]any) (task string) {
	c.t.Helper()
	handle := c.call(start, claim)
	if handle.get("resultType") != "task" || handle.get("status") != "working" || !strings.HasPrefix(handle.get("taskId"), "job_") {
		c.t.Fatal(handle)
	}
	return handle.get("taskId")
}

// begun prepares a filter, has it approved, and starts it.
func (c *client) begun(d desk, source string) (task string) {
	c.t.Helper()
	claim, line := c.plan(source)
	d.approve(line)
	return c.begin(claim)
}

// follow asks ask until it says that it is enough, for at most two minutes.
func follow(t *testing.T, ask func() answer, enough func(answer) bool) answer {
	t.Helper()
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		a := ask()
		if enough(a) {
			return a
		}
		if time.Now().After(until) || a.Error.Code != 0 {
			t.Fatalf("it stays %s", a)
		}
	}
}

func over(a answer) bool { return a.Result != nil && a.get("status") != "working" }

// TestTask: a client that knows tasks watches a real run: its own line of
// progress, and then its result.
func TestTask(t *testing.T) {
	d := newDesk(t)
	c := d.client(bothEras[0], true)
	// What it says is noted once a second: where it is over by then, it is
	// given more to do.
	for turns := 12_000_000; ; turns *= 4 {
		said := c.watch(d, fmt.Sprintf("def is_spam(text):\n    for _ in range(%d):\n        pass\n    return 'prize' in text\n", turns))
		if slices.ContainsFunc(said, regexp.MustCompile(`^RUNNING: mail [1-8] of 8$`).MatchString) {
			break
		}
		if turns > 40_000_000 || t.Failed() {
			t.Fatalf("it says %q", said)
		}
	}
}

// watch prepares, approves and starts a filter that looks for prizes, follows its
// task to its result, and returns what it said on the way.
func (c *client) watch(d desk, source string) (said []string) {
	c.t.Helper()
	claim, line := c.plan(source)
	if a := c.call(start, claim); a.Result["isError"] != true || !strings.Contains(a.text, "approval_required") || a.get("taskId") != "" {
		c.t.Fatalf("without an approval: %s", a)
	}
	if shown := d.approve(line); !strings.Contains(shown, "'prize' in text") || !strings.Contains(shown, "is_spam(mail[") || !strings.Contains(shown, "Lunch on Thursday?") {
		c.t.Errorf("the approver does not see all:\n%s", shown)
	}
	task := c.begin(claim)
	done := follow(c.t, func() answer { return c.about("tasks/get", task) }, func(a answer) bool {
		if message := a.get("statusMessage"); !slices.Contains(said, message) {
			said = append(said, message)
		}
		return over(a)
	})
	if done.get("status") != "completed" || done.get("statusMessage") != "SUCCEEDED" || !strings.Contains(done.text, `\"result\":{\"precision\":0.5,\"recall\":0.25}`) || !strings.Contains(done.text, "# Result of a run") {
		c.t.Errorf("done: %s", done)
	}
	if again := c.call(start, claim); again.get("taskId") != task || again.get("status") != "completed" {
		c.t.Errorf("started again: %s", again)
	}
	return said
}

// TestTaskIsCancelled: a task outlives the server that it was started by. What
// never ends is ended when its client says so, and nothing of it is left.
func TestTaskIsCancelled(t *testing.T) {
	d := newDesk(t)
	c := d.client(bothEras[0], true)
	task := c.begun(d, endless)
	c.end()
	c = d.client(bothEras[0], true)
	get := func() answer { return c.about("tasks/get", task) }
	follow(t, get, func(a answer) bool { return a.get("statusMessage") == "RUNNING: mail 1 of 8" })
	if a := c.about("tasks/cancel", task); a.Error.Code != 0 || a.get("resultType") != "complete" {
		t.Fatal(a)
	}
	if a := follow(t, get, over); a.get("status") != "cancelled" || a.Result["result"] != nil {
		t.Errorf("cancelled: %s", a)
	}
	d.nothingLeft()
}

// TestFailedTask: a filter that breaks completes its task with an error.
func TestFailedTask(t *testing.T) {
	d := newDesk(t)
	c := d.client(bothEras[0], true)
	task := c.begun(d, "def is_spam(text):\n    return {}[text]\n")
	a := follow(t, func() answer { return c.about("tasks/get", task) }, over)
	if result, _ := a.Result["result"].(map[string]any); a.get("status") != "completed" || result["isError"] != true || !strings.Contains(a.text, `\"code\":\"candidate\"`) {
		t.Errorf("%s", a)
	}
}

// TestWithoutTasks: a client that does not know tasks, or is of the older era and
// cannot have them, gets the ordinary result, and follows the job by programs.
func TestWithoutTasks(t *testing.T) {
	for _, protocol := range bothEras {
		t.Run(protocol, func(t *testing.T) {
			d := newDesk(t)
			c := d.client(protocol, protocol != bothEras[0])
			claim, line := c.plan("def is_spam(text):\n    return 'only' in text or 'fee' in text\n")
			d.approve(line)
			started := c.call(start, claim)
			job := started.get("job")
			if started.get("resultType") == "task" || started.Result["isError"] == true || !strings.HasPrefix(job, "job_") || started.get("plan") != claim["plan"] || started.get("state") == "" {
				t.Fatal(started)
			}
			if a := c.about("tasks/get", job); a.Error.Code != -32021 {
				t.Errorf("as a task: %s", a)
			}
			done := follow(t, func() answer {
				return c.call("execute", map[string]any{"source": "def main():\n    return run.status(job = " + strconv.Quote(job) + ")\n"})
			}, func(a answer) bool { return strings.Contains(a.text, `"ended":`) })
			if !strings.Contains(done.text, `"state":"SUCCEEDED"`) {
				t.Errorf("%s", done)
			}
			result := c.call("execute", map[string]any{"source": "def main():\n    return run.result(job = " + strconv.Quote(job) + ").result\n"})
			if !strings.Contains(result.text, `"precision":1,"recall":0.5`) {
				t.Errorf("%s", result)
			}
		})
	}
}

const (
	issuer    = "https://issuer.example"
	publicURL = "http://localhost:8080/mcp"
)

// listening starts a server for the subjects of an issuer, and returns its URL and
// what makes their access tokens.
func (d desk) listening() (url string, token func(subject string) string) {
	d.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		d.t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		d.t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString
	set, err := json.Marshal(map[string]any{"keys": []any{map[string]any{"kty": "EC", "crv": "P-256", "kid": "k", "x": text(point[1:33]), "y": text(point[33:])}}})
	if err != nil {
		d.t.Fatal(err)
	}
	keys := filepath.Join(d.dir, "keys.json")
	if err := os.WriteFile(keys, set, 0o600); err != nil {
		d.t.Fatal(err)
	}
	server := d.command("http", "--listen", "127.0.0.1:0", "--issuer", issuer, "--jwks", keys, "--public-url", publicURL)
	log, err := server.StderrPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		d.t.Fatal(err)
	}
	lines := bufio.NewReader(log)
	for url == "" && err == nil {
		var line string
		line, err = lines.ReadString('\n')
		if m := regexp.MustCompile(` url=(\S+)`).FindStringSubmatch(line); m != nil {
			url = m[1]
		}
	}
	var rest sync.WaitGroup
	rest.Go(func() { io.Copy(io.Discard, lines) })
	d.t.Cleanup(func() {
		err := server.Process.Signal(syscall.SIGTERM)
		rest.Wait()
		if err := errors.Join(err, server.Wait()); err != nil {
			d.t.Errorf("the server did not leave in good order: %v", err)
		}
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return url, func(subject string) string {
		token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
			"iss": issuer, "sub": subject, "aud": publicURL, "exp": time.Now().Add(time.Hour).Unix(), "scope": "filters:run",
		})
		token.Header["typ"], token.Header["kid"] = "at+jwt", "k"
		signed, err := token.SignedString(key)
		if err != nil {
			d.t.Fatal(err)
		}
		return signed
	}
}

// TestTasksAreApart: over HTTP another subject's task has the answers of one that
// is not there, and goes on.
func TestTasksAreApart(t *testing.T) {
	d := newDesk(t)
	url, token := d.listening()
	ann, bob := overHTTP(t, url, token("ann")), overHTTP(t, url, token("bob"))
	claim, line := ann.plan(endless)
	d.approve(line)
	if a := bob.call(start, claim); a.Result["isError"] != true || !strings.Contains(a.text, "not_found") {
		t.Errorf("bob starts ann's: %s", a)
	}
	task := ann.begin(claim)
	for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
		real, none := bob.about(method, task), bob.about(method, "job_"+strings.Repeat("0", 32))
		if real.Error != none.Error || real.Error.Code != -32602 {
			t.Errorf("%s: ann's %s, none %s", method, real, none)
		}
	}
	if a := bob.call("execute", map[string]any{"source": "def main():\n    return len(run.list().jobs) + len(change.list().plans)\n"}); !strings.Contains(a.text, `"result":0`) {
		t.Errorf("bob's: %s", a)
	}
	get := func() answer { return ann.about("tasks/get", task) }
	if a := get(); a.get("status") != "working" || strings.HasPrefix(a.get("statusMessage"), "CANCEL_REQUESTED") {
		t.Errorf("ann's, after bob: %s", a)
	}
	if a := ann.about("tasks/cancel", task); a.Error.Code != 0 {
		t.Error(a)
	}
	if a := follow(t, get, over); a.get("status") != "cancelled" {
		t.Errorf("cancelled: %s", a)
	}
}
