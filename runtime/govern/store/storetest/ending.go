package storetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/store"
)

// forget: what is over goes, with all that hangs on it; the rest stays.
func forget(t *testing.T, b Backend) {
	s := newScene(t, b)
	scope := store.Scope{Subject: alice, Capability: "c", Step: "apply"}
	s.update(func(tx *store.Tx) {
		for i := 1; i <= 5; i++ {
			p := plan(i, alice)
			p.Expires = p.Created + 10
			s.ok(tx.InsertPlan(p, "plan", []cas.Digest{{byte(i)}}))
			_, err := tx.InsertApproval(p.ID, []byte{byte(i)})
			s.ok(err)
			s.ok(tx.RememberKey(scope, p.ID, [32]byte{}, p.ID))
		}
		s.ok(tx.IssueNonce(nonce(9), "token", start+1000))
		for i, moved := range []string{"", "CONFLICT", "STAGED", "", ""} { // 1, 4 and 5 never began
			if moved == "" {
				continue
			}
			s.ok(tx.MovePlan(planID(i+1), store.Prepared, store.Consumed, "", ""))
			_, err := tx.InsertExecution(planID(i+1), store.KindChange)
			s.ok(err)
		}
		s.ok(tx.Finish(planID(2), "INTENT", "CONFLICT", 1, nil))
		s.ok(tx.Advance(planID(3), "INTENT", "STAGED", 1))
		s.ok(tx.MovePlan(planID(4), store.Prepared, store.Expired, "", ""))
		for i := 1; i <= 2; i++ {
			_, err := tx.InsertDraft(draftID(i), alice, [32]byte{}, cas.Digest{}, []cas.Digest{{7}})
			s.ok(err)
			s.ok(tx.InsertValidation(store.Validation{ID: "validation_" + hex32(i), Draft: draftID(i), Revision: 1, Status: store.Passed, Subject: alice, Expires: start + int64(i)*100}))
		}
		s.ok(tx.DeleteDraft(alice, draftID(1), 1))
		// 6 was started long ago and ends just now, 7 still runs.
		for i := 6; i <= 7; i++ {
			p := plan(i, alice)
			p.Expires = p.Created + 1000
			s.ok(tx.InsertPlan(p, "plan", nil))
			s.ok(tx.MovePlan(p.ID, store.Prepared, store.Consumed, "", ""))
			_, err := tx.InsertJob(p.ID, queuedAt(), host(), 0)
			s.ok(err)
		}
	})
	s.now += 150
	s.update(func(tx *store.Tx) {
		s.ok(tx.MovePlan(planID(5), store.Prepared, store.Cancelled, "", "")) // just now
		_, err := tx.MoveJob(planID(6), job.Queued, store.JobMove{Event: job.EventExpire, By: job.ByWatchdog})
		s.ok(err)
		_, err = tx.Forget(s.now + 1)
		wants(t, "what is to come", err, store.ErrInvalid)
	})
	s.update(func(tx *store.Tx) {
		got, err := tx.Forget(s.now)
		s.ok(err)
		// The nonces of the five plans have expired; plan 1 is still prepared,
		// 3 has something left to do, 5 has moved just now; 6 and 7 are runs.
		want := store.Forgotten{Plans: 2, Nonces: 5, Validations: 1, Drafts: 1}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		again, err := tx.Forget(s.now)
		if err != nil || again != (store.Forgotten{}) {
			t.Errorf("again: %+v, %v", again, err)
		}
	})
	s.view(func(tx *store.Tx) {
		for i, stays := range map[int]bool{1: true, 2: false, 3: true, 4: false, 5: true, 6: true, 7: true} {
			var want error
			if !stays {
				want = store.ErrNotFound
			}
			_, err := tx.Plan(planID(i))
			wants(t, "plan "+planID(i), err, want)
			_, _, known, err := tx.Idempotent(scope, planID(i))
			approvals, otherErr := tx.Approvals(planID(i))
			if i > 5 {
				continue
			}
			if err = errors.Join(err, otherErr); err != nil || known != stays || (len(approvals) == 1) != stays {
				t.Errorf("of plan %d: key %v, %d approvals, %v", i, known, len(approvals), err)
			}
		}
	})
	s.update(func(tx *store.Tx) {
		wants(t, "a nonce that is forgotten", tx.SpendNonce(nonce(1), "plan", planID(1)), store.ErrNotFound)
		s.ok(tx.SpendNonce(nonce(9), "token", planID(1)))
	})
}

