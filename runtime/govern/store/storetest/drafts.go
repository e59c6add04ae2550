package storetest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/store"
)

func draftID(n int) string { return "draft_" + hex32(n) }

func drafts(t *testing.T, b Backend) {
	s := newScene(t, b)
	s.update(func(tx *store.Tx) {
		for i := 1; i <= 3; i++ {
			_, err := tx.InsertDraft(draftID(i), alice, [32]byte{1}, cas.Digest{1}, nil)
			s.ok(err)
		}
		_, err := tx.InsertDraft(draftID(1), bob, [32]byte{1}, cas.Digest{1}, nil)
		wants(t, "a second one", err, store.ErrExists)
		_, err = tx.InsertDraft("draft_1", bob, [32]byte{1}, cas.Digest{1}, nil)
		wants(t, "an id that is none", err, store.ErrInvalid)
	})
	s.now++
	s.update(func(tx *store.Tx) {
		got, err := tx.ReviseDraft(alice, draftID(1), 1, [32]byte{2}, cas.Digest{2}, []cas.Digest{{3}})
		s.ok(err)
		want := store.Draft{ID: draftID(1), Owner: alice, Revision: 2, Manifest: [32]byte{2}, Body: cas.Digest{2}, Created: start, Updated: s.now}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		kept, err := tx.Draft(alice, draftID(1))
		s.ok(err)
		if diff := cmp.Diff(want, kept); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
		_, err = tx.ReviseDraft(alice, draftID(1), 1, [32]byte{3}, cas.Digest{3}, nil)
		wants(t, "of a revision before", err, store.ErrState)
		_, err = tx.ReviseDraft(bob, draftID(1), 2, [32]byte{3}, cas.Digest{3}, nil)
		wants(t, "as another", err, store.ErrNotFound)
		wants(t, "deleted at a revision before", tx.DeleteDraft(alice, draftID(1), 1), store.ErrState)
		wants(t, "deleted by another", tx.DeleteDraft(bob, draftID(1), 2), store.ErrNotFound)
		s.ok(tx.DeleteDraft(alice, draftID(3), 1))
		_, err = tx.Draft(alice, draftID(3))
		wants(t, "deleted", err, store.ErrNotFound)
	})
	s.view(func(tx *store.Tx) {
		list, err := tx.Drafts(alice, "", 0)
		if err != nil || len(list) != 2 || list[0].ID != draftID(1) || list[1].ID != draftID(2) {
			t.Errorf("%v, %v", list, err)
		}
		list, err = tx.Drafts(alice, draftID(1), 1)
		if err != nil || len(list) != 1 || list[0].ID != draftID(2) {
			t.Errorf("the next page: %v, %v", list, err)
		}
		if list, err = tx.Drafts(bob, "", 0); err != nil || len(list) != 0 {
			t.Errorf("another's: %v, %v", list, err)
		}
	})
	validations(t, s)
}

