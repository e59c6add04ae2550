package codegen_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/codegen/testdata/runs/generated/catalog"
	"github.com/capgen/capgen/codegen/testdata/runs/generated/lab"
	"github.com/capgen/capgen/codegen/testdata/runs/generated/store"
	"github.com/capgen/capgen/internal/testdir"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/root"
	rows "github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/store/sqlite"
)

// superviseIn is set in the process that supervises a job of TestRunCandidate.
var superviseIn = flag.String("supervise-in", "", "state directory of the job in the first argument, to supervise it")

// liveLab is a host whose candidates are what it is told.
type liveLab struct {
	labHandlers
	source  string
	planned int
}

// labHandlers are those that nobody calls.
type labHandlers interface {
	Survey(context.Context, lab.SurveyInput) (govern.Run, error)
	Note(context.Context, govern.Approved[store.NoteInput]) (store.NoteOutput, error)
}

func (h *liveLab) Evaluate(_ context.Context, in lab.EvaluateInput) (govern.Run, error) {
	h.planned++
	if in.Candidate != "good" {
		return govern.Run{}, lab.ErrEvaluateNoCandidate
	}
	return govern.Run{Summary: "rate " + in.Candidate, Files: []govern.File{{Path: "main.star", Content: []byte(h.source)}}}, nil
}

// labOptions are those of a service of runs in a directory, and what closes them.
func labOptions(t *testing.T, dir, trusted string) govern.Options {
	t.Helper()
	state, err := root.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	db, err := sqlite.Open(t.Context(), dir, rows.Options{AuditKey: audit.Key{ID: "k", Secret: make([]byte, audit.MinSecretBytes)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	starlark, err := runner.Starlark()
	if err != nil {
		t.Fatal(err)
	}
	return govern.Options{
		Store: db, State: state, Command: "runs",
		Trust:      func() (*approve.TrustRoot, error) { return approve.ParseTrustRoot([]byte(trusted)) },
		Peer:       func(context.Context) (uint32, bool) { return 1001, true },
		Path:       dir,
		Supervisor: []string{"/proc/self/exe", "-test.run=^TestSuperviseCandidate$", "-supervise-in=" + dir},
		Runners:    []runner.Runner{starlark},
		Results:    catalog.Results(),
	}
}

// TestSuperviseCandidate is no test, but the process that a service starts for a
// job.
func TestSuperviseCandidate(t *testing.T) {
	if *superviseIn == "" {
		t.Skip("a service of TestRunCandidate starts this")
	}
	if err := govern.Supervise(t.Context(), labOptions(t, *superviseIn, ""), flag.Arg(0)); err != nil {
		t.Fatal(err)
	}
}

func newLab(t *testing.T, source string, people ...person) (*stage, *liveLab) {
	t.Helper()
	dir := filepath.Join(testdir.Open(t), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	trusted := ""
	for _, p := range people {
		trusted += approve.FormatKey(p.public(), p.uid, fmt.Sprint("user", p.uid)) + "\n"
	}
	service, err := govern.Open(t.Context(), labOptions(t, dir, trusted))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close() })
	s, host := &stage{service: service, now: govern.Now()}, &liveLab{source: source}
	b := runtime.NewBuilder(runtime.Options{Server: catalog.Server(), Authorizer: authz.AllowAll()})
	catalog.Register(b, catalog.Handlers{Lab: host, Store: host, Govern: service})
	if s.server, err = b.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.server.Close() })
	return s, host
}

// start brings a candidate to its start, which two people approve.
func (s *stage) start(t *testing.T, key string) (job string) {
	t.Helper()
	ada, bob := twoPeople()
	p, code, message := s.run(t, "alice", fmt.Sprintf("lab.evaluate.prepare(candidate=\"good\", key=%q)", key))
	if code == "sandbox_unavailable" {
		t.Skip(message)
	}
	if p == nil {
		t.Fatal(code, message)
	}
	id, _ := p["plan"].(string)
	start := fmt.Sprintf("lab.evaluate.start(plan=%q, token=%q, key=%q)", id, p["token"], key)
	if _, code, message := s.run(t, "alice", start); code != "approval_required" || !strings.Contains(message, id) {
		t.Errorf("before approval: %s: %s", code, message)
	}
	s.approve(t, ada, id)
	s.approve(t, bob, id)
	j, code, message := s.run(t, "alice", start)
	job, _ = j["job"].(string)
	if job == "" || j["plan"] != id {
		t.Fatalf("%v %s %s", j, code, message)
	}
	t.Cleanup(func() { s.ends(t, job) })
	if again, _, _ := s.run(t, "alice", start); again["job"] != job {
		t.Errorf("the same key is %v", again)
	}
	return job
}

