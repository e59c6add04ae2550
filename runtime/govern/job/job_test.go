package job

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/token"
)

// Every state, event, actor and proof: what the table has happens, nothing else
// does, and each refusal says the one reason why.
func TestEveryPair(t *testing.T) {
	states := append(States(), "LATER")
	events := append(Events(), "wish")
	actors := append(Actors(), "nobody")
	moved := 0
	for _, from := range states {
		for _, event := range events {
			for _, by := range actors {
				for _, empty := range []bool{false, true} {
					to, err := Next(from, event, by, empty)
					var row *Transition
					for _, r := range Transitions() {
						if r.From == from && r.Event == event {
							row = &r
						}
					}
					want := error(nil)
					switch {
					case from == "LATER", event == "wish", by == "nobody":
						want = ErrUnknown
					case slices.Contains([]State{Cancelled, Succeeded, Failed, TimedOut, Orphaned}, from):
						want = ErrEnded
					case row == nil:
						want = ErrNoWay
					case !slices.Contains(row.By, by):
						want = ErrActor
					case row.Empty && !empty:
						want = ErrNotEmpty
					}
					if !errors.Is(err, want) || (want == nil) != (err == nil) {
						t.Errorf("%s, %s by %s, empty %t: %v, want %v", from, event, by, empty, err, want)
					}
					switch {
					case err != nil && to != from:
						t.Errorf("%s, %s by %s: refused, and yet %s", from, event, by, to)
					case err == nil && to != row.To:
						t.Errorf("%s, %s by %s: %s, want %s", from, event, by, to, row.To)
					case err == nil:
						moved++
					}
				}
			}
		}
	}
	if moved == 0 {
		t.Error("nothing ever moves")
	}
}

// The rules that the table is there for, stated without it.
func TestTableHolds(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Transitions() {
		name := fmt.Sprintf("%s %s", r.From, r.Event)
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
		if !r.From.Known() || !r.To.Known() || len(r.By) == 0 || r.From == r.To {
			t.Errorf("%s: %+v", name, r)
		}
		// Nothing runs on after its state is terminal: only what was never
		// started, and what nobody can prove, ends without a proof.
		if r.To.Ended() && r.From != Queued && r.Event != EventAbandon && !r.Empty {
			t.Errorf("%s ends a run without a proof that it is empty", name)
		}
		if r.To == Cancelled && r.From != Queued && !r.Empty {
			t.Errorf("%s cancels without a proof", name)
		}
		if r.Event == EventAbandon && (r.To != Orphaned || !slices.Equal(r.By, []Actor{ByWatchdog})) {
			t.Errorf("%s: %+v", name, r)
		}
		// The start is the supervisor's alone, and once.
		if r.To == Running && (r.From != Starting || !slices.Equal(r.By, []Actor{BySupervisor})) {
			t.Errorf("%s starts a candidate: %+v", name, r)
		}
		// Results are those of who saw the candidate's end.
		if r.To == Succeeded && !slices.Equal(r.By, []Actor{BySupervisor}) {
			t.Errorf("%s: success by %v", name, r.By)
		}
		// A cancellation that somebody sees suppresses every other end.
		if r.From == CancelRequested && r.To != Cancelled && r.Event != EventAbandon {
			t.Errorf("%s overwrites a cancellation with %s", name, r.To)
		}
	}
	for _, s := range States() {
		if s.Ended() == s.Active() {
			t.Errorf("%s is both or neither", s)
		}
		if got := Failures(s); (len(got) > 0) != (s.Ended() && s != Succeeded) {
			t.Errorf("%s can have failed of %v", s, got)
		}
	}
	if State("LATER").Active() || State("LATER").Ended() {
		t.Error("an unknown state is active or ended")
	}
	kinds := map[Failure]State{}
	for s, list := range failures {
		for _, f := range list {
			if other, twice := kinds[f]; twice {
				t.Errorf("%s is of %s and of %s", f, s, other)
			}
			kinds[f] = s
		}
	}
}

