package operate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/internal/ptytest"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/approve/daemon"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/store/sqlite"
	"github.com/capgen/capgen/runtime/host"
)

// The accounts of TestThreeAccounts: numbers without names. The approver is in
// the group of the state directory.
const (
	agentUID    = 64_101
	serverUID   = 64_102
	approverUID = 64_103
	groupID     = 64_104
	secondUID   = 64_105 // another approver's
)

// request is what the server's process is asked for, a line each.
type request struct {
	Do, Plan, Token, Key, Text, Job, As string
	Min                                 int
	Envelope                            []byte
}

// response is what it answers.
type response struct {
	Prepared govern.Prepared
	Landed   govern.Landed
	Status   govern.Progress
	Started  govern.Started
	Job      govern.Job
	Jobs     []govern.Job
	Error    string
}

// forbidding is a capability, where the requester's account may not approve, and two
// may have to.
func forbidding(t govern.Terms, least int) govern.Terms {
	t.SelfAllowed, t.Min = false, max(1, least)
	return t
}

// answer is the server's process: it does what programs ask for, and as a hostile
// one what its account can do to its state.
func answer(ctx context.Context, s *Setup, i host.Invocation) error {
	unix.Umask(0o077) // what approvers can read does not depend on it
	service, err := s.Open(ctx, i.Env)
	if err != nil {
		return err
	}
	ctx = authz.WithSubject(ctx, authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "alice"})
	in, out := json.NewDecoder(i.Stdin), json.NewEncoder(i.Stdout)
	database := filepath.Join(s.state, sqlite.FileName)
	var kept []byte
	for {
		var r request
		if err := in.Decode(&r); err != nil {
			return service.Close()
		}
		var a response
		ctx := ctx
		if r.As != "" {
			ctx = authz.WithSubject(ctx, authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: r.As})
		}
		switch r.Do {
		case "prepare run":
			a.Prepared, err = prepareRun(ctx, service.Service, forbidding(try, 1), r.Key, r.Text)
		case "start":
			a.Started, err = govern.StartRun(ctx, service.Service, forbidding(try, 1), govern.Claim{Plan: r.Plan, Token: r.Token, Key: r.Key})
		case "job":
			a.Job, err = service.Job(ctx, r.Job)
		case "jobs":
			var page govern.JobPage
			page, err = service.Jobs(ctx, govern.JobFilter{})
			a.Jobs = page.Jobs
		case "logs":
			_, err = service.JobLogs(ctx, r.Job, defaultTail)
		case "result":
			_, err = service.JobResult(ctx, r.Job)
		case "cancel":
			a.Job, err = service.CancelJob(ctx, r.Job, "")
		case "prepare":
			a.Prepared, err = govern.PrepareChange(ctx, service.Service, forbidding(publish, r.Min), []byte(`{}`), r.Key, func(context.Context) (govern.Change, error) {
				return govern.Change{Root: "notes", Path: "june", Summary: "publish june", Files: []govern.File{{Path: "a.txt", Content: []byte(r.Text)}}}, nil
			})
		case "apply":
			a.Landed, err = govern.ApplyChange(ctx, service.Service, forbidding(publish, r.Min), govern.Claim{Plan: r.Plan, Token: r.Token, Key: r.Key})
		case "status":
			a.Status, err = service.Status(ctx, r.Plan)
		case "forge": // write the envelope of another plan into the database
			err = forge(ctx, s.state, r.Plan, r.Envelope)
		case "keep":
			kept, err = os.ReadFile(database)
		case "restore":
			if err = service.Close(); err == nil {
				err = os.WriteFile(database, kept, 0)
			}
			if err == nil {
				service, err = s.Open(ctx, i.Env)
			}
		default:
			err = errors.New("what?")
		}
		if err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
}

func forge(ctx context.Context, state, plan string, envelope []byte) error {
	db, err := sqlite.Open(ctx, state, store.Options{AuditKey: audit.Key{ID: "k", Secret: make([]byte, audit.MinSecretBytes)}})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.InsertApproval(plan, envelope)
		return err
	})
}

