package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/store"
)

// processes is how many race for one nonce.
const processes = 64

// race: many processes land one plan, half of them with one key, each of the
// others with its own. One of them does, also when the first one is killed.
func race(t *testing.T, b Backend) {
	rounds := 1
	if soak() {
		rounds = 20
	}
	for _, c := range []struct {
		name, hold string
		processes  int
	}{
		{"nobody is killed", holdNever, processes},
		{"the first is killed before it commits", holdWritten, processes / 4},
		{"the first is killed after it has committed", holdCommitted, processes / 4},
	} {
		if soak() {
			c.processes = processes
		}
		for range rounds {
			t.Run(c.name, func(t *testing.T) { raceOnce(t, b, c.hold, c.processes) })
		}
	}
}

// approved makes plan 1, with an approval.
func (s *scene) approved() {
	s.t.Helper()
	s.insert(1)
	s.update(func(tx *store.Tx) {
		_, err := tx.InsertApproval(planID(1), []byte("approved"))
		s.ok(err)
	})
}

func raceOnce(t *testing.T, b Backend, hold string, n int) {
	s := newScene(t, b)
	s.approved()
	var all []*child
	for i := range n {
		key := "shared"
		if i%2 == 1 {
			key = fmt.Sprint("own ", i)
		}
		all = append(all, startChild(t, s.place, key, holdNever))
	}
	for _, c := range all {
		if got := c.says(t); got != ready {
			t.Fatalf("a process says %q", got)
		}
	}
	before := 0
	if hold != holdNever { // one is ahead of all others, and stays there
		first := startChild(t, s.place, "shared", hold)
		first.says(t)
		first.release(t)
		want := written
		if hold == holdCommitted {
			want, before = committed, 1
		}
		if got := first.says(t); got != want {
			t.Fatalf("the first says %q", got)
		}
		for _, c := range all[:n/2] {
			c.release(t)
		}
		first.kill(t)
		all = append(all[n/2:], all[:n/2]...)
		for _, c := range all[:n/2+n%2] {
			c.release(t)
		}
	} else {
		for _, c := range all {
			c.release(t)
		}
	}
	said := map[string]int{committed: before}
	for _, c := range all {
		said[c.says(t)]++
		if err := c.cmd.Wait(); err != nil {
			t.Errorf("a process: %v\n%s", err, c.err.String())
		}
	}
	if said[committed] != 1 || said[committed]+said[sameKey]+said[spent] != n+before || said[spent] < n/2-1 {
		t.Errorf("of %d processes: %v", n+before, said)
	}
	s.landedOnce(true)
}

// landedOnce: plan 1 has landed entirely and once, or not at all.
func (s *scene) landedOnce(must bool) (landed bool) {
	s.t.Helper()
	chain, events := audit.Chain{}, 0
	ours := errors.New("ours")
	err := s.Update(s.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Execution(planID(1))
		landed = err == nil
		if !landed && (must || !errors.Is(err, store.ErrNotFound)) {
			s.t.Errorf("its execution: %v", err)
		}
		p, err := tx.Plan(planID(1))
		s.ok(err)
		a, err := tx.Approvals(planID(1))
		s.ok(err)
		if (p.Status == store.Consumed) != landed || len(a) != 1 || (a[0].UsedBy == planID(1)) != landed {
			s.t.Errorf("landed: %v, but the plan is %s and its approvals are %v", landed, p.Status, a)
		}
		if chain, err = tx.Chain(); err != nil {
			return err
		}
		want := error(nil)
		if landed {
			want = store.ErrSpent
		}
		wants(s.t, "spending the nonce", tx.SpendNonce(nonce(1), "plan", planID(1)), want)
		return ours // take that back
	})
	if err != ours {
		s.t.Error(err)
	}
	if _, err := audit.VerifyLines(chain.Log, lines(s.t, s.Store), audit.VerifyOptions{}); err != nil {
		s.t.Error(err)
	}
	for range lines(s.t, s.Store) {
		events++
	}
	if landed && events != 2 || !landed && events != 1 {
		s.t.Errorf("landed: %v, and the trail has %d records", landed, events)
	}
	return landed
}

// killed: a process is killed somewhere in its landing, at random. What it
// wrote is there as a whole or not at all, and the store goes on.
func killed(t *testing.T, b Backend) {
	rounds := 6
	if soak() {
		rounds = 300
	}
	random := rand.New(rand.NewPCG(1, 2))
	landed := 0
	for range rounds {
		// Each round's connections end with it.
		if !t.Run("", func(t *testing.T) {
			s := newScene(t, b)
			s.approved()
			c := startChild(t, s.place, "k", holdCommitted)
			c.says(t)
			c.release(t)
			time.Sleep(time.Duration(random.Int64N(int64(15 * time.Millisecond))))
			c.kill(t)
			if s.landedOnce(false) {
				landed++
			}
			if err := s.Update(t.Context(), func(tx *store.Tx) error { return land(tx, "k") }); err != nil && !errors.Is(err, errSameKey) {
				t.Errorf("after it was killed: %v", err)
			}
			s.landedOnce(true)
		}) {
			return
		}
	}
	t.Logf("%d of %d had landed", landed, rounds)
}
