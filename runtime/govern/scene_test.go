package govern

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/internal/testdir"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/fault"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/store/postgres"
	"github.com/capgen/capgen/runtime/govern/store/sqlite"
	"github.com/capgen/capgen/runtime/govern/token"
)

var soak = flag.Bool("soak", false, "stop at every step, and in recovery too")

var bg = context.Background

// clock is both clocks, as a test sets them.
type clock struct{ token.Instant }

func (c *clock) now() token.Instant { return c.Instant }

// pass lets time pass, by both clocks.
func (c *clock) pass(d time.Duration) { c.Instant = c.Later(d) }

func newClock() *clock {
	return &clock{token.Instant{Wall: time.UnixMicro(1_780_000_000_000_000).UTC(), Boot: "boot", Up: time.Hour}}
}

// approver is somebody with a key.
type approver struct {
	uid uint32
	key ed25519.PrivateKey
}

func newApprover(uid uint32) approver {
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, fmt.Sprint("key of ", uid))
	return approver{uid, ed25519.NewKeyFromSeed(seed)}
}

func (a approver) public() ed25519.PublicKey { return a.key.Public().(ed25519.PublicKey) }
func (a approver) KeyID() string             { return approve.KeyID(a.public()) }
func (a approver) Sign(_ context.Context, pae []byte) ([]byte, error) {
	return ed25519.Sign(a.key, pae), nil
}

func (a approver) line() string {
	return approve.FormatKey(a.public(), a.uid, fmt.Sprint("user", a.uid)) + "\n"
}

// The accounts of most tests: two that may approve, and one that may not.
var ada, bob, eve = newApprover(2001), newApprover(2002), newApprover(2003)

// agent is the account that requests come from.
const agent = 1001

// scene is a service with everything below it.
type scene struct {
	*Service
	disk   *fault.Disk // nil on a real disk
	dir    string      // of the database
	schema string      // of a database in PostgreSQL; empty in SQLite
	clock  *clock
	trust  *string // the text of the trust root
	state  root.Dir
	roots  root.Dir // the root "strategies"
	db     *store.Store
}

// scenery is how a scene differs from the common one.
type scenery struct {
	disk    *fault.Disk
	dir     string
	schema  string // of PostgreSQL instead
	clock   *clock
	trust   *string
	sources []approve.Source
	step    func() error
	peer    *uint32
	noPeer  bool
	runs    bool   // candidates can run
	real    bool   // time passes
	program string // the directory of what executes them; empty is that of the database
}

func newScene(t testing.TB, with scenery) *scene {
	t.Helper()
	if with.disk == nil {
		with.disk = newDisk(t)
	}
	if with.dir == "" {
		with.dir = tempDir(t)
	}
	s, err := with.open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.db.Close() })
	return s
}