// attempt is what an account tries that may not: a line for each success, by name.
// Standard input names a plan and the processes of server and daemon.
func attempt(ctx context.Context, s *Setup, i host.Invocation, dir string) error {
	var plan string
	var server, keeper int
	if _, err := fmt.Fscan(i.Stdin, &plan, &server, &keeper); err != nil {
		return err
	}
	try := func(name string, err error) { fmt.Fprintf(i.Stdout, "%s: %v\n", name, err) }
	client := daemon.Dial(s.socket, approverUID)
	_, err := client.Signer(ctx, []byte("body"))
	try("sign", err)
	try("spend", client.Spend(ctx, [16]byte{9}, plan))
	try("begin", client.Begin(ctx, plan))
	try("end", client.End(ctx, plan))
	try("rows", forge(ctx, s.state, plan, []byte("envelope")))
	for name, pid := range map[string]int{"server": server, "daemon": keeper} {
		try("kill the "+name, unix.Kill(pid, unix.SIGTERM))
		try("trace the "+name, unix.PtraceAttach(pid))
		_, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
		try("memory of the "+name, err)
	}
	base := filepath.Dir(dir)
	binary, err := os.Executable()
	if err != nil {
		return err
	}
	for _, path := range []string{
		filepath.Join(dir, "notes", "june", "a.txt"), filepath.Join(s.state, sqlite.FileName), filepath.Join(s.state, "keys", "tokens"),
		filepath.Join(s.state, "jobs", "job_"+strings.TrimPrefix(plan, "plan_"), "alive"), filepath.Join(s.state, auditKeyFile), s.trust, binary, filepath.Join(base, "approver", "key"), filepath.Join(base, "approver", "log"),
	} {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			f.Close()
		}
		try("write "+path, err)
		try("remove "+path, os.Remove(path))
		try("let everybody write "+path, os.Chmod(path, 0o666))
	}
	for _, path := range []string{
		dir, filepath.Join(dir, "notes"), filepath.Join(dir, "notes", "june"), s.state, filepath.Join(s.state, "cas"), filepath.Join(s.state, "keys"), filepath.Join(s.state, "jobs"),
		filepath.Dir(s.trust), filepath.Dir(binary), filepath.Join(base, "approver"), filepath.Dir(s.socket),
	} {
		try("add to "+path, os.WriteFile(filepath.Join(path, "new"), nil, 0o600))
		try("move "+path, os.Rename(path, path+"-moved"))
	}
	try("take the place of the daemon", os.Remove(s.socket))
	for _, path := range []string{filepath.Join(s.state, "keys", "tokens"), filepath.Join(s.state, auditKeyFile), filepath.Join(base, "approver", "key")} {
		_, err := os.ReadFile(path)
		try("read "+path, err)
	}
	return nil
}

// accounts is a server, its agent and its approver, each of an account of its own.
type accounts struct {
	t                    *testing.T
	base, dir, binary    string
	server, keeper       *exec.Cmd
	in                   io.Writer
	out                  *json.Decoder
	state, trust, socket string
}

func (a *accounts) command(uid uint32, groups []uint32, args ...string) *exec.Cmd {
	cmd := exec.Command(a.binary, append(args, "--state", a.state, "--trust-root", a.trust, "--approval-daemon", a.socket, "--approval-daemon-uid", fmt.Sprint(approverUID))...)
	cmd.Env = []string{asServer + "=" + a.dir, "PATH=" + os.Getenv("PATH"), "USER=root", "HOME=/", "GORACE=" + os.Getenv("GORACE")}
	cmd.Dir = "/"
	if uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid, Groups: groups}}
	}
	return cmd
}

// run runs a command as an account to its end.
func (a *accounts) run(code int, uid uint32, groups []uint32, args ...string) string {
	a.t.Helper()
	cmd := a.command(uid, groups, args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		a.t.Fatalf("%d: %s: %v\n%s", uid, args, err, out)
	}
	return string(out)
}

