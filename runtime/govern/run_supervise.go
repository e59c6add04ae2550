package govern

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/job/supervise"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
)

// openFiles is how many files a process of a candidate may have open.
const openFiles = 256

// reference is what a supervisor is told of a run's plan: the id of its job, @ and
// the plan's hash. Whoever starts one has seen that this very plan is approved;
// the rows may be others by the time the supervisor reads them.
func (p opened) reference() string { return jobID(p.ID) + "@" + p.hash.String() }

// Supervise is the process that supervises a job, which a server has started: the
// reference is what stands behind Options.Supervisor. It returns when the job has
// ended, and recovers nothing else. What runs is in the plan: Options.Runners are
// not looked at.
func Supervise(ctx context.Context, o Options, reference string) (err error) {
	s, err := open(o, func() error { return nil })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.jobs == nil {
		return errors.New("govern: runs need the path of the state directory")
	}
	id, _, _ := strings.Cut(reference, "@")
	v, err := s.seeJob(ctx, s.any, id)
	if err != nil {
		return err
	}
	if v.reference() != reference {
		return fmt.Errorf("govern: the plan of %s is not the one that it was started for", id)
	}
	if v.job.Host != s.host {
		return fmt.Errorf("govern: %s is not a job of this state directory", id)
	}
	if err := supervise.Launched(s.jobDir(v.ID)); err != nil {
		return err // somebody has typed it, perhaps while another process supervises the job
	}
	j := jobJournal{s, v.opened}
	w, err := s.work(v)
	if err != nil {
		// Nothing was started, and without a beginning nothing will be.
		s.o.Logger.ErrorContext(ctx, "a job cannot begin", "job", id, "error", err)
		m := supervise.Move{From: job.Starting, Event: job.EventFail, By: job.BySupervisor, Empty: true}
		m.Failure, m.Message = unready(err)
		_, err := j.Move(ctx, m)
		return err
	}
	_, err = supervise.Run(ctx, s.supervised(v.opened), w, j)
	return err
}

// unready is why a job cannot begin.
func unready(err error) (job.Failure, string) {
	switch {
	case errors.Is(err, runner.ErrChanged):
		return job.FailInput, "the runner is another one than was approved"
	case spoiled(err):
		return job.FailInput, "what was approved is not there any more as it was"
	}
	return job.FailInfrastructure, "its host could not make it ready: the log of its supervisor says why"
}

// spoiled tells whether err is that something of the content store is not there any
// more as it was, and not that the host could not read it.
func spoiled(err error) bool {
	return missing(err) || errors.Is(err, cas.ErrCorrupt) || errors.Is(err, cas.ErrLarge) || errors.Is(err, root.ErrConfined) || errors.Is(err, change.ErrNoTree)
}

// work is what the supervisor of a job runs: all of it is in the plan, and what
// the plan names is as it was.
func (s *Service) work(v startedRun) (w supervise.Work, err error) {
	r := v.Run
	if err := identity(r.Runner).Check(); err != nil {
		return w, err
	}
	if uid := v.job.UID; uid != 0 && !s.o.JobUIDs.has(uid) { // a row could name anybody's
		return w, fmt.Errorf("govern: account %d is not for candidates", uid)
	}
	tree, err := s.tree(r.Code)
	if err != nil {
		return w, err
	}
	for _, n := range tree.Nodes {
		if !n.Dir {
			w.Files = append(w.Files, supervise.File{Path: n.Path, Size: n.Size, SHA256: n.Digest})
		}
	}
	w.Read = func(_ context.Context, digest [32]byte, max int64) ([]byte, error) {
		content, err := s.Object(cas.Digest(digest), max)
		if spoiled(err) {
			err = fmt.Errorf("%w: %w", supervise.ErrInput, err)
		}
		return content, err
	}
	if w.Arguments = r.Arguments; w.Arguments == nil {
		w.Arguments = v.Arguments
	}
	if w.Check = s.o.Results[v.Capability]; w.Check == nil {
		return w, fmt.Errorf("govern: nothing checks the results of %s", v.Name)
	}
	w.Command, w.Scope = s.candidate(v)
	if r.Runner.Worker { // whose statuses are this program's own
		w.Statuses = map[int]job.Failure{runner.ExitLimit: job.FailLimit, runner.ExitBox: job.FailInfrastructure}
	}
	return w, nil
}

// candidate is the process that a plan says, and what holds it.
func (s *Service) candidate(v startedRun) (scope.Command, scope.Options) {
	r, l, uid := v.Run.Runner, v.Run.Limits, int(v.job.UID)
	c := scope.Command{
		Path: r.Path, Args: r.Args, Env: r.Env,
		Limits: scope.Limits{CPU: l.CPU, Memory: l.Memory, File: l.File(), Open: openFiles},
		Confine: &confine.Spec{
			Tier: confine.Tier(v.Run.Sandbox), Box: filepath.Join(s.jobDir(v.ID), "box"), Read: r.Read, Apart: filepath.Clean(s.o.Path), UID: uid, GID: uid,
		},
	}
	o := scope.Options{Tier: scope.Tier(v.Run.Scope), Cgroup: s.o.Cgroup, Memory: l.Memory, Processes: l.Processes}
	if uid != 0 || c.Confine.Tier == confine.Namespaces {
		c.Limits.Processes = l.Processes // elsewhere it would count those of others who have the account
	}
	if r.Worker {
		// It bounds its memory by itself: its address space is larger than what it
		// uses from the start, and its threads count as processes.
		c.Limits.Memory, c.Limits.Processes, o.Memory, o.Processes = 0, 0, 0, 0
		c.Env = append(c.Env[:len(c.Env):len(c.Env)], runner.MemoryVariable+"="+strconv.FormatInt(l.Memory, 10))
	}
	return c, o
}

// sweepPatience is how long it may take to remove one job's directory.
const sweepPatience = time.Minute

// sweepJobs removes the directories of jobs that are not there any more, or that
// ended before an instant.
func (s *Service) sweepJobs(ctx context.Context, before int64) (n int, err error) {
	if s.jobs == nil {
		return 0, nil
	}
	const most = 100_000
	entries, err := s.jobs.Entries(most)
	if err != nil && !errors.Is(err, root.ErrTooMany) {
		return 0, err
	}
	var over []string
	err = s.o.Store.View(ctx, func(tx *store.Tx) error {
		for _, e := range entries {
			planID, ok := planOf(e.Name)
			if !ok {
				continue
			}
			j, err := tx.Job(planID)
			switch {
			case errors.Is(err, store.ErrNotFound), err == nil && j.RunState().Ended() && j.Ended < before:
				over = append(over, planID)
			case errors.Is(err, store.ErrCorrupt): // nobody knows what it is: an operator looks
			case err != nil:
				return err
			}
		}
		return nil
	})
	for _, planID := range over {
		one, stop := context.WithTimeout(ctx, sweepPatience)
		removed := supervise.Remove(one, s.jobDir(planID))
		stop()
		switch {
		case removed == nil:
			n++
		case !errors.Is(removed, supervise.ErrHeld):
			err = errors.Join(err, removed)
		}
	}
	return n, err
}
