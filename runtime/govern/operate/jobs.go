package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/host"
)

const (
	jobPrefix   = "job_" // begins the ids of jobs
	defaultTail = 8000   // bytes of each log
)

// jobs prints the jobs of all subjects, the newest first.
func (s *Setup) jobs(ctx context.Context, i host.Invocation) (err error) {
	if s.flags.newest < 0 {
		return &host.ExitError{Code: host.ExitUsage, Err: errors.New("jobs: --newest is not below zero")}
	}
	o, service, err := s.reader(ctx, i)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	rows := [][]string{{"JOB", "STATE", "CREATED", "CAPABILITY", "ASKED BY", "NOTE"}}
	f := govern.JobFilter{State: stateWord(s.flags.status), Limit: govern.MaxPage}
	for more := true; more; {
		if left := s.flags.newest + 1 - len(rows); s.flags.newest > 0 {
			f.Limit = min(left, govern.MaxPage)
		}
		page, err := o.Jobs(ctx, f)
		if err != nil {
			return err
		}
		for _, j := range page.Jobs {
			rows = append(rows, []string{j.Job, j.State, moment(j.Created), j.Capability, j.Owner, join(unseen(j), note(j))})
		}
		f.After = page.Next
		more = f.After != "" && (s.flags.newest == 0 || len(rows) <= s.flags.newest)
	}
	if len(rows) == 1 {
		_, err := fmt.Fprintln(i.Stderr, "no jobs")
		return err
	}
	return table(i, rows)
}

// stateWord is a state as jobs have it, however it was typed.
func stateWord(text string) string {
	if strings.EqualFold(text, "active") {
		return "active"
	}
	return strings.ToUpper(text)
}

// note is why a job failed, or what it says of itself.
func note(j govern.Job) string {
	switch {
	case j.Failure != "":
		return j.Failure + ": " + j.Message
	case j.Progress != "":
		return "says " + visible.Quote(j.Progress)
	}
	return ""
}

// unseen points out a job whose supervisor is silent; empty is one that is not.
func unseen(j govern.Job) string {
	d := j.Unseen(time.Now())
	if d == 0 {
		return ""
	}
	return fmt.Sprintf("not seen for %v", d)
}

// join is what there is of the parts of a note.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}

// moment is a time in columns; empty is none.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// showJob prints how far a job has come.
func (s *Setup) showJob(ctx context.Context, i host.Invocation) (err error) {
	o, service, err := s.reader(ctx, i)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	j, err := o.Job(ctx, i.Arguments[0])
	if err != nil {
		return err
	}
	rows := [][2]string{
		{"state", j.State}, {"plan", j.Plan}, {"calls", j.Capability}, {"asked by", j.Owner},
		{"runner", j.Runner}, {"sandbox", j.Sandbox}, {"kill scope", j.Scope},
		{"created", moment(j.Created)}, {"began", moment(j.Started)}, {"seen", join(moment(j.Heartbeat), unseen(j))}, {"until", moment(j.Deadline)}, {"ended", moment(j.Ended)},
		{"failure", j.Failure}, {"", j.Message},
	}
	if j.Progress != "" {
		rows = append(rows, [2]string{"says", visible.Quote(j.Progress)})
	}
	if _, err := fmt.Fprintf(i.Stdout, "JOB %s\n", visible.Text(j.Job)); err != nil {
		return err
	}
	for _, row := range rows {
		if row[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(i.Stdout, "  %-10s %s\n", row[0], visible.Text(row[1])); err != nil {
			return err
		}
	}
	return nil
}

// logs prints the ends of a job's logs, every line of them behind a mark: none
// can pass for a line of ours.
func (s *Setup) logs(ctx context.Context, i host.Invocation) (err error) {
	if s.flags.tail < 1 {
		return &host.ExitError{Code: host.ExitUsage, Err: errors.New("logs: --tail is at least 1 byte")}
	}
	o, service, err := s.reader(ctx, i)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	l, err := o.JobLogs(ctx, i.Arguments[0], s.flags.tail)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(i.Stdout, "JOB %s is %s\n", visible.Text(l.Job), visible.Text(l.State)); err != nil {
		return err
	}
	if len(l.Logs) == 0 {
		_, err := fmt.Fprintln(i.Stderr, "there are no logs of it, or not any more: clean removes them")
		return err
	}
	for _, log := range l.Logs {
		what := ""
		if log.Truncated {
			what = ", of which this is the end"
		}
		if _, err := fmt.Fprintf(i.Stdout, "LOG %s: %d bytes%s\n", visible.Text(log.Name), log.Size, what); err != nil {
			return err
		}
		for line := range strings.Lines(log.Text) {
			if _, err := fmt.Fprintf(i.Stdout, "| %s\n", visible.Text(strings.TrimSuffix(line, "\n"))); err != nil {
				return err
			}
		}
	}
	return nil
}

// cancel asks for the end of a job. Whoever supervises it, in whatever process,
// sees that with its next heartbeat.
func (s *Setup) cancel(ctx context.Context, i host.Invocation) (err error) {
	o, service, err := s.operator(ctx, i)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	j, err := o.CancelJob(ctx, i.Arguments[0], s.flags.reason)
	if err != nil {
		return err
	}
	text := "is"
	if j.AlreadyEnded {
		text = "had ended already, as"
	}
	_, err = fmt.Fprintf(i.Stdout, "%s %s %s\n", visible.Text(j.Job), text, visible.Text(j.State))
	return err
}
