package govern

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/supervise"
)

// TestOpenWithoutRecovery: who opens a service to cancel a queued job does not
// start it first.
func TestOpenWithoutRecovery(t *testing.T) {
	s, _ := newRunScene(t, anywhere())
	p := s.approvedRun(t, "alice", "k1")
	s.launch = func(context.Context, supervise.Job, supervise.Journal) (job.State, error) {
		return "", errors.New("the server was killed")
	}
	s.startRun(t, "alice", p)
	o := s.o
	var log strings.Builder // a job that cannot be launched here is logged
	o.NoRecovery, o.Logger = true, slog.New(slog.NewTextHandler(&log, nil))
	quiet, err := Open(bg(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer quiet.Close()
	if j, err := quiet.Job(as("alice"), jobOf(p)); err != nil || j.State != string(job.Queued) {
		t.Errorf("%+v, %v", j, err)
	}
	if log.Len() > 0 {
		t.Errorf("it was tried to recover: %s", log.String())
	}
	operator := quiet.Operator(audit.Actor{Kind: audit.ByCLI})
	if j, err := operator.CancelJob(bg(), jobOf(p), ""); err != nil || j.State != string(job.Cancelled) || !j.Started.IsZero() {
		t.Errorf("%+v, %v", j, err)
	}
	if r, err := operator.Recover(bg()); err != nil || len(r.Jobs) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
