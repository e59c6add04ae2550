package operate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/internal/ptytest"
	"github.com/capgen/capgen/internal/sshagenttest"
	"github.com/capgen/capgen/internal/testdir"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/host"
)

// asServer makes the test binary a server with governed changes, below the
// directory that it names.
const asServer = "CAPGEN_TEST_OPERATE"

func TestMain(m *testing.M) {
	runtime.ServeWorkerAndExit()
	scope.ServeKeeperAndExit()
	dir := os.Getenv(asServer)
	if self, err := os.Executable(); err == nil && dir == "" && filepath.Base(self) == "server" { // doctor runs it so
		dir = filepath.Join(filepath.Dir(filepath.Dir(self)), "server")
	}
	if i := slices.Index(os.Args, "--state"); i > 1 && os.Args[1] == superviseCommand { // a server that is a test has started it
		dir = filepath.Dir(os.Args[i+1])
	}
	if dir != "" {
		s := &Setup{
			Roots:   func() (map[string]string, error) { return map[string]string{"notes": filepath.Join(dir, "notes")}, nil },
			Runners: func() ([]runner.Runner, error) { return []runner.Runner{shell()}, nil }, Results: results,
		}
		extension := s.Extension()
		extension.Commands = append(extension.Commands,
			host.Command{Name: "answer", Summary: "do what programs ask for on standard input", Run: func(ctx context.Context, i host.Invocation) error { return answer(ctx, s, i) }},
			host.Command{Name: "attempt", Summary: "try what only others may do", Run: func(ctx context.Context, i host.Invocation) error { return attempt(ctx, s, i, dir) }})
		os.Exit(host.Main(host.Options{
			Name: "server", Version: "1", Flags: s.Flags, Extension: extension,
			Build: func(ctx context.Context, env host.Env) (*runtime.Server, error) {
				service, err := s.Open(ctx, env)
				if err != nil {
					return nil, err
				}
				return nil, errors.Join(errors.New("it serves nothing"), service.Close())
			},
		}))
	}
	os.Exit(m.Run())
}

// place is a server's directory: state, a root, and what decides about both.
type place struct {
	t        *testing.T
	dir, key string
}

func newPlace(t *testing.T) place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(testdir.Open(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "notes"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := place{t, dir, filepath.Join(dir, "key")}
	line, _ := p.run(0, "keys", "new", p.key, "--name", "ada")
	if err := os.WriteFile(filepath.Join(dir, "trust"), []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append(args, "--state", filepath.Join(p.dir, "state"), "--trust-root", filepath.Join(p.dir, "trust"))...)
	cmd.Env = append(os.Environ(), asServer+"="+p.dir)
	return cmd
}

// run runs a command without a terminal.
func (p place) run(code int, args ...string) (stdout, stderr string) {
	p.t.Helper()
	cmd := p.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		p.t.Fatalf("%s: %v\n%s%s", args, err, &out, &errs)
	}
	return out.String(), errs.String()
}

