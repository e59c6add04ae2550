package daemon

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/token"
)

var (
	noon  = token.Instant{Wall: time.UnixMicro(1_780_000_000_000_000).UTC(), Boot: "boot", Up: time.Hour}
	mine  = uint32(os.Geteuid())
	bg    = context.Background()
	store = strings.Repeat("5e", 16)
)

// memoryKey is a signer of a fixed seed.
type memoryKey byte

func (k memoryKey) private() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(k)}, ed25519.SeedSize))
}
func (k memoryKey) public() ed25519.PublicKey { return k.private().Public().(ed25519.PublicKey) }
func (k memoryKey) KeyID() string             { return approve.KeyID(k.public()) }
func (k memoryKey) Sign(_ context.Context, pae []byte) ([]byte, error) {
	return ed25519.Sign(k.private(), pae), nil
}

func aPlan(number int) (plan.Plan, []byte) {
	p := plan.Plan{
		ID: fmt.Sprintf("plan_%032x", number), Store: store, Owner: "local", ServerUID: 4_000_000,
		Capability: "strategy.publish", Name: "strategy.publish", Effect: plan.EffectChange, Arguments: []byte(`{}`),
		Policy: plan.Policy{Min: 1, TTL: 15 * time.Minute}, Separation: plan.SeparationFull, Created: noon, TTL: time.Hour,
		Change: &plan.Change{Root: "strategies", Path: "momentum", Pre: change.Absent.Hash(), Post: change.Hash{3}},
	}
	body, err := p.Encode()
	if err != nil {
		panic(err)
	}
	return p, body
}

func statement(p plan.Plan, body []byte) approve.Statement {
	return approve.Statement{
		Purpose: approve.Approve, Plan: p.ID, PlanHash: plan.HashOf(body), PolicyHash: p.Policy.Hash(), Store: p.Store,
		Nonce: [16]byte{1}, Approver: approve.Account{UID: mine}, Issued: noon.Later(time.Minute), TTL: p.Policy.TTL, Shown: [32]byte{1},
	}
}

// running is a daemon.
type running struct {
	*Client
	dir  string
	log  syncBuffer
	stop func()
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// start runs a daemon in dir, with this account as signer and server unless
// change has another idea.
func start(t *testing.T, dir string, change func(*Options)) *running {
	t.Helper()
	log, err := OpenLog(filepath.Join(dir, "log"))
	must(t, err)
	path := filepath.Join(dir, fmt.Sprint("s", time.Now().UnixNano()))
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	must(t, err)
	must(t, os.Chmod(path, 0o666))
	r := &running{Client: Dial(path, mine), dir: dir}
	o := Options{
		Log: log, Signers: map[uint32]approve.Signer{mine: memoryKey(1)}, Servers: []uint32{mine},
		Now: func() token.Instant { return noon.Later(2 * time.Minute) }, Logger: slog.New(slog.NewTextHandler(&r.log, nil)),
	}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(bg)
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, listener, o) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		must(t, log.Close())
	})
	t.Cleanup(r.stop)
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (r *running) sign(s approve.Statement, body []byte) ([]byte, error) {
	signer, err := r.Signer(bg, body)
	if err != nil {
		return nil, err
	}
	return approve.Sign(bg, signer, s)
}

func TestDaemonSigns(t *testing.T) {
	dir := t.TempDir()
	r := start(t, dir, nil)
	p, body := aPlan(1)
	envelope, err := r.sign(statement(p, body), body)
	must(t, err)
	trust, err := approve.ParseTrustRoot([]byte(approve.FormatKey(memoryKey(1).public(), mine, "me") + "\n"))
	must(t, err)
	d, err := approve.Decide(body, [][]byte{envelope}, trust, noon.Later(2*time.Minute))
	if err != nil || !d.Approved {
		t.Errorf("%+v, %v", d, err)
	}
	check := func(r *running) {
		t.Helper()
		kept, err := r.Envelopes(bg, p.ID)
		if err != nil || len(kept) != 1 || !bytes.Equal(kept[0], envelope) {
			t.Errorf("it keeps %q, %v", kept, err)
		}
		if kept, err := r.Envelopes(bg, "plan_"+store); err != nil || kept != nil {
			t.Errorf("of another plan it keeps %q, %v", kept, err)
		}
	}
	check(r)
	r.stop()
	check(start(t, dir, nil)) // it is in the log
	if log := r.log.String(); !strings.Contains(log, "op=sign uid="+strconv.Itoa(int(mine))+" pid=") {
		t.Errorf("the log of requests is %s", log)
	}
}

