package govern

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/capgen/capgen/runtime/govern/fault"
	"github.com/capgen/capgen/runtime/govern/store/sqlite"
)

// forgery is one column of one row with another value.
type forgery struct {
	table, column string
	row           int64 // its rowid
	value         any
	words         string
}

// rawDB is the database as whoever can write the file has it.
func rawDB(t testing.TB, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, sqlite.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// forgeries are those of every column of every row, with values that mean
// something elsewhere.
func forgeries(t testing.TB, dir string, more ...any) (list []forgery) {
	t.Helper()
	db := rawDB(t, dir)
	defer db.Close()
	words := []any{
		"", "prepared", "consumed", "cancelled", "rejected", "INTENT", "STAGED", "APPLIED", "CLEANED", "CONFLICT", "ABORTED", "CALLED", "DONE", "UNKNOWN",
		"change", "call", "oidc:https://issuer.example#bob", "plan_" + strings.Repeat("0", 32),
	}
	words = append(words, more...)
	for _, table := range column[string](t, db, `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`) {
		for _, name := range column[string](t, db, `SELECT name FROM pragma_table_info('`+table+`')`) {
			for _, row := range column[int64](t, db, `SELECT rowid FROM `+table+` ORDER BY rowid`) {
				var now any
				if err := db.QueryRow(`SELECT `+name+` FROM `+table+` WHERE rowid = ?`, row).Scan(&now); err != nil {
					t.Fatal(err)
				}
				others := column[any](t, db, `SELECT DISTINCT `+name+` FROM `+table+` LIMIT 20`)
				values := append(others, nil)
				switch v := now.(type) {
				case string:
					values = append(append(values, words...), v+"x")
				case int64:
					values = append(values, int64(0), v+1, v-1, v+3_600_000_000, v-3_600_000_000)
				case []byte:
					values = append(values, []byte{})
					if len(v) > 0 {
						first, last := bytes.Clone(v), bytes.Clone(v)
						first[0] ^= 1
						last[len(v)-1] ^= 1
						values = append(values, first, last, bytes.ReplaceAll(v, []byte("alice"), []byte("bobby")))
					}
				}
				for _, value := range values {
					if fmt.Sprint(value) != fmt.Sprint(now) {
						list = append(list, forgery{table, name, row, value, fmt.Sprintf("%s.%s of row %d: %.40q for %.40q", table, name, row, fmt.Sprint(value), fmt.Sprint(now))})
					}
				}
			}
		}
	}
	return list
}

func column[T any](t testing.TB, db *sql.DB, query string) (list []T) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// write forges; false if the database itself does not keep such a value.
func (f forgery) write(t testing.TB, dir string) bool {
	t.Helper()
	db := rawDB(t, dir)
	defer db.Close()
	_, err := db.Exec(`UPDATE `+f.table+` SET `+f.column+` = ? WHERE rowid = ?`, f.value, f.row)
	return err == nil
}

// stage is where somebody writes to the database.
type stage struct {
	name string
	// begin brings a story there.
	begin func(t *testing.T, s *scene, y *story)
	call  bool
	// lands: the plan may still land, as it was approved.
	lands bool
}

func stages() []stage {
	land := func(t *testing.T, s *scene, y *story) {
		if err := y.tell(s); err != nil {
			t.Fatal(err)
		}
	}
	prepare := func(t *testing.T, s *scene, y *story) {
		p, err := y.prepare(s)
		if err != nil {
			t.Fatal(err)
		}
		y.prepared = p
	}
	return []stage{
		{"prepared", func(t *testing.T, s *scene, y *story) {
			prepare(t, s, y)
			// An approval of another plan, to take one from.
			q, err := PrepareChange(as("bob"), s.Service, publish, []byte(`{"name":"momentum"}`), "k1", planning(after))
			if err != nil {
				t.Fatal(err)
			}
			s.approve(t, ada, q.Plan)
		}, false, false},
		{"approved", func(t *testing.T, s *scene, y *story) {
			prepare(t, s, y)
			s.approve(t, ada, y.prepared.Plan)
		}, false, true},
		{"cancelled", func(t *testing.T, s *scene, y *story) {
			prepare(t, s, y)
			s.approve(t, ada, y.prepared.Plan)
			if _, err := s.Cancel(as("alice"), y.prepared.Plan, "no more"); err != nil {
				t.Fatal(err)
			}
		}, false, false},
		{"landed, and taken back", func(t *testing.T, s *scene, y *story) {
			land(t, s, y)
			if err := errors.Join(s.roots.Move("momentum", "away"), place(s.roots, "momentum", little)); err != nil {
				t.Fatal(err)
			}
		}, false, false},
		{"called", land, true, false},
		{"interrupted in the call", func(t *testing.T, s *scene, y *story) {
			prepare(t, s, y)
			s.approve(t, ada, y.prepared.Plan)
			s.step = func() error { // the process ends before it can say what came of the call
				if y.made > 0 {
					return fault.ErrStopped
				}
				return nil
			}
			if _, err := y.apply(s); err == nil || y.made != 1 {
				t.Fatalf("%v, %d calls", err, y.made)
			}
		}, true, false},
	}
}

// TestForgedRows: whatever column of whatever row is another one, nothing lands
// that was not approved, nothing lands twice, and what is refused is in the
// trail.
func TestForgedRows(t *testing.T) {
	singleThreaded(t)
	stride := 23
	if *soak {
		stride = 1
	}
	for _, at := range stages() {
		t.Run(at.name, func(t *testing.T) {
			t.Parallel()
			base := common(t)
			s := newScene(t, base)
			y := story{call: at.call}
			at.begin(t, s, &y)
			list := forgeries(t, base.dir)
			tried := 0
			for i := 0; i < len(list); i += stride {
				with := scenery{disk: cloned(t, settled(t, base.disk)), dir: copyDB(t, base.dir)}
				if list[i].write(t, with.dir) {
					tried++
					y := y
					y.forged(t, with, at, list[i])
				}
			}
			if tried*stride*4 < len(list) {
				t.Errorf("only %d of %d forgeries could be written", tried, len(list)/stride)
			}
		})
	}
}

// settled is disk with all of it synced.
func settled(t testing.TB, disk *fault.Disk) *fault.Disk {
	t.Helper()
	var last *fault.Disk
	for d := range disk.Crashes() {
		last = d
	}
	return last
}

// forged tries all that could make use of a forgery.
func (y *story) forged(t *testing.T, with scenery, at stage, f forgery) {
	s, err := with.open()
	if err != nil {
		return // it does not even open
	}
	defer s.db.Close()
	there := s.there(t)
	made := y.made
	s.Recover(bg())
	p := y.prepared
	for _, who := range []string{"bob", "alice"} {
		for _, key := range []string{"a1", "a2"} {
			c := claimOf(p)
			c.Key = key
			landed, err := y.applyAs(s, who, c)
			switch {
			case err == nil && who == "bob":
				t.Errorf("%s: bob lands it", f.words)
			case err != nil && f.table != "trail" && f.table != "meta" && !strings.Contains(s.last(t, 1), "!"):
				t.Errorf("%s: %v is not in the trail: %s", f.words, err, s.last(t, 1))
			case err == nil && landed.Plan != p.Plan:
				t.Errorf("%s: landed as %+v", f.words, landed)
			}
		}
		s.Show(as(who), p.Plan)
		s.Cancel(as(who), p.Plan, "")
	}
	s.Recover(bg())
	switch now := s.there(t); {
	case y.made > made:
		t.Errorf("%s: called again", f.words)
	case now != there && !(at.lands && now == treeHash(t, other)):
		t.Errorf("%s: it landed", f.words)
	}
}

func (y *story) applyAs(s *scene, who string, c Claim) (Landed, error) {
	if y.call {
		return ApplyCall(as(who), s.Service, remove, c, decodeText,
			func(context.Context, string) (Preview, error) { return Preview{"3 orders"}, nil },
			func(context.Context, Approved[string]) ([]byte, error) { y.made++; return []byte(`{}`), nil })
	}
	return ApplyChange(as(who), s.Service, publish, c)
}

// TestEndedStaysEnded: what has ended a plan is told by its nonce too, whatever
// its row says.
func TestEndedStaysEnded(t *testing.T) {
	s := newScene(t, anywhere())
	s.place(t, before)
	p := s.prepareChange(t)
	s.approve(t, ada, p.Plan)
	if _, err := s.Cancel(as("alice"), p.Plan, "no more"); err != nil {
		t.Fatal(err)
	}
	s.exec(t, `UPDATE plans SET status = 'prepared', moved = 0, moved_by = '', reason = '' WHERE id = ?`, p.Plan)
	if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); code(err) != TokenReplayed || s.there(t) != treeHash(t, before) {
		t.Errorf("%v", err)
	}
}
