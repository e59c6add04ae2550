package govern

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/job/supervise"
	"github.com/capgen/capgen/runtime/govern/store"
)

// TestEndsStay: whatever is asked in whatever order, by requesters, operators,
// watchdogs, supervisors that are not any more, and after crashes, a job that has
// ended stays as it ended, and no job is started twice.
func TestEndsStay(t *testing.T) {
	rounds, length := 3, 150
	if *soak {
		rounds, length = 40, 600
	}
	ends := map[string]int{}
	for seed := range rounds {
		s, m := newRunScene(t, scenery{})
		s.o.MaxJobs = length
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		w := &walk{scene: s, m: m, r: r, ended: map[string]store.Job{}}
		for n := range length {
			did := w.step(t, fmt.Sprint("k", n))
			if wrong := w.look(t); wrong != "" {
				t.Fatalf("round %d, step %d, after %s: %s", seed, n, did, wrong)
			}
		}
		for _, j := range w.ended {
			ends[j.State]++
		}
	}
	t.Logf("ended as %v", ends)
	for _, state := range job.States() {
		if state.Ended() && ends[string(state)] == 0 {
			t.Errorf("none ended as %s", state)
		}
	}
}

// busy is the capability with room for many.
func busy() Terms {
	t := evaluate
	t.Limits.Parallel = 64
	return t
}

// walk is a sequence of calls.
type walk struct {
	*scene
	m     *machine
	r     *rand.Rand
	plans []Prepared
	ended map[string]store.Job // by plan, as they were first seen to have ended
}

// step does one thing, and says which.
func (w *walk) step(t *testing.T, key string) string {
	if len(w.plans) == 0 || w.r.IntN(8) == 0 {
		p, err := PrepareRun(as("alice"), w.Service, busy(), []byte(`{}`), key, candidate)
		if err != nil {
			t.Fatal(err)
		}
		w.approve(t, ada, p.Plan)
		w.plans = append(w.plans, p)
		return "prepare"
	}
	p := w.plans[max(0, len(w.plans)-1-w.r.IntN(4))]
	if w.r.IntN(8) == 0 { // one that may have been over for long
		p = w.plans[w.r.IntN(len(w.plans))]
	}
	id := jobOf(p)
	switch n := w.r.IntN(12); n {
	case 0, 1, 2:
		dies := w.r.IntN(3) == 0
		if dies { // before the supervisor is there
			w.m.step = func() error { return context.Canceled }
		}
		_, err := StartRun(as("alice"), w.Service, busy(), keyed(p, p.Plan))
		w.m.step = nil
		return fmt.Sprintf("start of %s, which dies: %v: %v", id, dies, err)
	case 3:
		_, err := w.CancelJob(as("alice"), id, "")
		return fmt.Sprintf("cancel of %s: %v", id, err)
	case 4:
		_, err := w.Operator(cli).CancelJob(bg(), id, "no")
		return fmt.Sprintf("cancel by an operator of %s: %v", id, err)
	case 5:
		return fmt.Sprint("watch: ", w.Watch(bg()))
	case 6:
		w.m.mu.Lock()
		w.m.alive[id] = false
		w.m.mu.Unlock()
		return "end of the supervisor of " + id
	case 7:
		d := []time.Duration{time.Second, time.Minute, 20 * time.Minute}[w.r.IntN(3)]
		w.clock.pass(d)
		return fmt.Sprint("time, ", d)
	case 8:
		_, err := w.Operator(cli).Clean(bg(), time.Hour)
		return fmt.Sprint("clean: ", err)
	case 9:
		j := w.journal(t, p.Plan)
		_, err := j.Move(bg(), supervise.Move{From: job.Starting, Event: job.EventBegin, By: job.BySupervisor})
		state, err2 := j.Move(bg(), supervise.Move{From: job.Running, Event: job.EventSucceed, By: job.BySupervisor, Empty: true, Result: []byte(`{}`)})
		return fmt.Sprintf("all of it: %v, %v, %s", err, err2, state)
	}
	return w.supervisor(t, p)
}

// supervisor does one thing that a supervisor, or somebody in its place, may do.
func (w *walk) supervisor(t *testing.T, p Prepared) string {
	j := w.journal(t, p.Plan)
	switch w.r.IntN(6) {
	case 0:
		state, err := j.Beat(bg(), "still here")
		return fmt.Sprintf("beat: %s, %v", state, err)
	case 1:
		return fmt.Sprint("keep: ", j.Keep(bg(), supervise.Handle{Scope: scope.Handle{Tier: scope.Tree}}))
	}
	pick := func(n int) int { return w.r.IntN(n) }
	move := supervise.Move{
		From: job.States()[pick(len(job.States()))], Event: job.Events()[pick(len(job.Events()))],
		By: job.Actors()[pick(len(job.Actors()))], Empty: pick(3) > 0,
	}
	if v, err := j.Look(bg()); err == nil && pick(4) > 0 { // more often what is possible
		move.From = v.State
		for _, i := range w.r.Perm(len(job.Transitions())) {
			if way := job.Transitions()[i]; way.From == v.State {
				move.Event, move.By, move.Empty = way.Event, way.By[pick(len(way.By))], true
				break
			}
		}
		if good := map[job.State]job.Event{job.Starting: job.EventBegin, job.Running: job.EventSucceed}[v.State]; good != "" && pick(2) == 0 {
			move.Event, move.By, move.Empty = good, job.BySupervisor, true
		}
	}
	if move.Event == job.EventClaim {
		return "no claim but by a launch"
	}
	if to, err := job.Next(move.From, move.Event, move.By, move.Empty); err == nil {
		if all := job.Failures(to); len(all) > 0 {
			move.Failure = all[pick(len(all))]
		}
		if to == job.Succeeded {
			move.Result = fmt.Appendf(nil, `{"n":%d}`, pick(1000))
		}
	}
	state, err := j.Move(bg(), move)
	return fmt.Sprintf("%s by %s from %s: %s, %v", move.Event, move.By, move.From, state, err)
}

// look says what is wrong with the jobs, or nothing.
func (w *walk) look(t *testing.T) (wrong string) {
	err := w.db.View(bg(), func(tx *store.Tx) error {
		for _, p := range w.plans {
			j, err := tx.Job(p.Plan)
			if err != nil {
				continue // not begun
			}
			if n := w.m.count(jobOf(p)); n > 1 {
				wrong = fmt.Sprintf("%s was started %d times", jobOf(p), n)
			}
			before, over := w.ended[p.Plan]
			switch {
			case over && !cmp.Equal(before, j):
				wrong = "what has ended is another one: " + cmp.Diff(before, j)
			case !over && j.RunState().Ended():
				w.ended[p.Plan] = j
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return wrong
}
