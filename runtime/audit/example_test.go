package audit_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/note"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/audit"
)

// A host opens the log in the function that builds its server, which closes it.
//
//capgenvet:allow workerentry it is compiled, and not run
func Example_host() {
	var secret, signingKey string // from where the host keeps secrets
	build := func(ctx context.Context) (*runtime.Server, error) {
		log, err := audit.Open(audit.Options{
			Dir:        "/var/lib/records/audit",
			Key:        audit.Key{ID: "2026-11", Secret: []byte(secret)},
			SigningKey: signingKey,
			Heads:      audit.HeadFile("/mnt/append-only/records.heads"),
		})
		if err != nil {
			return nil, err
		}
		b := runtime.NewBuilder(runtime.Options{Authorizer: authz.AllowAll(), Audit: log})
		// catalog.Register(b, …)
		return b.Build(ctx)
	}
	_ = build
}

// Keys are made once, and the verifier key is given to whoever verifies.
func ExampleVerify() {
	signingKey, verifierKey, err := note.GenerateKey(rand.Reader, "records.example/audit")
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	log, err := audit.Open(audit.Options{
		Dir:        filepath.Join(dir, "log"),
		Key:        audit.Key{ID: "2026-11", Secret: []byte("32 bytes or more, kept as secret")},
		SigningKey: signingKey,
		Heads:      audit.HeadFile(filepath.Join(dir, "heads")),
	})
	if err != nil {
		panic(err)
	}
	event := audit.Event{Execution: "e1", Call: 1, Subject: "local", Capability: "records.delete", Arguments: []byte(`{"key":"a"}`), Decision: audit.Denied}
	if err := log.Record(context.Background(), event); err != nil {
		panic(err)
	}
	if err := log.Close(); err != nil {
		panic(err)
	}

	files, _ := audit.Files(filepath.Join(dir, "log"))
	records, _ := os.Open(files[0])
	heads, _ := os.Open(filepath.Join(dir, "heads"))
	report, err := audit.Verify([]audit.Source{{Name: files[0], Reader: records}}, audit.VerifyOptions{Heads: heads, Keys: []string{verifierKey}})
	fmt.Println(report.First, report.Last, report.Signed, err)
	// Output: 1 2 2 <nil>
}