// validations: about the revision that is there, for the one who asked.
func validations(t *testing.T, s *scene) {
	v := store.Validation{ID: "validation_" + hex32(1), Draft: draftID(1), Revision: 2, Manifest: [32]byte{2}, Report: [32]byte{9},
		Status: store.Passed, Subject: alice, Expires: s.now + 10}
	s.update(func(tx *store.Tx) {
		for name, c := range map[string]struct {
			change func(*store.Validation)
			want   error
		}{
			"an id":                  {func(v *store.Validation) { v.ID = "v" }, store.ErrInvalid},
			"a status":               {func(v *store.Validation) { v.Status = "fine" }, store.ErrInvalid},
			"no time":                {func(v *store.Validation) { v.Expires = s.now }, store.ErrInvalid},
			"a revision before":      {func(v *store.Validation) { v.Revision = 1 }, store.ErrState},
			"another manifest":       {func(v *store.Validation) { v.Manifest = [32]byte{1} }, store.ErrState},
			"a draft of another":     {func(v *store.Validation) { v.Subject = bob }, store.ErrNotFound},
			"a draft that was there": {func(v *store.Validation) { v.Draft, v.Revision = draftID(3), 1 }, store.ErrNotFound},
		} {
			changed := v
			c.change(&changed)
			wants(t, name, tx.InsertValidation(changed), c.want)
		}
		s.ok(tx.InsertValidation(v))
		wants(t, "a second one", tx.InsertValidation(v), store.ErrExists)
	})
	v.Created = s.now
	s.view(func(tx *store.Tx) {
		got, err := tx.Validation(alice, v.ID)
		s.ok(err)
		if diff := cmp.Diff(v, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		_, err = tx.Validation(bob, v.ID)
		wants(t, "as another", err, store.ErrNotFound)
	})
}

// objects: what plans and drafts need is named, and nothing else.
func objects(t *testing.T, b Backend) {
	s := newScene(t, b)
	many := make([]cas.Digest, 450) // more than one statement takes
	for i := range many {
		many[i] = cas.Digest{9, byte(i), byte(i >> 8)}
	}
	s.update(func(tx *store.Tx) {
		for i, list := range [][]cas.Digest{{{1}}, {{2}}, {{3}}, many, {{5}}} {
			s.ok(tx.InsertPlan(plan(i+1, alice), "plan", list))
		}
		s.ok(tx.MovePlan(planID(2), store.Prepared, store.Cancelled, "", ""))
		s.ok(tx.MovePlan(planID(3), store.Prepared, store.Consumed, "", ""))
		_, err := tx.InsertExecution(planID(3), store.KindChange)
		s.ok(err)
		s.ok(tx.Advance(planID(3), "INTENT", "STAGED", 1))
		_, err = tx.InsertDraft(draftID(1), alice, [32]byte{}, cas.Digest{20}, []cas.Digest{{21}, {1}})
		s.ok(err)
		_, err = tx.InsertDraft(draftID(2), alice, [32]byte{}, cas.Digest{30}, []cas.Digest{{31}})
		s.ok(err)
		s.ok(tx.DeleteDraft(alice, draftID(2), 1))
	})
	referenced := func(since int64) (out []cas.Digest) {
		s.view(func(tx *store.Tx) {
			for d, err := range tx.Referenced(since) {
				s.ok(err)
				if d[0] != 9 {
					out = append(out, d)
				}
			}
		})
		slices.SortFunc(out, func(a, b cas.Digest) int { return int(a[0]) - int(b[0]) })
		return slices.Compact(out)
	}
	want := func(what string, got []cas.Digest, want ...byte) {
		t.Helper()
		var list []cas.Digest
		for _, n := range want {
			list = append(list, cas.Digest{n})
		}
		if diff := cmp.Diff(list, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	want("now", referenced(s.now+1), 1, 3, 5, 20, 21)
	want("with the plans that ended lately", referenced(s.now), 1, 2, 3, 5, 20, 21)
	count := 0
	s.view(func(tx *store.Tx) {
		for range tx.Referenced(s.now + 1) {
			count++
		}
	})
	if count != len(many)+6 {
		t.Errorf("%d objects, want %d", count, len(many)+6)
	}
	s.update(func(tx *store.Tx) {
		s.ok(tx.Finish(planID(3), "STAGED", "APPLIED", 1, nil))
		_, err := tx.ReviseDraft(alice, draftID(1), 1, [32]byte{}, cas.Digest{22}, []cas.Digest{{23}})
		s.ok(err)
	})
	want("with something left to clean", referenced(s.now+1), 1, 3, 5, 22, 23)
	s.update(func(tx *store.Tx) { s.ok(tx.Advance(planID(3), "APPLIED", "CLEANED", 1)) })
	want("at last", referenced(s.now+1), 1, 5, 22, 23)
	s.view(func(tx *store.Tx) { // one who stops early leaves the transaction usable
		for range tx.Referenced(0) {
			break
		}
		_, err := tx.Plan(planID(1))
		s.ok(err)
	})
}