// ends waits until a job has ended, which it does by its limits at the latest,
// and returns its status.
func (s *stage) ends(t *testing.T, job string) map[string]any {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err := s.service.Watch(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
		j, err := s.service.Operator(audit.Actor{Kind: audit.ByCLI}).Job(context.WithoutCancel(t.Context()), job)
		if err != nil {
			t.Fatal(err)
		}
		if !j.Ended.IsZero() {
			if t.Context().Err() != nil {
				return nil
			}
			status, code, message := s.run(t, "alice", fmt.Sprintf("run.status(job=%q)", job))
			if code != "" {
				t.Fatal(code, message)
			}
			return status
		}
	}
	t.Fatalf("%s does not end", job)
	return nil
}

// A program prepares a run, people approve it, a program starts it and reads its
// result: all that stands between is generated, and the candidate runs.
func TestRunCandidate(t *testing.T) {
	ada, bob := twoPeople()
	s, host := newLab(t, `
def main():
    print("progress: rating " + data["candidate"])
    print("seed", data["seed"])
    return {"score": 0.5, "label": "r" + str(data["rounds"])}
`, ada, bob)
	if _, code, message := s.run(t, "alice", `lab.evaluate.prepare(candidate="bad", key="k")`); code != "no_candidate" && code != "sandbox_unavailable" {
		t.Errorf("the handler refuses, and the program gets %s: %s", code, message)
	}
	job := s.start(t, "k1")
	status := s.ends(t, job)
	if status["state"] != "SUCCEEDED" || status["capability"] != "lab.evaluate" || status["started"] == nil || status["failure"] != nil {
		t.Fatalf("%v", status)
	}
	of := fmt.Sprintf("(job=%q)", job)
	r, code, message := s.run(t, "alice", "run.result"+of)
	result, _ := r["result"].(map[string]any)
	report, _ := r["report"].(string)
	if result["score"] != 0.5 || result["label"] != "r10" || !strings.Contains(report, job) || len(fmt.Sprint(r["sha256"])) != 64 {
		t.Errorf("%v %s %s", r, code, message)
	}
	if logs, _, _ := s.run(t, "alice", "run.logs"+of); !strings.Contains(fmt.Sprint(logs["logs"]), "seed 7") {
		t.Errorf("%v", logs)
	}
	if c, _, _ := s.run(t, "alice", "run.cancel"+of); c["state"] != "SUCCEEDED" || c["already_ended"] != true {
		t.Errorf("%v", c)
	}
	for _, name := range []string{"status", "result", "logs", "cancel"} {
		if _, code, _ := s.run(t, "mallory", "run."+name+of); code != "not_found" {
			t.Errorf("another subject's run.%s: %q", name, code)
		}
	}
	for subject, want := range map[string]int{"alice": 1, "mallory": 0} {
		if list, _, _ := s.run(t, subject, `run.list(state="SUCCEEDED", capability="evaluation")`); len(list["jobs"].([]any)) != want {
			t.Errorf("%s has %v", subject, list)
		}
	}
	if host.planned != 2 {
		t.Errorf("planned %d times", host.planned)
	}
}

// What breaks the schema of the output is no result.
func TestRunCandidateWithoutResult(t *testing.T) {
	ada, bob := twoPeople()
	s, _ := newLab(t, "def main():\n    return {\"score\": 2}\n", ada, bob)
	job := s.start(t, "k1")
	if status := s.ends(t, job); status["state"] != "FAILED" || status["failure"] != "result" {
		t.Errorf("%v", status)
	}
	if _, code, _ := s.run(t, "alice", fmt.Sprintf("run.result(job=%q)", job)); code != "conflict" {
		t.Errorf("its result: %q", code)
	}
}
