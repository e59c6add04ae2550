package sqlite

import (
	"context"
	"database/sql"
	"flag"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/store/storetest"
)

var soak = flag.Bool("soak", false, "let processes race for one nonce many times, and lose power in more ways")

// backend is SQLite, as the suite needs it.
type backend struct{}

func (backend) Place(t testing.TB) string { return t.TempDir() }

func (backend) Open(ctx context.Context, place string, o store.Options) (*store.Store, error) {
	return Open(ctx, place, o)
}

func (backend) OpenReadOnly(ctx context.Context, place string) (*store.Store, error) {
	return OpenReadOnly(ctx, place)
}

func (backend) Raw(t testing.TB, place string) *sql.DB {
	t.Helper()
	path, err := find(place)
	if err != nil {
		t.Fatal(err)
	}
	db, err := driver.Open(uri(path, "rw", ""), func(c *sqlite3.Conn) error {
		return c.Exec(`PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; PRAGMA synchronous = OFF`)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestMain(m *testing.M) { storetest.Main(m, backend{}) }

func TestStore(t *testing.T) { storetest.Run(t, backend{}) }
