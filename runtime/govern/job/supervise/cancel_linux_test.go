package supervise

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/token"
)

// A cancellation ends a candidate that runs, within moments, also one that does
// not heed signals or has left its session; and it is not done before that.
func TestCancelled(t *testing.T) {
	for tier, group := range tiers(t) {
		for name, c := range map[string]struct {
			script string
			most   time.Duration // 20 times what it takes
		}{
			"heeds":              {`echo > out/progress; ` + answers + `sleep 1000`, 10 * time.Second},
			"heeds, and answers": {answers + `trap 'exit 0' TERM; sleep 1000 & wait`, 10 * time.Second},
			"deaf":               {`trap '' TERM HUP; (setsid sh -c '(setsid sleep 1000 &); sleep 1000' &); while :; do sleep 1000; done`, 50 * time.Second},
		} {
			t.Run(string(tier)+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, tier, group, c.script)
				s.launch(t)
				s.until(t, func(r record) bool { return r.State == job.Running && len(r.Progress) > 0 })
				for ctx := soon(t); ctx.Err() == nil; time.Sleep(time.Millisecond) {
					if _, err := os.Stat(s.starts()); err == nil {
						break
					}
				}
				began := time.Now()
				if state, err := s.Journal.cancel(); err != nil || state != job.CancelRequested {
					t.Fatalf("%s, %v", state, err)
				}
				r := s.ended(t)
				if took := time.Since(began); took > c.most {
					t.Errorf("it took %s", took)
				}
				s.sound(t, r)
				if last := r.Moves[len(r.Moves)-1]; r.State != job.Cancelled || last.Failure != job.FailCancelled || last.Result != nil {
					t.Errorf("%s, %+v", r.State, last)
				}
			})
		}
	}
}

// A cancellation wins over every other end that a supervisor is about to note,
// at whatever step it comes.
func TestCancellationWins(t *testing.T) {
	for n, name := range steps["supervise"][:9] {
		for end, script := range map[string]string{"success": brief, "failure": "exit 1"} {
			if end == "failure" && name == "read" {
				continue
			}
			t.Run(name+"/"+end, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, "tree", "", script)
				s.Deaths = []death{{Role: "supervise", Step: n + 1, Stop: true}}
				s.launch(t)
				for ctx := soon(t); s.died("supervise") != name; time.Sleep(time.Millisecond) {
					if ctx.Err() != nil {
						t.Fatalf("it does not come to that step: %s", s.record(t).State)
					}
				}
				if state, err := s.Journal.cancel(); err != nil || state != job.CancelRequested {
					t.Fatalf("%s, %v", state, err)
				}
				r := s.record(t)
				for ctx := soon(t); !r.State.Ended() && ctx.Err() == nil; time.Sleep(time.Millisecond) {
					s.signal(t, unix.SIGCONT) // also where it has not stopped yet
					r = s.record(t)
				}
				s.sound(t, r)
				last := r.Moves[len(r.Moves)-1]
				if r.State != job.Cancelled || last.By != job.BySupervisor || last.Result != nil {
					t.Errorf("%s, %+v", r.State, last)
				}
				if _, err := os.Stat(s.starts()); n < 4 && err == nil {
					t.Error("it was started")
				}
			})
		}
	}
}

// What was cancelled while it waited is not launched.
func TestCancelledBefore(t *testing.T) {
	s := newScene(t, "tree", "", brief)
	if _, err := s.Journal.cancel(); err != nil {
		t.Fatal(err)
	}
	for _, at := range []func() (job.State, error){
		func() (job.State, error) { return Launch(soon(t), s.job("test"), s.Journal) },
		func() (job.State, error) { return Settle(soon(t), s.job("test"), s.Journal) },
	} {
		if state, err := at(); err != nil || state != job.Cancelled {
			t.Errorf("%s, %v", state, err)
		}
	}
	if _, err := os.Stat(s.Dir); err == nil {
		t.Error("it has a directory")
	}
}

// What waits for too long is not started any more, by whoever comes first.
func TestTooLate(t *testing.T) {
	s := newScene(t, "tree", "", brief)
	s.Limits.Start, s.Limits.Grace = 0, 0
	if state, err := Settle(soon(t), s.job("test"), s.Journal); err != nil || state != job.TimedOut {
		t.Errorf("%s, %v", state, err)
	}
	s = newScene(t, "tree", "", brief)
	s.Limits.Start = 0
	s.launch(t)
	r := s.ended(t)
	s.sound(t, r)
	if last := r.Moves[len(r.Moves)-1]; r.State != job.TimedOut || last.By != job.BySupervisor {
		t.Errorf("%s, %+v", r.State, last)
	}
	if _, err := os.Stat(s.starts()); err == nil {
		t.Error("it was started")
	}
}

