package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/govern/store"
)

func executions(t *testing.T, b Backend) {
	s := newScene(t, b)
	s.insert(3)
	other := s.again()
	want := store.Execution{Plan: planID(1), Kind: store.KindChange, State: "INTENT", Outcome: []byte{}, Started: start, Epoch: 1}
	s.update(func(tx *store.Tx) {
		got, err := tx.InsertExecution(planID(1), store.KindChange)
		s.ok(err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("begun (-want +got):\n%s", diff)
		}
		_, err = tx.InsertExecution(planID(1), store.KindChange)
		wants(t, "a second one", err, store.ErrExists)
		_, err = tx.InsertExecution(planID(1), "other")
		wants(t, "of another kind", err, store.ErrInvalid)
		_, err = tx.InsertExecution(planID(4), store.KindCall)
		wants(t, "of no plan", err, store.ErrNotFound)
		_, err = tx.InsertExecution(planID(2), store.KindCall)
		s.ok(err)
		_, err = tx.Execution(planID(3))
		wants(t, "one that has not begun", err, store.ErrNotFound)
		_, err = tx.TakeOver(planID(3))
		wants(t, "taking over none", err, store.ErrNotFound)
		wants(t, "advancing none", tx.Advance(planID(3), "INTENT", "STAGED", 1), store.ErrNotFound)
	})
	// Another takes over: what the first one writes then is refused.
	if err := other.Update(t.Context(), func(tx *store.Tx) error {
		got, err := tx.TakeOver(planID(1))
		if got.Epoch != 2 {
			t.Errorf("taken over: epoch %d", got.Epoch)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.now += 5
	s.update(func(tx *store.Tx) {
		wants(t, "in an epoch that is over", tx.Advance(planID(1), "INTENT", "STAGED", 1), store.ErrState)
		wants(t, "in an epoch to come", tx.Advance(planID(1), "INTENT", "STAGED", 3), store.ErrState)
		s.ok(tx.Advance(planID(1), "INTENT", "STAGED", 2))
		wants(t, "the same again", tx.Advance(planID(1), "INTENT", "STAGED", 2), store.ErrState)
		wants(t, "ended, not finished", tx.Advance(planID(1), "STAGED", "APPLIED", 2), store.ErrInvalid)
		wants(t, "a long outcome", tx.Finish(planID(1), "STAGED", "APPLIED", 2, make([]byte, store.MaxBody+1)), store.ErrInvalid)
		s.ok(tx.Finish(planID(1), "STAGED", "APPLIED", 2, []byte("tree")))
		wants(t, "finished twice", tx.Finish(planID(1), "APPLIED", "CLEANED", 2, nil), store.ErrInvalid)
	})
	want.State, want.Epoch, want.Outcome, want.Ended = "APPLIED", 2, []byte("tree"), s.now
	s.view(func(tx *store.Tx) {
		got, err := tx.Execution(planID(1))
		s.ok(err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("finished (-want +got):\n%s", diff)
		}
		list, err := tx.Unfinished("", 0)
		if err != nil || len(list) != 2 || list[0].Plan != planID(1) || list[1].Plan != planID(2) {
			t.Errorf("unfinished: %v, %v", list, err)
		}
		list, err = tx.Unfinished(planID(1), 1)
		if err != nil || len(list) != 1 || list[0].Plan != planID(2) {
			t.Errorf("the next page: %v, %v", list, err)
		}
	})
	s.update(func(tx *store.Tx) {
		s.ok(tx.Advance(planID(1), "APPLIED", "CLEANED", 2))
		list, err := tx.Unfinished("", 0)
		if err != nil || len(list) != 1 {
			t.Errorf("unfinished at last: %v, %v", list, err)
		}
		got, err := tx.Execution(planID(1))
		if err != nil || string(got.Outcome) != "tree" || got.Ended != s.now {
			t.Errorf("what came of it has changed: %+v, %v", got, err)
		}
	})
}

// ways are how an execution comes into each state.
var ways = map[string][]string{
	store.KindChange + " INTENT":   nil,
	store.KindChange + " STAGED":   {"STAGED"},
	store.KindChange + " APPLIED":  {"STAGED", "APPLIED"},
	store.KindChange + " CLEANED":  {"STAGED", "APPLIED", "CLEANED"},
	store.KindChange + " ABORTED":  {"ABORTED"},
	store.KindChange + " CONFLICT": {"CONFLICT"},
	store.KindCall + " INTENT":     nil,
	store.KindCall + " CALLED":     {"CALLED"},
	store.KindCall + " DONE":       {"CALLED", "DONE"},
	store.KindCall + " FAILED":     {"CALLED", "FAILED"},
	store.KindCall + " UNKNOWN":    {"CALLED", "UNKNOWN"},
	store.KindCall + " ABORTED":    {"ABORTED"},
}

// legal are all transitions of executions.
var legal = []string{
	"change INTENT STAGED", "change INTENT ABORTED", "change INTENT CONFLICT",
	"change STAGED APPLIED", "change STAGED ABORTED", "change STAGED CONFLICT",
	"change APPLIED CLEANED",
	"call INTENT CALLED", "call INTENT ABORTED",
	"call CALLED DONE", "call CALLED FAILED", "call CALLED UNKNOWN",
}

// ending are the states in which what was to be done is done, or never will be.
var ending = []string{"APPLIED", "ABORTED", "CONFLICT", "DONE", "FAILED", "UNKNOWN"}

// executionMoves: of all pairs of states of both kinds the legal ones.
func executionMoves(t *testing.T, b Backend) {
	s := newScene(t, b)
	states := []string{"INTENT", "STAGED", "APPLIED", "CLEANED", "ABORTED", "CONFLICT", "CALLED", "DONE", "FAILED", "UNKNOWN", "", "intent"}
	move := func(tx *store.Tx, plan, from, to string) error {
		if slices.Contains(ending, to) {
			return tx.Finish(plan, from, to, 1, nil)
		}
		return tx.Advance(plan, from, to, 1)
	}
	n := 0
	s.update(func(tx *store.Tx) {
		for _, kind := range []string{store.KindChange, store.KindCall} {
			for _, from := range states {
				way, is := ways[kind+" "+from]
				for _, to := range states {
					n++
					id := planID(n)
					s.ok(tx.InsertPlan(plan(n, alice), "plan", nil))
					_, err := tx.InsertExecution(id, kind)
					s.ok(err)
					at := "INTENT"
					for _, next := range way {
						s.ok(move(tx, id, at, next))
						at = next
					}
					var want error = store.ErrInvalid
					if is && slices.Contains(legal, fmt.Sprintf("%s %s %s", kind, from, to)) {
						want, at = nil, to
					}
					what := fmt.Sprintf("a %s from %s to %s", kind, from, to)
					wants(t, what, move(tx, id, from, to), want)
					e, err := tx.Execution(id)
					s.ok(err)
					if e.State != at {
						t.Errorf("%s: it is %s now, not %s", what, e.State, at)
					}
				}
			}
		}
	})
}
