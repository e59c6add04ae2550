package runtime

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/search"
)

// jobInput and jobOutput are of what tells of a job.
type jobInput struct{ Job string }

func (v *jobInput) Decode(r *canon.Reader) error {
	*v = jobInput{}
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		if string(r.Key()) != "job" {
			r.UnknownMember()
			continue
		}
		v.Job = seen.Mark(r, 0).String(0, 64)
	}
	r.Require(&seen, 0, "job")
	return r.Err()
}

func (v *jobInput) Encode(w *canon.Writer) {
	w.BeginObject(1)
	w.Key("job").String(v.Job, 0, 64)
	w.EndObject()
}

type jobOutput struct{ Job, State string }

func (v *jobOutput) Encode(w *canon.Writer) {
	w.BeginObject(2)
	w.Key("job").String(v.Job, 0, 64)
	w.Key("state").String(v.State, 0, 64)
	w.EndObject()
}

// jobCapability is one of those that tell of jobs: of that of local, "mine".
func jobCapability(name string, scopes ...string) Capability {
	return NewCapability(Info{
		ID: "id." + name, Name: name, Summary: "Ask of a job.", Search: search.Analyze(search.Texts{Name: name, Summary: "Ask of a job."}),
		Effect: EffectRead, Idempotency: IdempotencyNatural, World: WorldClosed, Scopes: scopes, Signature: name + "(*, job: str)",
		Binding: `{"id":"id.` + name + `","name":"` + name + `","input":[{"name":"job","kind":"string","maxLength":64,"required":true}],"output":{"kind":"object","fields":[` +
			`{"name":"job","kind":"string","maxLength":64,"required":true},{"name":"state","kind":"string","maxLength":64,"required":true}]}}`,
		Output: `"dict"`,
	}, func(ctx context.Context, in jobInput) (jobOutput, error) {
		if subject, _ := authz.SubjectFromContext(ctx); in.Job != "mine" || subject.String() != "local" {
			return jobOutput{}, Disclose(JobNotFound, "there is no such job")
		}
		return jobOutput{in.Job, name}, nil
	})
}

// What tells of a job is called as a tool is, without being one: it has a
// receipt, is recorded, and scopes and policy decide on it.
func TestCallJob(t *testing.T) {
	sink := new(eventSink)
	denied := ""
	s := build(t, Options{Audit: sink, Authorizer: authz.AuthorizerFunc(func(_ context.Context, r authz.Request) error {
		if view, err := r.View(); err != nil || view["job"] != "mine" && view["job"] != "theirs" {
			t.Errorf("policy sees %v, %v", view, err)
		}
		if r.ID == denied {
			return authz.ErrDenied
		}
		return nil
	})}, jobCapability("run.status"), jobCapability("run.result", "runs:read"), jobCapability("run.cancel"), jobCapability("jobs.other"))
	if !s.TellsOfJobs() || len(s.Tools()) != 0 {
		t.Fatalf("tells of jobs: %t, with the tools %v", s.TellsOfJobs(), s.Tools())
	}
	for _, c := range jobCalls() {
		x, err := s.CallJob(t.Context(), authz.Local(), c, "mine")
		if err != nil || string(x.Result) != `{"job":"mine","state":"`+string(c)+`"}` {
			t.Errorf("%s: %s, %v", c, x.Result, err)
		}
		want := []CallRecord{{Sequence: 1, ID: "id." + string(c), Name: string(c), State: CallDone, DurationMicros: x.Receipt.Calls[0].DurationMicros}}
		if diff := cmp.Diff(want, x.Receipt.Calls); diff != "" {
			t.Error(diff)
		}
		if last := sink.lines[len(sink.lines)-1]; last != `1 local id.`+string(c)+` {"job":"mine"} allowed done ` {
			t.Errorf("%s: recorded as %q", c, last)
		}
	}
	other := authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "ann", Scopes: authz.AllScopes()}
	for name, c := range map[string]struct {
		subject authz.Subject
		call    JobCall
		job     string
		denied  string
		want    fault.Fault
	}{
		"unknown":      {authz.Local(), JobStatus, "theirs", "", fault.Fault{Class: fault.CapabilityFailed, Code: JobNotFound, Message: "there is no such job"}},
		"another's":    {other, JobStatus, "mine", "", fault.Fault{Class: fault.CapabilityFailed, Code: JobNotFound, Message: "there is no such job"}},
		"policy":       {authz.Local(), JobCancel, "mine", "id.run.cancel", fault.Fault{Class: fault.Denied, Message: "permission denied"}},
		"too long":     {authz.Local(), JobStatus, strings.Repeat("a", 65), "", fault.Fault{Class: fault.InvalidArguments, Message: "expected at most 64 characters, got 65", Path: "job"}},
		"no text":      {authz.Local(), JobStatus, "mine\xff", "", fault.Fault{Class: fault.InvalidArguments, Message: "required, but missing", Path: "job"}},
		"another verb": {authz.Local(), "run.logs", "mine", "", fault.Fault{Class: fault.NotFound, Message: "no such tool"}},
		"no verb":      {authz.Local(), "jobs.other", "mine", "", fault.Fault{Class: fault.NotFound, Message: "no such tool"}},
		"nobody":       {authz.Subject{}, JobStatus, "mine", "", fault.Fault{Class: fault.Unauthenticated, Message: "no subject"}},
		"no scope": {authz.Subject{Kind: authz.KindLocal, Scopes: authz.ScopesOf("other")}, JobResult, "mine", "",
			fault.Fault{Class: fault.Denied, Message: "permission denied: the scope runs:read is required"}},
	} {
		denied = c.denied
		x, err := s.CallJob(t.Context(), c.subject, c.call, c.job)
		f := failure(t, err)
		f.Capability = ""
		if diff := cmp.Diff(c.want, f); diff != "" || x.Result != nil || x.Receipt.Execution == "" {
			t.Errorf("%s: %s\n%+v", name, diff, x)
		}
	}
}

