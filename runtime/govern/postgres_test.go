package govern

import (
	"crypto/rand"
	"database/sql"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// postgresServer is the environment variable that names a PostgreSQL server:
// make postgres runs one.
const postgresServer = "CAPGEN_TEST_POSTGRES"

// anywhere is the common scenery of tests that do not care which database they
// use: PostgreSQL where there is a server, in a schema of its own, else SQLite.
func anywhere() scenery {
	if os.Getenv(postgresServer) == "" {
		return scenery{}
	}
	return scenery{schema: "s" + strings.ToLower(rand.Text())}
}

// rawSchema is the schema as whoever may write to the server has it.
func rawSchema(t testing.TB, schema string) *sql.DB {
	t.Helper()
	config, err := pgx.ParseConfig(os.Getenv(postgresServer))
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["search_path"] = schema
	return stdlib.OpenDB(*config)
}

// numbered is a query whose parameters are ?, as PostgreSQL reads it.
func numbered(query string) string {
	for n := 1; strings.Contains(query, "?"); n++ {
		query = strings.Replace(query, "?", "$"+strconv.Itoa(n), 1)
	}
	return query
}

// TestForgedUse: what a row says of who spent an approval brings no plan back
// that has landed, and is refused where the approval would be spent.
func TestForgedUse(t *testing.T) {
	const other = "plan_" + store0
	for name, c := range map[string]struct {
		landed bool
		forge  []string
		want   Code
	}{
		"spent by another":       {false, []string{`UPDATE approvals SET used_by = '` + other + `'`}, TokenReplayed},
		"spent by this one":      {false, []string{`UPDATE approvals SET used_by = plan`}, TokenReplayed},
		"the nonce is spent":     {false, []string{`UPDATE nonces SET used_by = '` + other + `'`}, TokenReplayed},
		"by nobody any more":     {true, []string{`UPDATE approvals SET used_by = ''`, `UPDATE nonces SET used_by = ''`}, TokenReplayed},
		"as if it never had":     {true, []string{`UPDATE approvals SET used_by = ''`, `UPDATE plans SET status = 'prepared', moved = 0, moved_by = ''`, `DELETE FROM executions`, `DELETE FROM idempotency`}, TokenReplayed},
		"by what is no plan":     {false, []string{`UPDATE approvals SET used_by = 'somebody'`}, Internal},
		"by what is unspeakable": {false, []string{`UPDATE approvals SET used_by = 'a' || chr(7)`}, Internal},
		"NULL":                   {false, []string{`ALTER TABLE approvals ALTER used_by DROP NOT NULL`, `UPDATE approvals SET used_by = NULL`}, Internal},
		"NULL, landed":           {true, []string{`ALTER TABLE approvals ALTER used_by DROP NOT NULL`, `UPDATE approvals SET used_by = NULL`}, TokenReplayed},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, anywhere())
			if s.schema == "" && (strings.Contains(c.forge[0], "ALTER") || strings.Contains(c.forge[0], "chr")) {
				t.Skip("SQLite writes no such row; see the suite of stores")
			}
			s.place(t, before)
			p := s.prepareChange(t)
			s.approve(t, ada, p.Plan)
			claim := claimOf(p)
			if c.landed {
				if _, err := ApplyChange(as("alice"), s.Service, publish, claim); err != nil {
					t.Fatal(err)
				}
				s.restore(t, before)
				claim.Key = "a2"
			}
			for _, q := range c.forge {
				s.exec(t, q)
			}
			if _, err := ApplyChange(as("alice"), s.Service, publish, claim); code(err) != c.want || s.there(t) != treeHash(t, before) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if got := s.last(t, 1); got != "plan.land!"+string(c.want) {
				t.Errorf("in the trail: %s", got)
			}
		})
	}
}

// another is one more service over all that a scene is over, as another process
// has it.
func (s *scene) another(t *testing.T) *scene {
	t.Helper()
	again, err := scenery{disk: s.disk, dir: s.dir, schema: s.schema, clock: s.clock, trust: s.trust, runs: s.jobs != nil}.open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.db.Close() })
	return again
}

// TestManyLand: of several processes that land one change at once, with the same
// key or others, it lands once.
func TestManyLand(t *testing.T) {
	s := newScene(t, anywhere())
	s.place(t, before)
	p := s.prepareChange(t)
	s.approve(t, ada, p.Plan)
	const all = 16
	answers := make(chan error, all)
	services := []*scene{s, s.another(t), s.another(t), s.another(t)}
	for i := range all {
		go func() {
			claim := claimOf(p)
			claim.Key = []string{"k0", "k1", "k2"}[i%3]
			_, err := ApplyChange(as("alice"), services[i%len(services)].Service, publish, claim)
			answers <- err
		}()
	}
	landed := 0
	for range all {
		switch err := <-answers; code(err) {
		case "ok":
			landed++
		case TokenReplayed, StaleState: // who looks between the exchange and the commit sees what landed
		default:
			t.Error(err)
		}
	}
	if landed < 1 || s.there(t) != treeHash(t, after) || s.names(t) != "momentum" {
		t.Errorf("landed %d times, left %s", landed, s.names(t))
	}
	var records int
	for _, event := range s.trail(t) {
		if event == "change.applied" || event == "plan.land" {
			records++
		}
	}
	if records != 2 {
		t.Errorf("%d records, not one of a landing and one of its end", records)
	}
}
