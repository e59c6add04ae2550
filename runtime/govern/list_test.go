package govern

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestAlteredRowsKeepNoOtherAway: a row that somebody else wrote to, one that the
// store cannot read and one that contradicts its body, keeps no other plan from
// being listed, or from being written down as expired.
func TestAlteredRowsKeepNoOtherAway(t *testing.T) {
	for name, forge := range map[string]string{
		"a status that is none":           `UPDATE plans SET status = 'landed' WHERE id = ?`,
		"another body":                    `UPDATE plans SET body = x'78' WHERE id = ?`,
		"another plan's body":             `UPDATE plans SET body = (SELECT body FROM plans ORDER BY created LIMIT 1) WHERE id = ?`,
		"a nonce that is spent":           `UPDATE nonces SET used_by = 'plan_` + store0 + `' WHERE nonce = (SELECT nonce FROM plans WHERE id = ?)`,
		"an execution of another kind":    `INSERT INTO executions (plan, kind, state, outcome, started, ended, epoch) VALUES (?, 'call', 'INTENT', x'', 1, 0, 1)`,
		"an execution that nobody writes": `INSERT INTO executions (plan, kind, state, outcome, started, ended, epoch) VALUES (?, 'change', 'LANDED', x'', 1, 0, 1)`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, scenery{})
			var ids []string
			for i := range 5 {
				s.clock.pass(1000)
				p, err := PrepareChange(as("alice"), s.Service, publish, []byte(`{"name":"momentum"}`), fmt.Sprint("k", i), planning(after))
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, p.Plan)
			}
			slices.Reverse(ids)
			s.exec(t, forge, ids[2])
			listed := name != "a nonce that is spent" // which no list looks at
			others := slices.Delete(slices.Clone(ids), 2, 3)
			for size := 1; size <= 6; size++ {
				for who, list := range map[string]func(Filter) (Page, error){
					"its owner":   func(f Filter) (Page, error) { return s.List(as("alice"), f) },
					"an operator": func(f Filter) (Page, error) { return s.Operator(cli).Plans(bg(), f) },
				} {
					var got []string
					f := Filter{Limit: size}
					for {
						page, err := list(f)
						if err != nil {
							t.Fatalf("%s, pages of %d: %v", who, size, err)
						}
						for _, p := range page.Plans {
							if (p.Status == "altered") != (listed && p.Plan == ids[2]) {
								t.Errorf("%s: %+v", who, p)
							}
							got = append(got, p.Plan)
						}
						if f.After = page.Next; f.After == "" {
							break
						}
					}
					want := ids
					if listed && who == "its owner" {
						want = others
					}
					if !slices.Equal(got, want) {
						t.Errorf("%s, pages of %d: %v, want %v", who, size, got, want)
					}
				}
			}
			if got := s.last(t, 1); (got == "plan.altered!internal") != listed {
				t.Errorf("in the trail: %s", got)
			}
			s.clock.pass(publish.TTL)
			cleaned, err := s.Operator(cli).Clean(bg(), 0)
			if want := 4; err != nil || cleaned.Expired != want && !strings.HasPrefix(name, "an execution") {
				t.Errorf("%+v, %v", cleaned, err)
			}
			for _, id := range others {
				if p, err := s.Status(as("alice"), id); err != nil || p.Status != "expired" {
					t.Errorf("%s: %s, %v", id, p.Status, err)
				}
			}
		})
	}
}

// TestAlteredExecutionsKeepNoOtherAway: an execution that somebody else wrote to
// keeps no other from being recovered, in whatever order they come, and none from
// being counted; it is in the trail.
func TestAlteredExecutionsKeepNoOtherAway(t *testing.T) {
	for name, c := range map[string]struct {
		run   bool // it is a run's
		forge string
	}{
		"the epoch of a run":  {true, `UPDATE executions SET epoch = 7 WHERE plan = ?`},
		"the kind of a run":   {true, `UPDATE executions SET kind = 'change' WHERE plan = ?`},
		"the state of a run":  {true, `UPDATE executions SET state = 'LANDED' WHERE plan = ?`},
		"the state of a call": {false, `UPDATE executions SET state = 'LANDED' WHERE plan = ?`},
		"the kind of a call":  {false, `UPDATE executions SET kind = 'junk' WHERE plan = ?`},
		"the time of a call":  {false, `UPDATE executions SET started = 0 WHERE plan = ?`},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newRunScene(t, scenery{})
			s.place(t, little)
			var bad Prepared
			if c.run {
				bad = s.approvedRun(t, "alice", "k1")
				s.startRun(t, "alice", bad)
			} else {
				y := &story{call: true}
				s.begun(t, y, 1)
				bad = y.prepared
			}
			s.exec(t, c.forge, bad.Plan)
			before := len(s.trail(t))
			y := &story{}
			s.begun(t, y, 2)
			r, err := s.Recover(bg())
			if err == nil || r.Ended[y.prepared.Plan] != "applied" || s.there(t) != treeHash(t, other) {
				t.Errorf("%+v, %v", r, err)
			}
			if all := strings.Join(s.trail(t)[before:], " "); !strings.Contains(all, "plan.altered!internal") {
				t.Errorf("in the trail: %s", all)
			}
			f, err := s.Operator(cli).Facts(bg())
			if err != nil || f.Plans["consumed"]+f.Plans["altered"] != 2 || !slices.Contains(f.Unfinished, bad.Plan) && f.Jobs["altered"] != 1 {
				t.Errorf("%+v, %v", f, err)
			}
			if _, err := s.Operator(cli).Clean(bg(), 0); err != nil {
				t.Errorf("clean: %v", err)
			}
		})
	}
}
