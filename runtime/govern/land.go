package govern

import (
	"bytes"
	"context"
	"errors"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/token"
)

// landing is one request to land a plan.
type landing struct {
	*Service
	owner string
	terms Terms
	claim Claim
	// ready refuses a plan that could not land now, by what is there now. Nothing
	// is written, and no transaction is open.
	ready func(context.Context, opened) error
}

// admit begins the execution of a plan, in one transaction, or finds the one that
// this key has begun: after that no approval is asked for any more, and the
// execution is brought to an end, or ended, whatever happens.
func (l landing) admit(ctx context.Context) (opened, store.Execution, error) {
	p, e, err := l.tryAdmit(ctx)
	if err != nil {
		g := audit.Governed{Event: eventLand, Actor: l.actor(), Subject: l.owner, Capability: l.terms.ID}
		if plan.ValidID(l.claim.Plan) {
			g.Plan = l.claim.Plan
		}
		return p, e, l.refused(ctx, g, err)
	}
	return p, e, nil
}

func (l landing) tryAdmit(ctx context.Context) (p opened, e store.Execution, err error) {
	if !plan.ValidID(l.claim.Plan) {
		return p, e, unknownPlan()
	}
	if err := checkKey(l.claim.Key); err != nil {
		return p, e, err
	}
	elsewhere := l.envelopes(ctx)
	var a admission
	look := func(tx *store.Tx) (err error) {
		a, err = l.check(tx, elsewhere)
		return err
	}
	// Once without writing: what could not land is found out before the database
	// is kept from others, and before an approval is spent.
	if err := l.o.Store.View(ctx, look); err != nil || a.begun {
		return a.plan, a.execution, err
	}
	if err := l.ready(ctx, a.plan); err != nil {
		return a.plan, e, err
	}
	err = l.update(ctx, func(tx *store.Tx) error {
		if err := look(tx); err != nil || a.begun {
			return err
		}
		a.execution, err = l.begin(ctx, tx, a)
		return err
	})
	if errors.Is(err, store.ErrUnknownOutcome) && !errors.Is(err, store.ErrFull) {
		err = refuse(Internal, "it is not known whether the landing has begun").suggest("try again with the same key").because(err)
	}
	return a.plan, a.execution, err
}

// envelopes are those that the sources keep. What cannot be asked counts for
// nothing here, and is asked once more where approvals are spent.
func (l landing) envelopes(ctx context.Context) (all [][]byte) {
	for _, source := range l.o.Sources {
		some, err := source.Envelopes(ctx, l.claim.Plan)
		if err != nil {
			l.o.Logger.WarnContext(ctx, "a source of approvals does not answer", "plan", l.claim.Plan, "error", err)
			continue
		}
		all = append(all, some...)
	}
	return all
}

// admission is what one transaction has found out about a plan that may land, or
// has begun to.
type admission struct {
	plan opened
	// execution is the one that this key has begun, where begun says so.
	execution store.Execution
	begun     bool
	// Of a plan that has not begun: when it was looked at, what people have
	// decided, and the envelopes that say so, by their ids.
	at        token.Instant
	decision  approve.Decision
	envelopes map[string][]byte
}

// check finds the plan, and refuses what may not land.
func (l landing) check(tx *store.Tx, elsewhere [][]byte) (a admission, err error) {
	if a.plan, err = l.owned(tx, l.owner, l.claim.Plan); err != nil {
		return a, err
	}
	p := a.plan
	if p.Capability != l.terms.ID {
		return a, refuse(InvalidRequest, "the plan is of another capability")
	}
	request := requestHash(stepApply, []byte(p.ID))
	known, found, err := l.remembered(tx, l.owner, l.scope(), l.claim.Key, request)
	if err != nil {
		return a, err
	}
	e, running, err := l.execution(tx, p)
	switch {
	case err != nil:
		return a, err
	case found && running && known.ID == p.ID:
		a.execution, a.begun = e, true
		return a, nil
	case found:
		return a, altered("its key")
	case running:
		if p.Run != nil {
			return a, refuse(TokenReplayed, "the plan has been started with another key").suggest("ask run.status for %s", jobID(p.ID))
		}
		return a, refuse(TokenReplayed, "the plan has been applied with another key").suggest("ask for its status")
	}
	if a.at, err = l.moment(tx); err != nil {
		return a, err
	}
	if err := l.standing(p, a.at); err != nil {
		return a, err
	}
	if err := l.verifyToken(p, a.at); err != nil {
		return a, err
	}
	if a.decision, a.envelopes, err = l.decide(tx, p, elsewhere, a.at); err != nil {
		return a, err
	}
	return a, l.undecided(p, a.decision)
}

