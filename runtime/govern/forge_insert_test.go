package govern

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/store"
)

// way is how a plan of a kind comes to its end.
type way struct {
	terms   Terms
	prepare func(t *testing.T, s *scene, terms Terms) Prepared
	// begin is the claim of a plan that has begun, and goes on with it.
	begin func(s *scene, terms Terms, p Prepared) error
	// state is where it begins.
	state string
	ended string // as nothing of it came about
}

func ways() map[string]way {
	change := way{
		terms: publish,
		prepare: func(t *testing.T, s *scene, terms Terms) Prepared {
			s.place(t, before)
			p, err := PrepareChange(as("alice"), s.Service, terms, []byte(`{"name":"momentum"}`), "k1", planning(after))
			if err != nil {
				t.Fatal(err)
			}
			return p
		},
		begin: func(s *scene, terms Terms, p Prepared) error {
			_, err := ApplyChange(as("alice"), s.Service, terms, claimOf(p))
			return err
		},
		state: "INTENT", ended: "ABORTED",
	}
	staged := change
	staged.state = "STAGED"
	return map[string]way{
		"change": change, "staged change": staged,
		"call": {
			terms: remove,
			prepare: func(t *testing.T, s *scene, terms Terms) Prepared {
				p, err := PrepareCall(as("alice"), s.Service, terms, []byte(`{}`), "k1", nil)
				if err != nil {
					t.Fatal(err)
				}
				return p
			},
			begin: func(s *scene, terms Terms, p Prepared) error {
				_, err := ApplyCall(as("alice"), s.Service, terms, claimOf(p), decodeText, nil, func(context.Context, Approved[string]) ([]byte, error) {
					return []byte(`{}`), place(s.roots, "called", little)
				})
				return err
			},
			state: "INTENT", ended: "ABORTED",
		},
		"run": {
			terms: evaluate,
			prepare: func(t *testing.T, s *scene, terms Terms) Prepared {
				p, err := PrepareRun(as("alice"), s.Service, terms, []byte(`{}`), "k1", candidate)
				if err != nil {
					t.Fatal(err)
				}
				return p
			},
			begin: func(s *scene, terms Terms, p Prepared) error {
				_, err := StartRun(as("alice"), s.Service, terms, claimOf(p))
				return err
			},
			state: "QUEUED", ended: "FAILED",
		},
	}
}

// landed tells whether anything of a plan has come about.
func (s *scene) landed(t *testing.T, m *machine, p Prepared) bool {
	there := s.there(t)
	return m.count(jobOf(p)) > 0 || there != treeHash(t, nil) && there != treeHash(t, before) || strings.Contains(s.names(t), "called")
}

