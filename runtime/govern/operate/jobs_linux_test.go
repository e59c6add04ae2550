package operate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/host"
)

// try is a capability that runs a script, as nothing confines it.
var try = govern.Terms{
	ID: "notes.try", Name: "notes.try", Effect: "run", Contract: strings.Repeat("cd", 32), Min: 1, SelfAllowed: true, TTL: 15 * time.Minute,
	Runner: "shell", Sandbox: string(confine.None),
	Limits: govern.RunLimits{Wall: time.Minute, CPU: time.Minute, Memory: 256 << 20, Output: 1 << 20, Result: 64 << 10, Processes: 8, Parallel: 1},
}

// prepareRun is a plan to run a script.
func prepareRun(ctx context.Context, s *govern.Service, t govern.Terms, key, script string) (govern.Prepared, error) {
	return govern.PrepareRun(ctx, s, t, []byte(`{}`), key, func(context.Context) (govern.Run, error) {
		return govern.Run{Summary: "try it", Files: []govern.File{{Path: "main.sh", Content: []byte(script)}}}, nil
	})
}

// started approves a plan at a terminal, and starts it.
func (p place) started(s *Service, key, script string) govern.Started {
	p.t.Helper()
	plan, err := prepareRun(alice(p.t), s.Service, try, key, script)
	must(p.t, err)
	shown, rest, err := p.decide(same, "approve", plan.Plan, "--key", p.key)
	if err != nil {
		p.t.Fatalf("%s\n%s\n%v", shown, rest, err)
	}
	j, err := govern.StartRun(alice(p.t), s.Service, try, govern.Claim{Plan: plan.Plan, Token: plan.Token, Key: "start " + key})
	must(p.t, err)
	return j
}

// becomes waits for a job to be in a state.
func (p place) becomes(s *Service, id string, want ...job.State) govern.Job {
	p.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		j, err := s.Job(alice(p.t), id)
		must(p.t, err)
		for _, w := range want {
			if j.State == string(w) {
				return j
			}
		}
		if job.State(j.State).Ended() || time.Now().After(end) {
			out, _ := p.run(0, "logs", id)
			p.t.Fatalf("%+v, want %v\n%s", j, want, out)
		}
	}
}

// asleep are the processes that sleep for a number of seconds, which is their
// mark.
func asleep(t *testing.T, seconds string) (found []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(t, err)
	for _, name := range lines {
		if text, err := os.ReadFile(name); err == nil && string(text) == "sleep\x00"+seconds+"\x00" {
			found = append(found, name)
		}
	}
	return found
}

