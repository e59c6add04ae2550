package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/store"
)

// wants fails unless err is the error that is wanted, or none of those.
func wants(t *testing.T, what string, err, want error) {
	t.Helper()
	if want == nil && err != nil || want != nil && !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

// opening: a store keeps its id; a reader makes none; another version, and a
// store without its meta row, are refused.
func opening(t *testing.T, b Backend) {
	s := newScene(t, b)
	if len(s.ID()) != 32 || s.again().ID() != s.ID() || s.readOnly().ID() != s.ID() {
		t.Errorf("the id of the store is %q, and then another", s.ID())
	}
	if other := newScene(t, b); other.ID() == s.ID() {
		t.Error("two stores have one id")
	}
	if _, err := b.OpenReadOnly(t.Context(), b.Place(t)); err == nil {
		t.Error("a reader opened a store that is not there")
	}
	if _, err := b.Open(t.Context(), s.place, store.Options{}); err == nil {
		t.Error("a store was opened to be written without an audit key")
	}
	raw := b.Raw(t, s.place)
	for _, broken := range []struct {
		query string
		want  error
	}{
		{`UPDATE meta SET version = version + 1`, store.ErrVersion},
		{`UPDATE meta SET version = 0`, store.ErrVersion},
		{`UPDATE meta SET version = 2, id = 'x'`, store.ErrCorrupt},
		{`DELETE FROM meta`, store.ErrCorrupt},
	} {
		if _, err := raw.Exec(broken.query); err != nil {
			t.Fatal(err)
		}
		_, err := b.Open(t.Context(), s.place, store.Options{AuditKey: Key()})
		wants(t, "open after "+broken.query, err, broken.want)
		_, err = b.OpenReadOnly(t.Context(), s.place)
		wants(t, "open read-only after "+broken.query, err, broken.want)
	}
}

func plans(t *testing.T, b Backend) {
	s := newScene(t, b)
	want := plan(1, alice)
	s.update(func(tx *store.Tx) {
		s.ok(tx.InsertPlan(want, "plan", []cas.Digest{{1}, {2}, {1}}))
		wants(t, "the same id again", tx.InsertPlan(plan(1, bob), "plan", nil), store.ErrExists)
	})
	want.Status = store.Prepared
	s.view(func(tx *store.Tx) {
		got, err := tx.Plan(want.ID)
		s.ok(err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		_, err = tx.OwnedPlan(alice, want.ID)
		wants(t, "as its owner", err, nil)
		_, foreign := tx.OwnedPlan(bob, want.ID)
		_, missing := tx.OwnedPlan(bob, planID(9))
		wants(t, "as another", foreign, store.ErrNotFound)
		if foreign.Error() != missing.Error() {
			t.Errorf("another's plan is %q, one that is not there is %q", foreign, missing)
		}
		_, err = tx.Plan(planID(9))
		wants(t, "not there", err, store.ErrNotFound)
	})
	s.now++
	s.update(func(tx *store.Tx) { s.ok(tx.MovePlan(want.ID, store.Prepared, store.Rejected, "zu groß", "carol")) })
	want.Status, want.Reason, want.By, want.Moved = store.Rejected, "zu groß", "carol", s.now
	s.view(func(tx *store.Tx) {
		got, err := tx.Plan(want.ID)
		s.ok(err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("moved (-want +got):\n%s", diff)
		}
	})
	badPlans(t, s)
}

// badPlans: what no store keeps.
func badPlans(t *testing.T, s *scene) {
	for name, change := range map[string]func(*store.Plan){
		"id":           func(p *store.Plan) { p.ID = "plan_" + strings.Repeat("0", 31) },
		"kind of id":   func(p *store.Plan) { p.ID = "draft_" + hex32(7) },
		"upper case":   func(p *store.Plan) { p.ID = "plan_" + strings.Repeat("A", 32) },
		"owner":        func(p *store.Plan) { p.Owner = "" },
		"long owner":   func(p *store.Plan) { p.Owner = strings.Repeat("x", store.MaxText+1) },
		"zero byte":    func(p *store.Plan) { p.Owner = "a\x00b" },
		"not UTF-8":    func(p *store.Plan) { p.Owner = "a\xff" },
		"capability":   func(p *store.Plan) { p.Capability = "" },
		"body":         func(p *store.Plan) { p.Body = nil },
		"long body":    func(p *store.Plan) { p.Body = make([]byte, store.MaxBody+1) },
		"status":       func(p *store.Plan) { p.Status = store.Consumed },
		"moved":        func(p *store.Plan) { p.Moved = 1 },
		"reason":       func(p *store.Plan) { p.Reason = "r" },
		"created":      func(p *store.Plan) { p.Created = 0 },
		"never valid":  func(p *store.Plan) { p.Expires = p.Created },
		"no time left": func(p *store.Plan) { p.Expires = -1 },
	} {
		p := plan(7, alice)
		change(&p)
		s.update(func(tx *store.Tx) { wants(t, name, tx.InsertPlan(p, "plan", nil), store.ErrInvalid) })
	}
	s.update(func(tx *store.Tx) {
		wants(t, "no kind of nonce", tx.InsertPlan(plan(8, alice), "", nil), store.ErrInvalid)
	})
	s.update(func(tx *store.Tx) {
		wants(t, "too many objects", tx.InsertPlan(plan(9, alice), "plan", make([]cas.Digest, store.MaxObjects+1)), store.ErrInvalid)
		p := plan(10, alice)
		p.Nonce = nonce(1)
		wants(t, "a nonce that was issued", tx.InsertPlan(p, "plan", nil), store.ErrExists)
	})
}

// planMoves: of all pairs of statuses those that the design names, and no other.
func planMoves(t *testing.T, b Backend) {
	s := newScene(t, b)
	all := []store.PlanStatus{store.Prepared, store.Consumed, store.Expired, store.Rejected, store.Superseded, store.Cancelled, "", "PREPARED"}
	real := all[:6]
	n := 0
	s.update(func(tx *store.Tx) {
		for _, at := range real {
			for _, from := range all {
				for _, to := range all {
					n++
					id := planID(n)
					s.ok(tx.InsertPlan(plan(n, alice), "plan", nil))
					if at != store.Prepared {
						s.ok(tx.MovePlan(id, store.Prepared, at, "", "setup"))
					}
					var want error
					switch legal := from == store.Prepared && to != store.Prepared && slices.Contains(real, to); {
					case !legal:
						want = store.ErrInvalid
					case at != from:
						want = store.ErrState
					}
					what := "a plan that is " + string(at) + ", from " + string(from) + " to " + string(to)
					wants(t, what, tx.MovePlan(id, from, to, "", ""), want)
					p, err := tx.Plan(id)
					s.ok(err)
					if is := p.Status; want == nil && is != to || want != nil && is != at {
						t.Errorf("%s: it is %s now", what, is)
					}
				}
			}
		}
		wants(t, "a plan that is not there", tx.MovePlan(planID(n+1), store.Prepared, store.Consumed, "", ""), store.ErrNotFound)
		wants(t, "a reason with a line feed", tx.MovePlan(planID(1), store.Prepared, store.Consumed, "a\nb", ""), store.ErrInvalid)
	})
}

// pages: newest first, without gaps and repetitions, and of nobody else.
func pages(t *testing.T, b Backend) {
	s := newScene(t, b)
	var mine []string
	s.update(func(tx *store.Tx) {
		for i := 1; i <= 9; i++ {
			p := plan(i, alice)
			p.Created = start + int64(i/3) // several of one instant
			if i%4 == 0 {
				p.Owner = bob
			} else {
				mine = append(mine, p.ID)
			}
			p.Expires = start + 1000 + int64(i)
			s.ok(tx.InsertPlan(p, "plan", nil))
		}
		s.ok(tx.MovePlan(planID(5), store.Prepared, store.Cancelled, "", ""))
	})
	slices.Reverse(mine)
	ids := func(f store.Filter) (out []string) {
		s.view(func(tx *store.Tx) {
			list, err := tx.Plans(f)
			s.ok(err)
			for _, p := range list {
				out = append(out, p.ID)
			}
		})
		return out
	}
	for size := 1; size <= 8; size++ {
		var got []string
		for page := ids(store.Filter{Owner: alice, Limit: size}); len(page) > 0; page = ids(store.Filter{Owner: alice, Limit: size, After: page[len(page)-1]}) {
			got = append(got, page...)
		}
		if diff := cmp.Diff(mine, got); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", size, diff)
		}
	}
	for _, c := range []struct {
		f    store.Filter
		want int
	}{
		{store.Filter{Everyone: true}, 9},
		{store.Filter{Owner: bob}, 2},
		{store.Filter{Owner: "nobody"}, 0},
		{store.Filter{Owner: alice, Status: store.Prepared}, 6},
		{store.Filter{Everyone: true, Status: store.Cancelled}, 1},
		{store.Filter{Everyone: true, Capability: "other"}, 0},
		{store.Filter{Everyone: true, ExpiresBy: start + 1003}, 3},
		{store.Filter{Everyone: true, Status: store.Prepared, ExpiresBy: start + 1006, Limit: 3}, 3},
	} {
		if got := ids(c.f); len(got) != c.want {
			t.Errorf("%+v: %d plans, want %d", c.f, len(got), c.want)
		}
	}
	s.view(func(tx *store.Tx) {
		for _, f := range []store.Filter{{}, {Owner: alice, Everyone: true}, {Owner: alice, Limit: -1}, {Owner: alice, Limit: store.MaxPage + 1}} {
			_, err := tx.Plans(f)
			wants(t, "a list", err, store.ErrInvalid)
		}
		_, err := tx.Plans(store.Filter{Owner: alice, After: planID(4)}) // bob's
		wants(t, "a page after another's plan", err, store.ErrNotFound)
	})
	// Rows that somebody else wrote to are on their pages, and keep no other away.
	if _, err := b.Raw(t, s.place).Exec(`UPDATE plans SET status = 'landed', body = hash WHERE id = '` + planID(3) + `' OR id = '` + planID(9) + `'`); err != nil {
		t.Fatal(err)
	}
	for size := 1; size <= 8; size++ {
		var got []string
		f := store.Filter{Owner: alice, Limit: size}
		for n := size; n == size; {
			s.view(func(tx *store.Tx) {
				list, err := tx.Plans(f)
				s.ok(err)
				n = len(list)
				for _, p := range list {
					if altered := p.ID == planID(3) || p.ID == planID(9); errors.Is(p.Err, store.ErrCorrupt) != altered || (p.Body == nil) != altered {
						t.Errorf("%s: %+v", p.ID, p)
					}
					got = append(got, p.ID)
					f.After = p.ID
				}
			})
		}
		if diff := cmp.Diff(mine, got); diff != "" {
			t.Errorf("altered, pages of %d (-want +got):\n%s", size, diff)
		}
	}
}
