package fires

import (
	"context"
	"database/sql"
	"net/http"
	"net/smtp"
	"os"
	"os/exec"

	"example.com/dep"
	"example.com/host/generated/notes"
	"github.com/capgen/capgen/runtime"
)

type handlers struct {
	db     *sql.DB
	client *http.Client
	root   *os.Root
}

// Register makes the handlers.
func Register(b *runtime.Builder) { notes.Register(b, &handlers{}) }

// Add is declared write.
func (*handlers) Add(context.Context, notes.In) (notes.Out, error) {
	return notes.Out{}, os.WriteFile("x", nil, 0o600)
}

func (h *handlers) Find(ctx context.Context, in notes.In) (notes.Out, error) {
	os.WriteFile("x", nil, 0o600) // want `^notes.find is declared effect read, and its handler \(\*fires.handlers\).Find reaches os.WriteFile`
	var mail smtp.Client
	os.OpenFile("x", os.O_RDWR, 0)                                      // want `os.OpenFile`
	h.root.OpenFile("x", os.O_RDONLY|os.O_CREATE, 0o600)                // want `\(\*os.Root\).OpenFile`
	h.db.ExecContext(ctx, "DELETE FROM notes")                          // want `\(\*sql.DB\).ExecContext`
	h.db.QueryContext(ctx, "insert into notes values (1) returning id") // want `QueryContext`
	h.client.Post("http://localhost/", "", nil)                         // want `\(\*http.Client\).Post`
	http.NewRequestWithContext(ctx, http.MethodDelete, "/", nil)        // want `http.NewRequestWithContext`
	h.client.Do(&http.Request{Method: "PUT"})                           // want `http.Request.Method`
	h.client.Do(&http.Request{Method: http.MethodGet})                  // a safe one
	exec.CommandContext(ctx, "true")                                    // want `exec.CommandContext`
	mail.Data()                                                         // want `\(\*smtp.Client\).Data`
	dep.Keep("x")                                                       // want `os.WriteFile \(dep.go:\d+, by way of dep.Keep\)`
	return h.later()
}

func (h *handlers) later() (notes.Out, error) {
	keep := dep.Keep
	defer func() {
		os.Remove("x") // want `os.Remove`
	}()
	return notes.Out{}, keep("x") // want `^notes.find is .* by way of dep.Keep`
}

func (h *handlers) List(context.Context, notes.In) (notes.Out, error) { return listed() }

func listed() (notes.Out, error) {
	return notes.Out{}, os.Mkdir("x", 0o700) // want `^notes.list is .* os.Mkdir`
}

// A function, a method value and a literal may be handlers too.
func direct(h *handlers) {
	runtime.NewCapability(runtime.Info{ID: "x.function", Effect: runtime.EffectRead}, function)
	runtime.NewCapability(runtime.Info{ID: "x.method", Effect: "read"}, h.method)
	runtime.NewCapability(runtime.Info{ID: "x.literal", Effect: runtime.EffectRead}, func(context.Context, int) (int, error) {
		return 0, os.Rename("x", "y") // want `^x.literal is declared effect read, and its handler this function reaches os.Rename`
	})
}

func function(context.Context, int) (int, error) {
	return 0, os.Truncate("x", 0) // want `^x.function`
}

func (h *handlers) method(context.Context, int) (int, error) {
	return 0, os.Chmod("x", 0) // want `^x.method`
}