// What comes before the beginning takes too long: the supervisor stops, or waits for
// an input or the journal. It ends the job by itself, and starts nothing.
func TestBeginsTooLate(t *testing.T) {
	stop := func(step string) func(*scene) {
		return func(s *scene) {
			s.Deaths = []death{{Role: "supervise", Step: slices.Index(steps["supervise"], step) + 1, Stop: true}}
		}
	}
	hang := func(call int, after bool) func(*scene) {
		return func(s *scene) { s.Fail, s.After, s.Hang = call, after, true }
	}
	for name, set := range map[string]func(*scene){
		"built": stop("built"), "opened": stop("opened"), "kept": stop("kept"),
		"input":  func(s *scene) { s.Read = "hangs" },
		"handle": hang(2, false), "handle, kept": hang(2, true), "beginning": hang(3, false), "beginning, noted": hang(3, true),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, scope.Tree, "", brief)
			s.Limits.Start, s.Limits.Grace = time.Second, time.Minute // the watchdog is not to be first
			set(s)
			s.launch(t)
			if len(s.Deaths) > 0 {
				// On a slow machine it is too late before that step.
				s.until(t, func(r record) bool { return s.died("supervise") != "" || r.State.Ended() })
				time.Sleep(s.Limits.Start)
				s.signal(t, unix.SIGCONT)
			}
			r := s.ended(t)
			s.sound(t, r)
			if last := r.Moves[len(r.Moves)-1]; r.State != job.TimedOut || last.By != job.BySupervisor || !strings.Contains(last.Message, "its start") {
				t.Errorf("%s, %+v", r.State, last)
			}
			if _, err := os.Stat(s.starts()); err == nil {
				t.Error("it was started")
			}
		})
	}
}

// Its time counts from the beginning that is noted, however long its start takes.
func TestTimeCountsFromBeginning(t *testing.T) {
	s := newScene(t, scope.Tree, "", `sleep 1; `+answers)
	s.Limits.Wall = 1500 * time.Millisecond
	s.Deaths = []death{{Role: "supervise", Step: slices.Index(steps["supervise"], "begun") + 1, Stop: true}}
	s.launch(t)
	s.until(t, func(record) bool { return s.died("supervise") != "" })
	time.Sleep(s.Limits.Wall)
	s.signal(t, unix.SIGCONT)
	r := s.ended(t)
	s.sound(t, r)
	if last := r.Moves[len(r.Moves)-1]; r.State != job.TimedOut || last.By != job.BySupervisor {
		t.Errorf("%s, %+v", r.State, last)
	}
}

// A supervisor that is told to end takes its candidate with it.
func TestToldToEnd(t *testing.T) {
	s := newScene(t, "tree", "", answers+`(setsid sleep 1000 &); sleep 1000`)
	s.launch(t)
	s.until(t, func(r record) bool { return r.State == job.Running && len(r.Progress) > 0 })
	s.signal(t, unix.SIGTERM)
	r := s.ended(t)
	s.sound(t, r)
	if last := r.Moves[len(r.Moves)-1]; r.State != job.Failed || last.Failure != job.FailInfrastructure {
		t.Errorf("%s, %+v", r.State, last)
	}
}

// A result that is changed all the time, also after the candidate has ended, is
// one of those that it was; nobody changes it afterwards.
func TestResultSwapped(t *testing.T) {
	for tier, group := range tiers(t) {
		s := newScene(t, tier, group, answers+`
			(setsid sh -c 'trap "" TERM; while :; do for n in 2 3 4; do echo "{\"Answer\":$n}" > tmp/r; mv tmp/r out/result.json; done; done' &)
			sleep 0.1`)
		r := s.run(t)
		result := string(r.Moves[len(r.Moves)-1].Result)
		if r.State != job.Succeeded || len(result) != len(`{"answer":1}`) {
			t.Errorf("%s: %s, %s", tier, r.State, result)
		}
	}
}

// A job whose supervisor has stopped, and whose last sign of life is of a time that
// is not yet, is cancelled when its own time is over, by the clock that nobody sets.
func TestCancelledUnderAnotherClock(t *testing.T) {
	s := newScene(t, "tree", "", `sleep 1000`)
	s.Deaths = []death{{Role: "supervise", Step: 1 + slices.Index(steps["supervise"], "started"), Stop: true}}
	s.launch(t)
	for ctx := soon(t); s.died("supervise") != "started"; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("it does not come to that step: %s", s.record(t).State)
		}
	}
	if state, err := s.Journal.cancel(); err != nil || state != job.CancelRequested {
		t.Fatalf("%s, %v", state, err)
	}
	later := s.record(t).Times.Begun
	if err := s.Journal.change(func(r *record) error { r.Beat = token.Instant{Wall: later.Wall}; return nil }); err != nil {
		t.Fatal(err)
	}
	later.Wall = later.Wall.Add(-24 * time.Hour)
	j := s.job("test")
	j.Now = func() token.Instant { return later }
	if state, err := Settle(soon(t), j, s.Journal); err != nil || state != job.CancelRequested {
		t.Errorf("%s, %v", state, err)
	}
	later.Up += s.Limits.Wall + s.Limits.Grace
	if state, err := Settle(soon(t), j, s.Journal); err != nil || state != job.Cancelled {
		t.Errorf("%s, %v", state, err)
	}
	s.sound(t, s.record(t))
}