// Random walks of all actors at once: each run starts its candidate at most
// once, ends at most once, and from every state an end can be reached.
func TestWalks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ends := map[State]int{}
	for range 5000 {
		at, starts, ended := Queued, 0, false
		for range 200 {
			to, err := Next(at, Events()[r.IntN(len(Events()))], Actors()[r.IntN(len(Actors()))], r.IntN(2) == 0)
			if err != nil {
				continue
			}
			if ended {
				t.Fatalf("%s became %s", at, to)
			}
			if at = to; at == Running {
				starts++
			}
			ended = at.Ended()
		}
		if starts > 1 {
			t.Fatalf("started %d times", starts)
		}
		ends[at]++
	}
	for _, s := range States() {
		if s.Ended() && ends[s] == 0 {
			t.Errorf("no walk ends %s: %v", s, ends)
		}
	}
	changed := Transitions()
	changed[0].By[0], changed[0].To = "nobody", Succeeded
	if to, err := Next(Queued, EventClaim, ByServer, false); to != Starting || err != nil {
		t.Errorf("a caller changed the table: %s, %v", to, err)
	}
}

func TestDeadlines(t *testing.T) {
	d := Deadlines{Start: 30 * time.Second, Wall: time.Minute, Grace: 5 * time.Second}
	wall := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(s int) token.Instant {
		return token.Instant{Wall: wall.Add(time.Duration(s) * time.Second), Boot: "a", Up: time.Duration(1000+s) * time.Second}
	}
	setBack := at(31)
	setBack.Wall = wall.Add(-time.Hour)
	rebooted := at(31)
	rebooted.Boot, rebooted.Up = "b", time.Second
	begun := Times{Created: at(0), Begun: at(20)}
	for _, c := range []struct {
		name          string
		state         State
		times         Times
		now           token.Instant
		late, overdue bool
	}{
		{"queued in time", Queued, Times{Created: at(0)}, at(29), false, false},
		{"queued late", Queued, Times{Created: at(0)}, at(30), true, false},
		{"queued overdue", Queued, Times{Created: at(0)}, at(35), true, true},
		{"starting in time", Starting, Times{Created: at(0)}, at(29), false, false},
		{"starting late", Starting, Times{Created: at(0)}, at(30), true, false},
		{"starting overdue", Starting, Times{Created: at(0)}, at(35), true, true},
		{"the wall clock was set back", Starting, Times{Created: at(0)}, setBack, true, false},
		{"after a reboot the wall clock counts", Starting, Times{Created: at(0)}, rebooted, true, false},
		{"running in time", Running, begun, at(79), false, false},
		{"running late", Running, begun, at(80), true, false},
		{"running overdue", Running, begun, at(85), true, true},
		{"running since nobody knows when", Running, Times{Created: at(0)}, at(95), true, true},
		{"being cancelled", CancelRequested, begun, at(1000), false, false},
		{"over", Succeeded, begun, at(1000), false, false},
	} {
		if got := d.Late(c.state, c.times, c.now); got != c.late {
			t.Errorf("%s: late %t", c.name, got)
		}
		if got := d.Overdue(c.state, c.times, c.now); got != c.overdue {
			t.Errorf("%s: overdue %t", c.name, got)
		}
	}
}

// The page of jobs shows the very table.
func TestDocumentedTransitions(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/jobs.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, r := range Transitions() {
		by := make([]string, len(r.By))
		for i, a := range r.By {
			by[i] = string(a)
		}
		proof := "no"
		if r.Empty {
			proof = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.From, r.Event, strings.Join(by, ", "), proof, r.To)
	}
	if !strings.Contains(string(page), "|---|---|---|---|---|\n"+b.String()+"\n") {
		t.Errorf("docs/reference/jobs.md does not have the table of transitions, which is\n%s", b.String())
	}
	for _, s := range States() {
		for _, f := range Failures(s) {
			if row := fmt.Sprintf("| `%s` | %s |", f, s); !strings.Contains(string(page), row) {
				t.Errorf("docs/reference/jobs.md has no row that begins %s", row)
			}
		}
	}
}