// TestARunAtTheTerminal: what an approver sees, what operators see of the job,
// and how they end it from another process than the one that started it.
func TestARunAtTheTerminal(t *testing.T) {
	at := newPlace(t)
	service := at.service()
	script := "echo \"state in $PWD: \x1b[2J\u202eX\"\necho 'half \x1b[31mdone' > out/progress\nsleep 4071 & sleep 4071\n"
	plan, err := prepareRun(alice(t), service.Service, try, "k1", script)
	must(t, err)
	if out, _ := at.run(0, "show", plan.Plan); !strings.Contains(out, "| sleep 4071 & sleep 4071") || !strings.Contains(out, "SANDBOX ") || !strings.Contains(out, "it is there, and is that very program") {
		t.Errorf("%s", out)
	}
	j := at.started(service, "k2", script)
	at.becomes(service, j.Job, job.Running)
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if got, err := service.Job(alice(t), j.Job); err != nil || got.Progress != "" || time.Now().After(end) {
			break
		}
	}
	if len(asleep(t, "4071")) == 0 {
		t.Error("nothing runs")
	}

	for want, args := range map[string][]string{
		j.Job + `  RUNNING +\S+ +notes.try +\S+alice +says "half .*done"`: {"jobs"},
		j.Job + `  RUNNING`:               {"jobs", "--status", "running", "--newest", "1"},
		`(?m)^  says +"half .*done"$`:     {"show", j.Job},
		`(?m)^  plan +` + j.Plan + `$`:    {"show", j.Job},
		`(?m)^LOG candidate.stdout`:       {"logs", j.Job},
		`(?m)^\| state in <path>\S*: .*X`: {"logs", j.Job, "--tail", "4000"},
		`(?m)^The plan is consumed`:       {"show", j.Plan},
	} {
		out, _ := at.run(0, args...)
		if !regexp.MustCompile(want).MatchString(out) || strings.ContainsAny(out, "\x1b\u202e") {
			t.Errorf("%s: %q is missing in\n%s", args, want, out)
		}
		if args[0] == "logs" && strings.Contains(out, at.dir) {
			t.Errorf("the logs name a path of the host:\n%s", out)
		}
	}
	if _, errs := at.run(0, "jobs", "--status", "succeeded"); errs != "no jobs\n" {
		t.Errorf("%q", errs)
	}
	if out := at.doctor(); !regexp.MustCompile(`(?m)^ +1 jobs RUNNING$`).MatchString(out) || !strings.Contains(out, j.Job+" is the oldest that has not ended") {
		t.Errorf("%s", out)
	}

	if out, _ := at.run(0, "cancel", j.Job, "--reason", "not now"); !strings.Contains(out, j.Job+" is CANCEL") {
		t.Errorf("%s", out)
	}
	at.becomes(service, j.Job, job.Cancelled)
	if left := asleep(t, "4071"); len(left) > 0 {
		t.Errorf("it is cancelled, and runs on: %v", left)
	}
	if out, _ := at.run(0, "cancel", j.Job); !strings.Contains(out, "had ended already, as CANCELLED") {
		t.Errorf("%s", out)
	}
	if out, _ := at.run(0, "show", j.Job); !strings.Contains(out, "failure    cancelled") {
		t.Errorf("%s", out)
	}

	before := listing(t, at.dir)
	at.doctor()
	if after := listing(t, at.dir); after != before {
		t.Errorf("doctor wrote:\n%s\n%s", before, after)
	}
	dir := filepath.Join(at.dir, "state", "jobs", j.Job)
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
	if out, _ := at.run(0, "clean"); !strings.Contains(out, "0 jobs") {
		t.Errorf("it ended just now, and is cleaned: %s", out)
	}
	if out, _ := at.run(0, "clean", "--keep", "0s"); !strings.Contains(out, "1 jobs") {
		t.Errorf("%s", out)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if out, errs := at.run(0, "logs", j.Job); strings.Contains(out, "LOG") || !strings.Contains(errs, "not any more") {
		t.Errorf("logs that are gone: %s%s", out, errs)
	}
}

// TestServersLookAfterJobs: a server settles by itself a job whose supervisor is
// gone, and stops when it is closed; recover does the same, and says so.
func TestServersLookAfterJobs(t *testing.T) {
	for _, by := range []string{"http", "recover"} {
		t.Run(by, func(t *testing.T) {
			at := newPlace(t)
			service := at.serving(by)
			j := at.started(service, "k1", "sleep 4073\n")
			at.becomes(service, j.Job, job.Running)
			if n := killed(t, j.Job); n != 1 {
				t.Fatalf("%d supervisors", n)
			}
			// While its keeper ends what is left the job is in hand, and left alone.
			for end := time.Now().Add(time.Minute); by == "recover"; time.Sleep(20 * time.Millisecond) {
				out, errs := at.run(0, "recover")
				if out == j.Job+" ORPHANED\n" && strings.Contains(errs, "1 jobs settled") {
					break
				}
				if out != "" || time.Now().After(end) {
					t.Fatalf("%s%s", out, errs)
				}
			}
			at.becomes(service, j.Job, job.Orphaned)
			if left := asleep(t, "4073"); len(left) > 0 {
				t.Errorf("it runs on: %v", left)
			}
		})
	}
}

// killed kills the supervisor of a job, and tells how many there were.
func killed(t *testing.T, id string) (n int) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(t, err)
	for _, name := range lines {
		text, err := os.ReadFile(name)
		if err != nil || !strings.HasPrefix(string(text), "/proc/self/exe\x00supervise\x00") || !strings.Contains(string(text), id) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		must(t, err)
		must(t, syscall.Kill(pid, syscall.SIGKILL))
		n++
	}
	return n
}

