package govern

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/token"
)

// MaxKeyBytes bounds an idempotency key.
const MaxKeyBytes = 128

// The steps that idempotency keys are apart by.
const (
	stepPrepare = "prepare"
	stepApply   = "apply"
)

// frozen is what a plan adds to its terms and arguments, with the objects that
// it needs.
type frozen struct {
	change  *plan.Change
	run     *plan.Run
	preview *cas.Digest
	actions []Action
	objects [][]byte
}

// PrepareChange freezes what make returns, and what is there now, in a plan of
// the subject in ctx. arguments are canonical. The same key and arguments again
// are the same plan, and make is not called.
func PrepareChange(ctx context.Context, s *Service, t Terms, arguments []byte, key string, make func(context.Context) (Change, error)) (Prepared, error) {
	if s.rehearsal != nil {
		return s.rehearsal.prepare(t, arguments, key), nil
	}
	if t.Effect != effectChange {
		return Prepared{}, refuse(Internal, "%s is not a change", t.Name)
	}
	return s.prepare(ctx, t, arguments, key, func(ctx context.Context) (frozen, error) {
		c, err := make(ctx)
		if err != nil {
			return frozen{}, err
		}
		return s.freeze(c)
	})
}

// PrepareCall freezes arguments, and the preview if there is one, in a plan of
// the subject in ctx. preview may be nil. The same key and arguments again are
// the same plan, and preview is not called.
func PrepareCall(ctx context.Context, s *Service, t Terms, arguments []byte, key string, preview func(context.Context) (Preview, error)) (Prepared, error) {
	if s.rehearsal != nil {
		return s.rehearsal.prepare(t, arguments, key), nil
	}
	if t.Effect != runtime.EffectWrite && t.Effect != runtime.EffectDestroy {
		return Prepared{}, refuse(Internal, "%s is neither a write nor a destroy", t.Name)
	}
	return s.prepare(ctx, t, arguments, key, func(ctx context.Context) (f frozen, err error) {
		if preview == nil {
			return f, nil
		}
		p, err := preview(ctx)
		if err != nil {
			return f, err
		}
		d, err := digestOf(p)
		f.preview, f.objects = &d, [][]byte{[]byte(p.Text)}
		return f, err
	})
}

func digestOf(p Preview) (cas.Digest, error) {
	if len(p.Text) > MaxPreviewBytes || !utf8.ValidString(p.Text) {
		return cas.Digest{}, refuse(Internal, "the preview is not UTF-8, or has more than %d bytes", MaxPreviewBytes)
	}
	return cas.Of([]byte(p.Text)), nil
}

func (s *Service) prepare(ctx context.Context, t Terms, arguments []byte, key string, freeze func(context.Context) (frozen, error)) (Prepared, error) {
	owner, err := subject(ctx)
	if err != nil {
		return Prepared{}, err
	}
	p, frozen, err := s.prepared(ctx, owner, t, arguments, key, freeze)
	if err != nil {
		refused := s.refused(ctx, audit.Governed{Event: eventPrepare, Actor: s.actor(), Subject: owner, Capability: t.ID}, err)
		if disclosed(err) { // by the handler, and its capability's manifest says what it means
			return Prepared{}, err
		}
		return Prepared{}, refused
	}
	return s.hand(ctx, p, frozen)
}

