package govern

import (
	"context"

	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/plan"
)

// apart says how far apart the accounts are of who asks, of the server and of
// those who may approve; and refuses where a policy asks for more than the trust
// root can give. peer is nil where nothing tells whose account asks.
func (s *Service) apart(ctx context.Context, policy plan.Policy) (word plan.Separation, peer *uint32, err error) {
	if s.o.Peer != nil {
		if uid, ok := s.o.Peer(ctx); ok {
			peer = &uid
		}
	}
	t, err := s.trust()
	if err != nil {
		return "", nil, err
	}
	own, others := s.approvers(t, peer)
	if !policy.SelfAllowed {
		if others < policy.Min {
			return "", nil, refuse(Forbidden, "the requester's own account may not approve, and of %d other accounts that have to the trust root knows %d", policy.Min, others).
				suggest("an operator adds keys of other accounts: %s", s.command("keys", ""))
		}
		if t.ChosenBy(s.uid) || peer != nil && t.ChosenBy(*peer) {
			return "", nil, refuse(Forbidden, "the requester's own account may not approve, and the trust root belongs to it").
				suggest("an operator gives the file, and the directories above it, to root").because(approve.ErrChosen)
		}
		own = 0 // they do not count
	}
	switch {
	case own > 0 || others == 0:
		word = plan.SeparationNone
	case peer == nil:
		word = plan.SeparationUnknown
	case *peer == s.uid:
		word = plan.SeparationPartial
	default:
		word = plan.SeparationFull
	}
	return word, peer, nil
}

// approvers counts the accounts that may approve: those of who asks and of the
// server, and others.
func (s *Service) approvers(t *approve.TrustRoot, peer *uint32) (own, others int) {
	seen := map[uint32]bool{}
	for _, a := range t.Approvers() {
		switch {
		case seen[a.UID]:
		case a.UID == s.uid || peer != nil && a.UID == *peer:
			own++
		default:
			others++
		}
		seen[a.UID] = true
	}
	return own, others
}
