package storetest

import (
	"bytes"
	"iter"
	"testing"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/store"
)

// lines are the records of a store, in pages of three.
func lines(t *testing.T, s *store.Store) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var after int64
		for {
			var page []store.Record
			if err := s.View(t.Context(), func(tx *store.Tx) (err error) {
				page, err = tx.Trail(after, 3)
				return err
			}); err != nil {
				yield(nil, err)
				return
			}
			if len(page) == 0 {
				return
			}
			for _, r := range page {
				if !yield(r.Line, nil) {
					return
				}
				after = r.Seq
			}
		}
	}
}

func trail(t *testing.T, b Backend) {
	s := newScene(t, b)
	other := s.again()
	event := audit.Governed{
		Event: "plan.prepared", Actor: audit.Actor{Kind: audit.ByMCP, UID: 1000, User: "op", PID: 42, Session: "s", Client: "c"},
		Subject: alice, Plan: planID(1), Capability: "files.publish", Arguments: []byte(`{"a":1}`), Details: []byte(`{ "b": 2 }`),
	}
	for i := range 8 {
		on := s.Store
		if i%2 == 1 {
			on = other
		}
		if err := on.Update(t.Context(), func(tx *store.Tx) error { return tx.Audit(event) }); err != nil {
			t.Fatal(err)
		}
	}
	s.update(func(tx *store.Tx) { // two in one transaction
		s.ok(tx.Audit(event))
		s.ok(tx.Audit(audit.Governed{Event: "plan.refused", Actor: audit.Actor{Kind: audit.BySystem, UID: -1}, Refused: "conflict"}))
		wants(t, "an event that is none", tx.Audit(audit.Governed{Event: "Plan", Actor: event.Actor}), store.ErrInvalid)
	})
	var chain audit.Chain
	s.view(func(tx *store.Tx) {
		var err error
		chain, err = tx.Chain()
		s.ok(err)
	})
	report, err := audit.VerifyLines(chain.Log, lines(t, s.Store), audit.VerifyOptions{})
	if err != nil || report.Last != 11 || chain.Seq != 11 {
		t.Fatalf("%+v, %v; the chain ends at %d", report, err, chain.Seq)
	}
	for line := range lines(t, s.Store) {
		if bytes.Contains(line, []byte(`"a":1`)) {
			t.Errorf("an argument is in the trail: %s", line)
		}
	}
	// Each record that is changed, moved or missing is named.
	raw := b.Raw(t, s.place)
	for _, query := range []string{
		`UPDATE trail SET seq = 100 WHERE seq = 5`,
		`UPDATE trail SET line = (SELECT line FROM trail WHERE seq = 4) WHERE seq = 5`,
		`DELETE FROM trail WHERE seq = 5`,
	} {
		tx, err := raw.BeginTx(t.Context(), nil)
		s.ok(err)
		_, err = tx.Exec(query)
		s.ok(err)
		rows, err := tx.Query(`SELECT line FROM trail ORDER BY seq`)
		s.ok(err)
		var list [][]byte
		for rows.Next() {
			var line []byte
			s.ok(rows.Scan(&line))
			list = append(list, line)
		}
		s.ok(rows.Err())
		s.ok(tx.Rollback())
		_, err = audit.VerifyLines(chain.Log, func(yield func([]byte, error) bool) {
			for _, l := range list {
				if !yield(l, nil) {
					return
				}
			}
		}, audit.VerifyOptions{})
		bad, ok := err.(*audit.BadRecord)
		if !ok || bad.Seq != 5 {
			t.Errorf("after %s: error %v, want record 5", query, err)
		}
	}
	// Behind the end of the chain nothing is overwritten.
	_, err = raw.Exec(`UPDATE trail SET seq = 12 WHERE seq = 11`)
	s.ok(err)
	err = s.Update(t.Context(), func(tx *store.Tx) error { return tx.Audit(event) })
	wants(t, "a record behind the end", err, store.ErrCorrupt)
}
