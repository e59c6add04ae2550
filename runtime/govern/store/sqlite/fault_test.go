package sqlite

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/capgen/capgen/runtime/govern/store"
)

// TestFaults fails every step of two transactions once, and all steps from each
// one on until space is there again, as a full disk and as a broken one do. What
// Update said is so, and the same store goes on.
func TestFaults(t *testing.T) {
	singleThreaded(t)
	base := newDisk(file)
	s, err := openOn(t, base, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, fault := range []struct {
		name    string
		err     error
		reads   bool
		forever bool
	}{
		{"full once", sqlite3.FULL, false, false},
		{"full from then on", sqlite3.FULL, false, true},
		{"broken once", sqlite3.IOERR, true, false},
		{"broken from then on", sqlite3.IOERR, true, true},
	} {
		t.Run(fault.name, func(t *testing.T) {
			n := 1
			for ; faultAt(t, base.freeze(), n, fault.err, fault.reads, fault.forever); n++ {
				if t.Failed() {
					return
				}
			}
			if n < 10 {
				t.Errorf("only %d steps failed", n-1)
			}
			t.Logf("%d steps failed", n-1)
		})
	}
}

// faultAt fails step n, and tells whether there was one.
func faultAt(t *testing.T, at frozen, n int, fault error, reads, forever bool) (met bool) {
	t.Helper()
	d := at.after(func(int) int { return 1 })
	s, err := openOn(t, d, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	steps := 0
	d.step = func(op string) error {
		if op == "read" && !reads {
			return nil
		}
		if steps++; steps == n || forever && steps > n {
			met = true
			return fault
		}
		return nil
	}
	said := []error{add(t.Context(), s, 1), add(t.Context(), s, 2)}
	d.step = nil
	// Space is there again: the same store goes on.
	if err := add(t.Context(), s, 3); err != nil {
		t.Errorf("step %d: afterwards: %v", n, err)
	}
	again, err := openOn(t, d, "")
	if err != nil {
		t.Errorf("step %d: opened again: %v", n, err)
		return met
	}
	defer again.Close()
	err = again.View(t.Context(), func(tx *store.Tx) error {
		records := 1
		for i, said := range append(said, nil) {
			_, err := tx.Plan(aPlan(i + 1).ID)
			there := err == nil
			if there {
				records++
			}
			if !there && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			if there != (said == nil) && !errors.Is(said, store.ErrUnknownOutcome) {
				return fmt.Errorf("plan %d is there: %v; Update said %v", i+1, there, said)
			}
		}
		trail, err := tx.Trail(0, 0)
		if err == nil && len(trail) != records {
			err = fmt.Errorf("%d records, want %d", len(trail), records)
		}
		return err
	})
	if err != nil {
		t.Errorf("step %d: %v", n, err)
	}
	return met
}
