package govern

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/job/supervise"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/store"
)

// What a candidate has beside the time that its plan says: until it begins, and
// what a watchdog leaves its supervisor.
const (
	jobStart = time.Minute
	jobGrace = 15 * time.Second
)

const jobPrefix = "job_"

// jobID is the id of the job of a plan.
func jobID(planID string) string { return jobPrefix + strings.TrimPrefix(planID, "plan_") }

// planOf is the plan of a job with this id, if it is one.
func planOf(id string) (planID string, ok bool) {
	digits, ok := strings.CutPrefix(id, jobPrefix)
	planID = "plan_" + digits
	return planID, ok && plan.ValidID(planID)
}

// unknownJob is the one answer for jobs that are not there and for those of
// others.
func unknownJob() *Refusal { return refuse(NotFound, "there is no such job") }

// jobRefusal is refusal, of what was asked of a job.
func (s *Service) jobRefusal(ctx context.Context, err error) *Refusal {
	return s.refusal(ctx, jobError(err))
}

func jobError(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return unknownJob()
	}
	return err
}

// startedRun is a plan with its job.
type startedRun struct {
	opened
	job store.Job
}

// whose finds a plan: of one owner, or of any.
type whose func(tx *store.Tx, planID string) (opened, error)

func (s *Service) ownedBy(owner string) whose {
	return func(tx *store.Tx, planID string) (opened, error) { return s.owned(tx, owner, planID) }
}

// findJob is the job with an id. What is not there, and what is no job, is
// [store.ErrNotFound].
func (s *Service) findJob(tx *store.Tx, find whose, id string) (v startedRun, err error) {
	planID, ok := planOf(id)
	if !ok {
		return v, store.ErrNotFound
	}
	if v.opened, err = find(tx, planID); err != nil {
		return v, err
	}
	if v.Run == nil {
		return v, store.ErrNotFound
	}
	return s.withJob(tx, v.opened)
}

// withJob adds its job to a run's plan.
func (s *Service) withJob(tx *store.Tx, p opened) (v startedRun, err error) {
	v.opened = p
	v.job, err = tx.Job(p.ID)
	switch consumed := p.row.Status == store.Consumed; {
	case errors.Is(err, store.ErrCorrupt):
		return v, altered(err.Error())
	case errors.Is(err, store.ErrNotFound) && consumed:
		return v, altered("its job is gone")
	case err == nil && !consumed:
		return v, altered("it has a job, and was not landed")
	}
	return v, err
}

func (s *Service) seeJob(ctx context.Context, find whose, id string) (v startedRun, err error) {
	err = s.o.Store.View(ctx, func(tx *store.Tx) (err error) {
		v, err = s.findJob(tx, find, id)
		return err
	})
	if err != nil {
		return v, s.jobRefusal(ctx, err)
	}
	return v, nil
}

// view is a job as people and programs see it.
func (v startedRun) view() Job {
	r := Job{
		Job: jobID(v.ID), Plan: v.ID, Owner: v.Owner, Capability: v.Name, State: v.job.State,
		Failure: string(v.job.Failure), Message: line(v.job.Message, maxMessage), Progress: line(v.job.Progress, maxProgress),
		Created: v.job.Created.Wall, Started: v.job.Begun.Wall, Ended: instant(v.job.Ended), Heartbeat: instant(v.job.Heartbeat),
		Runner: v.Run.Runner.Name, Sandbox: v.Run.Sandbox, Scope: v.Run.Scope,
	}
	if v.job.Reason != "" && (r.Message == "" || v.job.Failure == job.FailCancelled) {
		r.Message = line(cmp.Or(r.Message, "its end was asked for")+": "+visible.Quote(v.job.Reason), maxMessage)
	}
	switch v.job.RunState() {
	case job.Queued, job.Starting:
		r.Deadline = v.job.Created.Wall.Add(jobStart)
	case job.Running:
		r.Deadline = v.job.Begun.Wall.Add(v.Run.Limits.Wall)
	}
	return r
}

