package approve

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/token"
)

// The vector that the DSSE protocol publishes.
func TestPAE(t *testing.T) {
	const want = "DSSEv1 29 http://example.com/HelloWorld 11 hello world"
	if got := string(PAE("http://example.com/HelloWorld", []byte("hello world"))); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := string(PAE("", nil)); got != "DSSEv1 0  0 " {
		t.Errorf("of nothing: %q", got)
	}
}

var (
	noon  = token.Instant{Wall: time.UnixMicro(1_780_000_000_000_000).UTC(), Boot: "boot", Up: time.Hour}
	store = strings.Repeat("5e", 16)
)

// keyOf is the key of an account: the same one each time.
func keyOf(uid uint32) *key {
	return newKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(uid), byte(uid >> 8)}, 16)))
}

func (k *key) line(uid uint32, name string) string {
	return FormatKey(k.private.Public().(ed25519.PublicKey), uid, name)
}

const ada, bob, eve, server, agent = 2001, 2002, 2003, 1000, 1001

func trustText() string {
	return strings.Join([]string{"# approvers", keyOf(ada).line(ada, "ada"), keyOf(bob).line(bob, "bob"), "", keyOf(9).line(ada, "ada"), ""}, "\n")
}

func trust(t testing.TB, text string) *TrustRoot {
	t.Helper()
	root, err := ParseTrustRoot([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func aPlan() plan.Plan {
	peer := uint32(agent)
	return plan.Plan{
		ID: "plan_" + strings.Repeat("0a", 16), Store: store, Owner: "local", ServerUID: server, PeerUID: &peer,
		Capability: "strategy.publish", Name: "strategy.publish", Effect: plan.EffectChange, Arguments: []byte(`{}`),
		Policy: plan.Policy{Min: 1, TTL: 15 * time.Minute}, Separation: plan.SeparationFull, Created: noon, TTL: time.Hour,
		Change: &plan.Change{Root: "strategies", Path: "momentum", Pre: change.Absent.Hash(), Post: change.Hash{3}},
	}
}

func bodyOf(t testing.TB, p plan.Plan) []byte {
	t.Helper()
	body, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func statement(t testing.TB, p plan.Plan, uid uint32) Statement {
	return Statement{
		Purpose: Approve, Plan: p.ID, PlanHash: plan.HashOf(bodyOf(t, p)), PolicyHash: p.Policy.Hash(), Store: p.Store,
		Nonce: [16]byte{byte(uid)}, Approver: Account{uid, fmt.Sprint("user", uid)}, Issued: noon.Later(time.Minute), TTL: p.Policy.TTL, Shown: [32]byte{1},
	}
}

func signed(t testing.TB, k Signer, s Statement) []byte {
	t.Helper()
	envelope, err := Sign(context.Background(), k, s)
	if err != nil {
		t.Fatal(err)
	}
	return envelope
}

func TestEnvelopesReadBack(t *testing.T) {
	s := statement(t, aPlan(), ada)
	envelope := signed(t, keyOf(ada), s)
	s.KeyID = keyOf(ada).KeyID()
	got, by, err := trust(t, trustText()).Verify(envelope)
	if diff := cmp.Diff(s, got); err != nil || diff != "" || by != (Approver{ada, "ada", s.KeyID}) {
		t.Errorf("(-want +got):\n%s, %v, %v", diff, by, err)
	}
}

// Each bit of an envelope is signed, or has one spelling.
func TestNoBitCanFlip(t *testing.T) {
	root := trust(t, trustText())
	envelope := signed(t, keyOf(ada), statement(t, aPlan(), ada))
	for i := range len(envelope) * 8 {
		other := bytes.Clone(envelope)
		other[i/8] ^= 1 << (i % 8)
		if _, _, err := root.Verify(other); err == nil {
			t.Fatalf("bit %d can flip: %s", i, other)
		}
	}
	for i := range envelope {
		if _, _, err := root.Verify(envelope[:i]); err == nil {
			t.Fatalf("the first %d bytes are taken for all", i)
		}
	}
}

// DSSE lets verifiers take these; here an envelope has one spelling and one
// signature, so that its hash names a vote.
func TestVerifyTakesOneSpelling(t *testing.T) {
	root := trust(t, trustText())
	k := keyOf(ada)
	s := statement(t, aPlan(), ada)
	s.KeyID = k.KeyID()
	payload := s.append(nil)
	seal := func(payload []byte) string {
		signature, _ := k.Sign(context.Background(), PAE(PayloadType, payload))
		return string(sealed{payload, k.KeyID(), signature}.append(nil))
	}
	good := seal(payload)
	if _, _, err := root.Verify([]byte(good)); err != nil {
		t.Fatal(err)
	}
	again := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	inside := func(old, new string) string { return seal(bytes.Replace(payload, []byte(old), []byte(new), 1)) }
	_, signatures, _ := strings.Cut(good, `"signatures":[`)
	one := strings.TrimSuffix(signatures, "]}")
	other, _ := k.Sign(context.Background(), PAE("application/vnd.other+json", payload))
	bare, _ := k.Sign(context.Background(), payload)
	for name, bad := range map[string]string{
		"space":              again(`{"payload"`, `{ "payload"`),
		"end":                good + "\n",
		"unknown":            again(`"payloadType"`, `"note":1,"payloadType"`),
		"twice":              again(`"payloadType"`, `"payloadType":"`+PayloadType+`","payloadType"`),
		"no type":            again(`"payloadType":"`+PayloadType+`",`, ``),
		"other type":         again(PayloadType, "application/vnd.other+json"),
		"order":              again(`"keyid":"`+k.KeyID()+`","sig":`, `"keyid":"`+k.KeyID()+`", "sig":`),
		"no key":             again(`"keyid":"`+k.KeyID()+`",`, ``),
		"two signatures":     again(one, one+","+one),
		"no signature":       again(one, ``),
		"unpadded":           again(`="}]}`, `"}]}`),
		"other alphabet":     strings.NewReplacer("+", "-", "/", "_").Replace(good),
		"another key":        again(k.KeyID(), keyOf(9).KeyID()),
		"over another type":  string(sealed{payload, k.KeyID(), other}.append(nil)),
		"over the statement": string(sealed{payload, k.KeyID(), bare}.append(nil)),
		"space inside":       inside(`{"approver"`, `{ "approver"`),
		"unknown inside":     inside(`"ttl_us"`, `"to":1,"ttl_us"`),
		"twice inside":       inside(`"v":1`, `"v":1,"v":1`),
		"missing inside":     inside(`"reason":"",`, ``),
		"version":            inside(`"v":1`, `"v":2`),
		"purpose":            inside(`"approve"`, `"propose"`),
		"nothing shown":      inside(`"shown":"01`, `"shown":"00`),
		"nobody":             inside(`"uid":2001`, `"uid":4294967295`),
		"too long":           good + strings.Repeat(" ", MaxEnvelopeBytes),
	} {
		if bad == good {
			t.Errorf("%s: nothing is wrong with it", name)
		}
		if _, _, err := root.Verify([]byte(bad)); err == nil {
			t.Errorf("%s: taken: %s", name, bad)
		}
	}
	// A key that is trusted, over a statement of another one.
	nine, _ := keyOf(9).Sign(context.Background(), PAE(PayloadType, payload))
	if _, _, err := root.Verify(sealed{payload, keyOf(9).KeyID(), nine}.append(nil)); !errors.Is(err, ErrInvalid) {
		t.Errorf("the envelope names another key than the statement: %v", err)
	}
	// A reason with a character that has two spellings.
	s.Purpose, s.Reason = Reject, "naïve \u2028"
	if _, _, err := root.Verify([]byte(seal(s.append(nil)))); err != nil {
		t.Error(err)
	}
	if _, _, err := root.Verify([]byte(seal(bytes.Replace(s.append(nil), []byte("ï"), []byte(`\u00ef`), 1)))); !errors.Is(err, ErrInvalid) {
		t.Errorf("an escape that is not needed: %v", err)
	}
}

func TestSignRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Statement){
		"purpose":     func(s *Statement) { s.Purpose = "" },
		"plan":        func(s *Statement) { s.Plan = "p" },
		"store":       func(s *Statement) { s.Store = "" },
		"nobody":      func(s *Statement) { s.Approver.UID = noUID },
		"user":        func(s *Statement) { s.Approver.User = "\xff" },
		"no time":     func(s *Statement) { s.TTL = 0 },
		"never":       func(s *Statement) { s.Issued = token.Instant{} },
		"shown":       func(s *Statement) { s.Shown = [32]byte{} },
		"reason":      func(s *Statement) { s.Reason = "because" },
		"long reason": func(s *Statement) { s.Purpose, s.Reason = Reject, strings.Repeat("x", MaxReasonBytes+1) },
	} {
		s := statement(t, aPlan(), ada)
		spoil(&s)
		if _, err := Sign(context.Background(), keyOf(ada), s); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Sign(context.Background(), short{}, statement(t, aPlan(), ada)); err == nil {
		t.Error("a signature of 3 bytes is taken")
	}
}

type short struct{}

func (short) KeyID() string                                { return keyOf(ada).KeyID() }
func (short) Sign(context.Context, []byte) ([]byte, error) { return []byte("abc"), nil }

// What a signer is asked to sign is the encoding of a statement, and of one only.
func TestOpenPAE(t *testing.T) {
	s := statement(t, aPlan(), ada)
	s.KeyID = keyOf(ada).KeyID()
	pae := PAE(PayloadType, s.append(nil))
	if got, err := OpenPAE(pae); err != nil || !cmp.Equal(got, s) {
		t.Errorf("%+v, %v", got, err)
	}
	for i := range len(pae) * 8 {
		other := bytes.Clone(pae)
		other[i/8] ^= 1 << (i % 8)
		if got, err := OpenPAE(other); err == nil && !bytes.Equal(PAE(PayloadType, got.append(nil)), other) {
			t.Fatalf("%q is taken for the encoding of %+v", other, got)
		}
	}
	for name, bad := range map[string][]byte{
		"nothing": nil, "another type": PAE("text/plain", s.append(nil)), "cut": pae[:len(pae)-1], "longer": append(bytes.Clone(pae), ' '),
		"zeros": bytes.Replace(pae, []byte("DSSEv1 "), []byte("DSSEv1 0"), 1), "no statement": PAE(PayloadType, nil),
	} {
		if _, err := OpenPAE(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Who signs is told before what would never count.
func TestFits(t *testing.T) {
	p := aPlan()
	body := bodyOf(t, p)
	at := noon.Later(2 * time.Minute)
	for name, c := range map[string]struct {
		spoil func(*Statement)
		now   token.Instant
		want  error
	}{
		"all is well":    {func(*Statement) {}, at, nil},
		"hash":           {func(s *Statement) { s.PlanHash[0]++ }, at, errOtherPlan},
		"policy":         {func(s *Statement) { s.PolicyHash[0]++ }, at, errOtherPolicy},
		"store":          {func(s *Statement) { s.Store = "" }, at, errOtherStore},
		"reject":         {func(s *Statement) { s.Purpose = Reject }, noon.Later(2 * time.Hour), nil},
		"reject another": {func(s *Statement) { s.Purpose, s.Plan = Reject, "" }, at, errOtherPlan},
		"self":           {func(s *Statement) { s.Approver.UID = server }, at, errSelf},
		"late":           {func(*Statement) {}, noon.Later(20 * time.Minute), ErrExpired},
		"plan":           {func(s *Statement) { s.Issued = noon.Later(time.Hour) }, noon.Later(time.Hour), ErrExpired},
	} {
		s := statement(t, p, ada)
		c.spoil(&s)
		if err := s.Fits(body, c.now); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if err := statement(t, p, ada).Fits([]byte("{}"), at); !errors.Is(err, plan.ErrInvalid) {
		t.Errorf("no plan: %v", err)
	}
}

func TestDecide(t *testing.T) {
	two := aPlan()
	two.Policy.Min = 2
	self := aPlan()
	self.Policy.SelfAllowed = true
	revoked := strings.Replace(trustText(), keyOf(ada).line(ada, "ada"), keyOf(ada).line(ada, "ada")+" revoked", 1)
	type vote struct {
		by    uint32
		key   uint32 // of another account; zero is by's own
		spoil func(*Statement)
	}
	expired := func(s *Statement) { s.TTL = time.Minute }
	reject := func(s *Statement) { s.Purpose, s.Reason, s.TTL = Reject, "no", time.Microsecond }
	for _, c := range []struct {
		name  string
		plan  plan.Plan
		votes []vote
		trust string
		now   token.Instant // zero is two minutes later
		want  error
		by    []string // who counts
		aged  bool     // only because of its age
	}{
		{name: "approved", plan: aPlan(), votes: []vote{{by: ada}}, by: []string{"ada"}},
		{name: "nobody", plan: aPlan(), want: ErrRequired},
		{name: "two", plan: two, votes: []vote{{by: ada}, {by: bob}}, by: []string{"ada", "bob"}},
		{name: "one of two", plan: two, votes: []vote{{by: ada}}, want: ErrRequired, by: []string{"ada"}},
		{name: "one twice", plan: two, votes: []vote{{by: ada}, {by: ada, spoil: func(s *Statement) { s.Nonce[1]++ }}}, want: ErrRequired, by: []string{"ada"}},
		{name: "one envelope twice", plan: two, votes: []vote{{by: ada}, {by: ada}}, want: ErrRequired, by: []string{"ada"}},
		{name: "one with two keys", plan: two, votes: []vote{{by: ada}, {by: ada, key: 9}}, want: ErrRequired, by: []string{"ada"}},
		{name: "a stranger", plan: aPlan(), votes: []vote{{by: eve}}, want: ErrRequired},
		{name: "a stranger's key", plan: aPlan(), votes: []vote{{by: ada, key: eve}}, want: ErrRequired},
		{name: "another's account", plan: aPlan(), votes: []vote{{by: bob, key: ada}}, want: ErrRequired},
		{name: "revoked", plan: aPlan(), votes: []vote{{by: ada}}, trust: revoked, want: ErrRequired},
		{name: "revoked, and a new key", plan: aPlan(), votes: []vote{{by: ada}, {by: ada, key: 9}}, trust: revoked, by: []string{"ada"}},
		{name: "another plan", plan: aPlan(), votes: []vote{{by: ada, spoil: func(s *Statement) { s.Plan = "plan_" + store }}}, want: ErrRequired},
		{name: "another hash", plan: aPlan(), votes: []vote{{by: ada, spoil: func(s *Statement) { s.PlanHash[0]++ }}}, want: ErrRequired},
		{name: "another policy", plan: aPlan(), votes: []vote{{by: ada, spoil: func(s *Statement) { s.PolicyHash[0]++ }}}, want: ErrRequired},
		{name: "another store", plan: aPlan(), votes: []vote{{by: ada, spoil: func(s *Statement) { s.Store = strings.Repeat("0", 32) }}}, want: ErrRequired},
		{name: "too long", plan: aPlan(), votes: []vote{{by: ada, spoil: func(s *Statement) { s.TTL += time.Microsecond }}}, want: ErrRequired},
		{name: "rejected", plan: aPlan(), votes: []vote{{by: ada}, {by: bob, spoil: reject}}, want: ErrRejected, by: []string{"ada"}},
		{name: "rejected by a stranger", plan: aPlan(), votes: []vote{{by: ada}, {by: eve, spoil: reject}}, by: []string{"ada"}},
		{name: "another plan rejected", plan: aPlan(), votes: []vote{{by: ada}, {by: bob, spoil: func(s *Statement) { reject(s); s.PlanHash[0]++ }}}, by: []string{"ada"}},
		{name: "expired", plan: aPlan(), votes: []vote{{by: ada, spoil: expired}}, want: ErrExpired, aged: true},
		{name: "expired and not", plan: two, votes: []vote{{by: ada, spoil: expired}, {by: bob}}, want: ErrExpired, by: []string{"bob"}, aged: true},
		{name: "expired, and too few", plan: two, votes: []vote{{by: ada, spoil: expired}}, want: ErrRequired},
		{name: "in the future", plan: aPlan(), votes: []vote{{by: ada}}, now: noon.Later(-5 * time.Minute), want: ErrRequired, aged: true},
		{name: "clocks differ", plan: aPlan(), votes: []vote{{by: ada}}, now: noon.Later(-4 * time.Minute), by: []string{"ada"}},
		{name: "the plan expired", plan: aPlan(), votes: []vote{{by: ada, spoil: func(s *Statement) { s.Issued = noon.Later(59 * time.Minute) }}}, now: noon.Later(time.Hour), want: ErrExpired, by: []string{"ada"}, aged: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var envelopes [][]byte
			for _, v := range c.votes {
				s := statement(t, c.plan, v.by)
				if v.spoil != nil {
					v.spoil(&s)
				}
				envelopes = append(envelopes, signed(t, keyOf(max(v.key, v.by*b2u(v.key == 0))), s))
			}
			if c.trust == "" {
				c.trust = trustText()
			}
			if c.now == (token.Instant{}) {
				c.now = noon.Later(2 * time.Minute)
			}
			d, err := Decide(bodyOf(t, c.plan), envelopes, trust(t, c.trust), c.now)
			if err != nil {
				t.Fatal(err)
			}
			var by []string
			for _, v := range d.By {
				by = append(by, v.Approver.Name)
			}
			if !errors.Is(d.Err(), c.want) || d.Approved != (c.want == nil) || !slices.Equal(by, c.by) {
				t.Errorf("%v, %v; want %v, %v; refused: %v", d.Err(), by, c.want, c.by, d.Refused)
			}
			// Once it was spent its age counts no more, and all else does.
			if c.aged {
				c.want = nil
			}
			if d, err := Confirm(bodyOf(t, c.plan), envelopes, trust(t, c.trust)); err != nil || !errors.Is(d.Err(), c.want) || d.Approved != (c.want == nil) {
				t.Errorf("confirmed: %v, %v, want %v", err, d.Err(), c.want)
			}
			if len(d.By)+len(d.Refused)+len(d.Rejected) != len(envelopes) {
				t.Errorf("of %d envelopes %d count, %d are refused, %d reject", len(envelopes), len(d.By), len(d.Refused), len(d.Rejected))
			}
		})
	}
}

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// Whoever asks does not approve, by whichever account; where the policy lets
// them, they do.
func TestSelf(t *testing.T) {
	text := trustText() + keyOf(server).line(server, "server") + "\n" + keyOf(agent).line(agent, "agent") + "\n"
	for _, uid := range []uint32{server, agent} {
		for _, allowed := range []bool{false, true} {
			p := aPlan()
			p.Policy.SelfAllowed = allowed
			d, err := Decide(bodyOf(t, p), [][]byte{signed(t, keyOf(uid), statement(t, p, uid))}, trust(t, text), noon.Later(2*time.Minute))
			if err != nil || d.Approved != allowed || !allowed && !errors.Is(d.Refused[0].Err, errSelf) {
				t.Errorf("account %d, allowed %t: %+v, %v", uid, allowed, d, err)
			}
		}
	}
}

// An approval counts up to its last microsecond, by the clock of the boot it was
// given in and by the wall clock after another.
func TestExpiryToTheInstant(t *testing.T) {
	p := aPlan()
	s := statement(t, p, ada)
	envelopes := [][]byte{signed(t, keyOf(ada), s)}
	end := s.Expires()
	for _, c := range []struct {
		name string
		now  token.Instant
		want bool
	}{
		{"a microsecond before", end.Later(-time.Microsecond), true},
		{"then", end, false},
		{"wall clock set ahead", token.Instant{Wall: end.Wall.Add(time.Hour), Boot: end.Boot, Up: end.Up - 1}, true},
		{"wall clock set back", token.Instant{Wall: end.Wall.Add(-time.Hour), Boot: end.Boot, Up: end.Up}, false},
		{"another boot, before", token.Instant{Wall: end.Wall.Add(-1), Boot: "other"}, true},
		{"another boot, then", token.Instant{Wall: end.Wall, Boot: "other"}, false},
	} {
		d, err := Decide(bodyOf(t, p), envelopes, trust(t, trustText()), c.now)
		if err != nil || d.Approved != c.want || !c.want && !errors.Is(d.Err(), ErrExpired) {
			t.Errorf("%s: %t, %v, %v", c.name, d.Approved, d.Err(), err)
		}
	}
}

// Nothing that a plan, a database or a manifest says makes a key count: Decide
// has no other way in than the trust root, and an empty one lets nobody in.
func TestKeysComeFromTheTrustRootAlone(t *testing.T) {
	p := aPlan()
	offered := base64.StdEncoding.EncodeToString(keyOf(eve).private.Public().(ed25519.PublicKey))
	p.Arguments = []byte(`{"approvers":["ed25519 ` + offered + ` uid=2003 name=eve"]}`)
	p.Change.Summary = "ed25519 " + offered + " uid=2003 name=eve"
	s := statement(t, p, eve)
	s.Purpose = Approve
	envelope := signed(t, keyOf(eve), s)
	for name, text := range map[string]string{"others": trustText(), "nobody": "", "a comment": "# " + keyOf(eve).line(eve, "eve") + "\n"} {
		d, err := Decide(bodyOf(t, p), [][]byte{envelope}, trust(t, text), noon.Later(2*time.Minute))
		if err != nil || d.Approved || !errors.Is(d.Refused[0].Err, ErrUntrusted) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

func TestDecideRefuses(t *testing.T) {
	if _, err := Decide([]byte("{}"), nil, trust(t, ""), noon); !errors.Is(err, plan.ErrInvalid) {
		t.Errorf("no plan: %v", err)
	}
	if _, err := Decide(bodyOf(t, aPlan()), make([][]byte, MaxEnvelopes+1), trust(t, ""), noon); err == nil {
		t.Error("any number of envelopes is looked at")
	}
}

// Bytes that are no envelope are listed, and spoil nothing.
func TestJunkDecidesNothing(t *testing.T) {
	p := aPlan()
	envelopes := [][]byte{nil, []byte("null"), []byte(strings.Repeat("[", 1000)), signed(t, keyOf(ada), statement(t, p, ada))}
	d, err := Decide(bodyOf(t, p), envelopes, trust(t, trustText()), noon.Later(2*time.Minute))
	if err != nil || !d.Approved || len(d.Refused) != 3 {
		t.Errorf("%+v, %v", d, err)
	}
}

func FuzzVerify(f *testing.F) {
	root := trust(f, trustText())
	f.Add(signed(f, keyOf(ada), statement(f, aPlan(), ada)))
	f.Add([]byte(`{"payload":"e30=","payloadType":"` + PayloadType + `","signatures":[{"keyid":"","sig":""}]}`))
	f.Fuzz(func(t *testing.T, envelope []byte) {
		if e, s, err := parseEnvelope(envelope); err == nil && (!bytes.Equal(e.append(nil), envelope) || !bytes.Equal(s.append(nil), e.payload)) {
			t.Fatalf("%q has another spelling", envelope)
		}
		if s, by, err := root.Verify(envelope); err == nil && (s.Approver.UID != by.UID || s.KeyID != by.KeyID) {
			t.Fatalf("%q is by %v", envelope, by)
		}
	})
}
