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