// executionOf is the state of the execution of a plan.
func (s *scene) executionOf(t *testing.T, p Prepared) (state string) {
	t.Helper()
	err := s.db.View(bg(), func(tx *store.Tx) error {
		e, err := tx.Execution(p.Plan)
		state = e.State
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// insert writes the rows of a landing that never was, as whoever can write the
// database can, but for those of approvals and of the nonce.
func (s *scene) insert(t *testing.T, y way, p Prepared) {
	t.Helper()
	s.exec(t, `UPDATE plans SET status = 'consumed', moved = ?, moved_by = 'alice', reason = '' WHERE id = ?`, s.clock.Wall.UnixMicro(), p.Plan)
	err := s.db.Update(bg(), func(tx *store.Tx) (err error) {
		if y.state == "QUEUED" {
			_, err = tx.InsertJob(p.Plan, whole(s.clock.Instant), s.host, 0)
		} else {
			kind := store.KindChange
			if y.terms.Effect != effectChange {
				kind = store.KindCall
			}
			_, err = tx.InsertExecution(p.Plan, kind)
		}
		l := landing{owner: s.body(t, p.Plan).Owner, terms: y.terms}
		return errors.Join(err, tx.RememberKey(l.scope(), claimOf(p).Key, requestHash(stepApply, []byte(p.Plan)), p.Plan))
	})
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, `UPDATE executions SET state = ? WHERE plan = ?`, y.state, p.Plan)
}

// TestInsertedRows: rows of a landing that nobody has approved land nothing, start
// nothing and call nothing, whatever approvals and nonces say: what counts is
// signed. With a keeper of approvals neither do those of one that was approved,
// and was never asked for.
func TestInsertedRows(t *testing.T) {
	singleThreaded(t)
	hand := func(t *testing.T, s *scene, p Prepared, envelopes ...[]byte) {
		t.Helper()
		err := s.db.Update(bg(), func(tx *store.Tx) error {
			for _, e := range envelopes {
				if _, err := tx.InsertApproval(p.Plan, e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	signs := func(who approver, spoil func(*approve.Statement)) func(*testing.T, *scene, Prepared) {
		return func(t *testing.T, s *scene, p Prepared) { hand(t, s, p, s.sign(t, who, p.Plan, spoil)) }
	}
	own := newApprover(agent)
	for name, f := range map[string]struct {
		min   int
		hand  func(t *testing.T, s *scene, p Prepared)
		spend string // what is said to be: all, first (of the approvals), nonce, approvals or nothing
		lands bool   // where no keeper of approvals knows better
	}{
		"nothing":          {1, nil, "nothing", false},
		"a nonce":          {1, nil, "nonce", false},
		"a stranger's":     {1, signs(eve, nil), "all", false},
		"of who asks":      {1, signs(own, nil), "all", false},
		"of another store": {1, signs(ada, func(st *approve.Statement) { st.Store = store0 }), "all", false},
		"of other policy":  {1, signs(ada, func(st *approve.Statement) { st.PolicyHash[0] ^= 1 }), "all", false},
		"of another body":  {1, signs(ada, func(st *approve.Statement) { st.PlanHash[0] ^= 1 }), "all", false},
		"of another plan":  {1, signs(ada, func(st *approve.Statement) { st.Plan = "plan_" + store0 }), "all", false},
		"that lasts":       {1, signs(ada, func(st *approve.Statement) { st.TTL += time.Second }), "all", false},
		"one of two":       {2, signs(ada, nil), "all", false},
		"one, twice": {2, func(t *testing.T, s *scene, p Prepared) {
			hand(t, s, p, s.sign(t, ada, p.Plan, nil), s.sign(t, ada, p.Plan, func(st *approve.Statement) { st.Nonce[1]++ }))
		}, "all", false},
		"rejected": {1, func(t *testing.T, s *scene, p Prepared) {
			s.approve(t, ada, p.Plan)
			if err := s.Operator(cli).AddEnvelope(bg(), p.Plan, s.sign(t, bob, p.Plan, func(st *approve.Statement) { st.Purpose = approve.Reject })); err != nil {
				t.Fatal(err)
			}
		}, "first", false},
		"approved, not spent": {1, signs(ada, nil), "nonce", false},
		"approved, no nonce":  {1, signs(ada, nil), "approvals", false},
		"approved":            {1, signs(ada, nil), "all", true},
		"approved by two": {2, func(t *testing.T, s *scene, p Prepared) {
			hand(t, s, p, s.sign(t, ada, p.Plan, nil), s.sign(t, bob, p.Plan, nil))
		}, "all", true},
	} {
		for kind, y := range ways() {
			for keeper, sources := range map[string][]approve.Source{"": nil, ", with a keeper": {newDaemon()}} {
				t.Run(name+", "+kind+keeper, func(t *testing.T) {
					t.Parallel()
					trust := ada.line() + bob.line() + own.line()
					s, m := newRunScene(t, scenery{sources: sources, trust: &trust})
					y := y
					y.terms.Min = f.min
					p := y.prepare(t, s, y.terms)
					if f.hand != nil {
						f.hand(t, s, p)
					}
					if f.spend == "all" || f.spend == "approvals" {
						s.exec(t, `UPDATE approvals SET used_by = plan`)
					}
					if f.spend == "first" {
						s.exec(t, `UPDATE approvals SET used_by = plan WHERE rowid = 1`)
					}
					if f.spend == "all" || f.spend == "first" || f.spend == "nonce" {
						s.exec(t, `UPDATE nonces SET used_by = ?`, p.Plan)
					}
					s.insert(t, y, p)
					for range 2 {
						if _, err := s.Recover(bg()); err != nil {
							t.Error(err)
						}
						err := y.begin(s, y.terms, p)
						if m := s.Watch(bg()); m != nil {
							t.Error(m)
						}
						switch want := f.lands && keeper == ""; {
						case s.landed(t, m, p) != want:
							t.Errorf("it landed: %v, %v", !want, err)
						case !want && s.executionOf(t, p) != y.ended:
							t.Errorf("it is %s, %v", s.executionOf(t, p), err)
						case !want && !strings.Contains(strings.Join(s.trail(t), " "), "plan.land!approval_required"):
							t.Errorf("the trail has %s", s.trail(t))
						}
					}
				})
			}
		}
	}
}

// TestStartedAgain: a job that has ended, and is said to be queued anew, is started
// again by no server without a keeper of approvals, either, when its plan has
// expired.
func TestStartedAgain(t *testing.T) {
	for _, pass := range []time.Duration{evaluate.TTL + jobStart + jobGrace - time.Second, evaluate.TTL + jobStart + jobGrace} {
		s, m := newRunScene(t, scenery{})
		p := s.approvedRun(t, "alice", "k1")
		s.startRun(t, "alice", p)
		s.succeeds(t, p.Plan, `{"a":1}`)
		s.clock.pass(pass)
		s.exec(t, `UPDATE executions SET state = 'QUEUED', epoch = 1, ended = 0`)
		s.exec(t, `UPDATE jobs SET created = ?, created_boot = '', created_up = 0, begun = 0, begun_up = 0, begun_boot = '', handle = x'', heartbeat = 0, result = x''`, s.clock.Wall.UnixMicro())
		if err := s.Watch(bg()); err != nil {
			t.Error(err)
		}
		again := 2
		if pass == evaluate.TTL+jobStart+jobGrace {
			again = 1
		}
		if n := m.count(jobOf(p)); n != again {
			t.Errorf("after %s it was started %d times, and is %s", pass, n, s.kept(t, p.Plan).State)
		}
	}
}

// TestTrustMeanwhile: whoever is not trusted any more when a landing goes on has
// not approved it. A trust root that is not there, or trusts nobody, ends nothing:
// the landing waits for one.
func TestTrustMeanwhile(t *testing.T) {
	for kind, y := range ways() {
		if y.state == "STAGED" {
			continue
		}
		for name, c := range map[string]struct {
			min   int
			then  string // the trust root
			gone  bool   // it is not there
			waits bool
			lands bool
		}{
			"as it was":                {1, ada.line(), false, false, true},
			"who did not approve goes": {1, ada.line(), false, false, true},
			"more are trusted":         {1, ada.line() + bob.line() + eve.line(), false, false, true},
			"the approver goes":        {1, bob.line(), false, false, false},
			"a key is revoked":         {1, strings.TrimSuffix(ada.line(), "\n") + " revoked\n" + bob.line(), false, false, false},
			"one of two goes":          {2, ada.line() + eve.line(), false, false, false},
			"nobody is trusted":        {1, "# nobody\n", false, true, true},
			"it is gone":               {1, ada.line(), true, true, true},
			"it is broken":             {1, "junk", false, true, true},
		} {
			t.Run(kind+", "+name, func(t *testing.T) {
				was := ada.line() + bob.line()
				now := was
				s, m := newRunScene(t, scenery{trust: &now})
				y.terms.Min = c.min
				p := y.prepare(t, s, y.terms)
				s.approve(t, ada, p.Plan)
				if c.min > 1 {
					s.approve(t, bob, p.Plan)
				}
				stop, steps := errors.New("stopped"), 1
				s.step = func() error { // after the transaction that begins
					if steps--; steps < 0 {
						return stop
					}
					return nil
				}
				m.step = func() error { return stop }
				y.begin(s, y.terms, p)
				s.step, m.step = func() error { return nil }, nil
				if state := s.executionOf(t, p); state != y.state || s.landed(t, m, p) {
					t.Fatalf("it is %s", state)
				}
				now = c.then
				trusts := s.o.Trust
				if c.gone {
					s.o.Trust = func() (*approve.TrustRoot, error) { return nil, fs.ErrNotExist }
				}
				look := func() error {
					_, err := s.Recover(bg())
					return errors.Join(err, y.begin(s, y.terms, p))
				}
				err := look()
				if c.waits {
					if state := s.executionOf(t, p); state != y.state || s.landed(t, m, p) {
						t.Errorf("it is %s, %v", state, err)
					}
					now, s.o.Trust = was, trusts
					err = look()
				}
				if s.landed(t, m, p) != c.lands {
					t.Errorf("it landed: %v, %v", !c.lands, err)
				}
				if state := s.executionOf(t, p); !c.lands && state != y.ended {
					t.Errorf("it is %s, %v", state, err)
				}
			})
		}
	}
}

// TestSupervisedIsClaimed: a supervisor runs the very plan that its server has
// seen to be approved, whatever the rows say when it reads them.
func TestSupervisedIsClaimed(t *testing.T) {
	s, _ := newRunScene(t, scenery{})
	p := s.approvedRun(t, "alice", "k1")
	s.startRun(t, "alice", p)
	claimed := s.journal(t, p.Plan).p
	argv := s.supervised(claimed).Supervisor.Args
	reference := argv[len(argv)-1]
	// Another body of that plan, with columns that fit it.
	other := s.body(t, p.Plan)
	other.Run.Runner.Args = append(slices.Clone(other.Run.Runner.Args), "more")
	body, err := other.Encode()
	if err != nil {
		t.Fatal(err)
	}
	hash := plan.HashOf(body)
	s.exec(t, `UPDATE plans SET body = ?, hash = ? WHERE id = ?`, body, hash[:], p.Plan)
	const not = "is not the one that it was started for"
	if err := Supervise(bg(), s.o, reference); err == nil || !strings.Contains(err.Error(), not) {
		t.Errorf("%v", err)
	}
	if err := Supervise(bg(), s.o, jobOf(p)); err == nil || !strings.Contains(err.Error(), not) {
		t.Errorf("without a hash: %v", err)
	}
	if state := s.kept(t, p.Plan).State; state != string(job.Starting) {
		t.Errorf("it is %s", state)
	}
	// It is the hash alone that keeps it away.
	if err := Supervise(bg(), s.o, jobOf(p)+"@"+hash.String()); err != nil && strings.Contains(err.Error(), not) {
		t.Errorf("%v", err)
	}
}

// TestSupervisorByHand: who types what a server starts has no say in what becomes
// of a job, though nothing that it takes is there.
func TestSupervisorByHand(t *testing.T) {
	s, _ := newRunScene(t, scenery{})
	p := s.approvedRun(t, "alice", "k1")
	s.startRun(t, "alice", p)
	o := s.o
	o.Results = nil
	if err := Supervise(bg(), o, s.journal(t, p.Plan).p.reference()); err == nil {
		t.Error("it supervises the job")
	}
	if kept := s.kept(t, p.Plan); kept.State != string(job.Starting) {
		t.Errorf("it is %s: %s", kept.State, kept.Message)
	}
}