// stopping ends a process that was started, with the test.
func (a *accounts) stopping(cmd *exec.Cmd) {
	a.t.Cleanup(func() {
		if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
			a.t.Error(err)
		}
	})
}

func newAccounts(t *testing.T) *accounts {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be three accounts")
	}
	base, err := os.MkdirTemp("", "accounts")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	base, err = filepath.EvalSymlinks(base)
	must(t, err)
	a := &accounts{
		t: t, base: base, dir: filepath.Join(base, "server"), binary: filepath.Join(base, "bin", "server"),
		state: filepath.Join(base, "server", "state"), trust: filepath.Join(base, "etc", "trust"), socket: filepath.Join(base, "run", "socket"),
	}
	must(t, os.Chmod(base, 0o755))
	for name, uid := range map[string]int{"bin": 0, "etc": 0, "server": serverUID, "server/notes": serverUID, "approver": approverUID, "run": approverUID, "agent": agentUID} {
		path := filepath.Join(base, name)
		must(t, os.MkdirAll(path, 0o755))
		must(t, os.Chown(path, uid, uid))
	}
	must(t, os.Chmod(filepath.Join(base, "approver"), 0o700))
	content, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	must(t, os.WriteFile(a.binary, content, 0o755))

	key := filepath.Join(base, "approver", "key")
	made := a.command(approverUID, nil, "keys", "new", key, "--name", "ada")
	line, err := made.Output()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EACCES) {
		t.Skipf("this root cannot be other accounts: %v", err)
	}
	must(t, err)
	other := filepath.Join(base, "approver", "other")
	more := a.run(0, approverUID, nil, "keys", "new", other, "--name", "bob")
	more = more[strings.Index(more, "ed25519 "):]
	must(t, os.WriteFile(a.trust, []byte(string(line)+strings.Replace(more, fmt.Sprint("uid=", approverUID), fmt.Sprint("uid=", secondUID), 1)), 0o644))

	a.keeper = a.command(approverUID, nil, "daemon", "--signer", fmt.Sprintf("%d=%s", approverUID, key), "--signer", fmt.Sprintf("%d=%s", secondUID, other), "--server-uid", strconv.Itoa(serverUID), "--log", filepath.Join(base, "approver", "log"))
	ready, err := a.keeper.StderrPipe()
	must(t, err)
	must(t, a.keeper.Start())
	a.stopping(a.keeper)
	if text, err := bufio.NewReader(ready).ReadString('\n'); !strings.Contains(text, "ready") {
		t.Fatalf("%q, %v", text, err)
	}
	go io.Copy(io.Discard, ready) // ends with the daemon

	a.server = a.command(serverUID, nil, "answer")
	a.server.Stderr = os.Stderr
	out, err := a.server.StdoutPipe()
	must(t, err)
	in, err := a.server.StdinPipe()
	must(t, err)
	must(t, a.server.Start())
	t.Cleanup(func() {
		if err := errors.Join(in.Close(), a.server.Wait()); err != nil {
			t.Error(err)
		}
	})
	a.in, a.out = in, json.NewDecoder(out)
	return a
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ask has the server's process do something.
func (a *accounts) ask(r request) response {
	a.t.Helper()
	must(a.t, json.NewEncoder(a.in).Encode(r))
	var got response
	must(a.t, a.out.Decode(&got))
	return got
}

// prepare is a plan to publish a note.
func (a *accounts) prepare(key, text string) govern.Prepared {
	a.t.Helper()
	r := a.ask(request{Do: "prepare", Key: key, Text: text})
	if r.Error != "" {
		a.t.Fatal(r.Error)
	}
	return r.Prepared
}

var readers = []uint32{groupID}

// decide answers the question of a command of an approver's.
func (a *accounts) decide(uid uint32, args ...string) (shown, rest string) {
	a.t.Helper()
	shown, answer := a.question(uid, args...)
	return shown, answer()
}

