package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/generated/catalog"
	"github.com/capgen/capgen/internal/ptytest"
	"github.com/capgen/capgen/internal/testdir"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/govern"
)

// desk is a directory that an agent may propose changes of, and its approver.
type desk struct {
	t                       *testing.T
	root, state, trust, key string
	binary                  string   // empty is the test's own
	more                    []string // flags of every command
}

func (d desk) program(ctx context.Context, args ...string) *exec.Cmd {
	if d.binary != "" {
		return programOf(ctx, d.binary, args...)
	}
	return program(ctx, d.t, args...)
}

func newDesk(t *testing.T) desk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(testdir.Open(t))
	if err != nil {
		t.Fatal(err)
	}
	d := desk{t: t, root: filepath.Join(dir, "root"), state: filepath.Join(dir, "state"), trust: filepath.Join(dir, "trust"), key: filepath.Join(dir, "key")}
	if err := os.MkdirAll(filepath.Join(d.root, "notes"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.root, "notes", "june.json"), []byte(`{"rain": 1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	line, errs, exit := workspace(t, "", "keys", "new", d.key)
	if exit != 0 {
		t.Fatal(errs)
	}
	if err := os.WriteFile(d.trust, []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	return d
}

// flags are those that every command of the desk has.
func (d desk) flags() []string {
	return append([]string{"--root", d.root, "--state", d.state, "--trust-root", d.trust}, d.more...)
}

// connect starts a server for an agent.
func (d desk) connect(ctx context.Context) *mcp.ClientSession {
	d.t.Helper()
	command := d.program(ctx, append([]string{"stdio", "--log-level", "error"}, d.flags()...)...)
	command.Stderr = os.Stderr
	return open(ctx, d.t, &mcp.CommandTransport{Command: command}, "")
}

// approve is the approver at a terminal, and looks at what is shown.
func (d desk) approve(line string) {
	d.t.Helper()
	shown := d.decide(line)
	for _, want := range []string{`+ {"rain": 2}`, "separated NONE", "THE ACCOUNT THAT ASKS MAY APPROVE", "| more rain"} {
		if !strings.Contains(shown, want) {
			d.t.Errorf("%s is missing:\n%s", want, shown)
		}
	}
}

// decide is the approver at a terminal, who types the line that agents are
// given: where things are is said by variables of the environment.
func (d desk) decide(line string) (shown string) {
	d.t.Helper()
	command := d.program(d.t.Context(), strings.Fields(line)[1:]...)
	command.Env = append(command.Env, "CAPGEN_STATE="+d.state, "CAPGEN_TRUST_ROOT="+d.trust, "CAPGEN_APPROVAL_KEY="+d.key)
	terminal, err := ptytest.Start(command)
	if errors.Is(err, ptytest.ErrNoTerminals) {
		d.t.Skip(err)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	shown, words, err := terminal.Question()
	if err != nil {
		d.t.Fatal(shown, err)
	}
	if err := terminal.Answer(words + "\n"); err != nil {
		d.t.Fatal(err)
	}
	if rest, err := terminal.Wait(); err != nil {
		d.t.Fatal(rest, err)
	}
	return shown
}

// execute runs a program, and returns its result or its error.
func execute(ctx context.Context, t *testing.T, session *mcp.ClientSession, source string) (map[string]any, string) {
	t.Helper()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "execute", Arguments: map[string]any{"source": source}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var content struct {
		Result map[string]any  `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(text, &content); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return content.Result, string(content.Error)
}

// TestPublishADraft: an agent drafts, validates and plans; a person approves at a
// terminal; then, and only then, the agent lands it, once.
func TestPublishADraft(t *testing.T) {
	d := newDesk(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	session := d.connect(ctx)
	defer session.Close()

	result, failed := execute(ctx, t, session, `
def main():
    d = drafts.create(path = "notes")
    d = drafts.update(draft = d.draft, revision = d.revision, path = "june.json", was = d.files[0].sha256, text = "{\"rain\": ")
    bad = drafts.validate(draft = d.draft, revision = d.revision)
    d = drafts.update(draft = d.draft, revision = d.revision, path = "june.json", was = d.files[0].sha256, text = "{\"rain\": 2}")
    good = drafts.validate(draft = d.draft, revision = d.revision)
    diff = drafts.diff(draft = d.draft, path = "notes")
    p = drafts.publish.prepare(validation = good.token, path = "notes", before = diff.before, summary = "more rain", key = "june")
    return {"bad": bad.diagnostics[0].message, "passed": [bad.passed, good.passed], "diff": diff.text, "plan": p.plan, "token": p.token, "approve": p.approval, "actions": [a.action + " " + a.path for a in p.actions]}
`)
	if failed != "" {
		t.Fatal(failed)
	}
	plan := result["plan"].(string)
	if result["approve"] != "workspace approve "+plan && !strings.HasSuffix(result["approve"].(string), " approve "+plan) {
		t.Errorf("%v", result)
	}
	if got, _ := json.Marshal(result["passed"]); string(got) != "[false,true]" || !strings.Contains(result["diff"].(string), `+{"rain": 2}`) {
		t.Errorf("%v", result)
	}
	land := `
def main():
    return drafts.publish.apply(plan = "` + plan + `", token = "` + result["token"].(string) + `", key = "land")
`
	if _, failed := execute(ctx, t, session, land); !strings.Contains(failed, "approval_required") || !strings.Contains(failed, " approve "+plan) {
		t.Errorf("without an approval: %s", failed)
	}
	if text, err := os.ReadFile(filepath.Join(d.root, "notes", "june.json")); err != nil || string(text) != `{"rain": 1}` {
		t.Fatalf("%s, %v", text, err)
	}

	d.approve(result["approve"].(string))
	for range 2 {
		landed, failed := execute(ctx, t, session, land)
		if failed != "" || landed["state"] != "applied" {
			t.Fatalf("%v, %s", landed, failed)
		}
	}
	if text, err := os.ReadFile(filepath.Join(d.root, "notes", "june.json")); err != nil || string(text) != `{"rain": 2}` {
		t.Errorf("%s, %v", text, err)
	}
	if entries, err := os.ReadDir(d.root); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestNothingChangesWithoutState: the capabilities that change something are all
// of those, and only those, that a server without a state directory leaves out.
func TestNothingChangesWithoutState(t *testing.T) {
	b := runtime.NewBuilder(runtime.Options{Authorizer: authz.AllowAll(), DisabledCapabilities: changing()})
	catalog.Register(b, catalog.Handlers{Files: &files{}, Drafts: &drafts{}, Govern: new(govern.Service)})
	server, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err) // of an id that is not there, too
	}
	defer server.Close()
	read := []string{"files.list", "files.read", "files.search", "files.stat", "files.tree"}
	if _, err := server.Describe(t.Context(), authz.Local(), read); err != nil || server.Capabilities() != len(read) {
		t.Errorf("%d capabilities, %v", server.Capabilities(), err)
	}
	stdout, stderr, exit := workspace(t, "def main():\n    return drafts.list()\n", "exec", "--root", t.TempDir(), "-")
	if exit == 0 || !strings.Contains(stdout+stderr, "drafts") {
		t.Errorf("exit %d: %s%s", exit, stdout, stderr)
	}
}

// TestStateIsNotServed: a state directory or a trust root that programs could
// read, or ask for changes of, is refused before anything is served or written.
func TestStateIsNotServed(t *testing.T) {
	d := newDesk(t)
	for want, flags := range map[string][]string{
		"the state directory lies below the root": {"--root", d.root, "--state", filepath.Join(d.root, "notes", "state"), "--trust-root", d.trust},
		"the trust root lies below the root":      {"--root", filepath.Dir(d.trust), "--state", filepath.Join(t.TempDir(), "state"), "--trust-root", d.trust},
	} {
		stdout, stderr, exit := workspace(t, "def main():\n    return drafts.list()\n", append([]string{"exec", "-"}, flags...)...)
		if exit == 0 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s%s", want, exit, stdout, stderr)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(d.root, "notes")); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
