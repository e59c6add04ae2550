package govern

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/token"
)

// View is a plan as its owner, or an operator, sees it.
type View struct {
	Plan       string
	Hash       string // of its body, in hexadecimal
	Owner      string
	Capability string // name
	Effect     string
	Status     string // prepared, consumed, expired, rejected, superseded or cancelled
	Reason     string // of rejected and cancelled, in the words of who did it
	// State is how far the landing has come: empty before, then landing, applied,
	// done, conflict, aborted, failed or unknown; of a run the state of its job.
	State            string
	Created, Expires time.Time
	// Arguments are what it was prepared with, in canonical form.
	Arguments []byte
	// Root, Path and Actions are of a change, Runner, Sandbox and Scope of a run,
	// Summary of both; Preview is of a call. Actions and Preview are gone some time
	// after the plan has ended.
	Root, Path, Summary    string
	Runner, Sandbox, Scope string
	Actions                []Action
	Preview                string
	// Approvals counts the accounts whose approvals count now, Min is how many
	// it takes.
	Approvals, Min int
	Approval       string // the command by which an approver decides
	Separation     string // full, partial, none or unknown
}

// Progress is how far a plan has come.
type Progress struct {
	Plan, Status, Reason, State string // as in View
	Expires                     time.Time
	Approvals, Min              int
	Tree                        string // of an applied change
	Output                      []byte // of a done call
}

// seen is a plan with its execution and what approvals there are.
type seen struct {
	opened
	execution store.Execution // zero without one
	approvals int
}

// Show is a plan of the subject in ctx.
func (s *Service) Show(ctx context.Context, id string) (View, error) {
	if s.rehearsal != nil {
		return s.rehearsal.show(id)
	}
	v, at, err := s.see(ctx, id)
	if err != nil {
		return View{}, err
	}
	return s.view(ctx, v, at)
}

func (s *Service) view(ctx context.Context, v seen, at token.Instant) (View, error) {
	out := View{
		Plan: v.ID, Hash: v.hash.String(), Owner: v.Owner, Capability: v.Name, Effect: string(v.Effect), Status: s.status(v.opened, at),
		Reason: v.row.Reason, State: v.state(), Created: v.Created.Wall, Expires: v.Expires().Wall, Arguments: bytes.Clone(v.Arguments),
		Approvals: v.approvals, Min: v.Policy.Min, Approval: s.command("approve", v.ID), Separation: string(v.Separation),
	}
	if v.Preview != nil {
		text, err := s.blobs.Get(*v.Preview, MaxPreviewBytes)
		if err != nil && !missing(err) {
			return View{}, s.refusal(ctx, err)
		}
		out.Preview = string(text)
	}
	if v.Run != nil {
		out.Summary, out.Runner, out.Sandbox, out.Scope = v.Run.Summary, v.Run.Runner.Name, v.Run.Sandbox, v.Run.Scope
	}
	if v.Change != nil {
		out.Root, out.Path, out.Summary = v.Change.Root, v.Change.Path, v.Change.Summary
		var err error
		if out.Actions, err = s.actions(v.opened); err != nil && !missing(err) {
			return View{}, s.refusal(ctx, err)
		}
	}
	return out, nil
}

// Status is how far a plan of the subject in ctx has come.
func (s *Service) Status(ctx context.Context, id string) (Progress, error) {
	if s.rehearsal != nil {
		return s.rehearsal.status(id)
	}
	v, at, err := s.see(ctx, id)
	if err != nil {
		return Progress{}, err
	}
	return s.progress(v, at), nil
}

func (s *Service) progress(v seen, at token.Instant) Progress {
	out := Progress{
		Plan: v.ID, Status: s.status(v.opened, at), Reason: v.row.Reason, State: v.state(), Expires: v.Expires().Wall,
		Approvals: v.approvals, Min: v.Policy.Min,
	}
	switch out.State {
	case "applied":
		out.Tree = v.Change.Post.String()
	case "done":
		out.Output = bytes.Clone(v.execution.Outcome)
	}
	return out
}

