package sqlite

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/fault"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
)

// signer is the one approver.
type signer struct{ ed25519.PrivateKey }

func (s signer) public() ed25519.PublicKey { return s.Public().(ed25519.PublicKey) }
func (s signer) KeyID() string             { return approve.KeyID(s.public()) }
func (s signer) Sign(_ context.Context, pae []byte) ([]byte, error) {
	return ed25519.Sign(s.PrivateKey, pae), nil
}

// governed is a service over a store, with everything else in memory.
type governed struct {
	*govern.Service
	db       *store.Store
	approver signer
	prepared govern.Prepared // zero until it is told
	envelope []byte          // nil until it is signed
}

func newGoverned(t *testing.T, db *store.Store) *governed {
	t.Helper()
	g := &governed{db: db, approver: signer{ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))}}
	disk := fault.NewDisk()
	state, err := disk.Root().Make("state", 0o700)
	if err != nil {
		t.Fatal(err)
	}
	files, err := disk.Root().Make("files", 0o755)
	if err != nil {
		t.Fatal(err)
	}
	g.Service, err = govern.Open(t.Context(), govern.Options{
		Store: db, State: state, Roots: map[string]root.Dir{"files": files},
		Trust: func() (*approve.TrustRoot, error) {
			return approve.ParseTrustRoot([]byte(approve.FormatKey(g.approver.public(), 2001, "ada") + "\n"))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// land prepares, approves and applies one change; again, it goes on.
func (g *governed) land(ctx context.Context) error {
	ctx = authz.WithSubject(ctx, authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "alice"})
	terms := govern.Terms{ID: "files.publish", Name: "files.publish", Effect: "change", Contract: strings.Repeat("ab", 32), Min: 1, TTL: 15 * time.Minute}
	if g.prepared.Plan == "" {
		var err error
		g.prepared, err = govern.PrepareChange(ctx, g.Service, terms, []byte(`{}`), "p", func(context.Context) (govern.Change, error) {
			return govern.Change{Root: "files", Path: "one", Files: []govern.File{{Path: "a", Content: []byte("new")}}}, nil
		})
		if err != nil {
			return err
		}
	}
	p := g.prepared
	terminal := g.Operator(audit.Actor{Kind: audit.ByCLI, UID: 2001, User: "ada"})
	if g.envelope == nil {
		if err := g.sign(ctx, terminal, p.Plan); err != nil {
			return err
		}
	}
	var refused *govern.Refusal
	if err := terminal.AddEnvelope(ctx, p.Plan, g.envelope); err != nil && !(errors.As(err, &refused) && refused.Code == govern.ConflictCode) {
		return err // else the plan has been applied
	}
	landed, err := govern.ApplyChange(ctx, g.Service, terms, govern.Claim{Plan: p.Plan, Token: p.Token, Key: "a"})
	if err == nil && landed.State != "applied" {
		err = errors.New("it is " + landed.State)
	}
	return err
}

func (g *governed) sign(ctx context.Context, o *govern.Operator, id string) error {
	body, err := o.Body(ctx, id)
	if err != nil {
		return err
	}
	p, err := plan.Parse(body)
	if err != nil {
		return err
	}
	g.envelope, err = approve.Sign(ctx, g.approver, approve.Statement{
		Purpose: approve.Approve, Plan: p.ID, PlanHash: plan.HashOf(body), PolicyHash: p.Policy.Hash(), Store: p.Store, Nonce: [16]byte{1},
		Approver: approve.Account{UID: 2001, User: "ada"}, Issued: govern.Now(), TTL: p.Policy.TTL, Shown: [32]byte{1},
	})
	return err
}

// applied counts the changes that the trail tells of.
func (g *governed) applied(t *testing.T) (n int) {
	t.Helper()
	err := g.db.View(t.Context(), func(tx *store.Tx) error {
		trail, err := tx.Trail(0, 0)
		for _, r := range trail {
			n += strings.Count(string(r.Line), `"what":"change.applied"`)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestFullDatabase: whichever write of SQLite finds the disk full, once or from
// then on, whoever asks is told so; and once there is room, the same keys land
// the same plan.
func TestFullDatabase(t *testing.T) {
	singleThreaded(t)
	stride := 7
	if *soak {
		stride = 1
	}
	told := 0
	for _, forever := range []bool{false, true} {
		for n, met := 1, true; met; n += stride {
			d := newDisk(file)
			db, err := openOn(t, d, "")
			if err != nil {
				t.Fatal(err)
			}
			g := newGoverned(t, db)
			steps := 0
			d.step = func(op string) error {
				if op == "read" {
					return nil
				}
				if steps++; steps == n || forever && steps > n {
					return sqlite3.FULL
				}
				return nil
			}
			err = g.land(t.Context())
			d.step = nil
			var refused *govern.Refusal
			switch met = steps >= n; {
			case err == nil:
			case !met || !errors.As(err, &refused) || refused.Code != govern.Full || !errors.Is(err, store.ErrFull):
				t.Errorf("step %d, %v: %v", n, forever, err)
			default:
				told++
			}
			if err := g.land(t.Context()); err != nil {
				t.Errorf("step %d, %v, again: %v", n, forever, err)
			}
			if _, err := g.Recover(t.Context()); err != nil || g.applied(t) != 1 {
				t.Errorf("step %d, %v: applied %d times, %v", n, forever, g.applied(t), err)
			}
			if err := errors.Join(g.Close(), db.Close()); err != nil {
				t.Error(err)
			}
		}
	}
	if told < 20 {
		t.Errorf("only %d times told", told)
	}
	t.Logf("%d times told", told)
}