// The daemon signs statements about the plan it is shown, of the account that
// the kernel names and its key, and nothing else.
func TestDaemonRefusesToSign(t *testing.T) {
	r := start(t, t.TempDir(), nil)
	p, body := aPlan(1)
	other, otherBody := aPlan(2)
	self := p
	self.ServerUID = mine
	selfBody, _ := self.Encode()
	old := p
	old.TTL = time.Minute
	oldBody, _ := old.Encode()
	for name, c := range map[string]struct {
		of    plan.Plan
		body  []byte
		spoil func(*approve.Statement)
	}{
		"another plan's body":   {p, otherBody, func(*approve.Statement) {}},
		"another plan's id":     {other, body, func(s *approve.Statement) { s.PlanHash = plan.HashOf(body) }},
		"no plan":               {p, []byte("{}"), func(*approve.Statement) {}},
		"another hash":          {p, body, func(s *approve.Statement) { s.PlanHash[0]++ }},
		"another policy":        {p, body, func(s *approve.Statement) { s.PolicyHash[0]++ }},
		"another store":         {p, body, func(s *approve.Statement) { s.Store = strings.Repeat("0", 32) }},
		"another account":       {p, body, func(s *approve.Statement) { s.Approver.UID++ }},
		"longer than the rules": {p, body, func(s *approve.Statement) { s.TTL += time.Microsecond }},
		"expired":               {p, body, func(s *approve.Statement) { s.TTL = time.Minute }},
		"in the future":         {p, body, func(s *approve.Statement) { s.Issued = noon.Later(8 * time.Minute) }},
		"of the requester":      {self, selfBody, func(*approve.Statement) {}},
		"of an expired plan":    {old, oldBody, func(*approve.Statement) {}},
	} {
		s := statement(c.of, body)
		if c.of.ID == p.ID {
			whole, _ := c.of.Encode()
			s = statement(c.of, whole)
		}
		c.spoil(&s)
		if envelope, err := r.sign(s, c.body); err == nil || !strings.Contains(err.Error(), codeInvalid) {
			t.Errorf("%s: signed: %s, %v", name, envelope, err)
		}
	}
	// What is not the encoding of a statement, with its own key.
	s := statement(p, body)
	for name, pae := range map[string][]byte{
		"nothing to sign":  []byte("hello"),
		"another type":     approve.PAE("text/plain", []byte("hello")),
		"not a statement":  approve.PAE(approve.PayloadType, []byte("{}")),
		"statement, cut":   approve.PAE(approve.PayloadType, []byte("{}"))[:8],
		"another key's":    paeOf(t, memoryKey(2), s),
		"with a tail":      append(paeOf(t, memoryKey(1), s), ' '),
		"with other sizes": bytes.Replace(paeOf(t, memoryKey(1), s), []byte("DSSEv1 "), []byte("DSSEv1 0"), 1),
	} {
		if _, err := r.ask(bg, message{op: opSign, body: body, pae: pae}); err == nil || !strings.Contains(err.Error(), codeInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if kept, err := r.Envelopes(bg, p.ID); err != nil || kept != nil {
		t.Errorf("it keeps what it did not sign: %q, %v", kept, err)
	}
	if _, err := r.sign(s, body); err != nil {
		t.Errorf("nothing is wrong with it: %v", err)
	}
}

// capture is a signer that remembers what it was asked to sign.
type capture struct {
	memoryKey
	pae *[]byte
}

func (c capture) Sign(_ context.Context, pae []byte) ([]byte, error) {
	*c.pae = bytes.Clone(pae)
	return make([]byte, ed25519.SignatureSize), nil
}

func paeOf(t *testing.T, k memoryKey, s approve.Statement) (pae []byte) {
	t.Helper()
	_, err := approve.Sign(bg, capture{k, &pae}, s)
	must(t, err)
	if back, err := approve.OpenPAE(pae); err != nil || back.Plan != s.Plan {
		t.Fatalf("%v, %v", back, err)
	}
	return pae
}

// Whose account is not in the policy lists envelopes, and nothing else.
func TestOthersMayOnlyList(t *testing.T) {
	r := start(t, t.TempDir(), func(o *Options) {
		o.Signers, o.Servers = map[uint32]approve.Signer{mine + 1: memoryKey(1)}, []uint32{mine + 1}
		o.Heads = &headsOf{}
	})
	p, body := aPlan(1)
	if _, err := r.Signer(bg, body); !errors.Is(err, ErrForbidden) {
		t.Errorf("key: %v", err)
	}
	if _, err := r.ask(bg, message{op: opSign, body: body, pae: paeOf(t, 1, statement(p, body))}); !errors.Is(err, ErrForbidden) {
		t.Errorf("sign: %v", err)
	}
	if err := r.Spend(bg, [16]byte{1}, p.ID); !errors.Is(err, ErrForbidden) {
		t.Errorf("spend: %v", err)
	}
	if err := r.Head(bg, []byte("x")); !errors.Is(err, ErrForbidden) {
		t.Errorf("head: %v", err)
	}
	if _, err := r.Envelopes(bg, p.ID); err != nil {
		t.Errorf("envelopes: %v", err)
	}
	if log := r.log.String(); strings.Count(log, "code=forbidden") != 4 {
		t.Errorf("the refusals are not in the log: %s", log)
	}
}

// headsOf are the heads that a daemon was handed.
type headsOf struct {
	mu    sync.Mutex
	heads []string
}

func (h *headsOf) Head(_ context.Context, signed []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if string(signed) == "bad" {
		return errors.New("it does not go on from the last one")
	}
	h.heads = append(h.heads, string(signed))
	return nil
}

func TestHeads(t *testing.T) {
	h := &headsOf{}
	r := start(t, t.TempDir(), func(o *Options) { o.Heads = h })
	if err := r.Head(bg, []byte("signed")); err != nil || len(h.heads) != 1 || h.heads[0] != "signed" {
		t.Errorf("it has %q, %v", h.heads, err)
	}
	if err := r.Head(bg, []byte("bad")); err == nil || !strings.Contains(err.Error(), "does not go on") {
		t.Errorf("a head that is not kept: %v", err)
	}
	if err := r.Head(bg, make([]byte, maxHeadBytes+1)); err == nil {
		t.Error("heads of any length are kept")
	}
	if err := start(t, t.TempDir(), nil).Head(bg, []byte("signed")); !errors.Is(err, ErrForbidden) {
		t.Errorf("without a keeper: %v", err)
	}
}

// A frame is refused for its length before it is read.
func TestFramesAreBounded(t *testing.T) {
	for n, want := range map[int]string{MaxMessage: "canonical", MaxMessage + 1: "more than 65536 bytes"} {
		frame := binary.BigEndian.AppendUint32(nil, uint32(n))
		frame = append(frame, "{}"+strings.Repeat(" ", n-2)...)
		if _, err := readFrame(bytes.NewReader(frame), MaxMessage); !errors.Is(err, errMessage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %v, want %s", n, err, want)
		}
	}
}

// The kernel says who asks: another account, at the same socket, is another.
func TestAccountsAreTheKernels(t *testing.T) {
	if mine != 0 {
		t.Skip("only root can be two accounts")
	}
	dir, err := os.MkdirTemp("", "daemon")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	binary := filepath.Join(dir, "test")
	content, err := os.ReadFile(os.Args[0])
	must(t, err)
	must(t, os.WriteFile(binary, content, 0o755))
	private := filepath.Join(dir, "private")
	must(t, os.Mkdir(private, 0o700))
	const signer, stranger = 65_533, 65_534
	r := start(t, dir, func(o *Options) { o.Signers = map[uint32]approve.Signer{signer: memoryKey(1)} })
	for uid, want := range map[uint32]string{signer: "key " + memoryKey(1).KeyID(), stranger: ErrForbidden.Error()} {
		cmd := exec.Command(binary)
		cmd.Env = append(os.Environ(), asClient+"="+r.path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("account %d: %s, %v", uid, out, err)
		}
	}
	// Nor is anybody else the daemon.
	if _, err := Dial(r.path, stranger).Envelopes(bg, "plan_"+store); err == nil || !strings.Contains(err.Error(), "account 0 listens") {
		t.Errorf("another account's daemon is believed: %v", err)
	}
}

const asClient = "CAPGEN_TEST_DAEMON_CLIENT"

func TestMain(m *testing.M) {
	if path := os.Getenv(asClient); path != "" {
		signer, err := Dial(path, 0).Signer(bg, nil)
		if err == nil {
			fmt.Println("key", signer.KeyID())
		}
		fmt.Println(err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestSpend(t *testing.T) {
	dir := t.TempDir()
	r := start(t, dir, nil)
	p, body := aPlan(1)
	other, _ := aPlan(2)
	if err := r.Begin(bg, p.ID); !errors.Is(err, approve.ErrUnspent) {
		t.Errorf("a plan that nothing was spent on begins: %v", err)
	}
	check := func(r *running) {
		t.Helper()
		for range 2 {
			if err := r.Spend(bg, [16]byte{1}, p.ID); err != nil {
				t.Errorf("on its plan: %v", err)
			}
		}
		if err := r.Spend(bg, [16]byte{1}, other.ID); !errors.Is(err, approve.ErrSpent) {
			t.Errorf("on another plan: %v", err)
		}
	}
	check(r)
	if _, err := r.sign(statement(p, body), body); !errors.Is(err, approve.ErrSpent) {
		t.Errorf("a plan that is done is approved again: %v", err)
	}
	r.stop()
	r = start(t, dir, nil)
	check(r)
	must(t, r.Begin(bg, p.ID))
	if err := r.Spend(bg, [16]byte{1}, p.ID); !errors.Is(err, approve.ErrSpent) {
		t.Errorf("on a plan that lands: %v", err)
	}
	must(t, r.Begin(bg, p.ID))
	must(t, r.End(bg, p.ID))
	must(t, r.End(bg, p.ID))
	if err := r.Begin(bg, p.ID); !errors.Is(err, approve.ErrSpent) {
		t.Errorf("a plan that has landed: %v", err)
	}
	stranger := start(t, t.TempDir(), func(o *Options) { o.Servers = nil })
	for _, err := range []error{stranger.Begin(bg, p.ID), stranger.End(bg, p.ID)} {
		if !errors.Is(err, ErrForbidden) {
			t.Errorf("who does not land plans: %v", err)
		}
	}
	for name, m := range map[string]message{
		"nonce": {op: opSpend, nonce: []byte("short"), plan: p.ID}, "plan": {op: opSpend, nonce: make([]byte, 16), plan: "p"},
		"of envelopes": {op: opEnvelopes, plan: "p"}, "begin": {op: opBegin, plan: "p"}, "end": {op: opEnd}, "operation": {op: "confirm"}, "head": {op: opHead},
	} {
		if _, err := start(t, t.TempDir(), nil).ask(bg, m); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Of many that spend one nonce on plans of their own, one does.
func TestSpendHasOneWinner(t *testing.T) {
	r := start(t, t.TempDir(), nil)
	var wg sync.WaitGroup
	won := make(chan string, 32)
	for i := range 32 {
		wg.Go(func() {
			p, _ := aPlan(i)
			err := r.Spend(bg, [16]byte{7}, p.ID)
			if err == nil {
				won <- p.ID
			} else if !errors.Is(err, approve.ErrSpent) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Errorf("%d have spent it", len(won))
	}
}

// A connection that sends nothing, too much, or junk ends, and costs nobody else
// an answer.
func TestHostileConnections(t *testing.T) {
	r := start(t, t.TempDir(), func(o *Options) { o.Timeout, o.Signers = 300*time.Millisecond, nil })
	p, _ := aPlan(1)
	for name, bytes := range map[string]string{
		"nothing": "", "half a length": "\x00\x00", "announced": "\x00\x00\x10\x00{", "too much": "\x7f\xff\xff\xff" + strings.Repeat("x", 1000),
		"beyond": "\x00\x01\x00\x01{}", "junk": "\x00\x00\x00\x02[]", "twice": "\x00\x00\x00\x17{\"op\":\"key\",\"op\":\"key\"}", "unknown": "\x00\x00\x00\x07{\"a\":1}",
	} {
		c, err := net.Dial("unix", r.path)
		must(t, err)
		_, err = c.Write([]byte(bytes))
		must(t, err)
		c.SetDeadline(time.Now().Add(time.Minute))
		answer, err := io.ReadAll(c)
		if err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: the connection stays open: %v", name, err)
		}
		if len(answer) > 0 && !strings.Contains(string(answer), codeInvalid) {
			t.Errorf("%s: %s", name, answer)
		}
		c.Close()
	}
	for i := 0; ; i++ { // a slow machine may need more than the time that is set here
		_, err := r.Envelopes(bg, p.ID)
		if err == nil {
			break
		}
		if i == 100 {
			t.Fatal(err)
		}
	}
}

// An account has so many connections at a time, and then none.
func TestConnectionsAreBounded(t *testing.T) {
	t.Run("a stranger", func(t *testing.T) { bounded(t, MaxOfOneAccount, func(o *Options) { o.Signers, o.Servers = nil, nil }) })
	t.Run("a server", func(t *testing.T) { bounded(t, MaxOfKnown, func(o *Options) { o.Signers = nil }) })
	t.Run("a signer", func(t *testing.T) { bounded(t, MaxOfKnown, func(o *Options) { o.Servers = nil }) })
}

func bounded(t *testing.T, most int, change func(*Options)) {
	r := start(t, t.TempDir(), func(o *Options) { change(o); o.Timeout = time.Minute })
	var held []net.Conn
	for range most {
		c, err := net.Dial("unix", r.path)
		must(t, err)
		held = append(held, c)
	}
	p, _ := aPlan(1)
	if _, err := r.Envelopes(bg, p.ID); err == nil {
		t.Error("one more is answered")
	}
	held[0].Close()
	for i := 0; ; i++ {
		if _, err := r.Envelopes(bg, p.ID); err == nil {
			break
		} else if i == 1000 {
			t.Fatal("there is no room again: ", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.stop() // which does not wait for those that are held
	for _, c := range held {
		c.Close()
	}
}

func FuzzMessage(f *testing.F) {
	p, body := aPlan(1)
	f.Add(message{op: opSign, body: body, pae: []byte("x")}.append(nil))
	f.Add(message{op: opSpend, nonce: make([]byte, 16), plan: p.ID}.append(nil))
	f.Add(message{envelopes: [][]byte{{1}, {2}}, code: "c", text: "t", head: []byte("h"), key: "k", signature: []byte("s")}.append(nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseMessage(text)
		if err == nil && !bytes.Equal(m.append(nil), text) {
			t.Fatalf("%q is spelt %q", text, m.append(nil))
		}
	})
}
