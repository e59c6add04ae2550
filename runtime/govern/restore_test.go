package govern

import (
	"context"
	"errors"
	"testing"

	"github.com/capgen/capgen/runtime/govern/approve"
)

// reopenFrom puts an older copy of the database
// back, and opens it as a process does that knows of nothing else.
func (s *scene) reopenFrom(t *testing.T, d *daemon, from string) *scene {
	t.Helper()
	if err := errors.Join(s.Close(), s.db.Close()); err != nil {
		t.Fatal(err)
	}
	again, err := scenery{disk: s.disk, dir: copyDB(t, from), clock: s.clock, trust: s.trust, sources: []approve.Source{d}}.open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.db.Close() })
	return again
}

// putBack makes the target what it was before the plan.
func (s *scene) putBack(t *testing.T) {
	t.Helper()
	if err := s.roots.Move("momentum", "aside"); err != nil {
		t.Fatal(err)
	}
	s.place(t, before)
}

// TestRestoredDatabase: with a keeper of approvals, what has landed lands no
// second time from a database of before, though the approval is good, the token
// is, and the target is what it was.
func TestRestoredDatabase(t *testing.T) {
	for name, again := range map[string]func(*scene, Prepared) error{
		"the same key": func(s *scene, p Prepared) error {
			_, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p))
			return err
		},
		"another key": func(s *scene, p Prepared) error {
			_, err := ApplyChange(as("alice"), s.Service, publish, Claim{Plan: p.Plan, Token: p.Token, Key: "a2"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDaemon()
			s := newScene(t, scenery{sources: []approve.Source{d}})
			s.place(t, before)
			p := s.prepareChange(t)
			s.approve(t, ada, p.Plan)
			copied := copyDB(t, s.dir)
			if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); err != nil || d.landings[p.Plan] != "ended" {
				t.Fatalf("%v, %q", err, d.landings)
			}
			s.putBack(t)
			s = s.reopenFrom(t, d, copied)
			if err := again(s, p); code(err) != TokenReplayed || s.there(t) != treeHash(t, before) {
				t.Errorf("%v", err)
			}
			if got := s.last(t, 1); got != "plan.land!token_replayed" {
				t.Errorf("the trail ends with %s", got)
			}
		})
	}
}

// TestRestoredLanding: nor does one from a database that was copied while it
// landed. Until it has ended, the same execution goes on.
func TestRestoredLanding(t *testing.T) {
	for _, ended := range []bool{true, false} {
		d := newDaemon()
		crash := errors.New("crash")
		steps := 1 << 30
		s := newScene(t, scenery{sources: []approve.Source{d}, step: func() error {
			if steps--; steps < 0 {
				return crash
			}
			return nil
		}})
		s.place(t, before)
		p := s.prepareChange(t)
		s.approve(t, ada, p.Plan)
		steps = 1 // the transaction that begins, and no more
		if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); err == nil || d.landings[p.Plan] != "begun" || s.there(t) != treeHash(t, before) {
			t.Fatalf("%v, %q", err, d.landings)
		}
		steps = 1 << 30
		copied := copyDB(t, s.dir)
		want := treeHash(t, after)
		if ended {
			if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); err != nil {
				t.Fatal(err)
			}
			s.putBack(t)
			want = treeHash(t, before)
		}
		s = s.reopenFrom(t, d, copied)
		r, err := s.Recover(bg())
		if state := r.Ended[p.Plan]; err != nil || s.there(t) != want || (state == "aborted") != ended {
			t.Errorf("ended before: %v: recovered %v, %v", ended, r, err)
		}
		if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); (code(err) == "ok") == ended || s.there(t) != want {
			t.Errorf("ended before: %v: %v", ended, err)
		}
		if r, err := s.Recover(bg()); err != nil || len(r.Ended)+len(r.Waiting) != 0 {
			t.Errorf("%v, %v", r, err)
		}
	}
}

// TestRestoredCall: a call is not made a second time, either.
func TestRestoredCall(t *testing.T) {
	d := newDaemon()
	crash := errors.New("crash")
	steps := 1 << 30
	s := newScene(t, scenery{sources: []approve.Source{d}, step: func() error {
		if steps--; steps < 0 {
			return crash
		}
		return nil
	}})
	c := &calls{}
	p := s.prepareCall(t, c)
	s.approve(t, ada, p.Plan)
	prepared := copyDB(t, s.dir)
	steps = 1
	if _, err := s.applyCall(c, p, nothing); err == nil || c.made != 0 {
		t.Fatalf("%v, made %d times", err, c.made)
	}
	steps = 1 << 30
	intended := copyDB(t, s.dir)
	d.down = true
	if _, err := s.applyCall(c, p, nothing); code(err) != Internal || c.made != 0 {
		t.Errorf("nobody can tell whether it was made: %v", err)
	}
	d.down = false
	if _, err := s.applyCall(c, p, nothing); err != nil || c.made != 1 {
		t.Fatalf("%v, made %d times", err, c.made)
	}
	for _, from := range []string{prepared, intended} {
		s = s.reopenFrom(t, d, from)
		for range 2 {
			if _, err := s.applyCall(c, p, nothing); err == nil || c.made != 1 {
				t.Errorf("%v, made %d times", err, c.made)
			}
		}
	}
}

// TestKeeperIsGone: what cannot be marked as begun is not begun, and goes on when
// it can.
func TestKeeperIsGone(t *testing.T) {
	d := newDaemon()
	s := newScene(t, scenery{sources: []approve.Source{leaving{d}}})
	s.place(t, before)
	p := s.prepareChange(t)
	s.approve(t, ada, p.Plan)
	if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); code(err) != Internal || s.there(t) != treeHash(t, before) {
		t.Errorf("%v", err)
	}
	if r, err := s.Recover(bg()); err == nil || len(r.Ended) != 0 {
		t.Errorf("%v, %v", r, err)
	}
	d.down = false
	if r, err := s.Recover(bg()); err != nil || r.Ended[p.Plan] != "applied" || s.there(t) != treeHash(t, after) {
		t.Errorf("%v, %v", r, err)
	}
}

// leaving is a daemon that ends when something was spent.
type leaving struct{ *daemon }

func (l leaving) Spend(ctx context.Context, nonce [16]byte, plan string) error {
	err := l.daemon.Spend(ctx, nonce, plan)
	l.down = true
	return err
}
