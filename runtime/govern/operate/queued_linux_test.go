package operate

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/store/sqlite"
	"github.com/capgen/capgen/runtime/host"
)

// TestQueuedIsAServers: no command starts a job that waits for its start: it was
// not told of what the server was.
func TestQueuedIsAServers(t *testing.T) {
	at := newPlace(t)
	service := at.service()
	plan, err := prepareRun(alice(t), service.Service, try, "k1", "echo '{}' > out/result.json")
	must(t, err)
	if _, _, err := at.decide(same, "approve", plan.Plan, "--key", at.key); err != nil {
		t.Fatal(err)
	}
	// As long as somebody else is at it, it is left alone.
	dir := filepath.Join(at.dir, "state", "jobs", strings.Replace(plan.Plan, "plan_", "job_", 1))
	must(t, os.Mkdir(dir, 0o700))
	alive, err := os.OpenFile(filepath.Join(dir, "alive"), os.O_CREATE|os.O_RDWR, 0o600)
	must(t, err)
	must(t, unix.FcntlFlock(alive.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}))
	started, err := govern.StartRun(alice(t), service.Service, try, govern.Claim{Plan: plan.Plan, Token: plan.Token, Key: "go"})
	must(t, err)
	must(t, alive.Close())
	for _, command := range [][]string{{"recover"}, {"clean"}, {"keys", "rotate"}} {
		out, errs := at.run(0, command...)
		if j, err := service.Operator(actor()).Job(t.Context(), started.Job); err != nil || j.State != string(job.Queued) {
			t.Errorf("%s: %s, %v\n%s%s", command, j.State, err, out, errs)
		}
	}
	must(t, service.Watch(t.Context()))
	at.becomes(service, started.Job, job.Succeeded)
}

// TestDelegated: doctor finds what keeps control groups from being made.
func TestDelegated(t *testing.T) {
	files := func(controllers, passed, processes string) map[string]string {
		return map[string]string{"cgroup.controllers": controllers, "cgroup.subtree_control": passed, "cgroup.procs": processes, "cgroup.kill": ""}
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"good":           {files("cpu memory pids\n", "", ""), ""},
		"passes them on": {files("memory pids\n", "memory pids\n", "12\n"), ""},
		"no memory":      {files("cpu pids\n", "", ""), "no controller memory"},
		"has processes":  {files("memory pids\n", "memory\n", "12\n"), "passes no controller pids on"},
		"none":           {map[string]string{}, "no control group of version 2"},
	} {
		dir := t.TempDir()
		for file, text := range c.files {
			must(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
		}
		s := Setup{cgroup: dir}
		if err := s.delegated(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSupervisorsNeedNoMore: what a server was told in two ways, by flags and by
// variables, does not keep its supervisors from their work.
func TestSupervisorsNeedNoMore(t *testing.T) {
	at := newPlace(t)
	service := at.service()
	plan, err := prepareRun(alice(t), service.Service, try, "k1", "echo '{}' > out/result.json")
	must(t, err)
	if _, _, err := at.decide(same, "approve", plan.Plan, "--key", at.key); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CAPGEN_APPROVAL_DAEMON", "/none/socket")
	t.Setenv("CAPGEN_MAX_JOBS", "9")
	j, err := govern.StartRun(alice(t), service.Service, try, govern.Claim{Plan: plan.Plan, Token: plan.Token, Key: "go"})
	must(t, err)
	at.becomes(service, j.Job, job.Succeeded)
}

// TestReadersOfOtherStores: commands that only read open a host's own store to read,
// and make nothing.
func TestReadersOfOtherStores(t *testing.T) {
	at := newPlace(t)
	at.made()
	must(t, os.Remove(filepath.Join(at.dir, "state", auditKeyFile)))
	before := listing(t, at.dir)
	s := &Setup{state: filepath.Join(at.dir, "state"), Store: func(context.Context, store.Options) (*store.Store, error) {
		return nil, errors.New("opened to write")
	}}
	i := host.Invocation{Env: host.Env{Logger: slog.New(slog.DiscardHandler)}}
	if _, _, err := s.reader(t.Context(), i); err == nil || !strings.Contains(err.Error(), "no ReadStore") {
		t.Errorf("%v", err)
	}
	s.ReadStore = func(ctx context.Context) (*store.Store, error) { return sqlite.OpenReadOnly(ctx, s.state) }
	o, service, err := s.reader(t.Context(), i)
	must(t, err)
	if page, err := o.Jobs(t.Context(), govern.JobFilter{}); err != nil || len(page.Jobs) > 0 {
		t.Errorf("%+v, %v", page, err)
	}
	must(t, service.Close())
	if after := listing(t, at.dir); after != before {
		t.Errorf("reading wrote:\n%s\n%s", before, after)
	}
}
