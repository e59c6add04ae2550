package govern

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/job/supervise"
)

// maxRehearsed is how many plans a rehearsal remembers.
const maxRehearsed = 1_000

// Rehearse is a service for tests and trials: it plans without asking, lands
// without approval, and touches nothing, neither a directory nor a handler, and
// starts no process. What a landed write or destroy returns, and a run results in,
// is what answer says for the capability's
// name and its canonical arguments. Everything that it answers is the same each
// time. The fake of generated code is made of it; a host never is.
func Rehearse(answer func(capability string, arguments []byte) ([]byte, error)) *Service {
	return &Service{rehearsal: &rehearsal{answer: answer, results: map[string][]byte{}}}
}

// rehearsal remembers plans in memory.
type rehearsal struct {
	answer func(capability string, arguments []byte) ([]byte, error)
	mu     sync.Mutex
	plans  []*rehearsed // oldest first
	// results are what runs came to, by their plans.
	results map[string][]byte
}

// rehearsed is a plan with the id of its capability, which filters know it by.
type rehearsed struct {
	View
	capability string
}

// rehearsedAt is when everything in a rehearsal happens.
func rehearsedAt() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func (r *rehearsal) prepare(t Terms, arguments []byte, key string) Prepared {
	sum := sha256.Sum256(slices.Concat([]byte(t.ID), []byte{0}, []byte(key), []byte{0}, arguments))
	hash := hex.EncodeToString(sum[:])
	v := &rehearsed{capability: t.ID, View: View{
		Plan: "plan_" + hash[:32], Hash: hash, Capability: t.Name, Effect: string(t.Effect), Status: "prepared",
		Created: rehearsedAt(), Expires: rehearsedAt().Add(t.TTL), Arguments: slices.Clone(arguments), Min: t.Min,
		Separation: "none",
	}}
	v.Approval = "approve " + v.Plan
	if t.Effect == effectRun {
		v.Runner, v.Sandbox = t.Runner, t.Sandbox
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.find(v.Plan) == nil {
		if len(r.plans) == maxRehearsed {
			delete(r.results, r.plans[0].Plan)
			r.plans = slices.Delete(r.plans, 0, 1)
		}
		r.plans = append(r.plans, v)
	}
	return Prepared{Plan: v.Plan, Hash: hash, Token: "rehearsed." + hash[32:], Expires: v.Expires, Approval: v.Approval, Separation: v.Separation}
}

// find is the plan with an id, or nil; the caller has the lock.
func (r *rehearsal) find(id string) *rehearsed {
	if i := slices.IndexFunc(r.plans, func(v *rehearsed) bool { return v.Plan == id }); i >= 0 {
		return r.plans[i]
	}
	return nil
}

func (r *rehearsal) apply(t Terms, c Claim) (Landed, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.find(c.Plan)
	switch {
	case v == nil || v.capability != t.ID:
		return Landed{}, refuse(NotFound, "no such plan")
	case c.Token != "rehearsed."+v.Hash[32:]:
		return Landed{}, refuse(TokenInvalid, "the token is not that of the plan")
	case v.Status == "cancelled":
		return Landed{}, refuse(ConflictCode, "the plan was cancelled")
	}
	l := Landed{Plan: v.Plan, State: "done"}
	if t.Effect == effectChange {
		l.State, l.Tree = "applied", v.Hash
	} else {
		output, err := r.answer(t.Name, v.Arguments)
		if err != nil {
			return Landed{}, err
		}
		l.Output = output
	}
	if t.Effect == effectRun {
		l.State, r.results[v.Plan] = string(job.Succeeded), l.Output
	}
	v.Status, v.State, v.Approvals = "consumed", l.State, v.Min
	return l, nil
}

func (r *rehearsal) show(id string) (View, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v := r.find(id); v != nil {
		return v.View, nil
	}
	return View{}, refuse(NotFound, "no such plan")
}

func (r *rehearsal) list(f Filter) Page {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.Limit == 0 {
		f.Limit = DefaultPage
	}
	var page Page
	skipping := f.After != ""
	for _, v := range slices.Backward(r.plans) {
		if skipping {
			skipping = v.Plan != f.After
			continue
		}
		if f.Status != "" && v.Status != f.Status || f.Capability != "" && v.capability != f.Capability {
			continue
		}
		if len(page.Plans) == f.Limit {
			page.Next = page.Plans[len(page.Plans)-1].Plan
			break
		}
		page.Plans = append(page.Plans, Summary{Plan: v.Plan, Capability: v.Capability, Status: v.Status, State: v.State, Created: v.Created, Expires: v.Expires})
	}
	return page
}

func (r *rehearsal) status(id string) (Progress, error) {
	v, err := r.show(id)
	return Progress{Plan: v.Plan, Status: v.Status, Reason: v.Reason, State: v.State, Expires: v.Expires, Approvals: v.Approvals, Min: v.Min}, err
}

func (r *rehearsal) cancel(id, reason string) (Progress, error) {
	r.mu.Lock()
	v := r.find(id)
	if v != nil && v.Status == "prepared" {
		v.Status, v.Reason = "cancelled", reason
	}
	r.mu.Unlock()
	return r.status(id)
}

// start is a run that succeeds at once.
func (r *rehearsal) start(t Terms, c Claim) (Started, error) {
	l, err := r.apply(t, c)
	if err != nil {
		return Started{}, err
	}
	return Started{Job: jobID(l.Plan), Plan: l.Plan, State: string(job.Succeeded)}, nil
}

// jobOf is a plan as its job; the caller has the lock.
func (r *rehearsal) jobOf(v *rehearsed) (Job, bool) {
	if v == nil || v.Effect != effectRun || v.Status != "consumed" {
		return Job{}, false
	}
	at := rehearsedAt()
	return Job{
		Job: jobID(v.Plan), Plan: v.Plan, Capability: v.Capability, State: string(job.Succeeded),
		Created: at, Started: at, Ended: at, Heartbeat: at, Runner: v.Runner, Sandbox: v.Sandbox,
	}, true
}

func (r *rehearsal) job(id string) (Job, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	planID, _ := planOf(id)
	if j, ok := r.jobOf(r.find(planID)); ok {
		return j, nil
	}
	return Job{}, unknownJob()
}

func (r *rehearsal) result(id string) (JobResult, error) {
	j, err := r.job(id)
	if err != nil {
		return JobResult{}, err
	}
	r.mu.Lock()
	text := r.results[j.Plan]
	r.mu.Unlock()
	sum := sha256.Sum256(text)
	out := JobResult{Job: j.Job, State: j.State, SHA256: hex.EncodeToString(sum[:]), Result: slices.Clone(text)}
	out.Report = runner.Report(runner.Result{
		Job: j.Job, Plan: j.Plan, Capability: j.Capability, State: j.State, Runner: j.Runner, Sandbox: j.Sandbox, SHA256: out.SHA256,
		Created: j.Created, Started: j.Started, Ended: j.Ended, JSON: text,
	})
	return out, nil
}

func (r *rehearsal) logs(id string) (JobLogs, error) {
	j, err := r.job(id)
	if err != nil {
		return JobLogs{}, err
	}
	out := JobLogs{Job: j.Job, State: j.State}
	for _, name := range supervise.Logs() {
		out.Logs = append(out.Logs, JobLog{Name: name})
	}
	return out, nil
}

func (r *rehearsal) jobs(f JobFilter) (page JobPage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	page.Jobs = []Job{}
	if f.Limit == 0 {
		f.Limit = DefaultPage
	}
	skipping := f.After != ""
	for _, v := range slices.Backward(r.plans) {
		j, ok := r.jobOf(v)
		if !ok {
			continue
		}
		if skipping {
			skipping = j.Job != f.After
			continue
		}
		if f.State != "" && j.State != f.State || f.Capability != "" && v.capability != f.Capability {
			continue
		}
		if len(page.Jobs) == f.Limit {
			page.Next = page.Jobs[len(page.Jobs)-1].Job
			break
		}
		page.Jobs = append(page.Jobs, j)
	}
	return page
}

// cancelJob finds that the job has ended already.
func (r *rehearsal) cancelJob(id string) (Job, error) {
	j, err := r.job(id)
	j.AlreadyEnded = err == nil
	return j, err
}