// state is the word for how far the landing has come, empty before it.
func (v seen) state() string {
	if v.execution.Kind == store.KindRun {
		return v.execution.State
	}
	if v.execution.State == "" {
		return ""
	}
	return stateWord(v.execution.State)
}

// status is where a plan stands: one whose time has come is expired, whether or
// not somebody has written that down.
func (s *Service) status(p opened, at token.Instant) string {
	if p.row.Status == store.Prepared && p.Expires().Reached(at) {
		return string(store.Expired)
	}
	return string(p.row.Status)
}

// see is a plan of the subject in ctx. What is not the subject's is not there.
func (s *Service) see(ctx context.Context, id string) (v seen, at token.Instant, err error) {
	owner, err := subject(ctx)
	if err != nil {
		return v, at, err
	}
	if !plan.ValidID(id) {
		return v, at, unknownPlan()
	}
	at = s.o.Now()
	err = s.o.Store.View(ctx, func(tx *store.Tx) error {
		p, err := s.owned(tx, owner, id)
		if err != nil {
			return err
		}
		v, err = s.seen(tx, p, at)
		return err
	})
	if err != nil {
		return v, at, s.refusal(ctx, err)
	}
	return v, at, nil
}

func (s *Service) seen(tx *store.Tx, p opened, at token.Instant) (v seen, err error) {
	v.opened = p
	e, ok, err := s.execution(tx, p)
	if err != nil {
		return v, err
	}
	if ok {
		v.execution = e
	}
	d, _, err := s.decide(tx, p, nil, at)
	if err != nil {
		return v, err
	}
	v.approvals = len(d.By)
	return v, nil
}

// MaxReasonBytes bounds the reason of a Cancel.
const MaxReasonBytes = 256

// Cancel takes a plan of the subject in ctx back, for good. One that is landing
// or has landed stays as it is, and so does one that has ended otherwise.
func (s *Service) Cancel(ctx context.Context, id, reason string) (Progress, error) {
	if s.rehearsal != nil {
		return s.rehearsal.cancel(id, reason)
	}
	owner, err := subject(ctx)
	if err != nil {
		return Progress{}, err
	}
	g := audit.Governed{Event: eventCancel, Actor: s.actor(), Subject: owner}
	if !plan.ValidID(id) {
		return Progress{}, s.refused(ctx, g, unknownPlan())
	}
	g.Plan = id
	if len(reason) > MaxReasonBytes || strings.ContainsFunc(reason, func(r rune) bool { return !visible.Readable(r) }) {
		return Progress{}, s.refused(ctx, g, refuse(InvalidRequest, "the reason is not a line of at most %d bytes that can be seen", MaxReasonBytes))
	}
	var v seen
	at := s.o.Now()
	err = s.update(ctx, func(tx *store.Tx) error {
		p, err := s.owned(tx, owner, id)
		if err != nil {
			return err
		}
		switch p.row.Status {
		case store.Cancelled:
		case store.Prepared:
			if err := s.end(tx, id, store.Cancelled, reason, owner); err != nil {
				return err
			}
			if err := s.record(tx, about(eventCancel, s.actor(), p.Plan), nil); err != nil {
				return err
			}
			p.row.Status, p.row.Reason = store.Cancelled, reason
		default:
			r := refuse(ConflictCode, "the plan is %s", p.row.Status).suggest("ask for its status")
			if p.Run != nil && p.row.Status == store.Consumed {
				r.suggest("ask for the end of its job: run.cancel(job=%q)", jobID(id))
			}
			return r
		}
		v, err = s.seen(tx, p, at)
		return err
	})
	if err != nil {
		return Progress{}, s.refused(ctx, g, err)
	}
	return s.progress(v, at), nil
}
