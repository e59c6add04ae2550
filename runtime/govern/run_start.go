package govern

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
)

// launchPatience is how long may pass before the start of a supervisor is claimed.
const launchPatience = 10 * time.Second

// StartRun starts a run that people have approved. The same key again is the same
// job, and answers its state as it is now.
func StartRun(ctx context.Context, s *Service, t Terms, c Claim) (Started, error) {
	if s.rehearsal != nil {
		return s.rehearsal.start(t, c)
	}
	owner, err := subject(ctx)
	if err != nil {
		return Started{}, err
	}
	if t.Effect != effectRun {
		return Started{}, refuse(Internal, "%s is not a run", t.Name)
	}
	l := landing{Service: s, owner: owner, terms: t, claim: c, ready: s.runnable}
	p, e, err := l.admit(ctx)
	if err != nil {
		return Started{}, err
	}
	state := job.State(e.State)
	if state == job.Queued {
		state = s.start(ctx, p)
	}
	return Started{Job: jobID(p.ID), Plan: p.ID, State: string(state)}, nil
}

// start has the supervisor of a queued job started, and tells the state then. If
// it cannot be now, Watch tries again.
func (s *Service) start(ctx context.Context, p opened) job.State {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), launchPatience)
	defer stop()
	j := jobJournal{s, p}
	if kept, err := j.kept(ctx); err != nil || kept.Host != s.host || !s.suits(kept, p) {
		return job.Queued // another process's
	}
	state, err := s.launch(ctx, s.supervised(p), j)
	if err != nil {
		s.o.Logger.ErrorContext(ctx, "a job could not be started", "job", jobID(p.ID), "error", err)
		kept, err := j.kept(ctx)
		if err != nil {
			return job.Queued // what it was when it was last seen
		}
		state = kept.RunState()
	}
	return state
}

// runnable refuses a run that could not start as it was approved, before anything
// is spent on it.
func (s *Service) runnable(ctx context.Context, p opened) error {
	now, err := s.runnerOf(p.Capability, p.Name, p.Run.Runner.Name)
	if err != nil {
		return err
	}
	if !sameRunner(now, p.Run.Runner) {
		return refuse(StaleState, "the runner is another one than when the plan was prepared").suggest("prepare another one")
	}
	if err := s.readsApart(now, confine.Tier(p.Run.Sandbox)); err != nil {
		return err
	}
	have := s.offered(ctx)
	if !slices.Contains(have.Sandbox, confine.Tier(p.Run.Sandbox)) || !slices.Contains(have.Scope, scope.Tier(p.Run.Scope)) {
		return noSandbox(p.Run.Runner.Worker).because(&unavailable{p.Run.Sandbox + ", " + p.Run.Scope})
	}
	if err := s.codeKept(p.Run); err != nil {
		return err
	}
	if err := s.o.Store.View(ctx, func(tx *store.Tx) error { return s.room(tx, p) }); err != nil {
		return err
	}
	return s.jobsThere()
}

// tryJobs refuses a run whose supervisor would not find the directory of jobs, by
// its path, as it was when the service was opened, or could not write there. A new
// one in its place is none: it has another id.
func (s *Service) tryJobs() (err error) {
	defer func() {
		if err != nil && !diskFull(err) {
			err = refuse(Internal, "the directory of jobs is not there any more as it was, or cannot be written").
				suggest("an operator looks after %s in the state directory; then try again with the same key", jobsDir).because(err)
		}
	}()
	d, err := root.Open(filepath.Join(s.o.Path, jobsDir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := private(d, 0o700); err != nil {
		return err
	}
	if id, err := readHost(d); err != nil || id != s.host {
		return errors.Join(err, errors.New("govern: the directory of jobs is another one"))
	}
	name := "try-" + strings.ToLower(rand.Text())
	made, err := d.Make(name, 0o700)
	if err != nil {
		return err
	}
	return errors.Join(made.Close(), d.Remove(name))
}

// sameRunner tells whether two runners are one.
func sameRunner(a, b plan.Runner) bool {
	return a.Name == b.Name && a.Path == b.Path && a.SHA256 == b.SHA256 && a.Entry == b.Entry && a.Worker == b.Worker &&
		slices.Equal(a.Args, b.Args) && slices.Equal(a.Env, b.Env) && slices.Equal(a.Read, b.Read)
}

// codeKept refuses a run of which an object is gone or was altered.
func (s *Service) codeKept(r *plan.Run) error {
	tree, err := s.tree(r.Code)
	for _, n := range tree.Nodes {
		if err == nil && !n.Dir {
			_, err = s.blobs.Get(n.Digest, n.Size)
		}
	}
	if missing(err) || errors.Is(err, cas.ErrCorrupt) || errors.Is(err, change.ErrNoTree) {
		return altered(err.Error())
	}
	return err
}

// room refuses a run beyond those that there may be at a time. How many jobs others
// have, it does not say.
func (s *Service) room(tx *store.Tx, p opened) error {
	all, of, err := tx.ActiveJobs(p.Capability)
	if err != nil {
		return err
	}
	most := cmp.Or(s.o.MaxJobs, DefaultMaxJobs)
	switch {
	case of >= p.Run.Limits.Parallel:
		return refuse(Capacity, "as many jobs of %s as there may be at a time have not ended", p.Name).suggest("try again later with the same key")
	case all >= most:
		return refuse(Capacity, "as many jobs as there may be at a time have not ended").suggest("try again later with the same key")
	}
	return nil
}

// queue begins the execution of a run, in the transaction that lands its plan.
func (l landing) queue(tx *store.Tx, a admission) (store.Execution, error) {
	if err := l.room(tx, a.plan); err != nil {
		return store.Execution{}, err
	}
	uid, err := l.account(tx, a)
	if err != nil {
		return store.Execution{}, err
	}
	j, err := tx.InsertJob(a.plan.ID, whole(a.at), l.host, uid)
	if err != nil {
		return store.Execution{}, err
	}
	return j.Execution, l.record(tx, about(eventRun+".queued", l.actor(), a.plan.Plan), details{"job": jobID(a.plan.ID)})
}

// account is one that no other candidate and no process has, where there are any
// for them and the tier is one of those that give it to the candidate. 0 is the
// server's own. The store alone does not tell: restored from an older copy, it
// knows nothing of a job that still runs.
func (l landing) account(tx *store.Tx, a admission) (int64, error) {
	uids := l.o.JobUIDs
	if tier := confine.Tier(a.plan.Run.Sandbox); uids.N == 0 || tier != confine.Namespaces && tier != confine.Landlock {
		return 0, nil
	}
	taken, err := tx.JobUIDs(a.at.Boot)
	if err != nil {
		return 0, err
	}
	used, err := occupied()
	if err != nil {
		return 0, fmt.Errorf("govern: which accounts processes have: %w", err)
	}
	for i := range uids.N {
		if uid := int64(uids.First + i); !slices.Contains(taken, uid) && !used[uid] {
			return uid, nil
		}
	}
	return 0, refuse(Capacity, "every account for candidates is in use").suggest("try again later with the same key")
}
