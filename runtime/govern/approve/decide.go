package approve

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/token"
)

// MaxEnvelopes bounds how many envelopes of one plan are looked at.
const MaxEnvelopes = 1024

var (
	// ErrRequired is the error for a plan that too few have approved.
	ErrRequired = errors.New("approve: an approval is missing")
	// ErrExpired is the error for one that would be approved, were its approvals
	// not too old, or that is too old itself.
	ErrExpired = errors.New("approve: the approval has expired")
	// ErrRejected is the error for one that an approver has rejected.
	ErrRejected = errors.New("approve: the plan was rejected")
	// ErrSpent is the error for an approval that was spent on another plan.
	ErrSpent = errors.New("approve: the approval was spent already")
	// ErrUnspent is the error for a plan on which no approval was spent.
	ErrUnspent = errors.New("approve: no approval was spent on the plan")
	// ErrChosen is the error where the requester may not approve, and could have
	// chosen who may.
	ErrChosen = errors.New("approve: the trust root belongs to the requester's account")
)

// Source is a place where envelopes are kept. What it returns is hostile until
// Decide has taken it: which source it came from means nothing.
type Source interface {
	// Envelopes are those of a plan, at most MaxEnvelopes, in any order.
	Envelopes(ctx context.Context, plan string) ([][]byte, error)
	// Spend remembers that the nonce was spent on the plan, durably before it
	// returns. To spend it on the same plan again is no error, on another is
	// [ErrSpent]. A source that keeps no such log returns nil.
	Spend(ctx context.Context, nonce [16]byte, plan string) error
	// Begin remembers, durably before it returns, that the landing of the plan is
	// committed: from then on nothing is spent on the plan any more, so that a
	// database of before that cannot land it again. Nothing of a landing is visible
	// before. Again is no error until End, and [ErrSpent] after; [ErrUnspent] is a
	// plan that nothing was spent on. A source that keeps no such log returns nil.
	Begin(ctx context.Context, plan string) error
	// End remembers that the landing has come to its end. Again is no error.
	End(ctx context.Context, plan string) error
}

// Vote is an envelope that counts.
type Vote struct {
	Approver Approver
	Envelope string // its ID
	Statement
}

// Refusal is an envelope that does not count.
type Refusal struct {
	Envelope string // its ID
	Err      error
}

// Decision is what envelopes come to.
type Decision struct {
	// Approved says that the plan may land.
	Approved bool
	// By are the approvals that count, one an approver, in the order given.
	By []Vote
	// Rejected are the rejections.
	Rejected []Vote
	// Missing is how many approvers are missing.
	Missing int
	// Refused are the envelopes that did not count, for the audit.
	Refused []Refusal
	// expired: there would be enough, were none too old.
	expired bool
}

// Err is nil for a plan that may land, and otherwise [ErrRejected], [ErrExpired]
// or [ErrRequired].
func (d Decision) Err() error {
	switch {
	case d.Approved:
		return nil
	case len(d.Rejected) > 0:
		return ErrRejected
	case d.expired:
		return ErrExpired
	}
	return fmt.Errorf("%w: %d more", ErrRequired, max(d.Missing, 1))
}

// Reasons why an envelope does not count, beside those of [TrustRoot.Verify].
var (
	errOtherPlan   = errors.New("approve: it is about another plan")
	errOtherPolicy = errors.New("approve: it was given under another policy")
	errOtherStore  = errors.New("approve: it is for another store")
	errSelf        = errors.New("approve: the requester's account may not approve")
	errLasting     = errors.New("approve: it lasts longer than the policy lets it")
	errAhead       = errors.New("approve: it was signed in the future")
	errTwice       = errors.New("approve: the approver has approved already")
)

// Decide says whether the plan with this body may land now: enough approvers of
// the trust root have approved it, each counted once however many keys and
// envelopes, by envelopes about this very plan, policy and store that are not
// too old; none of them is the requester where the policy forbids that; and
// nobody has rejected it. What does not count is listed, and decides nothing.
//
// An error is for a body that is no plan, for too many envelopes, and [ErrChosen].
func Decide(body []byte, envelopes [][]byte, t *TrustRoot, now token.Instant) (Decision, error) {
	return decide(body, envelopes, t, &now)
}

