package govern

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/token"
)

// TestRefusals: what may not land is refused with a code that says why, is in the
// trail, changes nothing, and, where the plan is still good, keeps nothing from
// landing once what was wrong is right.
func TestRefusals(t *testing.T) {
	ring := func(s *scene, claims token.Claims) string {
		r, err := s.ring()
		if err != nil {
			t.Fatal(err)
		}
		text, err := r.Issue(claims, s.clock.Instant, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, c := range map[string]struct {
		spoil func(s *scene, who *string, terms *Terms, claim *Claim)
		want  Code
		over  bool // for good
	}{
		"another subject":    {func(_ *scene, who *string, _ *Terms, _ *Claim) { *who = "bob" }, NotFound, false},
		"no such plan":       {func(_ *scene, _ *string, _ *Terms, c *Claim) { c.Plan = "plan_" + strings.Repeat("0", 32) }, NotFound, false},
		"no plan at all":     {func(_ *scene, _ *string, _ *Terms, c *Claim) { c.Plan = "x\ny" }, NotFound, false},
		"no key":             {func(_ *scene, _ *string, _ *Terms, c *Claim) { c.Key = "" }, InvalidRequest, false},
		"a key nobody sees":  {func(_ *scene, _ *string, _ *Terms, c *Claim) { c.Key = "a\u200bb" }, InvalidRequest, false},
		"a long key":         {func(_ *scene, _ *string, _ *Terms, c *Claim) { c.Key = strings.Repeat("k", MaxKeyBytes+1) }, InvalidRequest, false},
		"another capability": {func(_ *scene, _ *string, t *Terms, _ *Claim) { t.ID = "strategies.other" }, InvalidRequest, false},
		"another contract":   {func(_ *scene, _ *string, t *Terms, _ *Claim) { t.Contract = strings.Repeat("00", 32) }, StaleState, false},
		"another policy":     {func(_ *scene, _ *string, t *Terms, _ *Claim) { t.Min = 2 }, StaleState, false},
		"no token":           {func(_ *scene, _ *string, _ *Terms, c *Claim) { c.Token = "" }, TokenInvalid, false},
		"half a token":       {func(_ *scene, _ *string, _ *Terms, c *Claim) { c.Token = c.Token[:len(c.Token)/2] }, TokenInvalid, false},
		"an expired token": {func(s *scene, _ *string, _ *Terms, c *Claim) {
			claims := s.claims(c)
			c.Token = ring(s, claims)
			s.clock.pass(time.Minute)
		}, TokenExpired, false},
		"a token of a plan": {func(s *scene, _ *string, _ *Terms, c *Claim) {
			claims := s.claims(c)
			claims.Object = "plan_" + store0
			c.Token = ring(s, claims)
		}, TokenInvalid, false},
		"a token of a body": {func(s *scene, _ *string, _ *Terms, c *Claim) {
			claims := s.claims(c)
			claims.Hash[0]++
			c.Token = ring(s, claims)
		}, TokenInvalid, false},
		"a token of a store": {func(s *scene, _ *string, _ *Terms, c *Claim) {
			claims := s.claims(c)
			claims.Store = store0
			c.Token = ring(s, claims)
		}, TokenInvalid, false},
		"a token of a kind": {func(s *scene, _ *string, _ *Terms, c *Claim) {
			claims := s.claims(c)
			claims.Kind = "validation"
			c.Token = ring(s, claims)
		}, TokenInvalid, false},
		"the target changed": {func(s *scene, _ *string, _ *Terms, _ *Claim) { s.meddle(t, "b") }, StaleState, false},
		"the approver revoked": {func(s *scene, _ *string, _ *Terms, _ *Claim) {
			*s.trust = strings.TrimSuffix(ada.line(), "\n") + " revoked\n" + bob.line()
		}, ApprovalRequired, false},
		"the approver removed": {func(s *scene, _ *string, _ *Terms, _ *Claim) { *s.trust = bob.line() }, ApprovalRequired, false},
		"no trust root":        {func(s *scene, _ *string, _ *Terms, _ *Claim) { *s.trust = "junk\n" }, Forbidden, false},
		"rejected":             {func(s *scene, _ *string, _ *Terms, c *Claim) { s.reject(t, bob, c.Plan) }, ApprovalRejected, true},
		"cancelled":            {func(s *scene, _ *string, _ *Terms, c *Claim) { s.Cancel(as("alice"), c.Plan, "no more") }, ConflictCode, true},
		"expired":              {func(s *scene, _ *string, _ *Terms, _ *Claim) { s.clock.pass(publish.TTL) }, ApprovalExpired, true},
		"the clock set back":   {func(s *scene, _ *string, _ *Terms, _ *Claim) { s.clock.Wall = s.clock.Wall.Add(-time.Hour) }, ClockRegressed, false},
		"another boot, later": {func(s *scene, _ *string, _ *Terms, _ *Claim) {
			s.clock.pass(publish.TTL)
			s.clock.Boot, s.clock.Up = "other", 0
		}, ApprovalExpired, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, scenery{})
			s.place(t, before)
			p := s.prepareChange(t)
			s.approve(t, ada, p.Plan)
			who, terms, claim := "alice", publish, claimOf(p)
			was, clock, trust := s.there(t), *s.clock, *s.trust
			c.spoil(s, &who, &terms, &claim)
			there := s.there(t)
			if _, err := ApplyChange(as(who), s.Service, terms, claim); code(err) != c.want || strings.Contains(err.Error(), "/") {
				t.Errorf("%v, want %s", err, c.want)
			}
			if got := s.last(t, 1); got != "plan.land!"+string(c.want) {
				t.Errorf("in the trail: %s", got)
			}
			if s.there(t) != there || s.names(t) != "momentum" {
				t.Errorf("it is another one, or something is left: %s", s.names(t))
			}
			*s.clock, *s.trust = clock, trust
			if there != was {
				s.restore(t, before)
			}
			_, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p))
			if c.over == (err == nil) {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

const store0 = "00000000000000000000000000000000"

// claims are those of the token of a claim.
func (s *scene) claims(c *Claim) token.Claims {
	r, err := s.ring()
	if err != nil {
		panic(err)
	}
	claims, err := r.Verify(c.Token, "change", s.db.ID(), s.clock.Instant)
	if err != nil {
		panic(err)
	}
	return claims
}

// meddle writes to a file of the target behind everybody's back.
func (s *scene) meddle(t testing.TB, name string) {
	t.Helper()
	d, err := s.roots.Sub("momentum")
	if err == nil {
		err = d.Remove(name)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *scene) restore(t testing.TB, content map[string]string) {
	t.Helper()
	if err := errors.Join(s.roots.Move("momentum", "away"), place(s.roots, "momentum", content)); err != nil {
		t.Fatal(err)
	}
}

func (s *scene) reject(t testing.TB, who approver, id string) {
	t.Helper()
	envelope := s.sign(t, who, id, func(st *approve.Statement) { st.Purpose, st.Reason = approve.Reject, "no" })
	if err := s.Operator(cli).AddEnvelope(bg(), id, envelope); err != nil {
		t.Fatal(err)
	}
}

// TestExpiryToTheInstant: a plan lands up to the last microsecond, by the clock of
// its boot, and after another boot by the wall clock.
func TestExpiryToTheInstant(t *testing.T) {
	for name, c := range map[string]struct {
		move func(*clock)
		want Code
	}{
		"a microsecond before":   {func(c *clock) { c.pass(publish.TTL - time.Microsecond) }, "ok"},
		"then":                   {func(c *clock) { c.pass(publish.TTL) }, ApprovalExpired},
		"wall an hour ahead":     {func(c *clock) { c.pass(time.Minute); c.Wall = c.Wall.Add(time.Hour) }, "ok"},
		"wall five minutes back": {func(c *clock) { c.pass(publish.TTL); c.Wall = c.Wall.Add(-5*time.Minute - publish.TTL) }, ApprovalExpired},
		"another boot, before":   {func(c *clock) { c.pass(publish.TTL - time.Microsecond); c.Boot, c.Up = "other", time.Second }, "ok"},
		"another boot, then":     {func(c *clock) { c.pass(publish.TTL); c.Boot, c.Up = "other", time.Second }, ApprovalExpired},
		"no boot, then":          {func(c *clock) { c.pass(publish.TTL); c.Boot, c.Up = "", 0 }, ApprovalExpired},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, scenery{})
			s.place(t, before)
			p := s.prepareChange(t)
			s.approve(t, ada, p.Plan)
			// Good for as long as the plan is.
			c.move(s.clock)
			if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); code(err) != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// TestOthersSeeNothing: another subject's plan and one that is not there have one
// answer, byte for byte, and so has what is no id.
func TestOthersSeeNothing(t *testing.T) {
	s := newScene(t, scenery{})
	s.place(t, before)
	p := s.prepareChange(t)
	for name, ask := range map[string]func(ctx context.Context, id string) (any, error){
		"show":   func(ctx context.Context, id string) (any, error) { return s.Show(ctx, id) },
		"status": func(ctx context.Context, id string) (any, error) { return s.Status(ctx, id) },
		"cancel": func(ctx context.Context, id string) (any, error) { return s.Cancel(ctx, id, "") },
		"list":   func(ctx context.Context, id string) (any, error) { return s.List(ctx, Filter{After: id}) },
		"apply": func(ctx context.Context, id string) (any, error) {
			return ApplyChange(ctx, s.Service, publish, Claim{Plan: id, Token: p.Token, Key: "k"})
		},
	} {
		foreign, err := ask(as("bob"), p.Plan)
		missing, errMissing := ask(as("bob"), "plan_"+store0)
		junk, errJunk := ask(as("bob"), "x")
		if code(err) != NotFound || err.Error() != errMissing.Error() || err.Error() != errJunk.Error() || cmp.Diff(foreign, missing) != "" || cmp.Diff(foreign, junk) != "" {
			t.Errorf("%s: %v, %v, %v", name, err, errMissing, errJunk)
		}
	}
	if page, err := s.List(as("bob"), Filter{}); err != nil || len(page.Plans) != 0 {
		t.Errorf("bob's list: %+v, %v", page, err)
	}
	if page, err := s.List(as("alice"), Filter{Status: "prepared"}); err != nil || len(page.Plans) != 1 || page.Next != "" {
		t.Errorf("alice's list: %+v, %v", page, err)
	}
	if _, err := s.Show(bg(), p.Plan); code(err) != Forbidden {
		t.Errorf("nobody: %v", err)
	}
	if v, err := s.Status(as("alice"), p.Plan); err != nil || v.Status != "prepared" {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestPrepareRefuses: what could never land is not planned.
func TestPrepareRefuses(t *testing.T) {
	change := func(edit func(*Change)) func(context.Context) (Change, error) {
		return func(context.Context) (Change, error) {
			c := files(after)
			edit(&c)
			return c, nil
		}
	}
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		plan func(context.Context) (Change, error)
		want Code
	}{
		"the host fails":     {func(context.Context) (Change, error) { return Change{}, boom }, Internal},
		"nothing changes":    {planning(before), InvalidRequest},
		"no such root":       {change(func(c *Change) { c.Root = "other" }), InvalidRequest},
		"out of the root":    {change(func(c *Change) { c.Path = "../momentum" }), Confinement},
		"the root itself":    {change(func(c *Change) { c.Path = "" }), Confinement},
		"an absolute path":   {change(func(c *Change) { c.Path = "/etc" }), Confinement},
		"ours":               {change(func(c *Change) { c.Path = ".capgen-x" }), Confinement},
		"no parent":          {change(func(c *Change) { c.Path = "none/momentum" }), NotFound},
		"a file":             {change(func(c *Change) { c.Path = "momentum/a" }), ""},
		"a file as a parent": {change(func(c *Change) { c.Path = "momentum/a/b" }), Confinement},
		"no tree":            {change(func(c *Change) { c.Files[0].Path = "../x" }), InvalidRequest},
		"a hidden summary":   {change(func(c *Change) { c.Summary = "a\u202eb" }), InvalidRequest},
		"a long summary":     {change(func(c *Change) { c.Summary = strings.Repeat("x", MaxSummaryBytes+1) }), InvalidRequest},
	} {
		s := newScene(t, scenery{})
		s.place(t, before)
		_, err := PrepareChange(as("alice"), s.Service, publish, []byte(`{}`), "k", c.plan)
		if err == nil || c.want != "" && code(err) != c.want || !strings.HasPrefix(s.last(t, 1), "plan.prepare!") {
			t.Errorf("%s: %v, want %s, %s", name, err, c.want, s.last(t, 1))
		}
		if name == "the host fails" && !errors.Is(err, boom) {
			t.Errorf("the host's error is lost: %v", err)
		}
	}
}

// TestKeys: a key stands for one request, within its step, capability and
// subject.
func TestKeys(t *testing.T) {
	s := newScene(t, scenery{})
	s.place(t, before)
	p := s.prepareChange(t)
	if _, err := PrepareChange(as("alice"), s.Service, publish, []byte(`{"name":"other"}`), "k1", planning(after)); code(err) != ConflictCode {
		t.Errorf("another request: %v", err)
	}
	q, err := PrepareChange(as("bob"), s.Service, publish, []byte(`{"name":"momentum"}`), "k1", planning(after))
	if err != nil || q.Plan == p.Plan {
		t.Errorf("another subject: %+v, %v", q, err)
	}
	s.approve(t, ada, p.Plan)
	one, two := claimOf(p), claimOf(p)
	if _, err := ApplyChange(as("alice"), s.Service, publish, one); err != nil {
		t.Fatal(err)
	}
	other := publish
	r, err := PrepareChange(as("alice"), s.Service, other, []byte(`{"name":"momentum"}`), "k2", planning(before))
	if err != nil {
		t.Fatal(err)
	}
	two.Plan, two.Token = r.Plan, r.Token
	if _, err := ApplyChange(as("alice"), s.Service, publish, two); code(err) != ConflictCode {
		t.Errorf("the key of another plan: %v", err)
	}
	if _, err := PrepareChange(as("alice"), s.Service, publish, []byte(`{"name":"momentum"}`), "k1", planning(after)); code(err) != ConflictCode {
		t.Errorf("the key of a plan that has landed: %v", err)
	}
}

// TestSeparation: which accounts are apart is in the plan, and where a policy asks
// for what the trust root cannot give, nothing is prepared.
func TestSeparation(t *testing.T) {
	own := newApprover(newScene(t, scenery{}).uid)
	for name, c := range map[string]struct {
		trust string
		peer  uint32
		none  bool // nothing tells the peer
		self  bool
		min   int
		want  string // or a code
	}{
		"three accounts":           {ada.line(), agent, false, false, 1, "full"},
		"two":                      {ada.line(), own.uid, false, false, 1, "partial"},
		"nobody tells":             {ada.line(), 0, true, false, 1, "unknown"},
		"one, and it may":          {own.line(), own.uid, false, true, 1, "none"},
		"one, and it may not":      {own.line(), own.uid, false, false, 1, "forbidden"},
		"the agent's, may not":     {newApprover(agent).line(), agent, false, false, 1, "forbidden"},
		"the agent's, may":         {newApprover(agent).line(), agent, false, true, 1, "none"},
		"others, and its own":      {ada.line() + own.line(), agent, false, true, 1, "none"},
		"others, its own does not": {ada.line() + own.line(), agent, false, false, 1, "full"},
		"two asked for, one there": {ada.line() + own.line(), agent, false, false, 2, "forbidden"},
		"two of one account":       {ada.line(), agent, false, false, 2, "forbidden"},
		"nobody, and it may":       {"", agent, false, true, 1, "none"},
		"nobody, and it may not":   {"", agent, false, false, 1, "forbidden"},
		"a broken trust root":      {"junk\n", agent, false, true, 1, "forbidden"},
	} {
		s := newScene(t, scenery{trust: &c.trust, peer: &c.peer, noPeer: c.none})
		s.place(t, before)
		terms := publish
		terms.SelfAllowed, terms.Min = c.self, c.min
		p, err := PrepareChange(as("alice"), s.Service, terms, []byte(`{}`), "k", planning(after))
		got := p.Separation
		if err != nil {
			got = string(code(err))
			if !strings.Contains(err.Error(), "; an operator ") {
				t.Errorf("%s: no remedy: %v", name, err)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
}

// TestDisclosed: programs see code and remedy of every refusal, within the bound
// of what is disclosed.
func TestDisclosed(t *testing.T) {
	s := newScene(t, scenery{})
	s.place(t, before)
	p := s.prepareChange(t)
	_, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p))
	if !errors.Is(err, runtime.ErrorCode("approval_required")) {
		t.Error(err)
	}
	var r *Refusal
	if !errors.As(err, &r) || len(r.text()) > runtime.MaxDisclosedBytes || !strings.Contains(r.text(), "workspace approve "+p.Plan) {
		t.Errorf("%v", err)
	}
}