// A server that lacks one of them tells of no jobs.
func TestTellsOfJobs(t *testing.T) {
	for _, missing := range jobCalls() {
		s := build(t, Options{DisabledCapabilities: []string{"id." + string(missing)}}, jobCapability("run.status"), jobCapability("run.result"), jobCapability("run.cancel"))
		if s.TellsOfJobs() {
			t.Errorf("tells of jobs without %s", missing)
		}
		_, err := s.CallJob(t.Context(), authz.Local(), missing, "mine")
		if f := failure(t, err); f.Class != fault.NotFound {
			t.Errorf("%s: %+v", missing, f)
		}
	}
}

// A tool that starts a job says so.
func TestToolsThatStartJobs(t *testing.T) {
	s := build(t, Options{}, direct(func(i *Info) { i.Job = true }, lookup))
	if tools := s.Tools(); len(tools) != 1 || !tools[0].Job {
		t.Errorf("%+v", tools)
	}
}

// A server that tells results of jobs lets through what a run may come to.
func TestLimitsOfJobs(t *testing.T) {
	low := Limits{MaxValueDepth: 31, MaxValueBytes: 1<<20 - 1, MaxIntermediateValueBytes: 1<<20 - 1}
	newBuilder := func(l Limits, names ...string) *Builder {
		b := NewBuilder(Options{Authorizer: authz.AllowAll(), Limits: l, IdleWorkers: NoIdleWorkers})
		for _, name := range names {
			b.Register(jobCapability(name))
		}
		return b
	}
	_, err := newBuilder(low, "run.status", "run.result").Build(t.Context())
	for _, want := range []string{
		"limit MaxValueDepth is 31: with run.result, at least 32 is needed", "limit MaxValueBytes is 1048575: with run.result, at least 1048576 is needed",
		"limit MaxIntermediateValueBytes is 1048575: with run.result, at least 1048576 is needed",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for name, b := range map[string]*Builder{
		"no results": newBuilder(low, "run.status"),
		"the least":  newBuilder(Limits{MaxIntermediateValueBytes: 1 << 20}, "run.result"),
	} {
		s, err := b.Build(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s.Close()
	}
}
