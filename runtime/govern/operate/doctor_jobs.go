package operate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// lines is how doctor writes a line.
type lines = func(name, format string, args ...any)

// doctorHost says what this host has for runs, with a state directory or
// without one.
func (s *Setup) doctorHost(ctx context.Context, line lines) bool {
	if s.Runners == nil {
		line("runs", "off: the program has no runner")
		return true
	}
	var o govern.Options
	if err := s.jobOptions(&o); err != nil {
		line("runs", "MISSING %v", err)
		return false
	}
	runners, err := s.runners()
	if err != nil {
		line("runs", "MISSING %v", err)
		return false
	}
	line("runs", "%d at a time", o.MaxJobs)
	healthy := doctorRunners(runners, line)
	healthy = s.doctorReads(runners, line) && healthy
	if len(runners) == 0 {
		line("runner", "none")
	}
	healthy = s.doctorAccounts(line) && healthy
	s.doctorTiers(ctx, line)
	return healthy
}

// doctorRunners says which programs candidates are executed with, and which of
// them are not there.
func doctorRunners(runners []runner.Runner, line lines) bool {
	healthy := true
	for _, r := range runners {
		id, err := r.Identify()
		if err != nil {
			healthy = false
			line("runner", "MISSING %s: %v", r.Name, err)
			continue
		}
		kind := "native code"
		if r.Worker {
			kind = "no native code"
		}
		line("runner", "%s: %s, SHA-256 %.16s, %s", r.Name, id.Path, id.SHA256, kind)
		if r.Note != "" {
			line("", "%s", r.Note)
		}
	}
	return healthy
}

// doctorReads says which runners would have candidates read the state directory, or
// what is not for candidates whoever keeps it.
func (s *Setup) doctorReads(runners []runner.Runner, line lines) bool {
	apart := s.state
	if _, err := os.Stat(apart); err != nil {
		apart = "" // doctor says so elsewhere
	} else if apart, err = filepath.Abs(apart); err != nil {
		apart = ""
	}
	healthy := true
	for _, r := range runners {
		if r.Worker { // reads nothing
			continue
		}
		if err := (confine.Spec{Tier: confine.Namespaces, Read: r.Read, Apart: apart}).Reads(); err != nil {
			healthy = false
			line("", "MISSING %s: %v", r.Name, err)
		}
	}
	return healthy
}

// maxNamed bounds how many of the accounts are looked up.
const maxNamed = 1024

// doctorAccounts says whose the accounts of candidates are.
func (s *Setup) doctorAccounts(line lines) bool {
	r := s.accounts
	if r.n == 0 {
		line("job_accounts", "none: candidates have the server's own (--job-uids)")
		return true
	}
	line("job_accounts", "%s, %d candidates with an account of their own at a time", r.text(), r.n)
	if os.Geteuid() != 0 {
		line("", "this process is account %d: only root gives candidates other accounts", os.Geteuid())
	}
	others := map[int]string{os.Geteuid(): "is this process's account"}
	if s.flags.agentUID >= 0 {
		others[s.flags.agentUID] = "is the agents' account"
	}
	for uid := r.first; uid < r.first+min(r.n, maxNamed); uid++ {
		if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
			others[uid] = "has a name, " + u.Username
		} else if g, err := user.LookupGroupId(strconv.Itoa(uid)); err == nil { // a candidate's group has its account's number
			others[uid] = "is the number of a group, " + g.Name
		}
	}
	return s.free(others, line)
}

// free says which of these accounts candidates could have.
func (s *Setup) free(others map[int]string, line lines) bool {
	free := true
	for _, uid := range slices.Sorted(maps.Keys(others)) {
		if s.accounts.has(uid) {
			free = false
			line("", "MISSING %d %s: it is not for candidates (--job-uids)", uid, others[uid])
		}
	}
	return free
}

// doctorTiers says what confines candidates here, what ends them, and why
// nothing better does.
func (s *Setup) doctorTiers(ctx context.Context, line lines) {
	o := confine.Options{UID: s.accounts.first, GID: s.accounts.first}
	name := "job_sandbox"
	for _, a := range confine.Probe(ctx, o) {
		if a.Err != nil {
			line(name, "%s: not here: %v", a.Tier, a.Err)
		} else {
			line(name, "%s", a.Tier)
		}
		name = ""
	}
	name = "kill_scope"
	for _, tier := range scope.Tiers() {
		var err error
		if tier == scope.Cgroup {
			err = s.delegated()
		} else {
			err = scope.Probe(ctx, scope.Options{Tier: tier})
		}
		if err != nil {
			line(name, "%s: not here: %v", tier, err)
		} else {
			line(name, "%s", tier)
		}
		name = ""
	}
}

// delegated reports why no control groups can be made below --job-cgroup, as far
// as can be told without making one.
//
// A control group that has processes passes nothing on: the kernel's
// Documentation/admin-guide/cgroup-v2.rst, No Internal Process Constraint.
func (s *Setup) delegated() error {
	if s.cgroup == "" {
		return errors.New("none was delegated (--job-cgroup)")
	}
	if !canWrite(s.cgroup) {
		return errors.New("this account cannot make groups in it")
	}
	controllers, err := os.ReadFile(filepath.Join(s.cgroup, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("no control group of version 2: %w", err)
	}
	passed, err := os.ReadFile(filepath.Join(s.cgroup, "cgroup.subtree_control"))
	if err != nil {
		return err
	}
	processes, err := os.ReadFile(filepath.Join(s.cgroup, "cgroup.procs"))
	if err != nil {
		return err
	}
	for _, needed := range []string{"memory", "pids"} {
		switch {
		case !slices.Contains(strings.Fields(string(controllers)), needed):
			return fmt.Errorf("it has no controller %s", needed)
		case len(processes) > 0 && !slices.Contains(strings.Fields(string(passed)), needed):
			return fmt.Errorf("it passes no controller %s on, and cannot as long as there are processes in it: they go into a group below", needed)
		}
	}
	if _, err := os.Stat(filepath.Join(s.cgroup, "cgroup.kill")); err != nil {
		return fmt.Errorf("the kernel cannot end a group: %w", err)
	}
	return nil
}

// doctorJobs says what has become of jobs.
func doctorJobs(f govern.Facts, line lines) {
	for _, state := range slices.Sorted(maps.Keys(f.Jobs)) {
		line("", "%d jobs %s", f.Jobs[state], state)
	}
	if j := f.OldestJob; j != nil {
		line("", "%s is the oldest that has not ended: %s since %s", j.Job, j.State, moment(j.Created))
	}
	for _, j := range f.Unseen {
		line("", "%s: its supervisor was %s", j.Job, unseen(j))
	}
}