// TestJobsThatAreNot: what operators ask of jobs that there are none of.
func TestJobsThatAreNot(t *testing.T) {
	at := newPlace(t)
	at.made()
	none := "job_" + strings.Repeat("0a", 16)
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{0, []string{"jobs"}, "no jobs\n"},
		{host.ExitUsage, []string{"jobs", "--newest", "-1"}, "not below zero"},
		{host.ExitFailed, []string{"jobs", "--status", "later"}, "invalid_request"},
		{host.ExitFailed, []string{"show", none}, ": there is no such job [not_found]\n"},
		{host.ExitFailed, []string{"logs", none}, ": there is no such job [not_found]\n"},
		{host.ExitUsage, []string{"logs", none, "--tail", "0"}, "at least 1"},
		{host.ExitFailed, []string{"cancel", none}, "not_found"},
		{host.ExitFailed, []string{"cancel", "job_\x1b[2J"}, "not_found"},
		{host.ExitFailed, []string{"logs", "job_../../x"}, "not_found"},
		{host.ExitFailed, []string{"supervise", none}, ""},
		{host.ExitFailed, []string{"recover", "--max-jobs", "5"}, "not for more"},
		{host.ExitUsage, []string{"recover", "--job-uids", "0-5"}, "0 is root"},
	} {
		out, errs := at.run(c.code, c.args...)
		if !strings.Contains(out+errs, c.want) || strings.Contains(out+errs, "\x1b") {
			t.Errorf("%s: %q, %q", c.args, out, errs)
		}
	}
	if out, _ := at.run(0, "help"); strings.Contains(out, "supervise") {
		t.Errorf("%s", out)
	}
}

// TestAnotherProgramIsNotApproved: where a run's program is not the frozen one any
// more, it is shown, can be rejected, and cannot be approved.
func TestAnotherProgramIsNotApproved(t *testing.T) {
	at := newPlace(t)
	content, err := os.ReadFile("/bin/sh")
	must(t, err)
	program := filepath.Join(at.dir, "sh")
	must(t, os.WriteFile(program, content, 0o755))
	service := at.service(func(s *Setup) {
		s.Runners = func() ([]runner.Runner, error) {
			r := shell()
			r.Path = program
			return []runner.Runner{r}, nil
		}
	})
	p, err := prepareRun(alice(t), service.Service, try, "k1", "true\n")
	must(t, err)
	must(t, os.WriteFile(program, append(content, 0), 0o755))
	if out, _ := at.run(0, "show", p.Plan); !strings.Contains(out, "ANOTHER PROGRAM IS THERE") || !strings.Contains(out, "| true\n") {
		t.Errorf("%s", out)
	}
	for _, spoil := range []func() error{func() error { return nil }, func() error { return os.Remove(program) }} {
		must(t, spoil())
		if out := at.refused("approve", p.Plan, "--key", at.key); !strings.Contains(out, "IT CANNOT BE APPROVED") || strings.Contains(out, "type:") {
			t.Errorf("%s", out)
		}
	}
	if v, err := service.Show(alice(t), p.Plan); err != nil || v.Approvals != 0 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, rest, err := at.decide(same, "reject", p.Plan, "--key", at.key, "--reason", "it is another program"); err != nil || !strings.Contains(rest, "rejected "+p.Plan) {
		t.Errorf("%q, %v", rest, err)
	}
}

// TestNothingOfAJobReachesTheTerminal: whatever somebody wrote into the rows of a
// job, no escape sequence is printed, where it is shown and where it is refused.
func TestNothingOfAJobReachesTheTerminal(t *testing.T) {
	const escape = "\x1b]0;x\a\x1b[2J\u202e"
	at := newPlace(t)
	service := at.service()
	j := at.started(service, "k1", "exit 3\n")
	at.becomes(service, j.Job, job.Failed)
	for column, like := range map[string]any{
		"jobs.progress": "", "jobs.failure": "", "jobs.message": "", "jobs.reason": "", "jobs.cancelled_by": "", "jobs.host": "",
		"jobs.created_boot": "", "jobs.handle": []byte(nil), "jobs.result": []byte(nil), "executions.state": "", "executions.kind": "",
	} {
		table, name, _ := strings.Cut(column, ".")
		was := at.value(`SELECT ` + name + ` FROM ` + table)
		var is any = escape
		if _, bytes := like.([]byte); bytes {
			is = []byte(escape)
		}
		at.exec(`UPDATE `+table+` SET `+name+` = ?`, is)
		for _, args := range [][]string{
			{"jobs"}, {"jobs", "--status", "active"}, {"jobs", "--status", escape}, {"show", j.Job}, {"show", j.Plan}, {"logs", j.Job}, {"cancel", j.Job},
			{"cancel", j.Job, "--reason", escape}, {"recover"}, {"clean"}, {"doctor"}, {"supervise", j.Job},
		} {
			out, _ := at.command(args...).CombinedOutput()
			if strings.ContainsAny(string(out), "\x1b\a\u202e") {
				t.Errorf("%s: %q: %q", column, args, out)
			}
		}
		at.exec(`UPDATE `+table+` SET `+name+` = ?`, was)
	}
	if out, _ := at.run(0, "show", j.Job); !strings.Contains(out, "FAILED") || !strings.Contains(out, "candidate") {
		t.Errorf("%s", out)
	}
}

