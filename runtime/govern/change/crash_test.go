package change

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/govern/fault"
)

// small and other are trees of the fewest steps that have each kind.
var (
	small = map[string]string{"a": "old"}
	other = map[string]string{"lib/": "", "lib/c": "new"}
)

var soak = flag.Bool("soak", false, "lose power during recovery too, at every step")

// whole lands, and removes what the landing displaced.
func (s scene) whole(ctx context.Context) error {
	if _, err := s.landing.Land(ctx, s.blobs, s.journal); err != nil {
		return err
	}
	_, err := s.landing.Clean(ctx, s.journal)
	return err
}

// broken says what is wrong with a landing as it is found, or nothing.
func (s scene) broken(t testing.TB) string {
	target, beside := hash(t, s.landing.Parent, "t"), hash(t, s.landing.Parent, s.landing.Beside())
	post := s.landing.Post.Hash()
	switch {
	case target != post && target != s.landing.Pre:
		return "the target is neither the old tree nor the new one"
	case target != post && (s.journal.state == Applied || s.journal.state == Cleaned):
		return "what was applied is not there"
	case s.journal.state == Cleaned && beside != Absent.Hash():
		return "what was cleaned away is there"
	}
	return ""
}

// survive loses power at every step of a landing, looks at every disk that may
// be found after it, and lands once more from there; with depth above 1 the
// power fails then too. It returns what went wrong first.
func survive(t testing.TB, s scene, depth, lie int) (stops, disks int, wrong string) {
	for n := 1; ; n++ {
		run := s.fresh(t)
		run.disk.LieAt(lie)
		run.disk.StopAt(n)
		err := run.whole(t.Context())
		if err != nil && !errors.Is(err, fault.ErrStopped) {
			return stops, disks, fmt.Sprintf("stopped at step %d: %v", n, err)
		}
		for after := range run.disk.Crashes() {
			disks++
			found := run.on(t, after)
			if wrong := found.broken(t); wrong != "" {
				return stops, disks, fmt.Sprintf("stopped at step %d, %s: %s", n, found.journal.state, wrong)
			}
			if depth > 1 {
				_, more, wrong := survive(t, found, depth-1, 0)
				if disks += more; wrong != "" {
					return stops, disks, fmt.Sprintf("stopped at step %d, and then %s", n, wrong)
				}
				continue
			}
			if err := found.whole(t.Context()); err != nil {
				return stops, disks, fmt.Sprintf("stopped at step %d, once more: %v", n, err)
			}
			if got := names(t, found.landing.Parent); got != "t" {
				return stops, disks, fmt.Sprintf("stopped at step %d: left %s", n, got)
			}
			if wrong := found.broken(t); wrong != "" || found.journal.state != Cleaned || found.journal.applied != 1 {
				return stops, disks, fmt.Sprintf("stopped at step %d: %s, applied %d times: %s", n, found.journal.state, found.journal.applied, wrong)
			}
		}
		if err == nil {
			return n - 1, disks, ""
		}
	}
}

// fresh is s on a copy of its disk.
func (s scene) fresh(t testing.TB) scene {
	for disk := range s.disk.Crashes() { // all is synced: there is one
		return s.on(t, disk)
	}
	t.Fatal("no disk")
	return s
}

// TestPowerLoss: whatever of the unsynced changes a loss of power at whatever
// step leaves, the target is the old tree or the new one, and the same call
// brings the landing to its end, once.
func TestPowerLoss(t *testing.T) {
	for _, c := range []struct {
		name         string
		there, lands map[string]string
		depth        int
	}{
		{"over a tree", before, after, 1},
		{"where nothing was", nil, after, 1},
		{"and once more during recovery", small, other, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.depth > 1 && !*soak {
				t.Skip("lost twice in the soak only")
			}
			stops, disks, wrong := survive(t, newScene(t, c.there, c.lands), c.depth, 0)
			if wrong != "" {
				t.Fatal(wrong)
			}
			t.Logf("%d steps, %d disks", stops, disks)
			if stops < 15 {
				t.Errorf("only %d steps", stops)
			}
		})
	}
}

// TestEverySyncIsNeeded: a landing that leaves out any one of its syncs does not
// survive.
func TestEverySyncIsNeeded(t *testing.T) {
	s := newScene(t, small, other)
	run := s.fresh(t)
	run.disk.LieAt(0)
	if err := run.whole(t.Context()); err != nil {
		t.Fatal(err)
	}
	syncs := run.disk.Syncs()
	if syncs < 5 {
		t.Fatalf("%d syncs", syncs)
	}
	for lie := 1; lie <= syncs; lie++ {
		if _, _, wrong := survive(t, s, 1, lie); wrong == "" {
			t.Errorf("sync %d of %d may as well be left out", lie, syncs)
		} else if testing.Verbose() {
			t.Log(lie, strings.TrimSpace(wrong))
		}
	}
}
