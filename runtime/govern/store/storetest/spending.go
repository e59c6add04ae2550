package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/govern/store"
)

// spentBy fails unless err says that this execution was first.
func spentBy(t *testing.T, what string, err error, by string) {
	t.Helper()
	var spent *store.SpentError
	if !errors.As(err, &spent) || spent.By != by || !errors.Is(err, store.ErrSpent) {
		t.Errorf("%s: error %v, want one that names %s", what, err, by)
	}
}

func approvals(t *testing.T, b Backend) {
	s := newScene(t, b)
	s.insert(2)
	envelope := []byte("signed")
	var id string
	s.update(func(tx *store.Tx) {
		var err error
		id, err = tx.InsertApproval(planID(1), envelope)
		s.ok(err)
		again, err := tx.InsertApproval(planID(1), envelope)
		if err != nil || again != id || id != store.ApprovalID(envelope) {
			t.Errorf("again: %q, %v; first %q", again, err, id)
		}
		_, err = tx.InsertApproval(planID(2), envelope)
		wants(t, "the same envelope for another plan", err, store.ErrInvalid)
		_, err = tx.InsertApproval(planID(3), []byte("x"))
		wants(t, "for no plan", err, store.ErrNotFound)
		_, err = tx.InsertApproval(planID(1), nil)
		wants(t, "no envelope", err, store.ErrInvalid)
		_, err = tx.InsertApproval(planID(1), make([]byte, store.MaxEnvelope+1))
		wants(t, "a long envelope", err, store.ErrInvalid)
		for i := range store.MaxApprovals {
			_, err = tx.InsertApproval(planID(2), []byte(fmt.Sprint(i)))
			s.ok(err)
		}
		_, err = tx.InsertApproval(planID(2), []byte("one more"))
		wants(t, "one more than can be", err, store.ErrInvalid)
	})
	s.view(func(tx *store.Tx) {
		got, err := tx.Approvals(planID(1))
		s.ok(err)
		if diff := cmp.Diff([]store.Approval{{ID: id, Plan: planID(1), Envelope: envelope, Created: start}}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got, err := tx.Approvals(planID(3)); err != nil || len(got) != 0 {
			t.Errorf("of no plan: %v, %v", got, err)
		}
	})
	s.update(func(tx *store.Tx) {
		wants(t, "by nobody", tx.SpendApproval(id, ""), store.ErrInvalid)
		wants(t, "no approval", tx.SpendApproval(store.ApprovalID([]byte("none")), planID(1)), store.ErrNotFound)
		s.ok(tx.SpendApproval(id, planID(1)))
		spentBy(t, "in the same transaction", tx.SpendApproval(id, planID(2)), planID(1))
	})
	s.update(func(tx *store.Tx) {
		spentBy(t, "by another", tx.SpendApproval(id, planID(2)), planID(1))
		spentBy(t, "by the same", tx.SpendApproval(id, planID(1)), planID(1))
		got, err := tx.InsertApproval(planID(1), envelope)
		if err != nil || got != id {
			t.Errorf("kept again: %q, %v", got, err)
		}
		spentBy(t, "after it was kept again", tx.SpendApproval(id, planID(2)), planID(1))
	})
}

func nonces(t *testing.T, b Backend) {
	s := newScene(t, b)
	s.insert(1)
	other := s.again()
	s.update(func(tx *store.Tx) {
		s.ok(tx.IssueNonce(nonce(100), "token", start+1))
		wants(t, "issued twice", tx.IssueNonce(nonce(100), "other", start+1), store.ErrExists)
		wants(t, "a plan's nonce issued again", tx.IssueNonce(nonce(1), "plan", start+1), store.ErrExists)
		wants(t, "of no kind", tx.IssueNonce(nonce(101), "", start+1), store.ErrInvalid)
		wants(t, "without an end", tx.IssueNonce(nonce(101), "token", 0), store.ErrInvalid)
		wants(t, "never issued", tx.SpendNonce(nonce(101), "token", planID(1)), store.ErrNotFound)
		wants(t, "of another kind", tx.SpendNonce(nonce(100), "plan", planID(1)), store.ErrNotFound)
		wants(t, "by nobody", tx.SpendNonce(nonce(100), "token", ""), store.ErrInvalid)
		s.ok(tx.SpendNonce(nonce(1), "plan", planID(1)))
	})
	err := other.Update(t.Context(), func(tx *store.Tx) error { return tx.SpendNonce(nonce(1), "plan", planID(2)) })
	spentBy(t, "by another, elsewhere", err, planID(1))
	s.update(func(tx *store.Tx) {
		spentBy(t, "by the same", tx.SpendNonce(nonce(1), "plan", planID(1)), planID(1))
		for n, want := range map[int]string{1: planID(1), 100: ""} {
			kind := "token"
			if n == 1 {
				kind = "plan"
			}
			if by, err := tx.NonceSpent(nonce(n), kind); err != nil || by != want {
				t.Errorf("nonce %d was spent by %q, %v", n, by, err)
			}
		}
		_, err := tx.NonceSpent(nonce(1), "token")
		wants(t, "spent, of another kind", err, store.ErrNotFound)
		s.ok(tx.SpendNonce(nonce(100), "token", planID(1)))
	})
}

func keys(t *testing.T, b Backend) {
	s := newScene(t, b)
	s.insert(2)
	scope := store.Scope{Subject: alice, Capability: "files.publish", Step: "apply"}
	hash := [32]byte{7}
	s.update(func(tx *store.Tx) {
		_, _, ok, err := tx.Idempotent(scope, "k")
		if ok || err != nil {
			t.Errorf("a key that was not used: %v, %v", ok, err)
		}
		s.ok(tx.RememberKey(scope, "k", hash, planID(1)))
		wants(t, "a key that was used", tx.RememberKey(scope, "k", hash, planID(2)), store.ErrExists)
		wants(t, "no key", tx.RememberKey(scope, "", hash, planID(1)), store.ErrInvalid)
		wants(t, "no plan", tx.RememberKey(scope, "l", hash, planID(3)), store.ErrNotFound)
		for _, bad := range []store.Scope{{Capability: "c", Step: "s"}, {Subject: "s", Step: "s"}, {Subject: "s", Capability: "c"}} {
			wants(t, "half a scope", tx.RememberKey(bad, "k", hash, planID(1)), store.ErrInvalid)
		}
		// The same key of others is another.
		s.ok(tx.RememberKey(store.Scope{Subject: bob, Capability: scope.Capability, Step: scope.Step}, "k", hash, planID(2)))
		s.ok(tx.RememberKey(store.Scope{Subject: alice, Capability: "other", Step: scope.Step}, "k", hash, planID(2)))
		s.ok(tx.RememberKey(store.Scope{Subject: alice, Capability: scope.Capability, Step: "prepare"}, "k", hash, planID(2)))
	})
	s.view(func(tx *store.Tx) {
		gotHash, gotPlan, ok, err := tx.Idempotent(scope, "k")
		if gotHash != hash || gotPlan != planID(1) || !ok || err != nil {
			t.Errorf("%x, %s, %v, %v", gotHash, gotPlan, ok, err)
		}
	})
}
