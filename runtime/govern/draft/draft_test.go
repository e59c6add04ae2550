package draft

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/fault"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/store/sqlite"
	"github.com/capgen/capgen/runtime/govern/token"
)

type clock struct{ token.Instant }

func (c *clock) pass(d time.Duration) { c.Instant = c.Later(d) }

// scene is drafts over a service with a root "strategies".
func scene(t testing.TB) (*Drafts, *store.Store, *clock) {
	t.Helper()
	disk := fault.NewDisk()
	state, err := disk.Root().Make("state", 0o700)
	if err != nil {
		t.Fatal(err)
	}
	at := &clock{token.Instant{Wall: time.UnixMicro(1_780_000_000_000_000).UTC(), Boot: "boot", Up: time.Hour}}
	strategies, err := disk.Root().Make("strategies", 0o755)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), t.TempDir(), store.Options{
		AuditKey: audit.Key{ID: "k", Secret: make([]byte, audit.MinSecretBytes)}, Now: func() time.Time { return at.Wall },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	g, err := govern.Open(t.Context(), govern.Options{
		Store: db, State: state, Roots: map[string]root.Dir{"strategies": strategies}, Now: func() token.Instant { return at.Instant },
	})
	if err != nil {
		t.Fatal(err)
	}
	return New(g), db, at
}

func as(id string) context.Context {
	return authz.WithSubject(context.Background(), authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: id})
}

func code(err error) govern.Code {
	var r *govern.Refusal
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &r):
		return r.Code
	}
	return "undisclosed"
}

func files(pairs ...string) (list []govern.File) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, govern.File{Path: pairs[i], Content: []byte(pairs[i+1])})
	}
	return list
}