// Confirm is Decide for a plan whose landing has begun, of the envelopes that were
// spent on it: they could have been, by a trust root as it is now. How old they
// are, and the plan is, counted then.
func Confirm(body []byte, envelopes [][]byte, t *TrustRoot) (Decision, error) {
	return decide(body, envelopes, t, nil)
}

// decide is Decide, or Confirm without a time.
func decide(body []byte, envelopes [][]byte, t *TrustRoot, now *token.Instant) (Decision, error) {
	p, err := plan.Parse(body)
	if err != nil {
		return Decision{}, fmt.Errorf("approve: decide: %w", err)
	}
	if len(envelopes) > MaxEnvelopes {
		return Decision{}, fmt.Errorf("approve: decide: more than %d envelopes", MaxEnvelopes)
	}
	if !p.Policy.SelfAllowed && (t.ChosenBy(p.ServerUID) || p.PeerUID != nil && t.ChosenBy(*p.PeerUID)) {
		return Decision{}, ErrChosen
	}
	var d Decision
	var late []uint32 // who would have approved
	for _, envelope := range envelopes {
		v := Vote{Envelope: ID(envelope)}
		v.Statement, v.Approver, err = t.Verify(envelope)
		if err == nil {
			err = v.about(p, plan.HashOf(body))
		}
		if err == nil && v.Purpose == Reject {
			d.Rejected = append(d.Rejected, v)
			continue
		}
		if err == nil {
			err = v.of(p)
		}
		if err == nil && now != nil {
			err = v.counts(*now)
		}
		if errors.Is(err, ErrExpired) {
			late = append(late, v.Approver.UID)
		}
		if err == nil && slices.ContainsFunc(d.By, func(o Vote) bool { return o.Approver.UID == v.Approver.UID }) {
			err = errTwice
		}
		if err != nil {
			d.Refused = append(d.Refused, Refusal{v.Envelope, err})
			continue
		}
		d.By = append(d.By, v)
	}
	d.Missing = max(0, p.Policy.Min-len(d.By))
	planExpired := now != nil && p.Expires().Reached(*now)
	d.Approved = d.Missing == 0 && len(d.Rejected) == 0 && !planExpired
	for _, v := range d.By {
		late = append(late, v.Approver.UID)
	}
	slices.Sort(late)
	d.expired = planExpired || len(slices.Compact(late)) >= p.Policy.Min
	return d, nil
}

// Fits returns nil if the statement is about the plan with this body and, as far
// as the plan can tell, counts now. Who signs asks before: to have signed what
// never counts helps nobody. It says nothing of whether the trust root has the
// approver.
func (s Statement) Fits(body []byte, now token.Instant) error {
	p, err := plan.Parse(body)
	if err != nil {
		return fmt.Errorf("approve: %w", err)
	}
	if err := s.about(p, plan.HashOf(body)); err != nil || s.Purpose == Reject {
		return err
	}
	if p.Expires().Reached(now) {
		return ErrExpired
	}
	if err := s.of(p); err != nil {
		return err
	}
	return s.counts(now)
}

// about tells whether the statement is about the plan.
func (s Statement) about(p plan.Plan, hash plan.Hash) error {
	switch {
	case s.Store != p.Store:
		return errOtherStore
	case s.Plan != p.ID || s.PlanHash != hash:
		return errOtherPlan
	case s.PolicyHash != p.Policy.Hash():
		return errOtherPolicy
	}
	return nil
}

// of tells whether an approval that is about the plan is one that its policy asks
// for.
func (s Statement) of(p plan.Plan) error {
	switch {
	case !p.Policy.SelfAllowed && requester(p, s.Approver.UID):
		return errSelf
	case s.TTL > p.Policy.TTL:
		return errLasting
	}
	return nil
}

// counts tells whether an approval counts now.
func (s Statement) counts(now token.Instant) error {
	switch {
	case ahead(s.Issued, now):
		return errAhead
	case s.Expires().Reached(now):
		return ErrExpired
	}
	return nil
}

// requester tells whether an account is one that the plan was asked for from:
// the server's, which can write whatever its clients ask, or the client's own.
func requester(p plan.Plan, uid uint32) bool {
	return uid == p.ServerUID || p.PeerUID != nil && uid == *p.PeerUID
}

// ahead tells whether then is further in the future than clocks differ by.
func ahead(then, now token.Instant) bool { return !then.Reached(now.Later(token.MaxAhead)) }
