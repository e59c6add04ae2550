package codegen_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/codegen/testdata/governed/generated/catalog"
	"github.com/capgen/capgen/codegen/testdata/governed/generated/site"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/store/sqlite"
	"github.com/capgen/capgen/runtime/govern/token"
)

// liveSite is a host: it plans what it is told, and counts its calls.
type liveSite struct {
	siteHandlers
	planned, previewed, removed int
	approved                    govern.Approved[site.RemoveInput]
}

func (h *liveSite) Publish(_ context.Context, in site.PublishInput) (govern.Change, error) {
	h.planned++
	c := govern.Change{Root: "sites", Path: in.Dir, Summary: "publish in theme " + string(in.Theme)}
	for _, p := range in.Pages {
		c.Files = append(c.Files, govern.File{Path: p.Name, Content: []byte(p.Text)})
	}
	return c, nil
}

func (h *liveSite) PreviewRemove(_ context.Context, in site.RemoveInput) (govern.Preview, error) {
	h.previewed++
	return govern.Preview{Text: "removes " + strings.Join(in.Names, " and ")}, nil
}

func (h *liveSite) Remove(_ context.Context, in govern.Approved[site.RemoveInput]) (site.RemoveOutput, error) {
	h.removed++
	h.approved = in
	return site.RemoveOutput{Removed: int64(len(in.Input().Names))}, nil
}

// person is somebody with a key in the trust root.
type person struct {
	uid uint32
	key ed25519.PrivateKey
}

func (p person) public() ed25519.PublicKey { return p.key.Public().(ed25519.PublicKey) }
func (p person) KeyID() string             { return approve.KeyID(p.public()) }
func (p person) Sign(_ context.Context, pae []byte) ([]byte, error) {
	return ed25519.Sign(p.key, pae), nil
}

// stage is a server of the golden package with a service below it.
type stage struct {
	server  *runtime.Server
	service *govern.Service
	host    *liveSite
	now     token.Instant
	sites   string // directory of the root
}

func newStage(t *testing.T, people ...person) *stage {
	t.Helper()
	dir := t.TempDir()
	s := &stage{host: &liveSite{}, sites: filepath.Join(dir, "sites"), now: token.Instant{Wall: time.UnixMicro(1_780_000_000_000_000).UTC(), Boot: "boot", Up: time.Hour}}
	for _, name := range []string{"state", "sites"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	open := func(name string) root.Dir {
		d, err := root.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "state"), store.Options{
		AuditKey: audit.Key{ID: "k", Secret: make([]byte, audit.MinSecretBytes)},
		Now:      func() time.Time { return s.now.Wall },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	trusted := ""
	for _, p := range people {
		trusted += approve.FormatKey(p.public(), p.uid, fmt.Sprint("user", p.uid)) + "\n"
	}
	s.service, err = govern.Open(t.Context(), govern.Options{
		Store: db, State: open("state"), Roots: map[string]root.Dir{"sites": open("sites")}, Command: "governed",
		Trust: func() (*approve.TrustRoot, error) { return approve.ParseTrustRoot([]byte(trusted)) },
		Peer:  func(context.Context) (uint32, bool) { return 1001, true },
		Now:   func() token.Instant { return s.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.service.Close() })
	b := runtime.NewBuilder(runtime.Options{Server: catalog.Server(), Authorizer: authz.AllowAll()})
	catalog.Register(b, catalog.Handlers{Site: s.host, Govern: s.service})
	if s.server, err = b.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.server.Close() })
	return s
}

// run runs the body of a program as a subject, and returns its result or the
// code and message that it failed with.
func (s *stage) run(t *testing.T, subject, body string) (result map[string]any, code, message string) {
	t.Helper()
	x, err := s.server.Execute(t.Context(), authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: subject, Scopes: authz.AllScopes()}, "def main():\n    return "+body+"\n")
	var e *runtime.Error
	switch {
	case errors.As(err, &e):
		return nil, e.Fault().Code, e.Fault().Message
	case err != nil:
		t.Fatalf("%s: %v", body, err)
	}
	if err := json.Unmarshal(x.Result, &result); err != nil {
		t.Fatalf("%s: %s: %v", body, x.Result, err)
	}
	return result, "", ""
}