// question is what such a command shows until it asks; answer is its end.
func (a *accounts) question(uid uint32, args ...string) (shown string, answer func() (rest string)) {
	a.t.Helper()
	terminal, err := ptytest.Start(a.command(uid, readers, args...))
	if errors.Is(err, ptytest.ErrNoTerminals) {
		a.t.Skip(err)
	}
	must(a.t, err)
	shown, words, err := terminal.Question()
	if err != nil {
		a.t.Fatalf("%s\n%v", shown, err)
	}
	return shown, func() string {
		must(a.t, terminal.Answer(words+"\n"))
		rest, err := terminal.Wait()
		if err != nil {
			a.t.Fatalf("%s\n%s\n%v", shown, rest, err)
		}
		return rest
	}
}

// attempts are what an account got done of what only others may do.
func (a *accounts) attempts(uid uint32, groups []uint32, plan string) (done []string, tried int) {
	a.t.Helper()
	cmd := a.command(uid, groups, "attempt")
	keeper := a.keeper.Process.Pid
	if uid == approverUID {
		keeper = a.server.Process.Pid // its own it may end
	}
	cmd.Stdin = strings.NewReader(fmt.Sprintln(plan, a.server.Process.Pid, keeper))
	out, err := cmd.Output()
	must(a.t, err)
	for line := range strings.Lines(string(out)) {
		tried++
		refused := false
		for _, text := range []string{"permission denied", "operation not permitted", daemon.ErrForbidden.Error(), "belongs to account", "unable to open database", "device or resource busy"} {
			refused = refused || strings.Contains(line, text)
		}
		if !refused {
			done = append(done, line)
		}
	}
	return done, tried
}

