package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/store"
)

func highWater(t *testing.T, b Backend) {
	s := newScene(t, b)
	for _, c := range []struct{ raise, want int64 }{{0, 0}, {start, start}, {start - 1, start}, {start + 7, start + 7}} {
		s.update(func(tx *store.Tx) { s.ok(tx.RaiseHighWater(c.raise)) })
		s.view(func(tx *store.Tx) {
			if got, err := tx.HighWater(); err != nil || got != c.want {
				t.Errorf("after %d: %d, %v, want %d", c.raise, got, err, c.want)
			}
		})
	}
}

// allOrNothing: an error, a panic and the end of a context leave nothing, and
// the store usable.
func allOrNothing(t *testing.T, b Backend) {
	s := newScene(t, b)
	ours := errors.New("ours")
	gone, cancel := context.WithCancel(t.Context())
	write := func(tx *store.Tx) {
		s.ok(tx.InsertPlan(plan(1, alice), "plan", []cas.Digest{{1}}))
		s.ok(tx.RaiseHighWater(start))
		s.ok(tx.Audit(audit.Governed{Event: "plan.prepared", Actor: audit.Actor{Kind: audit.BySystem}}))
	}
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"an error", func() error {
			return s.Update(t.Context(), func(tx *store.Tx) error { write(tx); return ours })
		}},
		{"a panic", func() (err error) {
			defer func() { err = recover().(error) }()
			return s.Update(t.Context(), func(tx *store.Tx) error { write(tx); panic(ours) })
		}},
		{"the end of the context", func() error {
			return s.Update(gone, func(tx *store.Tx) error { write(tx); cancel(); return nil })
		}},
		{"a context that has ended", func() error {
			return s.Update(gone, func(tx *store.Tx) error { t.Error("fn was called"); return nil })
		}},
	} {
		if err := c.run(); err == nil {
			t.Errorf("%s: no error", c.name)
		} else if gone.Err() == nil && err != ours {
			t.Errorf("%s: error %v", c.name, err)
		}
		for _, on := range []*store.Store{s.Store, s.readOnly()} {
			if err := on.View(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Plan(planID(1))
				wants(t, "after "+c.name, err, store.ErrNotFound)
				at, err := tx.HighWater()
				if err != nil || at != 0 {
					t.Errorf("after %s: high water %d, %v", c.name, at, err)
				}
				chain, err := tx.Chain()
				if err != nil || chain.Seq != 1 {
					t.Errorf("after %s: chain %+v, %v", c.name, chain, err)
				}
				return nil
			}); err != nil {
				t.Errorf("after %s: %v", c.name, err)
			}
		}
	}
	s.update(write)
}

// readersNeverWrite: no method of a transaction writes in a View, or through a
// store that only reads.
func readersNeverWrite(t *testing.T, b Backend) {
	s := newScene(t, b)
	s.update(func(tx *store.Tx) {
		s.ok(tx.InsertPlan(plan(1, alice), "plan", nil))
		_, err := tx.InsertApproval(planID(1), []byte("a"))
		s.ok(err)
		_, err = tx.InsertExecution(planID(1), store.KindChange)
		s.ok(err)
		_, err = tx.InsertDraft(draftID(1), alice, [32]byte{}, cas.Digest{}, nil)
		s.ok(err)
	})
	second := func(_ any, err error) error { return err }
	reader := s.readOnly()
	wants(t, "Update of a reader", reader.Update(t.Context(), func(*store.Tx) error { t.Error("fn was called"); return nil }), store.ErrReadOnly)
	for name, on := range map[string]*store.Store{"a view": s.Store, "a reader": reader} {
		if err := on.View(t.Context(), func(tx *store.Tx) error {
			for method, err := range map[string]error{
				"InsertPlan":      tx.InsertPlan(plan(2, alice), "plan", nil),
				"MovePlan":        tx.MovePlan(planID(1), store.Prepared, store.Consumed, "", ""),
				"InsertApproval":  second(tx.InsertApproval(planID(1), []byte("b"))),
				"SpendApproval":   tx.SpendApproval(store.ApprovalID([]byte("a")), planID(1)),
				"IssueNonce":      tx.IssueNonce(nonce(5), "token", start),
				"SpendNonce":      tx.SpendNonce(nonce(1), "plan", planID(1)),
				"InsertExecution": second(tx.InsertExecution(planID(1), store.KindChange)),
				"TakeOver":        second(tx.TakeOver(planID(1))),
				"InsertJob":       second(tx.InsertJob(planID(1), queuedAt(), host(), 0)),
				"MoveJob":         second(tx.MoveJob(planID(1), "", store.JobMove{})),
				"KeepHandle":      second(tx.KeepHandle(planID(1), nil)),
				"Beat":            second(tx.Beat(planID(1), "")),
				"Advance":         tx.Advance(planID(1), "INTENT", "STAGED", 1),
				"Finish":          tx.Finish(planID(1), "INTENT", "ABORTED", 1, nil),
				"RememberKey":     tx.RememberKey(store.Scope{Subject: alice, Capability: "c", Step: "apply"}, "k", [32]byte{}, planID(1)),
				"InsertDraft":     second(tx.InsertDraft(draftID(2), alice, [32]byte{}, cas.Digest{}, nil)),
				"ReviseDraft":     second(tx.ReviseDraft(alice, draftID(1), 1, [32]byte{}, cas.Digest{}, nil)),
				"DeleteDraft":     tx.DeleteDraft(alice, draftID(1), 1),
				"InsertValidation": tx.InsertValidation(store.Validation{ID: "validation_" + hex32(1), Draft: draftID(1), Revision: 1,
					Status: store.Passed, Subject: alice, Expires: start * 2}),
				"RaiseHighWater": tx.RaiseHighWater(start),
				"Forget":         second(tx.Forget(0)),
				"TrimTrail":      second(tx.TrimTrail(0)),
				"Audit":          tx.Audit(audit.Governed{Event: "x", Actor: audit.Actor{Kind: audit.ByCLI}}),
			} {
				wants(t, method+" in "+name, err, store.ErrReadOnly)
			}
			return nil
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// isolation: a view sees one state, while others write.
func isolation(t *testing.T, b Backend) {
	s := newScene(t, b)
	s.insert(1)
	other := s.again()
	done := make(chan error, 1)
	status := func(tx *store.Tx) store.PlanStatus {
		p, err := tx.Plan(planID(1))
		s.ok(err)
		return p.Status
	}
	s.view(func(tx *store.Tx) {
		if got := status(tx); got != store.Prepared {
			t.Errorf("at first it is %s", got)
		}
		ctx := context.WithoutCancel(t.Context())
		go func() {
			done <- other.Update(ctx, func(tx *store.Tx) error { return tx.MovePlan(planID(1), store.Prepared, store.Consumed, "", "") })
		}()
		select { // where a writer does not wait for readers, it is done by then
		case err := <-done:
			done <- err
		case <-time.After(50 * time.Millisecond):
		}
		if got := status(tx); got != store.Prepared {
			t.Errorf("within one view it became %s", got)
		}
	})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	s.view(func(tx *store.Tx) {
		if got := status(tx); got != store.Consumed {
			t.Errorf("at last it is %s", got)
		}
	})
	// While one writes, another waits, as long as its context allows.
	s.update(func(tx *store.Tx) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		for name, on := range map[string]*store.Store{"another process": other, "this process": s.Store} {
			err := on.Update(ctx, func(*store.Tx) error { t.Error("two write at once"); return nil })
			if err == nil || !errors.Is(err, store.ErrBusy) && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: error %v", name, err)
			}
		}
	})
	s.update(func(*store.Tx) {})
}