// prepared is the plan that the key stands for; a new one is made if it stands for
// none. The actions are only told of a new one.
func (s *Service) prepared(ctx context.Context, owner string, t Terms, arguments []byte, key string, freeze func(context.Context) (frozen, error)) (opened, *frozen, error) {
	if err := checkKey(key); err != nil {
		return opened{}, nil, err
	}
	var contract plan.Hash
	if n, err := hex.Decode(contract[:], []byte(t.Contract)); err != nil || n != len(contract) {
		return opened{}, nil, refuse(Internal, "the contract of %s is not a hash", t.Name)
	}
	scope := store.Scope{Subject: owner, Capability: t.ID, Step: stepPrepare}
	request := requestHash(stepPrepare, contract[:], arguments)
	var known opened
	var found bool
	err := s.o.Store.View(ctx, func(tx *store.Tx) (err error) {
		known, found, err = s.remembered(tx, owner, scope, key, request)
		return err
	})
	if err != nil || found {
		return known, nil, err
	}
	policy := plan.Policy{Min: t.Min, SelfAllowed: t.SelfAllowed, TTL: t.TTL}
	separation, peer, err := s.apart(ctx, policy)
	if err != nil {
		return opened{}, nil, err
	}
	f, err := freeze(ctx)
	if err != nil {
		return opened{}, nil, err
	}
	var id [16]byte
	rand.Read(id[:])
	p := plan.Plan{
		ID: "plan_" + hex.EncodeToString(id[:]), Store: s.o.Store.ID(), Owner: owner, ServerUID: s.uid, PeerUID: peer,
		Capability: t.ID, Name: t.Name, Effect: plan.Effect(t.Effect), Contract: contract, Arguments: arguments, Key: plan.Hash(sha256.Sum256([]byte(key))),
		Policy: policy, Separation: separation, TTL: t.TTL, Change: f.change, Run: f.run, Preview: f.preview,
	}
	var made opened
	err = s.Keep(ctx, f.objects, func(tx *store.Tx) error {
		at, err := s.moment(tx)
		if err != nil {
			return err
		}
		// Another request with this key may have been first.
		if made, found, err = s.remembered(tx, owner, scope, key, request); err != nil || found {
			return err
		}
		p.Created = whole(at)
		made, err = s.insert(tx, p, f)
		if err != nil {
			return err
		}
		return errors.Join(tx.RememberKey(scope, key, request, p.ID), tx.RaiseHighWater(at.Wall.UnixMicro()),
			s.record(tx, about(eventPrepare, s.actor(), p), details{"hash": made.hash.String(), "separation": p.Separation}))
	})
	if err != nil {
		return opened{}, nil, err
	}
	return made, &f, nil
}

func (s *Service) insert(tx *store.Tx, p plan.Plan, f frozen) (opened, error) {
	body, err := p.Encode()
	if err != nil {
		return opened{}, refuse(InvalidRequest, "no plan can be made of that").because(err)
	}
	objects := make([]cas.Digest, len(f.objects))
	for i, o := range f.objects {
		objects[i] = cas.Of(o)
	}
	nonce, err := nonceOf(p.ID)
	if err != nil {
		return opened{}, err
	}
	row := store.Plan{
		ID: p.ID, Owner: p.Owner, Capability: p.Capability, Hash: plan.HashOf(body), Body: body, Nonce: nonce,
		Created: p.Created.Wall.UnixMicro(), Expires: p.Expires().Wall.UnixMicro(),
	}
	if err := tx.InsertPlan(row, kindOf(p), objects); err != nil {
		return opened{}, err
	}
	row.Status = store.Prepared
	return s.open(row)
}

// remembered is the plan that a key of a step stands for, if it stands for one.
func (s *Service) remembered(tx *store.Tx, owner string, scope store.Scope, key string, request [sha256.Size]byte) (opened, bool, error) {
	before, id, ok, err := tx.Idempotent(scope, key)
	if err != nil || !ok {
		return opened{}, false, err
	}
	if before != request {
		return opened{}, false, refuse(ConflictCode, "the key stands for another request").suggest("use a new key")
	}
	p, err := s.owned(tx, owner, id)
	return p, err == nil, err
}

// hand gives a plan that can still land to its requester.
func (s *Service) hand(ctx context.Context, p opened, f *frozen) (Prepared, error) {
	at := s.o.Now()
	if p.row.Status != store.Prepared || p.Expires().Reached(at) {
		return Prepared{}, refuse(ConflictCode, "the plan of this key is %s", s.status(p, at)).suggest("ask for its status, or use a new key")
	}
	ring, err := s.ring()
	if err != nil {
		return Prepared{}, s.refusal(ctx, err)
	}
	claims := token.Claims{Kind: kindOf(p.Plan), Object: p.ID, Hash: p.hash, Store: p.Store}
	text, err := ring.Issue(claims, at, left(p.Expires(), at))
	if err != nil {
		return Prepared{}, s.refusal(ctx, err)
	}
	out := Prepared{
		Plan: p.ID, Hash: p.hash.String(), Token: text, Expires: p.Expires().Wall,
		Approval: s.command("approve", p.ID), Separation: string(p.Separation),
	}
	if f != nil {
		out.Actions = f.actions
	} else if out.Actions, err = s.actions(p); err != nil {
		return Prepared{}, s.refusal(ctx, err)
	}
	return out, nil
}

// left is how long it is until then.
func left(then, now token.Instant) time.Duration {
	if then.Boot != "" && then.Boot == now.Boot {
		return then.Up - now.Up
	}
	return then.Wall.Sub(now.Wall)
}

