package govern

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/job/supervise"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
)

// settlePatience is how long one job may take to be settled.
const settlePatience = 30 * time.Second

// Watch looks once after the jobs that have not ended: what is queued is started,
// what is overdue, or has lost its supervisor, is ended. Several processes may do
// so at a time. It goes on after an error with the next one, and returns all of
// them.
func (s *Service) Watch(ctx context.Context) error {
	_, err := s.settleJobs(ctx)
	return err
}

// settlement is what looking after jobs has come to.
type settlement struct {
	moved     map[string]string // jobs whose state is another one now
	elsewhere map[string]string // jobs of other hosts, with the ids of those
	strange   []strangeRow      // rows that are not what was written
}

// settleJobs looks after the jobs of this host.
func (s *Service) settleJobs(ctx context.Context) (settlement, error) {
	out := settlement{moved: map[string]string{}, elsewhere: map[string]string{}}
	if s.jobs == nil {
		return out, nil
	}
	var errs []error
	err := s.activeJobs(ctx, func(row store.ListedJob) {
		state, err := s.settleListed(ctx, row)
		switch {
		case errors.Is(err, errAltered):
			out.strange = append(out.strange, strangeRow{row.Plan, err})
			fallthrough
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", jobID(row.Plan), err))
		case row.Host != s.host:
			out.elsewhere[jobID(row.Plan)] = row.Host
		case state != row.RunState():
			out.moved[jobID(row.Plan)] = string(state)
		}
	})
	return out, errors.Join(append(errs, err)...)
}

// activeJobs calls fn with each job that has not ended, until ctx does.
func (s *Service) activeJobs(ctx context.Context, fn func(store.ListedJob)) error {
	f := store.JobFilter{Everyone: true, Active: true, Limit: store.DefaultPage}
	for {
		var rows []store.ListedJob
		err := s.o.Store.View(ctx, func(tx *store.Tx) (err error) {
			rows, err = tx.Jobs(f)
			return err
		})
		if err != nil {
			return err
		}
		f.After = ""
		for _, row := range rows {
			if plan.ValidID(row.Plan) {
				f.After = row.Plan
			}
			fn(row)
		}
		if len(rows) < f.Limit || f.After == "" || ctx.Err() != nil {
			return nil
		}
	}
}

// settleListed looks after one job, and tells its state then.
func (s *Service) settleListed(ctx context.Context, row store.ListedJob) (job.State, error) {
	var p opened
	err := s.o.Store.View(ctx, func(tx *store.Tx) (err error) {
		if _, err = s.listedJob(tx, row); err == nil {
			p, err = s.any(tx, row.Plan)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if row.Host != s.host {
		return row.RunState(), nil // only there it is known what has become of it
	}
	ctx, stop := context.WithTimeout(ctx, settlePatience)
	defer stop()
	j := s.supervised(p)
	if !s.suits(row.Job, p) {
		j.Supervisor = supervise.Program{} // another process of this host starts it
	}
	return s.settleJob(ctx, j, jobJournal{s, p})
}

// suits tells whether the supervisor that this process would start has what a job
// takes: processes of one host may have been told of different accounts and groups.
func (s *Service) suits(kept store.Job, p opened) bool {
	return (kept.UID == 0 || s.o.JobUIDs.has(kept.UID)) &&
		(p.Run.Scope != string(scope.Cgroup) || s.o.Cgroup != "") &&
		s.o.Results[p.Capability] != nil
}

// supervised is a job as those know it who supervise it.
func (s *Service) supervised(p opened) supervise.Job {
	l := p.Run.Limits
	j := supervise.Job{
		ID: jobID(p.ID), Dir: s.jobDir(p.ID), Now: s.o.Now,
		Limits: supervise.Limits{Start: jobStart, Wall: l.Wall, Grace: jobGrace, Output: l.Output, Result: l.Result,
			Disk: plan.RunDisk, Entries: plan.RunEntries},
	}
	if argv := s.o.Supervisor; len(argv) > 0 {
		j.Supervisor = supervise.Program{Path: argv[0], Args: append(argv[:len(argv):len(argv)], p.reference()), Env: environment()}
	}
	return j
}

// jobDir is the directory of the job of a plan.
func (s *Service) jobDir(planID string) string {
	return filepath.Join(s.o.Path, jobsDir, jobID(planID))
}

// openJobs opens, or makes, the directory of jobs.
func (s *Service) openJobs() (err error) {
	if s.jobs, err = sub(s.o.State, jobsDir, 0o700); err != nil {
		return fmt.Errorf("govern: the state directory: %w", err)
	}
	if err := private(s.jobs, 0o700); err != nil {
		return fmt.Errorf("govern: %s in the state directory %w", jobsDir, err)
	}
	if s.host, err = hostOf(s.jobs); err != nil {
		return fmt.Errorf("govern: %s in the state directory: %w", jobsDir, err)
	}
	return nil
}

// hostFile holds the id of a state directory: 32 hexadecimal digits and a line
// feed.
const hostFile = "host"

// hostOf is the id in d, which is made if there is none.
func hostOf(d root.Dir) (string, error) {
	id, err := readHost(d)
	if errors.Is(err, fs.ErrNotExist) {
		if err = writeHost(d); err == nil {
			id, err = readHost(d)
		}
	}
	return id, err
}

func readHost(d root.Dir) (string, error) {
	f, err := d.Open(hostFile)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, 64))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	id, ok := strings.CutSuffix(string(text), "\n")
	if !ok || !plan.ValidStore(id) {
		return "", fmt.Errorf("%s is not 32 hexadecimal digits and a line feed", hostFile)
	}
	return id, nil
}

// writeHost makes an id, whole and durable; where another process was first, its
// id stays.
func writeHost(d root.Dir) error {
	var id [16]byte
	rand.Read(id[:])
	name := "new-" + strings.ToLower(rand.Text())
	f, err := d.Create(name, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, hex.EncodeToString(id[:])+"\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		if err = d.Move(name, hostFile); err == nil {
			return d.Sync()
		}
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	return errors.Join(err, d.Remove(name), d.Sync())
}
