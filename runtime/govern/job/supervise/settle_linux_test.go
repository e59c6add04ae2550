package supervise

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// Whoever looks at a copy of a state directory has its journal, and a lock that
// nobody holds: the job goes on where it runs.
func TestCopied(t *testing.T) {
	for tier, group := range tiers(t) {
		t.Run(string(tier), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, tier, group, `echo > out/progress; sleep 1000`)
			s.launch(t)
			s.until(t, func(r record) bool { return r.State == job.Running && len(r.Progress) > 0 })
			copied := s.job("test")
			copied.Dir = filepath.Join(t.TempDir(), "copy")
			if err := os.Mkdir(copied.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if state, err := Settle(soon(t), copied, s.Journal); state != job.Running || err != nil {
				t.Errorf("the copy's is %s, %v", state, err)
			}
			if len(processes(t, candidateMark+"="+s.Mark)) == 0 {
				t.Error("it was ended")
			}
			if _, err := s.Journal.cancel(); err != nil {
				t.Fatal(err)
			}
			r := s.ended(t)
			s.sound(t, r)
			if r.State != job.Cancelled {
				t.Errorf("%s", r.State)
			}
		})
	}
}

// Who has no supervisor to start leaves what is queued to others, until it is too
// late.
func TestSettleWithoutSupervisor(t *testing.T) {
	s := newScene(t, scope.Tree, "", "true")
	j := s.job("test")
	j.Supervisor = Program{}
	if state, err := Settle(soon(t), j, s.Journal); state != job.Queued || err != nil {
		t.Errorf("%s, %v", state, err)
	}
	j.Limits.Start, j.Limits.Grace = 1, 1
	if state, err := Settle(soon(t), j, s.Journal); state != job.TimedOut || err != nil {
		t.Errorf("late: %s, %v", state, err)
	}
}
