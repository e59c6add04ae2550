package storetest

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/store"
)

// Backend opens stores in one database.
type Backend interface {
	// Place makes room for a store of this test alone, and names it.
	Place(t testing.TB) string
	// Open and OpenReadOnly open the store in a place once more, in this or in
	// another process.
	Open(ctx context.Context, place string, o store.Options) (*store.Store, error)
	OpenReadOnly(ctx context.Context, place string) (*store.Store, error)
	// Raw opens the database itself, as somebody who may write any row.
	Raw(t testing.TB, place string) *sql.DB
}

// Run runs the suite.
func Run(t *testing.T, b Backend) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Backend)
	}{
		{"open", opening},
		{"plans", plans},
		{"plan moves", planMoves},
		{"pages", pages},
		{"approvals", approvals},
		{"nonces", nonces},
		{"executions", executions},
		{"execution moves", executionMoves},
		{"jobs", jobs},
		{"job moves", jobMoves},
		{"job lists", jobLists},
		{"job ends stay", jobEnds},
		{"versions", versions},
		{"keys", keys},
		{"drafts", drafts},
		{"objects", objects},
		{"trail", trail},
		{"heads", heads},
		{"forget", forget},
		{"trim", trim},
		{"high water", highWater},
		{"all or nothing", allOrNothing},
		{"readers never write", readersNeverWrite},
		{"isolation", isolation},
		{"hostile rows", hostileRows},
		{"race", race},
		{"killed", killed},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, b) })
	}
}

// Key is the audit key of all stores of the suite.
func Key() audit.Key { return audit.Key{ID: "test", Secret: []byte(strings.Repeat("k", 32))} }

// start is when the clock of a scene begins.
const start = 1_800_000_000_000_000

// scene is a store in a place of its own, with a clock that the test sets.
type scene struct {
	*store.Store
	t     *testing.T
	b     Backend
	place string
	now   int64
}

func newScene(t *testing.T, b Backend) *scene {
	t.Helper()
	s := &scene{t: t, b: b, place: b.Place(t), now: start}
	s.Store = s.again()
	return s
}

// again opens the store once more, as another process would.
func (s *scene) again() *store.Store {
	s.t.Helper()
	return s.opened(s.b.Open(s.t.Context(), s.place, store.Options{AuditKey: Key(), Now: func() time.Time { return time.UnixMicro(s.now) }}))
}

func (s *scene) readOnly() *store.Store {
	s.t.Helper()
	return s.opened(s.b.OpenReadOnly(s.t.Context(), s.place))
}

func (s *scene) opened(o *store.Store, err error) *store.Store {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := o.Close(); err != nil {
			s.t.Error(err)
		}
	})
	return o
}

// update is Update with what must hold.
func (s *scene) update(fn func(tx *store.Tx)) {
	s.t.Helper()
	if err := s.Update(s.t.Context(), func(tx *store.Tx) error { fn(tx); return nil }); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) view(fn func(tx *store.Tx)) {
	s.t.Helper()
	if err := s.View(s.t.Context(), func(tx *store.Tx) error { fn(tx); return nil }); err != nil {
		s.t.Fatal(err)
	}
}

// hex32 are 32 hexadecimal digits that no other n has.
func hex32(n int) string {
	digits := []byte(strings.Repeat("0", 32))
	for i := len(digits) - 1; n > 0; i, n = i-1, n>>4 {
		digits[i] = "0123456789abcdef"[n&15]
	}
	return string(digits)
}

func planID(n int) string { return "plan_" + hex32(n) }

func nonce(n int) [16]byte { return [16]byte{byte(n), byte(n >> 8), byte(n >> 16), 1} }

// plan is a plan like any other.
func plan(n int, owner string) store.Plan {
	return store.Plan{
		ID: planID(n), Owner: owner, Capability: "files.publish", Hash: [32]byte{byte(n), 2}, Body: []byte(`{"n":1}`),
		Nonce: nonce(n), Created: start + int64(n), Expires: start + int64(n) + 900_000_000,
	}
}

const (
	alice = "oidc:https://id.example#alice"
	bob   = "local"
)

// insert adds plans 1 to n, all of alice.
func (s *scene) insert(n int) {
	s.t.Helper()
	s.update(func(tx *store.Tx) {
		for i := 1; i <= n; i++ {
			s.ok(tx.InsertPlan(plan(i, alice), "plan", nil))
		}
	})
}

func (s *scene) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}