// trim: records go from the beginning, and what is left still verifies.
func trim(t *testing.T, b Backend) {
	s := newScene(t, b)
	s.update(func(tx *store.Tx) {
		for range 5 {
			s.ok(tx.Audit(audit.Governed{Event: "a.b", Actor: audit.Actor{Kind: audit.BySystem}}))
		}
		for _, through := range []int64{6, 7, -1} {
			_, err := tx.TrimTrail(through)
			wants(t, "all of it", err, store.ErrInvalid)
		}
		if n, err := tx.TrimTrail(3); n != 3 || err != nil {
			t.Errorf("%d records removed, %v", n, err)
		}
		s.ok(tx.Audit(audit.Governed{Event: "trail.trimmed", Actor: audit.Actor{Kind: audit.ByCLI}}))
	})
	var log string
	s.view(func(tx *store.Tx) {
		c, err := tx.Chain()
		s.ok(err)
		log = c.Log
	})
	r, err := audit.VerifyLines(log, lines(t, s.Store), audit.VerifyOptions{From: 4})
	if err != nil || r.Last != 7 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := audit.VerifyLines(log, lines(t, s.Store), audit.VerifyOptions{}); err == nil {
		t.Error("that the beginning is missing is not told")
	}
}

// sink keeps heads, and refuses the first ones.
type sink struct {
	mu     sync.Mutex
	refuse int
	heads  bytes.Buffer
}

func (k *sink) Head(_ context.Context, signed []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refuse--; k.refuse >= 0 {
		return errors.New("not now")
	}
	k.heads.Write(signed)
	return nil
}

// asked waits until a head was refused.
func (k *sink) asked(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		k.mu.Lock()
		refused := k.refuse <= 0
		k.mu.Unlock()
		if refused {
			return
		}
	}
	t.Fatal("no head was offered")
}

// heads: what was committed is signed, and whoever cuts the trail off and
// writes its end anew is found out.
func heads(t *testing.T, b Backend) {
	signingKey, verifierKey, err := note.GenerateKey(rand.Reader, "example.com/store")
	if err != nil {
		t.Fatal(err)
	}
	kept := &sink{refuse: 1}
	s := newScene(t, b)
	options := store.Options{AuditKey: Key(), SigningKey: signingKey, Heads: kept, HeadEvery: 2, HeadInterval: time.Hour}
	signed, err := b.Open(t.Context(), s.place, options)
	s.ok(err)
	event := audit.Governed{Event: "a.b", Actor: audit.Actor{Kind: audit.BySystem}}
	for range 5 {
		s.ok(signed.Update(t.Context(), func(tx *store.Tx) error { return tx.Audit(event) }))
	}
	kept.asked(t) // else the first head, which it refuses, may be the last one
	ours := errors.New("ours")
	if err := signed.Update(t.Context(), func(tx *store.Tx) error { s.ok(tx.Audit(event)); return ours }); err != ours {
		t.Fatal(err)
	}
	s.ok(signed.Close())
	var chain audit.Chain
	s.view(func(tx *store.Tx) {
		chain, err = tx.Chain()
		s.ok(err)
	})
	verify := func() (audit.Report, error) {
		return audit.VerifyLines(chain.Log, lines(t, s.Store), audit.VerifyOptions{Heads: bytes.NewReader(kept.heads.Bytes()), Keys: []string{verifierKey}})
	}
	if r, err := verify(); err != nil || r.Signed != 6 || r.Last != 6 || r.Unreadable != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	raw := b.Raw(t, s.place)
	for _, q := range []string{`DELETE FROM trail WHERE seq > 4`, `UPDATE meta SET seq = 4`} {
		_, err := raw.Exec(q)
		s.ok(err)
	}
	var bad *audit.BadRecord
	if _, err := verify(); !errors.As(err, &bad) || bad.Seq != 5 {
		t.Errorf("cut off: error %v, want record 5", err)
	}
	for name, change := range map[string]func(*store.Options){
		"no sink":            func(o *store.Options) { o.Heads = nil },
		"no key":             func(o *store.Options) { o.SigningKey = "" },
		"a key that is none": func(o *store.Options) { o.SigningKey = verifierKey },
		"a negative number":  func(o *store.Options) { o.HeadEvery = -1 },
	} {
		o := options
		change(&o)
		if again, err := b.Open(t.Context(), s.place, o); err == nil {
			t.Errorf("%s: no error", name)
			again.Close()
		}
	}
}