func (l landing) scope() store.Scope {
	return store.Scope{Subject: l.owner, Capability: l.terms.ID, Step: stepApply}
}

// standing refuses a plan that is not one to land any more.
func (l landing) standing(p opened, at token.Instant) error {
	switch p.row.Status {
	case store.Prepared:
	case store.Rejected:
		return refuse(ApprovalRejected, "an approver has rejected the plan").suggest("prepare another one")
	case store.Expired:
		return expired()
	case store.Consumed:
		return altered("consumed without an execution")
	default:
		return refuse(ConflictCode, "the plan was %s", p.row.Status).suggest("prepare another one")
	}
	if p.Expires().Reached(at) {
		return expired().ending(store.Expired, "", "")
	}
	if p.Contract.String() != l.terms.Contract {
		return refuse(StaleState, "the capability is another one than when the plan was prepared").suggest("prepare another one")
	}
	if p.Policy != (plan.Policy{Min: l.terms.Min, SelfAllowed: l.terms.SelfAllowed, TTL: l.terms.TTL}) {
		return refuse(StaleState, "the capability asks for other approvals than when the plan was prepared").suggest("prepare another one")
	}
	return nil
}

func expired() *Refusal {
	return refuse(ApprovalExpired, "the plan has expired").suggest("prepare another one")
}

func (l landing) verifyToken(p opened, at token.Instant) error {
	ring, err := l.ring()
	if err != nil {
		return err
	}
	claims, err := ring.Verify(l.claim.Token, kindOf(p.Plan), p.Store, at)
	switch {
	case errors.Is(err, token.ErrExpired):
		return refuse(TokenExpired, "the token has expired").suggest("prepare again")
	case errors.Is(err, token.ErrKeyUnknown):
		return refuse(TokenKeyUnknown, "the key of the token is not kept any more").suggest("prepare again")
	case err != nil, claims.Object != p.ID, claims.Hash != [32]byte(p.hash):
		return refuse(TokenInvalid, "the token is not one of this plan")
	}
	return nil
}

// decide is what all envelopes of a plan come to, and these by their ids.
func (s *Service) decide(tx *store.Tx, p opened, elsewhere [][]byte, at token.Instant) (approve.Decision, map[string][]byte, error) {
	kept, err := tx.Approvals(p.ID)
	if errors.Is(err, store.ErrCorrupt) {
		return approve.Decision{}, nil, altered(err.Error())
	}
	if err != nil {
		return approve.Decision{}, nil, err
	}
	byID := map[string][]byte{}
	var all [][]byte
	add := func(envelope []byte) {
		if id := approve.ID(envelope); byID[id] == nil {
			byID[id] = envelope
			all = append(all, envelope)
		}
	}
	for _, a := range kept {
		add(a.Envelope)
	}
	for _, envelope := range elsewhere {
		add(envelope)
	}
	trust, err := s.trust()
	if err != nil {
		return approve.Decision{}, nil, err
	}
	d, err := approve.Decide(p.row.Body, all, trust, at)
	return d, byID, err
}

// undecided is the refusal of a plan that people have not approved.
func (s *Service) undecided(p opened, d approve.Decision) error {
	err := d.Err()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, approve.ErrRejected):
		v := d.Rejected[0]
		return refuse(ApprovalRejected, "an approver has rejected the plan").suggest("prepare another one").
			ending(store.Rejected, v.Reason, v.Approver.Name).because(err)
	case errors.Is(err, approve.ErrExpired):
		return refuse(ApprovalExpired, "the approval is too old").suggest("a person runs: %s", s.command("approve", p.ID)).because(err)
	}
	r := refuse(ApprovalRequired, "%d more to approve", max(d.Missing, 1)).suggest("a person runs: %s", s.command("approve", p.ID))
	for _, refused := range d.Refused {
		err = errors.Join(err, refused.Err)
	}
	return r.because(err)
}