// TestAJobOfThreeAccounts: an approver lets a candidate run and looks at what
// becomes of it; the agent's account, and other subjects, can neither see nor end
// it, and the job's files are the server's account's alone.
func TestAJobOfThreeAccounts(t *testing.T) {
	a := newAccounts(t)
	r := a.ask(request{Do: "prepare run", Key: "k1", Text: "sleep 4072\n"})
	ok(t, r)
	must(t, os.Chown(a.state, serverUID, groupID))
	must(t, os.Chmod(a.state, 0o750))
	p := r.Prepared
	shown, rest := a.decide(approverUID, "approve", p.Plan)
	if !strings.Contains(shown, "| sleep 4072\n") || !strings.Contains(shown, "\nSANDBOX ") || !strings.Contains(rest, "approved "+p.Plan) {
		t.Errorf("%s\n%s", shown, rest)
	}
	r = a.ask(request{Do: "start", Plan: p.Plan, Token: p.Token, Key: "s1"})
	ok(t, r)
	id := r.Started.Job
	wait := func(want job.State) {
		t.Helper()
		for end := time.Now().Add(time.Minute); r.Job.State != string(want); time.Sleep(20 * time.Millisecond) {
			r = a.ask(request{Do: "job", Job: id})
			ok(t, r)
			if job.State(r.Job.State) != want && (job.State(r.Job.State).Ended() || time.Now().After(end)) {
				t.Fatalf("%+v, want %s\n%s", r.Job, want, a.run(0, serverUID, nil, "logs", id))
			}
		}
	}
	wait(job.Running)

	// Of another subject it is as one that is not there.
	none := "job_" + strings.Repeat("0a", 16)
	for _, do := range []string{"job", "logs", "result", "cancel"} {
		theirs := a.ask(request{Do: do, Job: id, As: "bob"})
		nobodys := a.ask(request{Do: do, Job: none, As: "bob"})
		if theirs.Error == "" || theirs.Error != nobodys.Error || !strings.Contains(theirs.Error, "not_found") {
			t.Errorf("%s: %q, %q", do, theirs.Error, nobodys.Error)
		}
	}
	if r := a.ask(request{Do: "jobs", As: "bob"}); r.Error != "" || len(r.Jobs) > 0 {
		t.Errorf("%+v", r)
	}

	// Approvers look; what changes something, and the logs, is the server's account's.
	if out := a.run(0, approverUID, readers, "jobs"); !strings.Contains(out, id+"  RUNNING") {
		t.Errorf("%s", out)
	}
	if out := a.run(0, approverUID, readers, "show", id); !strings.Contains(out, "RUNNING") {
		t.Errorf("%s", out)
	}
	for _, command := range []string{"logs " + id, "cancel " + id, "supervise " + id, "clean --keep 0s", "recover"} {
		a.run(host.ExitFailed, approverUID, readers, strings.Fields(command)...)
	}
	for _, command := range []string{"jobs", "show " + id, "logs " + id, "cancel " + id, "supervise " + id, "clean --keep 0s", "recover"} {
		a.run(host.ExitFailed, agentUID, nil, strings.Fields(command)...)
	}
	dir := filepath.Join(a.state, "jobs", id)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	for uid, groups := range map[uint32][]uint32{agentUID: nil, approverUID: readers} {
		if done, _ := a.attempts(uid, groups, p.Plan); strings.Contains(strings.Join(done, ""), "jobs") {
			t.Errorf("account %d: %s", uid, done)
		}
	}
	if wait(job.Running); len(asleep(t, "4072")) == 0 {
		t.Error("nothing runs any more")
	}

	a.run(0, serverUID, nil, "cancel", id, "--reason", "enough")
	wait(job.Cancelled)
	if left := asleep(t, "4072"); len(left) > 0 {
		t.Errorf("it runs on: %v", left)
	}
	if out := a.run(0, approverUID, readers, "show", id); !strings.Contains(out, "cancelled") {
		t.Errorf("%s", out)
	}
}
