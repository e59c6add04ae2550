package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/token"
)

// queuedAt and begunAt are moments by two clocks.
func queuedAt() token.Instant {
	return token.Instant{Wall: time.UnixMicro(start).UTC(), Boot: "boot", Up: 300 * 24 * time.Hour}
}

func begunAt() token.Instant { return queuedAt().Later(time.Second) }

// host is where runs run.
func host() string { return hex32(77) }

// jobs: what is kept of a run from its beginning to its end.
func jobs(t *testing.T, b Backend) {
	s := newScene(t, b)
	s.insert(3)
	id := planID(1)
	want := store.Job{Execution: store.Execution{Plan: id, Kind: store.KindRun, State: "QUEUED", Outcome: []byte{}, Started: start, Epoch: 1}, Created: queuedAt(), Handle: []byte{}, Host: host(), UID: 5001}
	is := func(what string, got store.Job, err error) {
		t.Helper()
		s.ok(err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		s.view(func(tx *store.Tx) {
			kept, err := tx.Job(id)
			s.ok(err)
			if diff := cmp.Diff(want, kept); diff != "" {
				t.Errorf("%s, kept (-want +got):\n%s", what, diff)
			}
		})
	}
	var got store.Job
	var err error
	s.update(func(tx *store.Tx) {
		s.ok(tx.MovePlan(id, store.Prepared, store.Consumed, "", alice))
		got, err = tx.InsertJob(id, queuedAt(), host(), 5001)
		_, again := tx.InsertJob(id, queuedAt(), host(), 5001)
		wants(t, "a second one", again, store.ErrExists)
		_, again = tx.InsertExecution(id, store.KindChange)
		wants(t, "a change beside it", again, store.ErrExists)
		_, bad := tx.InsertExecution(planID(2), store.KindRun)
		wants(t, "a run without its row", bad, store.ErrInvalid)
		_, bad = tx.InsertJob(planID(2), token.Instant{}, host(), 0)
		wants(t, "at no time", bad, store.ErrInvalid)
		_, bad = tx.InsertJob(planID(2), queuedAt(), host(), -1)
		wants(t, "of no account", bad, store.ErrInvalid)
		_, bad = tx.InsertJob(planID(2), queuedAt(), "here", 0)
		wants(t, "on no host", bad, store.ErrInvalid)
		_, bad = tx.InsertJob(planID(4), queuedAt(), host(), 0)
		wants(t, "of no plan", bad, store.ErrNotFound)
		_, bad = tx.Job(planID(2))
		wants(t, "one that is not there", bad, store.ErrNotFound)
		_, bad = tx.InsertExecution(planID(3), store.KindCall)
		s.ok(bad)
		_, bad = tx.Job(planID(3))
		wants(t, "a call", bad, store.ErrNotFound)
		_, bad = tx.TakeOver(id)
		wants(t, "taken over", bad, store.ErrInvalid)
		wants(t, "advanced", tx.Advance(id, "QUEUED", "STARTING", 1), store.ErrInvalid)
		wants(t, "finished", tx.Finish(id, "QUEUED", "CANCELLED", 1, nil), store.ErrInvalid)
		_, bad = tx.KeepHandle(id, []byte("h"))
		wants(t, "a handle before anything is started", bad, store.ErrState)
	})
	is("queued", got, err)
	s.now++
	move := func(m store.JobMove) {
		s.update(func(tx *store.Tx) { got, err = tx.MoveJob(id, got.RunState(), m) })
	}
	move(store.JobMove{Event: job.EventClaim, By: job.ByServer})
	want.State, want.Epoch = "STARTING", 2
	is("claimed", got, err)
	s.update(func(tx *store.Tx) {
		for _, from := range []job.State{job.Queued, job.Running, ""} {
			_, bad := tx.MoveJob(id, from, store.JobMove{Event: job.EventBegin, By: job.BySupervisor, At: begunAt()})
			wants(t, "moved from another state", bad, store.ErrState)
		}
		_, bad := tx.KeepHandle(id, make([]byte, store.MaxHandle+1))
		wants(t, "a large handle", bad, store.ErrInvalid)
		_, bad = tx.MoveJob(id, job.Starting, store.JobMove{Event: job.EventBegin, By: job.BySupervisor})
		wants(t, "beginning at no time", bad, store.ErrInvalid)
		_, bad = tx.KeepHandle(id, []byte("the first"))
		s.ok(bad)
		got, err = tx.KeepHandle(id, []byte(`{"tier":"tree"}`))
	})
	want.Handle = []byte(`{"tier":"tree"}`)
	is("with a handle", got, err)
	move(store.JobMove{Event: job.EventBegin, By: job.BySupervisor, At: begunAt()})
	want.State, want.Epoch, want.Begun = "RUNNING", 3, begunAt()
	is("begun", got, err)
	s.now++
	s.update(func(tx *store.Tx) {
		_, bad := tx.Beat(id, "a\nb")
		wants(t, "progress of two lines", bad, store.ErrInvalid)
		_, bad = tx.KeepHandle(id, []byte("late"))
		wants(t, "a handle of what runs", bad, store.ErrState)
		got, err = tx.Beat(id, "halfway")
	})
	want.Heartbeat, want.Progress = s.now, "halfway"
	is("beating", got, err)
	s.now++
	result := cas.Digest{7}
	s.update(func(tx *store.Tx) {
		for name, bad := range map[string]store.JobMove{
			"a failure of a success": {Event: job.EventSucceed, By: job.BySupervisor, Empty: true, Result: &result, Failure: job.FailCandidate},
			"a seal of a failure":    {Event: job.EventFail, By: job.BySupervisor, Empty: true, Failure: job.FailCandidate, Seal: []byte("seal")},
			"a long seal":            {Event: job.EventSucceed, By: job.BySupervisor, Empty: true, Result: &result, Seal: make([]byte, store.MaxHandle+1)},
			"no result":              {Event: job.EventSucceed, By: job.BySupervisor, Empty: true},
			"a result of a failure":  {Event: job.EventFail, By: job.BySupervisor, Empty: true, Result: &result, Failure: job.FailCandidate},
			"no failure":             {Event: job.EventFail, By: job.BySupervisor, Empty: true},
			"a failure of others":    {Event: job.EventFail, By: job.BySupervisor, Empty: true, Failure: job.FailTimeout},
			"a message of two lines": {Event: job.EventFail, By: job.BySupervisor, Empty: true, Failure: job.FailCandidate, Message: "a\nb"},
			"a reason of a failure":  {Event: job.EventFail, By: job.BySupervisor, Empty: true, Failure: job.FailCandidate, Reason: "a"},
			"a time of an end":       {Event: job.EventExpire, By: job.BySupervisor, Empty: true, At: begunAt()},
			"a message of what runs": {Event: job.EventCancel, By: job.ByRequester, Message: "a"},
		} {
			_, err := tx.MoveJob(id, job.Running, bad)
			wants(t, name, err, store.ErrInvalid)
		}
	})
	move(store.JobMove{Event: job.EventSucceed, By: job.BySupervisor, Empty: true, Result: &result, Seal: []byte("seal")})
	want.State, want.Ended, want.Result, want.Handle = "SUCCEEDED", s.now, &result, []byte("seal")
	is("succeeded", got, err)
	s.now += 10
	s.view(func(tx *store.Tx) {
		for since, pinned := range map[int64]bool{want.Ended: true, want.Ended + 1: false} {
			found := false
			for d, err := range tx.Referenced(since) {
				s.ok(err)
				found = found || d == result
			}
			if found != pinned {
				t.Errorf("what ended at %d: since %d its result is needed: %v", want.Ended, since, found)
			}
		}
	})
}

// runWay is how a run comes into a state.
func runWay(to job.State) []store.JobMove {
	claim, begin := store.JobMove{Event: job.EventClaim, By: job.ByServer}, store.JobMove{Event: job.EventBegin, By: job.BySupervisor, At: begunAt()}
	return map[job.State][]store.JobMove{
		job.Queued:          nil,
		job.Starting:        {claim},
		job.Running:         {claim, begin},
		job.CancelRequested: {claim, {Event: job.EventCancel, By: job.ByOperator, Reason: "no more", Who: bob}},
		job.Cancelled:       {{Event: job.EventCancel, By: job.ByRequester, Who: alice}},
		job.Succeeded:       {claim, begin, {Event: job.EventSucceed, By: job.BySupervisor, Empty: true, Result: &cas.Digest{1}}},
		job.Failed:          {{Event: job.EventFail, By: job.ByServer, Failure: job.FailInput, Message: "gone"}},
		job.TimedOut:        {{Event: job.EventExpire, By: job.ByWatchdog}},
		job.Orphaned:        {claim, {Event: job.EventAbandon, By: job.ByWatchdog}},
	}[to]
}

// reach begins the run of plan n and brings it into a state.
func (s *scene) reach(tx *store.Tx, n int, to job.State) store.Job {
	s.t.Helper()
	j, err := tx.InsertJob(planID(n), queuedAt(), host(), int64(n))
	s.ok(err)
	for _, m := range runWay(to) {
		j, err = tx.MoveJob(j.Plan, j.RunState(), m)
		s.ok(err)
	}
	if j.RunState() != to {
		s.t.Fatalf("it is %s, not %s", j.State, to)
	}
	return j
}

// jobMoves: of all states, events, actors and proofs the store moves where
// package job does, and nowhere else.
func jobMoves(t *testing.T, b Backend) {
	s := newScene(t, b)
	result := cas.Digest{1}
	n, moved := 0, 0
	s.update(func(tx *store.Tx) {
		for _, from := range append(job.States(), "") {
			if !from.Known() {
				continue
			}
			n++
			s.ok(tx.InsertPlan(plan(n, alice), "plan", nil))
			is := s.reach(tx, n, from)
			for _, event := range append(job.Events(), "") {
				for _, by := range append(job.Actors(), "") {
					for _, empty := range []bool{false, true} {
						to, want := job.Next(from, event, by, empty)
						m := store.JobMove{Event: event, By: by, Empty: empty}
						if event == job.EventBegin {
							m.At = begunAt()
						}
						switch to {
						case job.Succeeded:
							m.Result = &result
						case job.Failed:
							m.Failure = job.FailInfrastructure
						}
						what := fmt.Sprintf("%s, %s by %s, empty %v", from, event, by, empty)
						got, err := tx.MoveJob(is.Plan, from, m)
						if want != nil {
							if !errors.Is(err, errors.Unwrap(want)) && err == nil || !cmp.Equal(got, is) {
								t.Errorf("%s: %v, want %v", what, err, want)
							}
							continue
						}
						moved++
						if err != nil || got.RunState() != to || to.Ended() != (got.Ended > 0) || !slices.Contains(append(job.Failures(to), ""), got.Failure) {
							t.Errorf("%s: %+v, %v, want %s", what, got, err, to)
						}
						// The next one begins where this one did.
						n++
						s.ok(tx.InsertPlan(plan(n, alice), "plan", nil))
						is = s.reach(tx, n, from)
					}
				}
			}
		}
	})
	if moved < len(job.Transitions()) {
		t.Errorf("only %d moves", moved)
	}
}

// jobEnds: nothing changes what has ended, from whatever state it is tried.
func jobEnds(t *testing.T, b Backend) {
	s := newScene(t, b)
	s.insert(len(job.States()))
	n := 0
	s.update(func(tx *store.Tx) {
		for _, end := range job.States() {
			if !end.Ended() {
				continue
			}
			n++
			is := s.reach(tx, n, end)
			for _, from := range append(job.States(), "") {
				for _, event := range job.Events() {
					for _, by := range job.Actors() {
						if _, err := tx.MoveJob(is.Plan, from, store.JobMove{Event: event, By: by, Empty: true, At: begunAt(), Result: &cas.Digest{2}}); err == nil {
							t.Errorf("%s, %s by %s from %q: no error", end, event, by, from)
						}
					}
				}
			}
			_, err := tx.MoveJob(is.Plan, end, store.JobMove{Event: job.EventCancel, By: job.ByRequester})
			wants(t, "cancelled at its end", err, job.ErrEnded)
			beat, err := tx.Beat(is.Plan, "more")
			if err != nil || !cmp.Equal(is, beat) {
				t.Errorf("%s: a beat: %+v, %v", end, beat, err)
			}
			_, err = tx.KeepHandle(is.Plan, []byte("h"))
			wants(t, "a handle at its end", err, store.ErrState)
			got, err := tx.Job(is.Plan)
			s.ok(err)
			if diff := cmp.Diff(is, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", end, diff)
			}
		}
	})
	if n != 5 {
		t.Errorf("%d ends", n)
	}
}

// jobLists: pages of runs, of an owner and of all; what counts as active.
func jobLists(t *testing.T, b Backend) {
	s := newScene(t, b)
	var mine []string
	states := []job.State{job.Queued, job.Running, job.Succeeded, job.Failed, job.CancelRequested, job.Queued, job.Cancelled, job.Starting}
	s.update(func(tx *store.Tx) {
		for i, state := range states {
			p := plan(i+1, alice)
			if i%4 == 3 {
				p.Owner = bob
			} else {
				mine = append(mine, p.ID)
			}
			if i%2 == 1 {
				p.Capability = "files.try"
			}
			s.ok(tx.InsertPlan(p, "plan", nil))
			s.reach(tx, i+1, state)
		}
		s.ok(tx.InsertPlan(plan(9, alice), "plan", nil))
		_, err := tx.InsertExecution(planID(9), store.KindCall)
		s.ok(err)
		s.ok(tx.InsertPlan(plan(10, "carol"), "plan", nil))
		s.reach(tx, 10, job.Orphaned)
		for boot, want := range map[string]string{"boot": "[1 2 5 6 8 10]", "other": "[1 2 5 6 8]"} {
			uids, err := tx.JobUIDs(boot)
			slices.Sort(uids)
			if got := fmt.Sprint(uids); got != want || err != nil {
				t.Errorf("accounts of candidates in %s: %s, %v, want %s", boot, got, err, want)
			}
		}
		all, of, err := tx.ActiveJobs("files.try")
		if all != 5 || of != 3 || err != nil {
			t.Errorf("%d active, %d of the capability, %v", all, of, err)
		}
	})
	slices.Reverse(mine)
	ids := func(f store.JobFilter) (out []string) {
		s.view(func(tx *store.Tx) {
			list, err := tx.Jobs(f)
			s.ok(err)
			for _, j := range list {
				s.ok(j.Err)
				out = append(out, j.Plan)
			}
		})
		return out
	}
	for size := 1; size <= 7; size++ {
		var got []string
		for page := ids(store.JobFilter{Owner: alice, Limit: size}); len(page) > 0; page = ids(store.JobFilter{Owner: alice, Limit: size, After: page[len(page)-1]}) {
			got = append(got, page...)
		}
		if diff := cmp.Diff(mine, got); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", size, diff)
		}
	}
	for _, c := range []struct {
		f    store.JobFilter
		want string
	}{
		{store.JobFilter{Everyone: true}, "a 8 7 6 5 4 3 2 1"},
		{store.JobFilter{Everyone: true, Active: true}, "8 6 5 2 1"},
		{store.JobFilter{Owner: bob}, "8 4"},
		{store.JobFilter{Owner: bob, Active: true}, "8"},
		{store.JobFilter{Owner: "nobody"}, ""},
		{store.JobFilter{Owner: alice, State: job.Queued}, "6 1"},
		{store.JobFilter{Everyone: true, Capability: "files.try"}, "8 6 4 2"},
		{store.JobFilter{Everyone: true, Capability: "files.try", State: job.Queued, After: planID(8)}, "6"},
	} {
		var want []string
		for _, n := range strings.Fields(c.want) {
			want = append(want, planID(strings.Index("0123456789a", n)))
		}
		if diff := cmp.Diff(want, ids(c.f)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.f, diff)
		}
	}
	s.view(func(tx *store.Tx) {
		for _, f := range []store.JobFilter{{}, {Owner: alice, Everyone: true}, {Owner: alice, Limit: -1}, {Owner: alice, Limit: store.MaxPage + 1}} {
			_, err := tx.Jobs(f)
			wants(t, "a list", err, store.ErrInvalid)
		}
		for name, after := range map[string]string{"bob's": planID(4), "a call": planID(9), "none": planID(99)} {
			_, err := tx.Jobs(store.JobFilter{Owner: alice, After: after})
			wants(t, "a page after "+name, err, store.ErrNotFound)
		}
	})
}

