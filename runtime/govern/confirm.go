package govern

import (
	"context"
	"errors"
	"fmt"

	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/store"
)

// errUnapproved is the cause of what unapproved refuses.
var errUnapproved = errors.New("govern: not approved")

// unapproved is the refusal, for good, of a landing that has begun as the rows
// say, and nobody has approved.
func unapproved(why error) *Refusal {
	return refuse(ApprovalRequired, "what the plan was landed with does not approve it, or does not any more").
		suggest("prepare another one, and tell an operator").because(fmt.Errorf("%w: %w", errUnapproved, why))
}

// never tells that an error of confirmed, or of begun, is for good.
func never(err error) bool { return errors.Is(err, errUnapproved) || errors.Is(err, approve.ErrSpent) }

// interrupted is the refusal of a landing that has begun, and does not go on now.
// That a row is not what was written is kept in the trail.
func (s *Service) interrupted(ctx context.Context, p opened, err error) error {
	if errors.Is(err, errAltered) {
		return s.recordAltered(ctx, p.ID, err)
	}
	return s.refusal(ctx, err)
}

// confirmed is asked before anything of a landing that has begun is visible, runs
// or is called, whatever process goes on with it. That it has begun is what rows
// say, and whoever can write the database can insert them: they are believed only
// where the approvals that were spent on the plan approve it, as the keepers of
// approvals are told only then. It returns who approved. After an error that is
// not for good it may be asked again.
func (s *Service) confirmed(ctx context.Context, p opened) (approvers []string, err error) {
	if approvers, err = s.approvedBy(ctx, p); err != nil {
		return nil, err
	}
	return approvers, s.begun(ctx, p)
}

// approvedBy are the names of those whose approvals a landing has spent: the
// plan's nonce was spent on it, and of the envelopes that were spent on it as many
// verify as its policy asks for, by the trust root as it is now; nobody has
// rejected it. How old they are was looked at when they were spent. A trust root
// that is not there, or trusts nobody, decides nothing.
func (s *Service) approvedBy(ctx context.Context, p opened) (names []string, err error) {
	trust, err := s.trust()
	if err != nil {
		return nil, err
	}
	if len(trust.Approvers()) == 0 {
		return nil, refuse(Forbidden, "nobody's approval counts here, so that the landing does not go on").
			suggest("an operator looks after the trust root")
	}
	nonce, err := nonceOf(p.ID)
	if err != nil {
		return nil, err
	}
	var by string
	var kept []store.Approval
	err = s.o.Store.View(ctx, func(tx *store.Tx) (err error) {
		if by, err = tx.NonceSpent(nonce, kindOf(p.Plan)); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		kept, err = tx.Approvals(p.ID)
		return err
	})
	switch {
	case errors.Is(err, store.ErrCorrupt):
		return nil, altered(err.Error())
	case err != nil:
		return nil, err
	case by != p.ID:
		return nil, unapproved(errors.New("its nonce was not spent on it"))
	}
	var envelopes [][]byte
	for _, a := range kept {
		st, err := approve.Open(a.Envelope)
		if err == nil && (a.UsedBy == p.ID || st.Purpose == approve.Reject) {
			envelopes = append(envelopes, a.Envelope)
		}
	}
	d, err := approve.Confirm(p.row.Body, envelopes, trust)
	if err != nil {
		return nil, err
	}
	if err := d.Err(); err != nil {
		for _, refused := range d.Refused {
			err = errors.Join(err, refused.Err)
		}
		return nil, unapproved(err)
	}
	for _, v := range d.By {
		names = append(names, v.Approver.Name)
	}
	return names, nil
}