// tempDir is in memory where the system has such a place: what survives a crash
// is up to the tests.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "govern-")
	if err != nil {
		return testdir.Open(t)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func newDisk(t testing.TB) *fault.Disk {
	t.Helper()
	disk := fault.NewDisk()
	for name, mode := range map[string]fs.FileMode{"state": 0o700, "strategies": 0o755} {
		if _, err := disk.Root().Make(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := disk.Root().Sync(); err != nil {
		t.Fatal(err)
	}
	return disk
}

// open is a service as a new process opens it, without recovery.
func (with scenery) open() (*scene, error) {
	if with.clock == nil {
		with.clock = newClock()
	}
	if with.trust == nil {
		text := ada.line() + bob.line()
		with.trust = &text
	}
	state, err := with.disk.Root().Sub("state")
	if err != nil {
		return nil, err
	}
	roots, err := with.disk.Root().Sub("strategies")
	if err != nil {
		return nil, err
	}
	rows := store.Options{
		AuditKey: audit.Key{ID: "k", Secret: make([]byte, audit.MinSecretBytes)},
		Now:      func() time.Time { return with.clock.Wall },
	}
	if with.real {
		rows.Now = nil
	}
	var db *store.Store
	if with.schema != "" {
		db, err = postgres.Open(bg(), os.Getenv(postgresServer), with.schema, rows)
	} else {
		db, err = sqlite.Open(bg(), with.dir, rows)
	}
	if err != nil {
		return nil, err
	}
	if with.step == nil {
		with.step = with.disk.Step
	}
	peer := uint32(agent)
	o := Options{
		Store: db, State: state, Roots: map[string]root.Dir{"strategies": roots}, Sources: with.sources, Command: "workspace", Now: with.clock.now,
		Trust: func() (*approve.TrustRoot, error) { return approve.ParseTrustRoot([]byte(*with.trust)) },
		Peer:  func(context.Context) (uint32, bool) { return peer, !with.noPeer },
	}
	if with.peer != nil {
		peer = *with.peer
	}
	if with.runs {
		if err := forRuns(&o, with.dir, cmp.Or(with.program, with.dir)); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	s, err := open(o, with.step)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &scene{s, with.disk, with.dir, with.schema, with.clock, with.trust, state, roots, db}, nil
}

// as is a context of a subject.
func as(id string) context.Context {
	return authz.WithSubject(bg(), authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: id})
}

var publish = Terms{ID: "strategies.publish", Name: "strategies.publish", Effect: effectChange, Contract: strings.Repeat("ab", 32), Min: 1, TTL: 15 * time.Minute}

var remove = Terms{ID: "orders.remove", Name: "orders.remove", Effect: runtime.EffectDestroy, Contract: strings.Repeat("cd", 32), Min: 1, TTL: 15 * time.Minute}

// files are a change of strategies/momentum.
func files(content map[string]string) Change {
	c := Change{Root: "strategies", Path: "momentum", Summary: "publish momentum"}
	for path, text := range content {
		c.Files = append(c.Files, File{Path: path, Content: []byte(text)})
	}
	return c
}

// The trees of most tests.
var (
	before = map[string]string{"a": "old", "b": "gone", "lib/c": "old too"}
	after  = map[string]string{"a": "new", "lib/c": "new too", "lib/d": "more"}
)

// place puts a tree where changes land.
func (s *scene) place(t testing.TB, content map[string]string) {
	t.Helper()
	if err := place(s.roots, "momentum", content); err != nil {
		t.Fatal(err)
	}
}

func place(parent root.Dir, name string, content map[string]string) error {
	tree, contents, err := treeOf(files(content))
	if err != nil {
		return err
	}
	top, err := parent.Make(name, 0o755)
	if err != nil {
		return err
	}
	dirs := map[string]root.Dir{"": top}
	for _, n := range tree.Nodes {
		up, base := "", n.Path
		if slash := strings.LastIndexByte(n.Path, '/'); slash >= 0 {
			up, base = n.Path[:slash], n.Path[slash+1:]
		}
		if n.Dir {
			if dirs[n.Path], err = dirs[up].Make(base, n.Mode); err != nil {
				return err
			}
			continue
		}
		f, err := dirs[up].Create(base, n.Mode)
		if err != nil {
			return err
		}
		if _, err := f.Write(contents[n.Digest]); err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	for _, d := range dirs {
		if err := d.Sync(); err != nil {
			return err
		}
	}
	return parent.Sync()
}

// treeHash is that of what lands where changes land.
func treeHash(t testing.TB, content map[string]string) change.Hash {
	t.Helper()
	if content == nil {
		return change.Absent.Hash()
	}
	tree, _, err := treeOf(files(content))
	if err != nil {
		t.Fatal(err)
	}
	return tree.Hash()
}

// there is the hash of what is there now.
func (s *scene) there(t testing.TB) change.Hash {
	t.Helper()
	tree, err := change.Read(s.roots, "momentum")
	if err != nil {
		t.Fatal(err)
	}
	return tree.Hash()
}

// beside are all names beside the target.
func (s *scene) names(t testing.TB) string {
	t.Helper()
	entries, err := s.roots.Entries(100)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name)
	}
	return strings.Join(all, " ")
}

func planning(content map[string]string) func(context.Context) (Change, error) {
	return func(context.Context) (Change, error) { return files(content), nil }
}

// prepareChange is a plan of alice's to have after there.
func (s *scene) prepareChange(t testing.TB) Prepared {
	t.Helper()
	p, err := PrepareChange(as("alice"), s.Service, publish, []byte(`{"name":"momentum"}`), "k1", planning(after))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sign is what somebody states about a plan.
func (s *scene) sign(t testing.TB, who approver, id string, spoil func(*approve.Statement)) []byte {
	t.Helper()
	body, err := s.Operator(cli).Body(bg(), id)
	if err != nil {
		t.Fatal(err)
	}
	st, err := s.statement(who, body)
	if err != nil {
		t.Fatal(err)
	}
	if spoil != nil {
		spoil(&st)
	}
	envelope, err := approve.Sign(bg(), who, st)
	if err != nil {
		t.Fatal(err)
	}
	return envelope
}

// statement is that somebody approves the plan with a body.
func (s *scene) statement(who approver, body []byte) (approve.Statement, error) {
	p, err := plan.Parse(body)
	return approve.Statement{
		Purpose: approve.Approve, Plan: p.ID, PlanHash: plan.HashOf(body), PolicyHash: p.Policy.Hash(), Store: p.Store, Nonce: [16]byte{byte(who.uid)},
		Approver: approve.Account{UID: who.uid, User: fmt.Sprint("user", who.uid)}, Issued: whole(s.clock.Instant), TTL: p.Policy.TTL, Shown: [32]byte{1},
	}, err
}

// cli is somebody at a terminal.
var cli = audit.Actor{Kind: audit.ByCLI, UID: 2001, User: "user2001"}

func (s *scene) approve(t testing.TB, who approver, id string) {
	t.Helper()
	if err := s.Operator(cli).AddEnvelope(bg(), id, s.sign(t, who, id, nil)); err != nil {
		t.Fatal(err)
	}
}

func claimOf(p Prepared) Claim { return Claim{Plan: p.Plan, Token: p.Token, Key: "a1"} }

// code is what a program sees of err.
func code(err error) Code {
	var r *Refusal
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &r):
		return r.Code
	}
	return "undisclosed"
}

// trail are the events in the audit trail, with their refusals.
func (s *scene) trail(t testing.TB) (events []string) {
	t.Helper()
	err := s.db.View(bg(), func(tx *store.Tx) error {
		records, err := tx.Trail(0, store.MaxPage)
		for _, r := range records {
			line := string(r.Line)
			what := between(line, `"what":"`)
			if what == "" {
				continue
			}
			if refused := between(line, `"refused":"`); refused != "" {
				what += "!" + refused
			}
			events = append(events, what)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func between(line, begin string) string {
	_, rest, ok := strings.Cut(line, begin)
	if !ok {
		return ""
	}
	text, _, _ := strings.Cut(rest, `"`)
	return text
}

// last are the newest events.
func (s *scene) last(t testing.TB, n int) string {
	t.Helper()
	events := s.trail(t)
	return strings.Join(events[max(0, len(events)-n):], " ")
}

// copyDB is a copy of the database, as another process finds it.
func copyDB(t testing.TB, from string) string {
	t.Helper()
	to := tempDir(t)
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}