// begin spends what a landing takes, and inserts its execution, in the
// transaction that has admitted it.
func (l landing) begin(ctx context.Context, tx *store.Tx, a admission) (e store.Execution, err error) {
	p := a.plan
	var by []string
	for _, v := range a.decision.By {
		id, err := tx.InsertApproval(p.ID, a.envelopes[v.Envelope])
		if err != nil {
			return e, err
		}
		if err := tx.SpendApproval(id, p.ID); err != nil {
			return e, spent("an approval of the plan", err)
		}
		by = append(by, v.Approver.Name)
	}
	nonce, err := nonceOf(p.ID)
	if err != nil {
		return e, err
	}
	if err := tx.SpendNonce(nonce, kindOf(p.Plan), p.ID); err != nil {
		return e, spent("the plan", err)
	}
	if err := tx.MovePlan(p.ID, store.Prepared, store.Consumed, "", l.owner); err != nil {
		return e, err
	}
	if p.Run != nil {
		e, err = l.queue(tx, a)
	} else {
		e, err = tx.InsertExecution(p.ID, kindOf(p.Plan))
	}
	if err != nil {
		return e, err
	}
	if err := tx.RememberKey(l.scope(), l.claim.Key, requestHash(stepApply, []byte(p.ID)), p.ID); err != nil {
		return e, err
	}
	if err := errors.Join(tx.RaiseHighWater(a.at.Wall.UnixMicro()), l.record(tx, about(eventLand, l.actor(), p.Plan), details{"hash": p.hash.String(), "approved_by": by})); err != nil {
		return e, err
	}
	// Last, and before the commit: a log of its own remembers that these were
	// spent on this plan, whatever becomes of the database.
	for _, v := range a.decision.By {
		for _, source := range l.o.Sources {
			if err := source.Spend(ctx, v.Nonce, p.ID); err != nil {
				return e, spent("an approval of the plan", err)
			}
		}
	}
	return e, nil
}

// spent is the refusal of what was spent before.
func spent(what string, err error) error {
	if errors.Is(err, store.ErrSpent) || errors.Is(err, approve.ErrSpent) || errors.Is(err, store.ErrNotFound) {
		return refuse(TokenReplayed, "%s was used before", what).suggest("prepare another one").because(err)
	}
	return err
}

// ApplyChange lands a change that people have approved. The same key again is the
// same landing: it goes on where it was interrupted, and answers alike.
func ApplyChange(ctx context.Context, s *Service, t Terms, c Claim) (Landed, error) {
	if s.rehearsal != nil {
		return s.rehearsal.apply(t, c)
	}
	owner, err := subject(ctx)
	if err != nil {
		return Landed{}, err
	}
	if t.Effect != effectChange {
		return Landed{}, refuse(Internal, "%s is not a change", t.Name)
	}
	l := landing{Service: s, owner: owner, terms: t, claim: c, ready: s.unchanged}
	p, e, err := l.admit(ctx)
	if err != nil {
		return Landed{}, err
	}
	if err := s.finishChange(ctx, p, e); err != nil {
		return Landed{}, s.interrupted(ctx, p, err)
	}
	return Landed{Plan: p.ID, State: stateWord("APPLIED"), Tree: p.Change.Post.String()}, nil
}

// ApplyCall makes a call that people have approved: call is called once, ever.
// decode reads the canonical arguments of the plan; preview is nil where the
// plan has none; call returns its output in canonical form. The same key again
// answers alike.
func ApplyCall[In any](ctx context.Context, s *Service, t Terms, c Claim,
	decode func([]byte) (In, error),
	preview func(context.Context, In) (Preview, error),
	call func(context.Context, Approved[In]) (output []byte, err error),
) (Landed, error) {
	h := handler{call: func(ctx context.Context, p plan.Plan, approvers []string) ([]byte, error) {
		in, err := decode(p.Arguments)
		if err != nil {
			return nil, refuse(StaleState, "the arguments of the plan do not bind any more").because(err)
		}
		return call(ctx, Approved[In]{in: in, plan: p.ID, key: p.ID, approvers: approvers})
	}}
	if preview != nil {
		h.preview = func(ctx context.Context, p plan.Plan) (Preview, error) {
			in, err := decode(p.Arguments)
			if err != nil {
				return Preview{}, refuse(StaleState, "the arguments of the plan do not bind any more").because(err)
			}
			return preview(ctx, in)
		}
	}
	return s.applyCall(ctx, t, c, h)
}

// handler is a host's, without the type of its input.
type handler struct {
	preview func(context.Context, plan.Plan) (Preview, error) // nil without one
	call    func(ctx context.Context, p plan.Plan, approvers []string) ([]byte, error)
}

func (s *Service) applyCall(ctx context.Context, t Terms, c Claim, h handler) (Landed, error) {
	if s.rehearsal != nil {
		return s.rehearsal.apply(t, c)
	}
	owner, err := subject(ctx)
	if err != nil {
		return Landed{}, err
	}
	if t.Effect != runtime.EffectWrite && t.Effect != runtime.EffectDestroy {
		return Landed{}, refuse(Internal, "%s is neither a write nor a destroy", t.Name)
	}
	l := landing{Service: s, owner: owner, terms: t, claim: c, ready: h.same}
	p, e, err := l.admit(ctx)
	if err != nil {
		return Landed{}, err
	}
	e, err = s.finishCall(ctx, p, e, h)
	if err != nil {
		return Landed{}, err
	}
	return Landed{Plan: p.ID, State: stateWord(e.State), Output: bytes.Clone(e.Outcome)}, nil
}