// TestThreeAccounts: agent, server and approver have an account each. What the
// approver's account approves through the daemon lands, once, whatever becomes of
// the database; the agent's account can neither approve nor write anything that
// decides.
func TestThreeAccounts(t *testing.T) {
	a := newAccounts(t)
	p := a.prepare("k1", "hello\n")
	for _, path := range []string{sqlite.FileName, "cas"} {
		if info, err := os.Stat(filepath.Join(a.state, path)); err != nil || info.Mode().Perm()&0o044 != 0o044 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	a.run(host.ExitFailed, approverUID, readers, "pending") // 0700: not yet
	must(t, os.Chown(a.state, serverUID, groupID))
	must(t, os.Chmod(a.state, 0o750))

	if out := a.run(0, approverUID, readers, "pending"); !strings.Contains(out, p.Plan) {
		t.Errorf("%s", out)
	}
	if out := a.run(0, approverUID, readers, "show", p.Plan); !strings.Contains(out, "hello") {
		t.Errorf("%s", out)
	}
	for _, command := range []string{"pending", "show " + p.Plan, "approve " + p.Plan} {
		a.run(host.ExitFailed, agentUID, nil, strings.Fields(command)...)
	}
	if r := a.ask(request{Do: "apply", Plan: p.Plan, Token: p.Token, Key: "a1"}); !strings.Contains(r.Error, "approval_required") {
		t.Errorf("nobody approved: %+v", r)
	}
	key := filepath.Join(a.base, "agent", "key")
	a.run(0, agentUID, nil, "keys", "new", key)
	if out := a.run(host.ExitFailed, agentUID, nil, "approve", p.Plan, "--key", key); !strings.Contains(out, "permission denied") && !strings.Contains(out, "belongs to account") {
		t.Errorf("%s", out)
	}
	if shown, rest := a.decide(approverUID, "approve", p.Plan); !strings.Contains(shown, "hello") || !strings.Contains(rest, fmt.Sprintf("approved %s as %d ", p.Plan, approverUID)) {
		t.Errorf("%s, %s", shown, rest)
	}

	ok(t, a.ask(request{Do: "keep"}))
	for range 2 {
		if r := a.ask(request{Do: "apply", Plan: p.Plan, Token: p.Token, Key: "a1"}); r.Landed.State != "applied" {
			t.Fatalf("%+v", r)
		}
	}
	if r := a.ask(request{Do: "apply", Plan: p.Plan, Token: p.Token, Key: "a2"}); !strings.Contains(r.Error, "token_replayed") {
		t.Errorf("%+v", r)
	}
	note := filepath.Join(a.dir, "notes", "june")
	if text, err := os.ReadFile(filepath.Join(note, "a.txt")); err != nil || string(text) != "hello\n" {
		t.Errorf("%q, %v", text, err)
	}

	done, tried := a.attempts(agentUID, nil, p.Plan)
	if tried < 50 || len(done) > 0 {
		t.Errorf("of %d, the agent's account could:\n%s", tried, strings.Join(done, ""))
	}
	// The approver's can do with its own what it wants, and nothing else.
	done, _ = a.attempts(approverUID, readers, p.Plan)
	for _, line := range done {
		if !strings.HasPrefix(line, "sign:") && !strings.Contains(line, "daemon") && !strings.Contains(line, filepath.Join(a.base, "approver")) && !strings.Contains(line, filepath.Join(a.base, "run")) {
			t.Errorf("the approver's account could: %s", line)
		}
	}
}

// ok is for what is done.
func ok(t *testing.T, r response) {
	t.Helper()
	if r.Error != "" {
		t.Fatal(r.Error)
	}
}

// TestHostileServer: the server's own account can write its database, and still
// lands nothing that nobody approved, and nothing twice that somebody did.
func TestHostileServer(t *testing.T) {
	a := newAccounts(t)
	p := a.prepare("k1", "hello\n")
	must(t, os.Chown(a.state, serverUID, groupID))
	must(t, os.Chmod(a.state, 0o750))
	a.decide(approverUID, "approve", p.Plan)
	ok(t, a.ask(request{Do: "keep"}))

	if r := a.ask(request{Do: "apply", Plan: p.Plan, Token: p.Token, Key: "a1"}); r.Landed.State != "applied" {
		t.Fatalf("%+v", r)
	}
	note := filepath.Join(a.dir, "notes", "june")
	must(t, os.RemoveAll(note))
	ok(t, a.ask(request{Do: "restore"}))
	for _, key := range []string{"a1", "a2"} {
		if r := a.ask(request{Do: "apply", Plan: p.Plan, Token: p.Token, Key: key}); !strings.Contains(r.Error, "token_replayed") {
			t.Errorf("%+v", r)
		}
	}
	if _, err := os.Stat(note); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it has landed twice: %v", err)
	}
	if r := a.ask(request{Do: "status", Plan: p.Plan}); r.Status.Status != "prepared" || r.Status.State != "" {
		t.Errorf("%+v", r)
	}

	// The envelope of one plan says nothing of another, whoever writes it where.
	envelopes, err := daemon.Dial(a.socket, approverUID).Envelopes(t.Context(), p.Plan)
	if err != nil || len(envelopes) != 1 {
		t.Fatalf("%d, %v", len(envelopes), err)
	}
	other := a.prepare("k2", "something else\n")
	ok(t, a.ask(request{Do: "forge", Plan: other.Plan, Envelope: envelopes[0]}))
	if r := a.ask(request{Do: "apply", Plan: other.Plan, Token: other.Token, Key: "a1"}); !strings.Contains(r.Error, "approval_required") {
		t.Errorf("%+v", r)
	}

	// Nor does it choose who may approve.
	text, err := os.ReadFile(a.trust)
	must(t, err)
	key := a.run(0, serverUID, nil, "keys", "new", filepath.Join(a.dir, "key"), "--name", "srv")
	must(t, os.WriteFile(a.trust, append(text, key[strings.Index(key, "ed25519 "):]...), 0o644))
	must(t, os.Chown(a.trust, serverUID, serverUID))
	if r := a.ask(request{Do: "prepare", Key: "k3", Text: "x"}); !strings.Contains(r.Error, "forbidden") || !strings.Contains(r.Error, "the trust root belongs to it") {
		t.Errorf("%+v", r)
	}
	// Nor, where it is the only one, approve: that is refused before anybody is asked.
	must(t, os.Chown(a.trust, 0, 0))
	must(t, os.WriteFile(a.trust, []byte(key[strings.Index(key, "ed25519 "):]), 0o644))
	if r := a.ask(request{Do: "prepare", Key: "k3", Text: "x"}); !strings.Contains(r.Error, "forbidden") || !strings.Contains(r.Error, "an operator adds keys of other accounts") {
		t.Errorf("%+v", r)
	}
	if out := a.run(host.ExitFailed, 0, nil, "doctor", "--agent-uid", fmt.Sprint(serverUID)); !regexp.MustCompile(`(?m)^approval_separation +none$`).MatchString(out) {
		t.Errorf("%s", out)
	}
}

