package govern

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/job/supervise"
	"github.com/capgen/capgen/runtime/govern/store"
)

// TestForgedHandle: what a row says of the processes of a job is believed only as
// the server has kept it for that very job, also after its keys were rotated.
func TestForgedHandle(t *testing.T) {
	s, _ := newRunScene(t, anywhere())
	var jobs []jobJournal
	for _, key := range []string{"k1", "k2"} {
		p := s.approvedRun(t, "alice", key)
		s.startRun(t, "alice", p)
		jobs = append(jobs, s.journal(t, p.Plan))
	}
	h := supervise.Handle{Supervisor: scope.Identity{Boot: "b", PID: 1, Start: 2}, Scope: scope.Handle{Tier: scope.Namespace}}
	if err := jobs[0].Keep(bg(), h); err != nil {
		t.Fatal(err)
	}
	if _, err := s.RotateKeys(bg()); err != nil {
		t.Fatal(err)
	}
	if v, err := jobs[0].Look(bg()); err != nil || !cmp.Equal(v.Handle, h) {
		t.Errorf("%+v, %v", v, err)
	}
	kept := s.kept(t, jobs[0].p.ID).Handle
	plain, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"not sealed": plain, "another job's": kept, "a token": []byte(s.prepareRun(t, "alice", "k3").Token)} {
		err := s.db.Update(bg(), func(tx *store.Tx) error {
			_, err := tx.KeepHandle(jobs[1].p.ID, text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := jobs[1].Look(bg()); !errors.Is(err, errAltered) || !v.Handle.None() {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// TestForgedResult: the result of a job is the one that was kept for it, whatever
// digest its row has, and whatever seal: those of others are of theirs. It can be
// read until its key is retired.
func TestForgedResult(t *testing.T) {
	s, _ := newRunScene(t, anywhere())
	succeeded := func(who, result string) string {
		p := s.approvedRun(t, who, "k1")
		s.startRun(t, who, p)
		s.succeeds(t, p.Plan, result)
		return p.Plan
	}
	own, other := succeeded("alice", `{"a":1}`), succeeded("bob", `{"b":2}`)
	if v, err := s.journal(t, own).Look(bg()); err != nil || v.State != job.Succeeded || !v.Handle.None() {
		t.Errorf("who looks late sees %+v, %v", v, err)
	}
	mine := s.kept(t, own)
	read := func() (string, Code) {
		r, err := s.JobResult(as("alice"), jobID(own))
		return string(r.Result), code(err)
	}
	set := func(query string, args ...any) { s.exec(t, query, append(args, own)...) }
	reset := func() {
		set(`UPDATE jobs SET result = ?, handle = ? WHERE plan = ?`, mine.Result[:], mine.Handle)
		if got, code := read(); code != "ok" || got != `{"a":1}` {
			t.Fatalf("%s, %s", got, code)
		}
	}
	theirs := s.kept(t, other)
	running := s.approvedRun(t, "alice", "k3")
	s.startRun(t, "alice", running)
	s.begins(t, running.Plan)
	handle := s.kept(t, running.Plan).Handle
	for name, forge := range map[string]func(){
		"the digest of another":  func() { set(`UPDATE jobs SET result = ? WHERE plan = ?`, theirs.Result[:]) },
		"all of another":         func() { set(`UPDATE jobs SET result = ?, handle = ? WHERE plan = ?`, theirs.Result[:], theirs.Handle) },
		"no seal":                func() { set(`UPDATE jobs SET handle = ? WHERE plan = ?`, []byte{}) },
		"the handle of a job":    func() { set(`UPDATE jobs SET handle = ? WHERE plan = ?`, handle) },
		"a digest of no object":  func() { set(`UPDATE jobs SET result = ? WHERE plan = ?`, make([]byte, 32)) },
		"something of the store": func() { set(`UPDATE jobs SET result = ? WHERE plan = ?`, s.body(t, other).Run.Code[:]) },
	} {
		reset()
		forge()
		if got, code := read(); code != Internal || got != "" {
			t.Errorf("%s: %s, %s", name, got, code)
		}
	}
	reset()
	for n, want := range []Code{"ok", ConflictCode} {
		if _, err := s.RotateKeys(bg()); err != nil {
			t.Fatal(err)
		}
		if got, code := read(); code != want {
			t.Errorf("after rotation %d: %s, %s", n+1, got, code)
		}
		s.clock.pass(retired + time.Second)
	}
}
