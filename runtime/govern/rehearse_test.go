package govern

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime"
)

func TestRehearse(t *testing.T) {
	asked := ""
	s := Rehearse(func(capability string, arguments []byte) ([]byte, error) {
		asked = capability + string(arguments)
		return []byte(`{"gone":1}`), nil
	})
	ctx := t.Context()
	change := Terms{ID: "site", Name: "site.publish", Effect: "change", Min: 2, TTL: time.Minute}
	call := Terms{ID: "site.remove", Name: "site.remove", Effect: runtime.EffectDestroy, Min: 1, TTL: time.Minute}
	never := func(context.Context) (Change, error) { t.Error("the handler is called"); return Change{}, nil }

	p, err := PrepareChange(ctx, s, change, []byte(`{"a":1}`), "k", never)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := PrepareChange(ctx, s, change, []byte(`{"a":1}`), "k", never); again.Plan != p.Plan || again.Token != p.Token {
		t.Errorf("the same again is another plan: %+v", again)
	}
	if other, _ := PrepareChange(ctx, s, change, []byte(`{"a":2}`), "k", never); other.Plan == p.Plan {
		t.Error("other arguments are the same plan")
	}
	l, err := ApplyChange(ctx, s, change, Claim{Plan: p.Plan, Token: p.Token, Key: "k"})
	if err != nil || l.State != "applied" || l.Tree == "" {
		t.Errorf("%+v, %v", l, err)
	}

	c, err := PrepareCall(ctx, s, call, []byte(`{"b":1}`), "k", func(context.Context) (Preview, error) { t.Error("the preview is called"); return Preview{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	apply := func(claim Claim) (Landed, error) {
		return ApplyCall(ctx, s, call, claim, func([]byte) (int, error) { return 0, nil }, nil, func(context.Context, Approved[int]) ([]byte, error) {
			t.Error("the handler is called")
			return nil, nil
		})
	}
	if l, err := apply(Claim{Plan: c.Plan, Token: c.Token, Key: "k"}); err != nil || string(l.Output) != `{"gone":1}` || asked != `site.remove{"b":1}` {
		t.Errorf("%+v, %v, asked %s", l, err, asked)
	}
	for name, claim := range map[string]Claim{
		"token_invalid": {Plan: c.Plan, Token: p.Token},
		"not_found":     {Plan: p.Plan, Token: p.Token}, // of another capability
	} {
		var r *Refusal
		if _, err := apply(claim); !errors.As(err, &r) || string(r.Code) != name {
			t.Errorf("%v, want %s", err, name)
		}
	}

	if v, err := s.Show(ctx, c.Plan); err != nil || v.Status != "consumed" || string(v.Arguments) != `{"b":1}` {
		t.Errorf("%+v, %v", v, err)
	}
	page, err := s.List(ctx, Filter{Limit: 2})
	if err != nil || len(page.Plans) != 2 || page.Plans[0].Plan != c.Plan || page.Next != page.Plans[1].Plan {
		t.Errorf("%+v, %v", page, err)
	}
	if rest, err := s.List(ctx, Filter{After: page.Next}); err != nil || len(rest.Plans) != 1 || rest.Plans[0].Plan != p.Plan || rest.Next != "" {
		t.Errorf("%+v, %v", rest, err)
	}
	for capability, want := range map[string]int{"site": 2, "site.publish": 0} { // its id, its name
		if page, err := s.List(ctx, Filter{Capability: capability}); err != nil || len(page.Plans) != want {
			t.Errorf("of %s: %+v, %v", capability, page, err)
		}
	}
	second := page.Plans[1].Plan
	if g, err := s.Cancel(ctx, second, "no"); err != nil || g.Status != "cancelled" || g.Reason != "no" {
		t.Errorf("%+v, %v", g, err)
	}
	if g, err := s.Cancel(ctx, c.Plan, "late"); err != nil || g.Status != "consumed" {
		t.Errorf("%+v, %v", g, err)
	}
	if _, err := s.Status(ctx, "plan_x"); err == nil {
		t.Error("a plan that is not there has a status")
	}
}

// TestRehearseRun: a run succeeds at once, with what the answers say; nothing is
// started.
func TestRehearseRun(t *testing.T) {
	s := Rehearse(func(_ string, arguments []byte) ([]byte, error) {
		if string(arguments) == `{"bad":1}` {
			return nil, errors.New("no example")
		}
		return []byte(`{"error":0.25}`), nil
	})
	ctx := t.Context()
	run := Terms{ID: "check", Name: "site.check", Effect: effectRun, Min: 1, TTL: time.Minute, Runner: "starlark", Sandbox: "worker"}
	never := func(context.Context) (Run, error) { t.Error("the handler is called"); return Run{}, nil }
	var jobs []Started
	for _, key := range []string{"k1", "k2", "k3"} {
		p, err := PrepareRun(ctx, s, run, []byte(`{}`), key, never)
		if err != nil {
			t.Fatal(err)
		}
		if j, err := s.Job(ctx, jobID(p.Plan)); code(err) != NotFound {
			t.Errorf("before its start: %+v, %v", j, err)
		}
		for range 2 {
			j, err := StartRun(ctx, s, run, Claim{Plan: p.Plan, Token: p.Token, Key: key})
			if err != nil || j != (Started{jobID(p.Plan), p.Plan, "SUCCEEDED"}) {
				t.Errorf("%+v, %v", j, err)
			}
			jobs = append(jobs[:len(jobs):len(jobs)], j)
		}
	}
	id := jobs[0].Job
	if j, err := s.Job(ctx, id); err != nil || j.State != "SUCCEEDED" || j.Capability != "site.check" || j.Runner != "starlark" || j.Ended.IsZero() {
		t.Errorf("%+v, %v", j, err)
	}
	r, err := s.JobResult(ctx, id)
	if err != nil || string(r.Result) != `{"error":0.25}` || len(r.SHA256) != 64 || r.Report == "" {
		t.Errorf("%+v, %v", r, err)
	}
	if again, err := s.JobResult(ctx, id); err != nil || again.Report != r.Report {
		t.Errorf("another report: %v", err)
	}
	if l, err := s.JobLogs(ctx, id, 100); err != nil || len(l.Logs) != 3 {
		t.Errorf("%+v, %v", l, err)
	}
	if c, err := s.CancelJob(ctx, id, ""); err != nil || !c.AlreadyEnded || c.State != "SUCCEEDED" {
		t.Errorf("%+v, %v", c, err)
	}
	page, err := s.Jobs(ctx, JobFilter{Limit: 2})
	if err != nil || len(page.Jobs) != 2 || page.Next == "" {
		t.Errorf("%+v, %v", page, err)
	}
	if rest, err := s.Jobs(ctx, JobFilter{Limit: 2, After: page.Next}); err != nil || len(rest.Jobs) != 1 || rest.Next != "" {
		t.Errorf("%+v, %v", rest, err)
	}
	for capability, want := range map[string]int{"check": 3, "site.check": 0} { // its id, its name
		if page, err := s.Jobs(ctx, JobFilter{Capability: capability}); err != nil || len(page.Jobs) != want {
			t.Errorf("of %s: %+v, %v", capability, page, err)
		}
	}
	if none, err := s.Jobs(ctx, JobFilter{State: "active"}); err != nil || len(none.Jobs) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
	p, err := PrepareRun(ctx, s, run, []byte(`{"bad":1}`), "k4", never)
	if err != nil {
		t.Fatal(err)
	}
	if j, err := StartRun(ctx, s, run, Claim{Plan: p.Plan, Token: p.Token, Key: "k4"}); err == nil {
		t.Errorf("without an example: %+v", j)
	}
	for _, id := range []string{"job_" + store0, p.Plan, ""} {
		if _, err := s.JobResult(ctx, id); code(err) != NotFound {
			t.Errorf("%q: %v", id, err)
		}
	}
}
