package govern

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/fault"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
)

// begun is an approved plan whose landing has begun, and has stopped before the
// n-th step after that.
func (s *scene) begun(t *testing.T, y *story, n int) {
	t.Helper()
	p, err := y.prepare(s)
	if err != nil {
		t.Fatal(err)
	}
	y.prepared = p
	s.approve(t, ada, p.Plan)
	steps := -1
	stop := func() error {
		if steps++; steps >= n {
			return fault.ErrStopped
		}
		return nil
	}
	s.step = stop // the first one is the landing's transaction
	s.o.Roots["strategies"] = fault.Stepped(s.roots, stop)
	if _, err := y.apply(s); err == nil {
		t.Fatal("it did not stop")
	}
	s.step = func() error { return nil }
	s.o.Roots = map[string]root.Dir{"strategies": s.roots}
}

// TestTooLate: what was interrupted before anything of it was visible, and is
// found again after its plan has expired, is aborted; what was visible goes on.
func TestTooLate(t *testing.T) {
	ends := map[string]int{}
	for n := 1; n < 14; n++ {
		s := newScene(t, scenery{})
		s.place(t, little)
		y := &story{}
		s.begun(t, y, n)
		s.clock.pass(publish.TTL)
		got, err := s.Recover(bg())
		if err != nil {
			t.Fatalf("step %d: %v", n, err)
		}
		end := got.Ended[y.prepared.Plan]
		ends[end]++
		want := treeHash(t, little)
		if end == "applied" {
			want = treeHash(t, other)
		}
		if s.there(t) != want || s.names(t) != "momentum" {
			t.Errorf("step %d, %s: something else is there: %s", n, end, s.names(t))
		}
		if _, err := y.apply(s); (err == nil) != (end == "applied") {
			t.Errorf("step %d, %s, again: %v", n, end, err)
		}
	}
	if ends["aborted"] < 5 || ends["applied"] < 1 || len(ends) != 2 {
		t.Errorf("ended as %v", ends)
	}
}

// TestCallTooLate: a call that has not begun waits for its requester while the
// plan is good, and is not made after.
func TestCallTooLate(t *testing.T) {
	s := newScene(t, scenery{})
	y := &story{call: true}
	s.begun(t, y, 1)
	if got, err := s.Recover(bg()); err != nil || len(got.Waiting) != 1 || y.made != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	s.clock.pass(remove.TTL)
	if got, err := s.Recover(bg()); err != nil || got.Ended[y.prepared.Plan] != "aborted" {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := y.apply(s); code(err) != ConflictCode || y.made != 0 {
		t.Errorf("%v, %d calls", err, y.made)
	}
}

// TestCleanExpires: what has expired is written down, once, and what only it
// needed goes.
func TestCleanExpires(t *testing.T) {
	s := newScene(t, scenery{})
	s.place(t, before)
	p := s.prepareChange(t)
	o := s.Operator(cli)
	if got, err := o.Clean(bg(), 0); err != nil || got != (Cleaned{}) {
		t.Errorf("nothing is over: %+v, %v", got, err)
	}
	s.clock.pass(publish.TTL)
	if v, err := s.Show(as("alice"), p.Plan); err != nil || v.Status != "expired" || len(v.Actions) == 0 {
		t.Errorf("%+v, %v", v, err)
	}
	got, err := o.Clean(bg(), 0)
	if err != nil || got != (Cleaned{Expired: 1}) { // it has ended only now
		t.Errorf("%+v, %v", got, err)
	}
	s.clock.pass(time.Microsecond)
	if got, err = o.Clean(bg(), 0); err != nil || got.Expired != 0 || got.Objects < 5 {
		t.Errorf("%+v, %v", got, err)
	}
	if again, err := o.Clean(bg(), 0); err != nil || again != (Cleaned{}) {
		t.Errorf("again: %+v, %v", again, err)
	}
	if v, err := s.Show(as("alice"), p.Plan); err != nil || v.Status != "expired" || len(v.Actions) != 0 {
		t.Errorf("%+v, %v", v, err)
	}
	if n := strings.Count(strings.Join(s.trail(t), " "), "plan.expire"); n != 1 {
		t.Errorf("expired %d times", n)
	}
}

// TestCleanForgets: what has been over for long leaves the store, nonces that
// nobody spent too; what can land, and the trail, stay.
func TestCleanForgets(t *testing.T) {
	s := newScene(t, scenery{})
	s.place(t, before)
	p := s.prepareChange(t)
	o := s.Operator(cli)
	s.clock.pass(publish.TTL)
	if _, err := o.Clean(bg(), 0); err != nil {
		t.Fatal(err)
	}
	s.clock.pass(Retention)
	if got, err := o.Clean(bg(), Retention+time.Second); err != nil || got.Forgotten != 0 {
		t.Errorf("it is kept for longer: %+v, %v", got, err)
	}
	s.clock.pass(time.Microsecond)
	q, err := PrepareChange(as("alice"), s.Service, publish, []byte(`{}`), "k2", planning(after))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := o.Clean(bg(), 0); err != nil || got.Forgotten != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.Show(as("alice"), p.Plan); code(err) != NotFound {
		t.Errorf("%v", err)
	}
	nonce, err := nonceOf(p.Plan)
	if err != nil {
		t.Fatal(err)
	}
	err = s.db.Update(bg(), func(tx *store.Tx) error { return tx.SpendNonce(nonce, "change", p.Plan) })
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("its nonce is there: %v", err)
	}
	if n := strings.Count(strings.Join(s.trail(t), " "), "plan.prepare"); n != 2 {
		t.Errorf("the trail tells of %d plans", n)
	}
	s.approve(t, ada, q.Plan)
	if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(q)); err != nil {
		t.Errorf("a plan that is not over: %v", err)
	}
}

// TestRotateKeys: tokens of a key that was replaced are good until they expire,
// and the key goes when none can be.
func TestRotateKeys(t *testing.T) {
	s := newScene(t, scenery{})
	s.place(t, before)
	p := s.prepareChange(t)
	s.approve(t, ada, p.Plan)
	key, err := s.Operator(cli).RotateKeys(bg())
	if err != nil || strings.Contains(p.Token, key) {
		t.Fatal(key, err)
	}
	again, err := PrepareChange(as("alice"), s.Service, publish, []byte(`{"name":"momentum"}`), "k1", planning(after))
	if err != nil || !strings.Contains(again.Token, key) {
		t.Errorf("%s, %v: not of the new key", again.Token, err)
	}
	if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); err != nil {
		t.Errorf("a token of the key before: %v", err)
	}
	s.clock.pass(retired + 1)
	if _, err := s.Operator(cli).RotateKeys(bg()); err != nil {
		t.Fatal(err)
	}
	if keys, err := s.readKeys(); err != nil || len(keys) != 2 || keys[1].ID != key {
		t.Errorf("%d keys, %v: not the new one and the one before", len(keys), err)
	}
	if f, err := s.Operator(cli).Facts(bg()); err != nil || len(f.Roots) != 1 || f.Plans["consumed"] != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}