// TestTwoApproversAtOnce: each is counted, whoever is first, and neither twice.
func TestTwoApproversAtOnce(t *testing.T) {
	a := newAccounts(t)
	r := a.ask(request{Do: "prepare", Key: "k1", Text: "hello\n", Min: 2})
	ok(t, r)
	must(t, os.Chown(a.state, serverUID, groupID))
	must(t, os.Chmod(a.state, 0o750))
	apply := request{Do: "apply", Plan: r.Prepared.Plan, Token: r.Prepared.Token, Key: "a1", Min: 2}
	for range 2 {
		a.decide(approverUID, "approve", r.Prepared.Plan)
	}
	if r := a.ask(apply); !strings.Contains(r.Error, "1 more to approve") {
		t.Errorf("one approved twice: %+v", r)
	}
	_, first := a.question(approverUID, "approve", r.Prepared.Plan)
	_, second := a.question(secondUID, "approve", r.Prepared.Plan)
	second()
	first()
	if r := a.ask(apply); r.Landed.State != "applied" {
		t.Errorf("%+v", r)
	}
}

// TestDoctorOfThreeAccounts: that they are apart is said only while nothing that
// decides can be written by the agent's account, and what can is named.
func TestDoctorOfThreeAccounts(t *testing.T) {
	a := newAccounts(t)
	a.prepare("k1", "hello\n")
	must(t, os.Mkdir(filepath.Join(a.dir, "notes", "may"), 0o755))
	doctor := func(agent int) string {
		return a.run(host.ExitFailed, 0, nil, "doctor", "--agent-uid", fmt.Sprint(agent))
	}
	separation := regexp.MustCompile(`(?m)^approval_separation +(\w+)$`)
	word := func(out string) string {
		m := separation.FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("%s", out)
		}
		return m[1]
	}
	before := listing(t, a.base)
	if out := doctor(agentUID); word(out) != "full" || strings.Contains(out, "MISSING") || !strings.Contains(out, "cannot be built: it serves nothing") {
		t.Errorf("%s", out)
	}
	if after := listing(t, a.base); after != before {
		t.Errorf("doctor wrote:\n%s\n%s", before, after)
	}
	for agent, want := range map[int]string{serverUID: "partial", approverUID: "none"} {
		if out := doctor(agent); word(out) != want {
			t.Errorf("account %d: %s", agent, out)
		}
	}
	object, err := filepath.Glob(filepath.Join(a.state, "cas", "*"))
	if err != nil || len(object) == 0 {
		t.Fatalf("%d objects, %v", len(object), err)
	}
	for _, path := range []string{
		filepath.Join(a.dir, "notes"), filepath.Join(a.dir, "notes", "may"), filepath.Join(a.state, "cas"), object[0], filepath.Join(a.state, sqlite.FileName),
		filepath.Join(a.state, "keys"), filepath.Join(a.state, auditKeyFile), a.trust, filepath.Dir(a.trust), a.binary, a.dir, a.base,
	} {
		info, err := os.Stat(path)
		must(t, err)
		for _, more := range []fs.FileMode{0o002, 0o020} {
			must(t, os.Chmod(path, info.Mode().Perm()|more))
			if out := doctor(agentUID); word(out) == "full" || !strings.Contains(out, "MISSING "+path+" can be written by the agent's account") {
				t.Errorf("%s: %s", path, out)
			}
			must(t, os.Chmod(path, info.Mode().Perm()))
		}
	}
	if out := doctor(agentUID); word(out) != "full" {
		t.Errorf("%s", out)
	}
}