func checkKey(key string) error {
	if key == "" || len(key) > MaxKeyBytes || strings.ContainsFunc(key, func(r rune) bool { return !visible.Readable(r) }) {
		return refuse(InvalidRequest, "the key is not 1 to %d bytes of text that can be seen", MaxKeyBytes)
	}
	return nil
}

// requestHash is what a key of a step stands for: each part after its length.
func requestHash(step string, parts ...[]byte) [sha256.Size]byte {
	h := sha256.New()
	for _, part := range append([][]byte{[]byte("govern/request/v1"), []byte(step)}, parts...) {
		var n [8]byte
		for i := range n {
			n[i] = byte(len(part) >> (8 * i))
		}
		h.Write(n[:])
		h.Write(part)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func checkSummary(summary string) error {
	if len(summary) > MaxSummaryBytes || strings.ContainsFunc(summary, func(r rune) bool { return !visible.Readable(r) }) {
		return refuse(InvalidRequest, "the summary is not a line of at most %d bytes that can be seen", MaxSummaryBytes)
	}
	return nil
}

// freeze reads what is where c goes, and refuses what could not land.
func (s *Service) freeze(c Change) (frozen, error) {
	if err := checkSummary(c.Summary); err != nil {
		return frozen{}, err
	}
	post, contents, err := treeOf(c)
	if err != nil {
		return frozen{}, refuse(InvalidRequest, "no directory can be made of that: %v", err)
	}
	parent, name, done, err := s.target(c.Root, c.Path)
	if err != nil {
		return frozen{}, err
	}
	defer done()
	pre, err := change.Read(parent, name)
	if err != nil {
		return frozen{}, unread(err)
	}
	if c.Before != "" && c.Before != pre.Hash().String() {
		return frozen{}, refuse(StaleState, "the directory is not what it was when it was looked at").suggest("compare again, and prepare what that shows")
	}
	f := frozen{
		change:  &plan.Change{Root: c.Root, Path: c.Path, Summary: c.Summary, Pre: pre.Hash(), Post: post.Hash()},
		objects: [][]byte{pre.AppendCanonical(nil), post.AppendCanonical(nil)},
	}
	if f.change.Pre == f.change.Post {
		return frozen{}, refuse(InvalidRequest, "nothing would change")
	}
	for _, content := range contents {
		f.objects = append(f.objects, content)
	}
	f.actions = Actions(pre, post)
	return f, s.before(parent, name, plan.Actions(pre, post), &f)
}

// unread is the refusal of a directory that could not be read: one of which
// something went while it was read, as when a landing replaced it, is stale.
func unread(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return refuse(StaleState, "the directory changed while it was read").suggest("try again").because(err)
	}
	return unfit(err)
}

// unfit is the refusal of a target that no landing can replace.
func unfit(err error) error {
	switch {
	case errors.Is(err, root.ErrConfined):
		return refuse(Confinement, "the directory holds something that is neither a directory nor a file of its own").because(err)
	case errors.Is(err, change.ErrNoTree):
		return refuse(InvalidRequest, "the directory that is there cannot be replaced").because(err)
	}
	return err
}

// target is the directory that holds what path leads to, and its name there.
// done closes it.
func (s *Service) target(rootName, path string) (parent root.Dir, name string, done func(), err error) {
	at, ok := s.o.Roots[rootName]
	if !ok {
		return nil, "", nil, refuse(InvalidRequest, "there is no root %q", rootName)
	}
	for segment := range strings.SplitSeq(path, "/") {
		if err := root.CheckName(segment); err != nil || strings.HasPrefix(segment, ownPrefix) {
			return nil, "", nil, refuse(Confinement, "%q is not a path below a root", path).because(err)
		}
	}
	parent, name, done, err = descend(at, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil, refuse(NotFound, "the directory that %q is to be in is not there, below the root %s", path, rootName)
	}
	if err != nil {
		return nil, "", nil, unfit(err)
	}
	return parent, name, done, nil
}

// descend is the directory below d in which path ends, and its last segment.
// done closes what was opened.
func descend(d root.Dir, path string) (dir root.Dir, base string, done func(), err error) {
	segments := strings.Split(path, "/")
	done = func() {}
	for _, segment := range segments[:len(segments)-1] {
		next, err := d.Sub(segment)
		done()
		if err != nil {
			return nil, "", nil, err
		}
		d, done = next, func() { next.Close() }
	}
	return d, segments[len(segments)-1], done, nil
}

// ownPrefix begins the names that landings use beside their targets.
const ownPrefix = ".capgen-"