// instant is microseconds since 1970 as a time; 0 is none.
func instant(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// Job is a job of the subject in ctx.
func (s *Service) Job(ctx context.Context, id string) (Job, error) {
	if s.rehearsal != nil {
		return s.rehearsal.job(id)
	}
	owner, err := subject(ctx)
	if err != nil {
		return Job{}, err
	}
	v, err := s.seeJob(ctx, s.ownedBy(owner), id)
	if err != nil {
		return Job{}, err
	}
	return v.view(), nil
}

// Job is a job of any subject.
func (o *Operator) Job(ctx context.Context, id string) (Job, error) {
	v, err := o.s.seeJob(ctx, o.s.any, id)
	if err != nil {
		return Job{}, err
	}
	return v.view(), nil
}

// JobResult is the result of a job of the subject in ctx; a conflict until there
// is one.
func (s *Service) JobResult(ctx context.Context, id string) (JobResult, error) {
	if s.rehearsal != nil {
		return s.rehearsal.result(id)
	}
	owner, err := subject(ctx)
	if err != nil {
		return JobResult{}, err
	}
	v, err := s.seeJob(ctx, s.ownedBy(owner), id)
	if err != nil {
		return JobResult{}, err
	}
	j := v.view()
	switch state := v.job.RunState(); {
	case !state.Ended():
		return JobResult{}, refuse(ConflictCode, "the job is %s, and has no result yet", state).suggest("ask run.status, and read run.logs(job=%s)", visible.Quote(j.Job))
	case state != job.Succeeded:
		return JobResult{}, refuse(ConflictCode, "the job is %s (%s), and has no result: %s", state, j.Failure, j.Message).suggest("read run.logs(job=%s)", visible.Quote(j.Job))
	}
	if err := s.itsResult(v); err != nil {
		return JobResult{}, s.refusal(ctx, err)
	}
	text, err := s.blobs.Get(*v.job.Result, plan.MaxResult)
	if missing(err) {
		return JobResult{}, notKept()
	}
	if err != nil {
		return JobResult{}, s.refusal(ctx, err)
	}
	out := JobResult{Job: j.Job, State: j.State, SHA256: v.job.Result.String(), Result: text}
	out.Report = runner.Report(runner.Result{
		Title: v.Run.Summary, Job: j.Job, Plan: j.Plan, Capability: j.Capability, State: j.State, Runner: j.Runner, Sandbox: j.Sandbox, Scope: j.Scope,
		SHA256: out.SHA256, Created: j.Created, Started: j.Started, Ended: j.Ended, JSON: text,
	})
	return out, nil
}

func notKept() *Refusal { return refuse(ConflictCode, "the result is not kept any more") }

// Bounds of the end of a log, in bytes: for programs, and for operators.
const (
	MaxTail         = 25_000
	maxOperatorTail = 1 << 20
)

// JobLogs are the last tail bytes of each log of a job of the subject in ctx. What
// has ended, and has no directory any more, has no logs.
func (s *Service) JobLogs(ctx context.Context, id string, tail int64) (JobLogs, error) {
	if s.rehearsal != nil {
		return s.rehearsal.logs(id)
	}
	owner, err := subject(ctx)
	if err != nil {
		return JobLogs{}, err
	}
	return s.logs(ctx, s.ownedBy(owner), id, tail, MaxTail)
}

// JobLogs are the last tail bytes of each log of a job of any subject. The
// directories of jobs are for the server's account alone.
func (o *Operator) JobLogs(ctx context.Context, id string, tail int64) (JobLogs, error) {
	return o.s.logs(ctx, o.s.any, id, tail, maxOperatorTail)
}

func (s *Service) logs(ctx context.Context, find whose, id string, tail, most int64) (JobLogs, error) {
	v, err := s.seeJob(ctx, find, id)
	if err != nil {
		return JobLogs{}, err
	}
	if tail < 1 || tail > most {
		return JobLogs{}, refuse(InvalidRequest, "the end of a log is of 1 to %d bytes", most)
	}
	out := JobLogs{Job: jobID(v.ID), State: v.job.State, Logs: []JobLog{}}
	if s.o.Path == "" {
		return out, nil
	}
	if v.job.RunState().Ended() {
		if _, err := os.Lstat(s.jobDir(v.ID)); errors.Is(err, fs.ErrNotExist) {
			return out, nil // removed, or there was nothing to start
		}
	}
	for _, name := range supervise.Logs() {
		l, err := supervise.Tail(s.jobDir(v.ID), name, tail)
		switch {
		case errors.Is(err, supervise.ErrUnsupported):
			return out, nil
		case errors.Is(err, fs.ErrPermission):
			return JobLogs{}, refuse(Forbidden, "the logs of jobs are for the server's account").because(err)
		case err != nil:
			return JobLogs{}, s.refusal(ctx, err)
		}
		out.Logs = append(out.Logs, JobLog{Name: l.Name, Size: l.Size, Truncated: l.Truncated, Text: l.Text})
	}
	return out, nil
}

// CancelJob asks for the end of a job of the subject in ctx. One that nothing was
// started of has ended then; of another one its supervisor is told. What has ended
// stays as it is.
func (s *Service) CancelJob(ctx context.Context, id, reason string) (Job, error) {
	if s.rehearsal != nil {
		return s.rehearsal.cancelJob(id)
	}
	owner, err := subject(ctx)
	if err != nil {
		return Job{}, err
	}
	return s.cancelJob(ctx, s.ownedBy(owner), audit.Governed{Actor: s.actor(), Subject: owner}, id, store.JobMove{By: job.ByRequester, Reason: reason, Who: owner})
}

// CancelJob asks for the end of a job of any subject.
func (o *Operator) CancelJob(ctx context.Context, id, reason string) (Job, error) {
	return o.s.cancelJob(ctx, o.s.any, audit.Governed{Actor: o.actor}, id, store.JobMove{By: job.ByOperator, Reason: reason, Who: o.actor.User})
}

func (s *Service) cancelJob(ctx context.Context, find whose, g audit.Governed, id string, m store.JobMove) (Job, error) {
	m.Event = job.EventCancel
	g.Event = eventRun + ".cancel_requested"
	if planID, ok := planOf(id); ok {
		g.Plan = planID
	}
	if len(m.Reason) > MaxReasonBytes || strings.ContainsFunc(m.Reason, func(r rune) bool { return !visible.Readable(r) }) {
		return Job{}, s.refused(ctx, g, refuse(InvalidRequest, "the reason is not a line of at most %d bytes that can be seen", MaxReasonBytes))
	}
	var v startedRun
	already := false
	look := func(tx *store.Tx) (err error) {
		v, err = s.findJob(tx, find, id)
		already = err == nil && v.job.RunState().Ended()
		return err
	}
	err := s.o.Store.View(ctx, look)
	if err == nil && !already && v.job.RunState() != job.CancelRequested {
		err = s.update(ctx, func(tx *store.Tx) error {
			if err := look(tx); err != nil || already || v.job.RunState() == job.CancelRequested {
				return err
			}
			after, err := tx.MoveJob(v.ID, v.job.RunState(), m)
			if err != nil {
				return err
			}
			v.job = after
			event := about(eventRun+"."+strings.ToLower(after.State), g.Actor, v.Plan)
			if after.RunState() == job.CancelRequested {
				event.Event = g.Event
			}
			return s.record(tx, event, details{"job": jobID(v.ID), "reason": m.Reason})
		})
	}
	if err != nil {
		return Job{}, s.refused(ctx, g, jobError(err))
	}
	if !already && v.job.RunState() == job.Cancelled {
		s.over(ctx, v.opened)
	}
	j := v.view()
	j.AlreadyEnded = already
	return j, nil
}
