package govern

import (
	"context"
	"errors"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/store"
)

// Operator is what people do with a service at a terminal: they see the plans of
// all subjects, and hand in what approvers have signed. Nothing of it is for
// programs: no generated code, and no tool, has one.
type Operator struct {
	s     *Service
	actor audit.Actor
}

// Operator is the service for whoever sits at the terminal, as the audit trail
// names them.
func (s *Service) Operator(actor audit.Actor) *Operator { return &Operator{s, actor} }

// Store is the id of the store.
func (o *Operator) Store() string { return o.s.o.Store.ID() }

// Plans are those of all subjects, those of altered rows among them.
func (o *Operator) Plans(ctx context.Context, f Filter) (Page, error) {
	return o.s.list(ctx, store.Filter{Everyone: true}, f)
}

// Show is a plan of any subject.
func (o *Operator) Show(ctx context.Context, id string) (View, error) {
	var v seen
	at := o.s.o.Now()
	err := o.view(ctx, id, func(tx *store.Tx, p opened) (err error) {
		v, err = o.s.seen(tx, p, at)
		return err
	})
	if err != nil {
		return View{}, err
	}
	return o.s.view(ctx, v, at)
}

// Body is the body of a plan of any subject: what approvers are shown, and sign
// the hash of. See plan.Parse and review.Render.
func (o *Operator) Body(ctx context.Context, id string) (body []byte, err error) {
	err = o.view(ctx, id, func(_ *store.Tx, p opened) error {
		body = p.row.Body
		return nil
	})
	return body, err
}

// Object is an object that plans refer to, as review.Render asks for it.
func (o *Operator) Object(d cas.Digest, max int64) ([]byte, error) { return o.s.Object(d, max) }

func (o *Operator) view(ctx context.Context, id string, fn func(*store.Tx, opened) error) error {
	if !plan.ValidID(id) {
		return unknownPlan()
	}
	err := o.s.o.Store.View(ctx, func(tx *store.Tx) error {
		p, err := o.s.any(tx, id)
		if err != nil {
			return err
		}
		return fn(tx, p)
	})
	if err != nil {
		return o.s.refusal(ctx, err)
	}
	return nil
}

// any is the plan of any owner.
func (s *Service) any(tx *store.Tx, id string) (opened, error) {
	row, err := tx.Plan(id)
	if errors.Is(err, store.ErrCorrupt) {
		return opened{}, altered(err.Error())
	}
	if err != nil {
		return opened{}, err
	}
	return s.open(row)
}

// AddEnvelope keeps what an approver has signed about a plan, an approval or a
// rejection, if it is one that counts now. A rejection ends the plan.
func (o *Operator) AddEnvelope(ctx context.Context, id string, envelope []byte) error {
	s := o.s
	g := audit.Governed{Event: eventApprove, Actor: o.actor}
	if !plan.ValidID(id) {
		return s.refused(ctx, g, unknownPlan())
	}
	g.Plan = id
	err := s.update(ctx, func(tx *store.Tx) error {
		at, err := s.moment(tx)
		if err != nil {
			return err
		}
		p, err := s.any(tx, id)
		if err != nil {
			return err
		}
		if p.row.Status == store.Consumed {
			return refuse(ConflictCode, "the plan has been applied")
		}
		if err := (landing{Service: s, terms: p.terms()}).standing(p, at); err != nil {
			return err
		}
		trust, err := s.trust()
		if err != nil {
			return err
		}
		// By itself, so that what it comes to does not depend on others.
		d, err := approve.Decide(p.row.Body, [][]byte{envelope}, trust, at)
		if err != nil {
			return err
		}
		event, votes := eventApprove, d.By
		if len(d.Rejected) > 0 {
			event, votes = eventReject, d.Rejected
		}
		if len(votes) == 0 {
			return refuse(Forbidden, "it does not count: %v", d.Refused[0].Err)
		}
		v := votes[0]
		if _, err := tx.InsertApproval(id, envelope); err != nil {
			return err
		}
		if event == eventReject {
			if err := s.end(tx, id, store.Rejected, v.Reason, v.Approver.Name); err != nil {
				return err
			}
		}
		return errors.Join(tx.RaiseHighWater(at.Wall.UnixMicro()), s.record(tx, about(event, o.actor, p.Plan),
			details{"approver": v.Approver.Name, "uid": v.Approver.UID, "user": v.Statement.Approver.User, "key": v.KeyID, "envelope": v.Envelope}))
	})
	if err != nil {
		return s.refused(ctx, g, err)
	}
	return nil
}

// terms are those of the plan itself.
func (p opened) terms() Terms {
	return Terms{
		ID: p.Capability, Name: p.Name, Contract: p.Contract.String(),
		Min: p.Policy.Min, SelfAllowed: p.Policy.SelfAllowed, TTL: p.Policy.TTL,
	}
}

// RotateKeys makes a new key for tokens; see Service.RotateKeys.
func (o *Operator) RotateKeys(ctx context.Context) (key string, err error) {
	if key, err = o.s.RotateKeys(ctx); err != nil {
		return "", err
	}
	return key, o.s.update(ctx, func(tx *store.Tx) error {
		return o.s.record(tx, audit.Governed{Event: eventKeys, Actor: o.actor}, details{"key": key})
	})
}

// Recover brings interrupted landings and jobs to their end; see Service.Recover.
func (o *Operator) Recover(ctx context.Context) (Recovered, error) { return o.s.Recover(ctx) }
