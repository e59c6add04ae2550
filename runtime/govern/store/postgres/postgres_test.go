package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/store/storetest"
)

// server is the environment variable that names the server of the tests.
const server = "CAPGEN_TEST_POSTGRES"

var _ = flag.Bool("soak", false, "let processes race for one nonce many times")

// backend is PostgreSQL, as the suite needs it: a place is a schema.
type backend struct{}

func (backend) Place(t testing.TB) string {
	t.Helper()
	if os.Getenv(server) == "" {
		t.Skipf("%s does not name a server: make postgres runs one", server)
	}
	return "s" + strings.ToLower(rand.Text())
}

func (backend) Open(ctx context.Context, place string, o store.Options) (*store.Store, error) {
	return Open(ctx, os.Getenv(server), place, o)
}

func (backend) OpenReadOnly(ctx context.Context, place string) (*store.Store, error) {
	return OpenReadOnly(ctx, os.Getenv(server), place)
}

func (backend) Raw(t testing.TB, place string) *sql.DB {
	t.Helper()
	config, err := pgx.ParseConfig(os.Getenv(server))
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["search_path"] = place
	db := stdlib.OpenDB(*config)
	t.Cleanup(func() { db.Close() })
	return db
}

func TestMain(m *testing.M) { storetest.Main(m, backend{}) }

func TestStore(t *testing.T) { storetest.Run(t, backend{}) }

// TestFull: what the server says when its disk is full is ErrFull, and the store
// goes on once there is room. A trigger says it here.
func TestFull(t *testing.T) {
	place := backend{}.Place(t)
	s, err := Open(t.Context(), os.Getenv(server), place, store.Options{AuditKey: storetest.Key()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	raise := func() error { return s.Update(t.Context(), func(tx *store.Tx) error { return tx.RaiseHighWater(1) }) }
	raw := backend{}.Raw(t, place)
	for _, q := range []string{
		`CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$`,
		`CREATE TRIGGER no_room BEFORE UPDATE ON meta EXECUTE FUNCTION no_room()`,
	} {
		if _, err := raw.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if err := raise(); !errors.Is(err, store.ErrFull) {
		t.Errorf("%v, want %v", err, store.ErrFull)
	}
	if _, err := raw.ExecContext(t.Context(), `DROP TRIGGER no_room ON meta`); err != nil {
		t.Fatal(err)
	}
	if err := raise(); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
