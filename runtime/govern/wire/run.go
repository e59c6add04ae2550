package wire

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/runner"
)

// RunStatus answers run.status.
func RunStatus(g *govern.Service) func(context.Context, RunStatusInput) (RunStatusOutput, error) {
	return func(ctx context.Context, in RunStatusInput) (RunStatusOutput, error) {
		j, err := g.Job(ctx, in.Job)
		if err != nil {
			return RunStatusOutput{}, err
		}
		return RunStatusOutput{
			Job: j.Job, Plan: j.Plan, Capability: j.Capability, State: j.State,
			Failure: given(j.Failure), Message: given(j.Message), Progress: given(j.Progress),
			Created: canon.NewDateTime(j.Created.UTC()), Started: moment(j.Started), Ended: moment(j.Ended),
			Heartbeat: moment(j.Heartbeat), Deadline: moment(j.Deadline), ElapsedSeconds: elapsed(j),
		}, nil
	}
}

// elapsed is for how many whole seconds a job has run, as far as anybody has
// seen: to its end, or to its last heartbeat.
func elapsed(j govern.Job) int64 {
	to := j.Ended
	if to.IsZero() {
		to = j.Heartbeat
	}
	if j.Started.IsZero() || to.Before(j.Started) {
		return 0
	}
	return int64(to.Sub(j.Started) / time.Second)
}

// RunResult answers run.result.
func RunResult(g *govern.Service) func(context.Context, RunResultInput) (RunResultOutput, error) {
	return func(ctx context.Context, in RunResultInput) (RunResultOutput, error) {
		r, err := g.JobResult(ctx, in.Job)
		if err != nil {
			return RunResultOutput{}, err
		}
		result, err := canon.CanonicalOpaque(r.Result)
		return RunResultOutput{Job: r.Job, State: r.State, Sha256: r.SHA256, Result: result, Report: r.Report}, err
	}
}

// answerable is why run.result could not answer with a result, by the bounds that
// every server with run.result has at least. They are of the whole answer, with its
// report.
func answerable(canonical []byte) error {
	if len(canonical) > runtime.DefaultMaxValueBytes {
		return fmt.Errorf("run.result answers with at most %d bytes", runtime.DefaultMaxValueBytes)
	}
	result, err := canon.CanonicalOpaque(canonical)
	if err == nil {
		w := canon.NewWireWriter(nil)
		w.Limit(runtime.DefaultMaxValueDepth, runtime.DefaultMaxValueBytes)
		const id = 64 // bytes, at most
		out := RunResultOutput{
			Job: strings.Repeat("j", id), State: string(job.Succeeded), Sha256: strings.Repeat("0", id),
			Result: result, Report: strings.Repeat(" ", runner.MaxReport),
		}
		out.Encode(w)
		err = w.End()
	}
	if err != nil {
		return fmt.Errorf("run.result could not answer with it: %w", err)
	}
	return nil
}

// RunLogs answers run.logs.
func RunLogs(g *govern.Service) func(context.Context, RunLogsInput) (RunLogsOutput, error) {
	return func(ctx context.Context, in RunLogsInput) (RunLogsOutput, error) {
		l, err := g.JobLogs(ctx, in.Job, in.TailBytes)
		if err != nil {
			return RunLogsOutput{}, err
		}
		out := RunLogsOutput{Job: l.Job, State: l.State}
		for _, log := range l.Logs {
			out.Logs = append(out.Logs, RunLogsOutputLogsItem{Name: log.Name, Size: log.Size, Truncated: log.Truncated, Text: log.Text})
		}
		return out, nil
	}
}

// RunList answers run.list.
func RunList(g *govern.Service) func(context.Context, RunListInput) (RunListOutput, error) {
	return func(ctx context.Context, in RunListInput) (RunListOutput, error) {
		page, err := g.Jobs(ctx, govern.JobFilter{
			State: string(in.State.Value), Capability: in.Capability.Value, After: in.After.Value, Limit: int(in.Limit),
		})
		if err != nil {
			return RunListOutput{}, err
		}
		out := RunListOutput{Next: given(page.Next)}
		for _, j := range page.Jobs {
			out.Jobs = append(out.Jobs, RunListOutputJobsItem{
				Job: j.Job, Plan: j.Plan, Capability: j.Capability, State: j.State, Failure: given(j.Failure),
				Created: canon.NewDateTime(j.Created.UTC()), Ended: moment(j.Ended),
			})
		}
		return out, nil
	}
}

// RunCancel answers run.cancel.
func RunCancel(g *govern.Service) func(context.Context, RunCancelInput) (RunCancelOutput, error) {
	return func(ctx context.Context, in RunCancelInput) (RunCancelOutput, error) {
		j, err := g.CancelJob(ctx, in.Job, in.Reason.Value)
		if err != nil {
			return RunCancelOutput{}, err
		}
		return RunCancelOutput{Job: j.Job, State: j.State, AlreadyEnded: j.AlreadyEnded}, nil
	}
}

// moment is a time that is absent when it is zero.
func moment(at time.Time) canon.Optional[canon.DateTime] {
	if at.IsZero() {
		return canon.Optional[canon.DateTime]{}
	}
	return canon.Some(canon.NewDateTime(at.UTC()))
}
