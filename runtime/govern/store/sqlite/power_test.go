package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/store/storetest"
)

// file is the name of the store on a disk of the tests.
const file = "/store.sqlite"

// aPlan is plan n.
func aPlan(n int) store.Plan {
	return store.Plan{ID: fmt.Sprintf("plan_%032x", n), Owner: "local", Capability: "c", Body: []byte(strings.Repeat("b", 6000)),
		Nonce: [16]byte{byte(n), 1}, Created: 1, Expires: 2}
}

// add adds plan n and a record of that.
func add(ctx context.Context, s *store.Store, n int) error {
	return s.Update(ctx, func(tx *store.Tx) error {
		if err := tx.InsertPlan(aPlan(n), "plan", nil); err != nil {
			return err
		}
		return tx.Audit(audit.Governed{Event: "plan.prepared", Actor: audit.Actor{Kind: audit.BySystem}})
	})
}

// openOn opens the store on a disk; synchronous replaces the setting, if it is
// not empty.
func openOn(t testing.TB, d *disk, synchronous string) (*store.Store, error) {
	o := store.Options{AuditKey: storetest.Key()}
	if synchronous == "" {
		return open(t.Context(), file, d.mount(t), o)
	}
	db, err := driver.Open(uri(file, "rw", d.mount(t)), func(c *sqlite3.Conn) error {
		return errors.Join(configure(c, false), c.Exec("PRAGMA synchronous = "+synchronous))
	})
	if err != nil {
		return nil, err
	}
	return store.Open(t.Context(), db, dialect{}, o)
}

// instant is a disk just before something is done to it, and how many
// transactions had been acknowledged by then, the one that makes the store too.
type instant struct {
	frozen
	op           string
	acknowledged int
}

// instants are all of a store's first transactions.
func instants(t *testing.T, synchronous, omitted string) (all []instant) {
	t.Helper()
	d := newDisk(file)
	d.omitted = omitted
	acknowledged := 0
	d.step = func(op string) error {
		if op != "read" {
			all = append(all, instant{d.freeze(), op, acknowledged})
		}
		return nil
	}
	s, err := openOn(t, d, synchronous)
	if err != nil {
		t.Fatal(err)
	}
	acknowledged++
	for n := 1; n <= 2; n++ {
		if err := add(t.Context(), s, n); err != nil {
			t.Fatal(err)
		}
		acknowledged++
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return append(all, instant{d.freeze(), "end", acknowledged})
}

// lost looks at what is left when power is lost at an instant: everything that
// was acknowledged, nothing by halves, and a store that goes on.
func lost(t *testing.T, at instant, arrived func(int) int) error {
	s, err := openOn(t, at.after(arrived), "")
	if err != nil {
		return fmt.Errorf("it does not open: %w", err)
	}
	defer s.Close()
	plans, records := 0, 0
	err = s.View(t.Context(), func(tx *store.Tx) error {
		list, err := tx.Plans(store.Filter{Everyone: true})
		plans = len(list)
		if err != nil {
			return err
		}
		trail, err := tx.Trail(0, 0)
		records = len(trail)
		return err
	})
	if err != nil {
		return err
	}
	if records != plans+1 {
		return fmt.Errorf("%d plans and %d records", plans, records)
	}
	if have := plans + 1; have < at.acknowledged || have > at.acknowledged+1 {
		return fmt.Errorf("%d transactions are there, and %d were acknowledged", have, at.acknowledged)
	}
	return add(t.Context(), s, 99)
}

// lose loses power at all instants, in some of the ways in which that may end.
// It returns the first most things that it found, and how many disks it looked
// at.
func lose(t *testing.T, all []instant, ways, most int) (found []string, disks int) {
	random := rand.New(rand.NewPCG(1, uint64(len(all))))
	for i, at := range all {
		if len(found) >= most {
			break
		}
		try := func(how string, arrived func(int) int) {
			disks++
			if err := lost(t, at, arrived); err != nil {
				found = append(found, fmt.Sprintf("at step %d, before %s, %s: %v", i, at.op, how, err))
			}
		}
		try("nothing arrived", func(int) int { return 0 })
		parts := at.parts()
		if parts == 0 {
			continue
		}
		try("all arrived", func(n int) int { return max(n, 1) })
		if bits := uint(parts); parts <= 8 && 1<<bits <= ways {
			for set := range 1 << bits {
				next := 0
				try(fmt.Sprintf("the set %b arrived", set), func(n int) int {
					next++
					return max(n, 1) * (set >> (next - 1) & 1)
				})
			}
			continue
		}
		for k := range ways {
			try(fmt.Sprintf("some arrived, the %dth time", k), func(n int) int {
				switch random.IntN(5) {
				case 0, 1:
					return 0
				case 2: // torn
					return random.IntN(max(n, 1)) + 1
				}
				return max(n, 1)
			})
		}
	}
	return found, disks
}

// ways is how many ends a loss of power has, at most, at each instant.
func ways() int {
	if *soak {
		return 256
	}
	return 2
}

// TestPowerLoss loses power before every step of the first transactions.
func TestPowerLoss(t *testing.T) {
	singleThreaded(t)
	all := instants(t, "", "")
	found, disks := lose(t, all, ways(), 5)
	if len(found) > 0 {
		t.Errorf("of %d disks:\n%s", disks, strings.Join(found, "\n"))
	}
	t.Logf("%d steps, %d disks", len(all), disks)
}

// TestPowerLossIsFound: without any one of the syncs the test above fails.
func TestPowerLossIsFound(t *testing.T) {
	singleThreaded(t)
	for _, c := range []struct{ name, synchronous, omitted string }{
		{"FULL", "FULL", ""},
		{"NORMAL", "NORMAL", ""},
		{"OFF", "OFF", ""},
		{"no sync of the journal", "", "journal"},
		{"no sync of the journal's name", "", "journal's name"},
		{"no sync of the database", "", "database"},
		{"no sync of the removal of the journal", "", "removal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := instants(t, c.synchronous, c.omitted)
			slices.Reverse(all) // what is lost is lost late
			found, disks := lose(t, all, 4, 1)
			if len(found) == 0 {
				t.Errorf("on %d disks nothing was lost", disks)
				return
			}
			t.Logf("after %d disks: %s", disks, found[0])
		})
	}
}