func create(t testing.TB, d *Drafts) Draft {
	t.Helper()
	made, err := d.Create(as("alice"), files("a.py", "one\n", "lib/b.py", "two\n"))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestEdits: each edit says what it has seen, and is the next revision; one that
// has seen something else changes nothing.
func TestEdits(t *testing.T) {
	d, _, _ := scene(t)
	first := create(t, d)
	if first.Revision != 1 || len(first.Files) != 2 || first.Files[1].Path != "lib/b.py" {
		t.Fatalf("%+v", first)
	}
	was := first.Files[0].SHA256
	second, err := d.Update(as("alice"), first.ID, 1, Edit{Path: "a.py", Was: was, Content: []byte("better\n")})
	if err != nil || second.Revision != 2 || second.Hash == first.Hash || second.Files[0].SHA256 == was {
		t.Fatalf("%+v, %v", second, err)
	}
	for name, c := range map[string]struct {
		revision int64
		edit     Edit
		want     govern.Code
	}{
		"an old revision":       {1, Edit{Path: "a.py", Was: second.Files[0].SHA256, Content: []byte("x")}, govern.ConflictCode},
		"an old file":           {2, Edit{Path: "a.py", Was: was, Content: []byte("x")}, govern.ConflictCode},
		"a file that is there":  {2, Edit{Path: "a.py", Content: []byte("x")}, govern.ConflictCode},
		"a file that is not":    {2, Edit{Path: "c.py", Was: was, Content: []byte("x")}, govern.ConflictCode},
		"removing what is not":  {2, Edit{Path: "c.py", Remove: true}, govern.InvalidRequest},
		"out of the draft":      {2, Edit{Path: "../c.py", Content: []byte("x")}, govern.InvalidRequest},
		"a file as a directory": {2, Edit{Path: "a.py/c", Content: []byte("x")}, govern.InvalidRequest},
		"no text":               {2, Edit{Path: "c.py", Content: []byte("\xff")}, govern.InvalidRequest},
		"too much":              {2, Edit{Path: "c.py", Content: make([]byte, MaxFileBytes+1)}, govern.InvalidRequest},
		"setuid":                {2, Edit{Path: "c.py", Mode: 1 << 23, Content: []byte("x")}, govern.InvalidRequest},
	} {
		if _, err := d.Update(as("alice"), first.ID, c.revision, c.edit); code(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if now, err := d.Get(as("alice"), first.ID); err != nil || now.Hash != second.Hash || now.Revision != 2 {
		t.Errorf("%+v, %v", now, err)
	}
	third, err := d.Update(as("alice"), first.ID, 2, Edit{Path: "lib/b.py", Was: second.Files[1].SHA256, Remove: true})
	if err != nil || len(third.Files) != 1 {
		t.Errorf("%+v, %v", third, err)
	}
	if text, err := d.Read(as("alice"), first.ID, "a.py"); err != nil || string(text) != "better\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := d.Delete(as("alice"), first.ID, 2); code(err) != govern.ConflictCode {
		t.Errorf("deleted at an old revision: %v", err)
	}
	if err := d.Delete(as("alice"), first.ID, 3); err != nil {
		t.Error(err)
	}
	if _, err := d.Get(as("alice"), first.ID); code(err) != govern.NotFound {
		t.Errorf("deleted: %v", err)
	}
}

// TestOwners: another subject's draft has the answer of one that is not there.
func TestOwners(t *testing.T) {
	d, _, _ := scene(t)
	mine := create(t, d)
	for name, ask := range map[string]func(id string) error{
		"get":      func(id string) error { _, err := d.Get(as("bob"), id); return err },
		"read":     func(id string) error { _, err := d.Read(as("bob"), id, "a.py"); return err },
		"update":   func(id string) error { _, err := d.Update(as("bob"), id, 1, Edit{Path: "c"}); return err },
		"delete":   func(id string) error { return d.Delete(as("bob"), id, 1) },
		"validate": func(id string) error { _, err := d.Validate(as("bob"), id, 1, nil); return err },
		"diff":     func(id string) error { _, err := d.Diff(as("bob"), id, "strategies", "m"); return err },
		"list":     func(id string) error { _, err := d.List(as("bob"), id, 10); return err },
	} {
		foreign, missing := ask(mine.ID), ask("draft_"+strings.Repeat("0", 32))
		if code(foreign) != govern.NotFound || foreign.Error() != missing.Error() {
			t.Errorf("%s: %v, %v", name, foreign, missing)
		}
	}
	if list, err := d.List(as("bob"), "", 10); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	if list, err := d.List(as("alice"), "", 10); err != nil || len(list) != 1 || list[0].ID != mine.ID {
		t.Errorf("%v, %v", list, err)
	}
}

func passing(context.Context, []File, func(string) ([]byte, error)) ([]Diagnostic, error) {
	return []Diagnostic{{Code: "style", Severity: "warning", Message: "long line"}}, nil
}

// TestValidationToken: it counts as often as it is shown, for its owner, while the
// draft is what was validated, and not when its record says something else.
func TestValidationToken(t *testing.T) {
	d, db, at := scene(t)
	made := create(t, d)
	failed, err := d.Validate(as("alice"), made.ID, 1, func(_ context.Context, files []File, read func(string) ([]byte, error)) ([]Diagnostic, error) {
		text, err := read(files[0].Path)
		return []Diagnostic{{Code: "bad", Severity: SeverityError, File: files[0].Path, Message: string(text)}}, err
	})
	if err != nil || failed.Passed || failed.Token != "" || failed.Diagnostics[0].Message != "one\n" {
		t.Fatalf("%+v, %v", failed, err)
	}
	v, err := d.Validate(as("alice"), made.ID, 1, passing)
	if err != nil || !v.Passed {
		t.Fatal(err)
	}
	for range 2 {
		c, err := d.Change(as("alice"), v.Token, "strategies", "m", "publish m")
		if err != nil || len(c.Files) != 2 || string(c.Files[1].Content) != "two\n" {
			t.Fatalf("%+v, %v", c, err)
		}
		r, err := d.Run(as("alice"), v.Token, []byte(`{"n":1}`), "try m")
		if err != nil || len(r.Files) != 2 || string(r.Files[1].Content) != "two\n" || string(r.Arguments) != `{"n":1}` || r.Summary != "try m" {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if _, err := d.Run(as("bob"), v.Token, nil, ""); code(err) != govern.NotFound {
		t.Errorf("another's: %v", err)
	}
	if _, err := d.Change(as("bob"), v.Token, "strategies", "m", ""); code(err) != govern.NotFound {
		t.Errorf("another's: %v", err)
	}
	for i := range len(v.Token) {
		bad := []byte(v.Token)
		bad[i] ^= 1
		if _, err := d.Change(as("alice"), string(bad), "strategies", "m", ""); err == nil {
			t.Fatalf("byte %d can be another one", i)
		}
	}
	// A record with another status, under the same id.
	other := store.Validation{ID: failed.ID}
	if err := db.View(t.Context(), func(tx *store.Tx) (err error) { other, err = tx.Validation(owner(t), failed.ID); return err }); err != nil {
		t.Fatal(err)
	}
	hash := claimHash(other)
	other.Status = store.Passed
	if claimHash(other) == hash {
		t.Error("the status is not bound")
	}
	at.pass(ValidationTTL)
	if _, err := d.Change(as("alice"), v.Token, "strategies", "m", ""); code(err) != govern.TokenExpired {
		t.Errorf("expired: %v", err)
	}
	if v, err = d.Validate(as("alice"), made.ID, 1, passing); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Update(as("alice"), made.ID, 1, Edit{Path: "c", Content: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Change(as("alice"), v.Token, "strategies", "m", ""); code(err) != govern.StaleState {
		t.Errorf("the draft changed: %v", err)
	}
	if _, err := d.Run(as("alice"), v.Token, nil, ""); code(err) != govern.StaleState {
		t.Errorf("the draft changed: %v", err)
	}
}

func owner(t testing.TB) string {
	t.Helper()
	who, err := govern.Subject(as("alice"))
	if err != nil {
		t.Fatal(err)
	}
	return who
}

// TestDiff: what would land is what the difference says.
func TestDiff(t *testing.T) {
	d, _, _ := scene(t)
	made := create(t, d)
	got, err := d.Diff(as("alice"), made.ID, "strategies", "m")
	if err != nil || len(got.Actions) != 4 || !strings.Contains(got.Text, "+one\n") || !strings.Contains(got.Text, "after/lib/b.py") {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := d.Diff(as("alice"), made.ID, "strategies", "../m"); code(err) != govern.Confinement {
		t.Errorf("out of the root: %v", err)
	}
}

// TestSweepKeepsDrafts: cleaning takes nothing that a draft needs.
func TestSweepKeepsDrafts(t *testing.T) {
	d, _, _ := scene(t)
	made := create(t, d)
	if _, err := d.Update(as("alice"), made.ID, 1, Edit{Path: "a.py", Was: made.Files[0].SHA256, Content: []byte("better\n")}); err != nil {
		t.Fatal(err)
	}
	cleaned, err := d.g.Operator(audit.Actor{Kind: audit.ByCLI}).Clean(t.Context(), 0)
	if err != nil || cleaned.Objects != 2 {
		t.Errorf("%+v, %v: the first file and the first tree go", cleaned, err)
	}
	if text, err := d.Read(as("alice"), made.ID, "a.py"); err != nil || string(text) != "better\n" {
		t.Errorf("%q, %v", text, err)
	}
}