// versions: a store of version 1 gets what it lacks when somebody opens it to
// write, once, and keeps what it holds; a reader leaves it as it is.
func versions(t *testing.T, b Backend) {
	s := newScene(t, b)
	s.insert(2)
	s.update(func(tx *store.Tx) {
		_, err := tx.InsertExecution(planID(1), store.KindChange)
		s.ok(err)
	})
	raw := b.Raw(t, s.place)
	for _, q := range []string{`DROP TABLE jobs`, `DROP INDEX executions_kind`, `UPDATE meta SET version = 1`} {
		if _, err := raw.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	_, err := b.OpenReadOnly(t.Context(), s.place)
	wants(t, "a reader", err, store.ErrVersion)
	opened := make(chan error, 4)
	for range cap(opened) {
		go func() {
			again, err := b.Open(t.Context(), s.place, store.Options{AuditKey: Key()})
			if err == nil {
				err = again.Close()
			}
			opened <- err
		}()
	}
	for range cap(opened) {
		if err := <-opened; err != nil {
			t.Error(err)
		}
	}
	after := s.readOnly()
	if after.ID() != s.ID() {
		t.Errorf("it has become store %s", after.ID())
	}
	s.update(func(tx *store.Tx) {
		e, err := tx.Execution(planID(1))
		if err != nil || e.State != "INTENT" {
			t.Errorf("what was there: %+v, %v", e, err)
		}
		s.reach(tx, 2, job.Succeeded)
	})
}