// approve is what a person does at a terminal.
func (s *stage) approve(t *testing.T, who person, id string) {
	t.Helper()
	operator := s.service.Operator(audit.Actor{Kind: audit.ByCLI, UID: int(who.uid), User: "user"})
	body, err := operator.Body(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := approve.Sign(t.Context(), who, approve.Statement{
		Purpose: approve.Approve, Plan: p.ID, PlanHash: plan.HashOf(body), PolicyHash: p.Policy.Hash(), Store: p.Store, Nonce: [16]byte{byte(who.uid), byte(len(id))},
		Approver: approve.Account{UID: who.uid, User: fmt.Sprint("user", who.uid)}, Issued: s.now, TTL: p.Policy.TTL, Shown: [32]byte{1},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := operator.AddEnvelope(t.Context(), id, envelope); err != nil {
		t.Fatal(err)
	}
}

func twoPeople() (ada, bob person) {
	key := func(n byte) ed25519.PrivateKey {
		seed := make([]byte, ed25519.SeedSize)
		seed[0] = n
		return ed25519.NewKeyFromSeed(seed)
	}
	return person{2001, key(1)}, person{2002, key(2)}
}

// A program prepares a change, people approve it, a program lands it: all that
// stands between is generated.
func TestRunGovernedChange(t *testing.T) {
	ada, bob := twoPeople()
	s := newStage(t, ada, bob)
	const prepare = `site.publish.prepare(dir="docs", pages=[{"name": "a", "text": "hello"}], key="k")`
	p, code, message := s.run(t, "alice", prepare)
	if p == nil {
		t.Fatal(code, message)
	}
	id, _ := p["plan"].(string)
	command, _ := p["approval"].(string)
	if !strings.HasPrefix(command, "governed ") || !strings.Contains(command, id) {
		t.Errorf("the command for people is %q", command)
	}
	if actions, _ := p["actions"].([]any); len(actions) != 2 {
		t.Errorf("actions: %v", p["actions"])
	}
	if again, _, _ := s.run(t, "alice", prepare); again["plan"] != p["plan"] || s.host.planned != 1 {
		t.Errorf("the same key is plan %v, planned %d times", again["plan"], s.host.planned)
	}
	apply := fmt.Sprintf("site.publish.apply(plan=%q, token=%q, key=\"k\")", id, p["token"])
	if _, code, message := s.run(t, "alice", apply); code != "approval_required" || !strings.Contains(message, command) {
		t.Errorf("before approval: %s: %s", code, message)
	}
	// With min: 2 one approval is none.
	s.approve(t, ada, id)
	if _, code, _ := s.run(t, "alice", apply); code != "approval_required" {
		t.Errorf("with one approval: %s", code)
	}
	for _, body := range []string{apply, fmt.Sprintf("change.show(plan=%q)", id), fmt.Sprintf("change.status(plan=%q)", id), fmt.Sprintf("change.cancel(plan=%q)", id)} {
		if _, code, _ := s.run(t, "mallory", body); code != "not_found" && code != "token_invalid" {
			t.Errorf("another subject's %s: %q", body, code)
		}
	}
	s.approve(t, bob, id)
	if _, err := os.Stat(filepath.Join(s.sites, "docs")); err == nil {
		t.Error("it is there before it has landed")
	}
	for range 2 { // the same key is the same landing
		l, code, message := s.run(t, "alice", apply)
		if l["state"] != "applied" || l["tree"] == "" || l["plan"] != id {
			t.Fatalf("%v %s %s", l, code, message)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.sites, "docs", "a")); string(text) != "hello" {
		t.Errorf("what is there is %q, %v", text, err)
	}
	v, _, _ := s.run(t, "alice", fmt.Sprintf("change.show(plan=%q)", id))
	arguments, _ := v["arguments"].(map[string]any)
	if v["capability"] != "site.publish" || v["effect"] != "change" || v["status"] != "consumed" || v["min"] != 2.0 || arguments["theme"] != "plain" || v["summary"] != "publish in theme plain" {
		t.Errorf("shown: %v", v)
	}
	if list, _, _ := s.run(t, "alice", "change.list()"); len(list["plans"].([]any)) != 1 {
		t.Errorf("list: %v", list)
	}
	if list, _, _ := s.run(t, "mallory", "change.list()"); len(list["plans"].([]any)) != 0 {
		t.Errorf("another subject's list: %v", list)
	}
}

// The handler of a destroy gets what was approved, once, and its result is the
// output of apply.
func TestRunGovernedCall(t *testing.T) {
	ada, bob := twoPeople()
	s := newStage(t, ada, bob)
	p, code, message := s.run(t, "alice", `site.remove.prepare(names=["a", "b"], key="k")`)
	if p == nil {
		t.Fatal(code, message)
	}
	id, _ := p["plan"].(string)
	apply := fmt.Sprintf("site.remove.apply(plan=%q, token=%q, key=\"k\")", id, p["token"])
	if _, code, message := s.run(t, "alice", apply); code != "approval_required" || s.host.removed != 0 {
		t.Errorf("before approval: %s: %s, called %d times", code, message, s.host.removed)
	}
	if v, _, _ := s.run(t, "alice", fmt.Sprintf("change.show(plan=%q)", id)); v["preview"] != "removes a and b" {
		t.Errorf("shown: %v", v)
	}
	s.approve(t, ada, id)
	for range 2 {
		l, code, message := s.run(t, "alice", apply)
		output, _ := l["output"].(map[string]any)
		if l["state"] != "done" || output["removed"] != 2.0 {
			t.Fatalf("%v %s %s", l, code, message)
		}
	}
	if s.host.removed != 1 || s.host.previewed < 2 {
		t.Errorf("called %d times, asked for previews %d times", s.host.removed, s.host.previewed)
	}
	if a := s.host.approved; strings.Join(a.Input().Names, " ") != "a b" || a.Plan() != id || a.Key() == "" || strings.Join(a.Approvers(), " ") != "user2001" {
		t.Errorf("approved: %v of plan %s by %v", a.Input(), a.Plan(), a.Approvers())
	}
	// A plan of one capability is none of another, whatever the token.
	if _, code, _ := s.run(t, "alice", strings.Replace(apply, "site.remove", "site.note", 1)); code == "" {
		t.Error("another capability lands it")
	}
	// What was given up does not land.
	q, _, _ := s.run(t, "alice", `site.remove.prepare(key="other")`)
	s.approve(t, bob, q["plan"].(string))
	if c, code, message := s.run(t, "alice", fmt.Sprintf("change.cancel(plan=%q, reason=\"no\")", q["plan"])); c["status"] != "cancelled" {
		t.Errorf("%v %s %s", c, code, message)
	}
	if _, code, _ := s.run(t, "alice", fmt.Sprintf("site.remove.apply(plan=%q, token=%q, key=\"other\")", q["plan"], q["token"])); code == "" || s.host.removed != 1 {
		t.Errorf("given up, and landed: %s", code)
	}
}