// refused is what a command that asks for nothing prints on a terminal, where it
// fails.
func (p place) refused(args ...string) string {
	p.t.Helper()
	terminal, err := ptytest.Start(p.command(args...))
	if errors.Is(err, ptytest.ErrNoTerminals) {
		p.t.Skip(err)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	rest, err := terminal.Wait()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != host.ExitFailed {
		p.t.Fatalf("%s\n%v", rest, err)
	}
	return rest
}

// service is the server's own, as its process has it, changed by change.
func (p place) service(change ...func(*Setup)) *Service {
	p.t.Helper()
	return p.serving("", change...)
}

// made makes the state directory, as a server does.
func (p place) made() {
	p.t.Helper()
	s := &Setup{state: filepath.Join(p.dir, "state"), trust: filepath.Join(p.dir, "trust")}
	service, err := s.Open(p.t.Context(), host.Env{Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = service.Close()
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// serving is that of a command.
func (p place) serving(command string, change ...func(*Setup)) *Service {
	p.t.Helper()
	s := &Setup{
		state: filepath.Join(p.dir, "state"), trust: filepath.Join(p.dir, "trust"),
		Roots: func() (map[string]string, error) {
			return map[string]string{"notes": filepath.Join(p.dir, "notes")}, nil
		},
		Runners: func() ([]runner.Runner, error) { return []runner.Runner{shell()}, nil }, Results: results,
	}
	for _, c := range change {
		c(s)
	}
	service, err := s.Open(p.t.Context(), host.Env{Command: command, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := service.Close(); err != nil {
			p.t.Error(err)
		}
	})
	return service
}

var publish = govern.Terms{ID: "notes.publish", Name: "notes.publish", Effect: "change", Contract: strings.Repeat("ab", 32), Min: 1, SelfAllowed: true, TTL: 15 * time.Minute}

// prepare is a plan to publish a note.
func prepare(t *testing.T, s *Service, key, text string) govern.Prepared {
	t.Helper()
	p, err := govern.PrepareChange(alice(t), s.Service, publish, []byte(`{}`), key, func(context.Context) (govern.Change, error) {
		return govern.Change{Root: "notes", Path: "june", Summary: "publish june", Files: []govern.File{{Path: "a.txt", Content: []byte(text)}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func alice(t *testing.T) context.Context {
	return authz.WithSubject(t.Context(), authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "alice"})
}

func land(t *testing.T, s *Service, p govern.Prepared) (govern.Landed, error) {
	return govern.ApplyChange(alice(t), s.Service, publish, govern.Claim{Plan: p.Plan, Token: p.Token, Key: "land " + p.Plan})
}

// decide runs a command on a terminal, and types the words that it asks for,
// changed by spoil.
func (p place) decide(spoil func(string) string, args ...string) (shown, rest string, err error) {
	p.t.Helper()
	terminal, err := ptytest.Start(p.command(args...))
	if errors.Is(err, ptytest.ErrNoTerminals) {
		p.t.Skip(err)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	shown, words, err := terminal.Question()
	if err != nil {
		p.t.Fatalf("%s\n%v", shown, err)
	}
	if err := terminal.Answer(spoil(words) + "\n"); err != nil {
		p.t.Fatal(err)
	}
	rest, err = terminal.Wait()
	return shown, rest, err
}

func same(s string) string { return s }

// TestApproveAtATerminal: what a person approved lands, and nothing else does.
func TestApproveAtATerminal(t *testing.T) {
	at := newPlace(t)
	service := at.service()
	p := prepare(t, service, "k1", "hello\n\x1b[2J")
	if out, _ := at.run(0, "pending"); !strings.Contains(out, p.Plan) || strings.Contains(out, "\x1b") || !strings.Contains(out, `publish june`) {
		t.Errorf("%q", out)
	}
	if out, _ := at.run(0, "show", p.Plan); !strings.Contains(out, "hello") || !strings.Contains(out, "The plan is prepared. Of 1 approvals") || strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
	if _, err := land(t, service, p); err == nil || !strings.Contains(err.Error(), "approval_required") && !strings.Contains(err.Error(), "approve "+p.Plan) {
		t.Errorf("not approved: %v", err)
	}

	// Without a terminal, and with other words, nothing is signed.
	if _, errs := at.run(host.ExitFailed, "approve", p.Plan, "--key", at.key); !strings.Contains(errs, "terminal") {
		t.Errorf("%q", errs)
	}
	_, rest, err := at.decide(func(words string) string { return words[1:] }, "approve", p.Plan, "--key", at.key)
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != host.ExitUsage || !strings.Contains(rest, "not confirmed") {
		t.Errorf("%q, %v", rest, err)
	}
	if _, err := land(t, service, p); err == nil {
		t.Error("landed without an approval")
	}

	shown, rest, err := at.decide(same, "approve", p.Plan, "--key", at.key)
	if err != nil || !strings.Contains(shown, "hello") || strings.Contains(shown, "\x1b") || !strings.Contains(rest, "approved "+p.Plan) {
		t.Fatalf("%q, %q, %v", shown, rest, err)
	}
	for range 2 {
		landed, err := land(t, service, p)
		if err != nil || landed.State != "applied" {
			t.Fatalf("%+v, %v", landed, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(at.dir, "notes", "june", "a.txt")); err != nil || string(text) != "hello\n\x1b[2J" {
		t.Errorf("%q, %v", text, err)
	}
	if _, errs := at.run(0, "pending"); errs != "no plans\n" {
		t.Errorf("%q", errs)
	}
	if out, _ := at.run(0, "plans"); !strings.Contains(out, p.Plan+"  applied") {
		t.Errorf("%q", out)
	}

	// The trail tells it, and verifies.
	trail, _ := at.run(0, "audit", "export")
	file := filepath.Join(at.dir, "trail.jsonl")
	if err := os.WriteFile(file, []byte(trail), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _ := at.run(0, "audit", "verify", file); !strings.Contains(out, "not authenticated") {
		t.Errorf("%q", out)
	}
	if !regexp.MustCompile(`"plan\.approve"`).MatchString(trail) || strings.Contains(trail, at.dir) {
		t.Errorf("%s", trail)
	}
}

// TestApproveWithAnSSHAgent: a key that an agent holds approves like one in a
// file.
func TestApproveWithAnSSHAgent(t *testing.T) {
	socket := sshagenttest.Start(t)
	at := newPlace(t)
	lines, _ := at.run(0, "keys", "agent", "--ssh-agent", socket, "--name", "ada")
	m := regexp.MustCompile(`^# --agent-key ([0-9a-f]{64})\n(ed25519 \S+ uid=\d+ name=ada\n)$`).FindStringSubmatch(lines)
	if m == nil {
		t.Fatalf("%q", lines)
	}
	if err := os.WriteFile(filepath.Join(at.dir, "trust"), []byte(m[2]), 0o644); err != nil {
		t.Fatal(err)
	}
	service := at.service()
	p := prepare(t, service, "k1", "hello\n")
	if _, rest, err := at.decide(same, "approve", p.Plan, "--agent-key", m[1], "--ssh-agent", socket); err != nil || !strings.Contains(rest, "approved "+p.Plan) {
		t.Fatalf("%q, %v", rest, err)
	}
	if landed, err := land(t, service, p); err != nil || landed.State != "applied" {
		t.Errorf("%+v, %v", landed, err)
	}
}

func TestRejectEndsAPlan(t *testing.T) {
	at := newPlace(t)
	service := at.service()
	p := prepare(t, service, "k1", "hello\n\x1b[2J")
	if _, errs := at.run(host.ExitUsage, "reject", p.Plan, "--key", at.key); !strings.Contains(errs, "--reason") {
		t.Errorf("%q", errs)
	}
	if _, rest, err := at.decide(same, "reject", p.Plan, "--key", at.key, "--reason", "not this month"); err != nil || !strings.Contains(rest, "rejected "+p.Plan) {
		t.Fatalf("%q, %v", rest, err)
	}
	if _, err := land(t, service, p); err == nil || !strings.Contains(err.Error(), "approval_rejected") {
		t.Errorf("%v", err)
	}
	if p, err := service.Status(alice(t), p.Plan); err != nil || p.Status != "rejected" || p.Reason != "not this month" {
		t.Errorf("%+v, %v", p, err)
	}
	if out, _ := at.run(0, "plans", "--status", "rejected"); !strings.Contains(out, p.Plan) {
		t.Errorf("%q", out)
	}
	if _, errs := at.run(host.ExitFailed, "approve", p.Plan, "--key", at.key); errs == "" {
		t.Error("it can be approved")
	}
}

// TestOnlyServersMakeAState: where none is, what was mistyped makes none, and a
// command says so in a line.
func TestOnlyServersMakeAState(t *testing.T) {
	at := newPlace(t)
	state := filepath.Join(at.dir, "state")
	none := "job_" + strings.Repeat("0a", 16)
	commands := [][]string{{"pending"}, {"plans"}, {"show", "plan_0"}, {"show", none}, {"jobs"}, {"logs", none}, {"cancel", none}, {"recover"}, {"clean"}, {"keys", "rotate"}, {"audit", "export"}}
	for _, args := range commands {
		_, errs := at.run(host.ExitFailed, args...)
		if !strings.Contains(errs, "no state directory at "+state+": ") || strings.Count(errs, "\n") != 1 || strings.Contains(errs, "lstat") {
			t.Errorf("%s: %q", args, errs)
		}
	}
	if _, err := os.Lstat(state); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, errs := at.run(host.ExitFailed, "jobs"); !strings.Contains(errs, "there are no plans yet in the state directory at "+state) || strings.Count(errs, "\n") != 1 {
		t.Errorf("%q", errs)
	}
}

func TestUpkeep(t *testing.T) {
	at := newPlace(t)
	at.made()
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{0, []string{"recover"}, "0 ended, 0 wait, 0 jobs settled"},
		{host.ExitFailed, []string{"show", "plan_0"}, ": there is no such plan [not_found]\n"},
		{0, []string{"clean"}, "0 plans found expired, 0 objects removed, 0 plans forgotten, 0 jobs cleaned"},
		{host.ExitUsage, []string{"clean", "--keep", "-1s"}, "not below zero"},
		{0, []string{"keys", "rotate"}, "tokens are issued with"},
		{0, []string{"keys", "list"}, "ada"},
		{host.ExitFailed, []string{"keys", "new", filepath.Join(at.dir, "key")}, "exists"},
		{host.ExitUsage, []string{"approve", "plan_0"}, "--key FILE"},
		{0, []string{"writable", at.dir, "/proc/version"}, at.dir + "\n"},
	} {
		out, errs := at.run(c.code, c.args...)
		if !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: %q, %q", c.args, out, errs)
		}
	}
}

// TestDoctorNamesTheSeparation: on one account there is none, and doctor says so.
// It writes nothing.
func TestDoctorNamesTheSeparation(t *testing.T) {
	at := newPlace(t)
	at.doctor()
	if _, err := os.Stat(filepath.Join(at.dir, "state")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("doctor made a state directory: %v", err)
	}
	service := at.service()
	prepare(t, service, "k1", "hello\n\x1b[2J")
	before := listing(t, at.dir)
	out := at.doctor()
	for _, want := range []string{
		`(?m)^approval_separation +none$`,
		`(?m)^approvers +ada, account \d+, key [0-9a-f]{16}$`,
		`(?m)^ +1 plans prepared$`,
		`(?m)^writable +` + regexp.QuoteMeta(filepath.Join(at.dir, "state")) + ` by account \d+$`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is missing:\n%s", want, out)
		}
	}
	if after := listing(t, at.dir); after != before {
		t.Errorf("doctor wrote:\n%s\n%s", before, after)
	}
}

// doctor is what doctor prints; the server itself cannot be built.
func (p place) doctor(args ...string) string {
	out, _ := p.run(host.ExitFailed, append([]string{"doctor"}, args...)...)
	return out
}

// listing is every path below dir with its size and time of change.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestJudge(t *testing.T) {
	ada := govern.Facts{Approvers: []approve.Approver{{UID: 30, Name: "ada"}}}
	for _, c := range []struct {
		agent  int
		facts  govern.Facts
		open   []access
		probed error
		want   string
	}{
		{agent: 10, want: "none"},
		{agent: 10, facts: govern.Facts{TrustError: errors.New("x"), Approvers: ada.Approvers}, want: "none"},
		{agent: 10, facts: govern.Facts{Approvers: []approve.Approver{{UID: 30}, {UID: 20}}}, want: "none"},
		{agent: 30, facts: ada, want: "none"},
		{agent: -1, facts: ada, want: "unknown"},
		{agent: 20, facts: ada, want: "partial"},
		{agent: 10, facts: ada, open: []access{{"/srv", "everybody can"}}, want: "partial"},
		{agent: 10, facts: ada, probed: errors.New("not root"), want: "unknown"},
		{agent: 10, facts: ada, want: "full"},
	} {
		if word, why := judge(20, c.agent, c.facts, c.open, c.probed); string(word) != c.want || why == "" {
			t.Errorf("%+v: %s, %s", c, word, why)
		}
	}
}
