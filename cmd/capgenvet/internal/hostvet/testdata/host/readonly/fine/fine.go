package fine

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"net/http"
	"os"

	"example.com/host/generated/notes"
	"github.com/capgen/capgen/runtime"
)

type handlers struct {
	db     *sql.DB
	client *http.Client
	log    io.Writer
}

// Register makes the handlers.
func Register(b *runtime.Builder) { notes.Register(b, handlers{}) }

func (handlers) Add(context.Context, notes.In) (notes.Out, error) {
	return notes.Out{}, os.RemoveAll("x")
}

func (h handlers) Find(ctx context.Context, in notes.In) (notes.Out, error) {
	os.ReadFile("x")
	os.Open("x")
	os.OpenFile("x", os.O_RDONLY, 0)
	h.db.QueryContext(ctx, "SELECT 1")
	http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	h.client.Get("/")
	var b bytes.Buffer
	b.WriteString("x")
	os.Stderr.WriteString("x")
	// A limit: what h.log is, was decided where it was made.
	io.WriteString(h.log, "x")
	return notes.Out{}, nil
}

// A cache, which the answer does not depend on.
func (handlers) List(context.Context, notes.In) (notes.Out, error) {
	os.Mkdir("cache", 0o700) //capgenvet:allow readonly a cache that may go at any time
	os.Stat("cache")         //capgenvet:allow readonly nothing // want `nothing on this line needs to be allowed`
	return notes.Out{}, nil
}

func direct() {
	runtime.NewCapability(runtime.Info{ID: "x.write", Effect: runtime.EffectWrite}, func(context.Context, int) (int, error) {
		return 0, os.Rename("x", "y")
	})
}
