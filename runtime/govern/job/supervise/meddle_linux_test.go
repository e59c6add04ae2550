package supervise

import (
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// A candidate of the same account that nothing confines stops or kills its keeper
// or its supervisor: it is ended all the same, and never succeeds by that. Inside
// a namespace it reaches neither.
func TestMeddles(t *testing.T) {
	const leaves = answers + `(trap '' TERM; setsid sleep 1000 &); `
	const supervisor = `$(sed -n 's/^PPid:\t//p' /proc/$PPID/status)`
	for tier, group := range tiers(t) {
		for name, c := range map[string]struct {
			script string
			state  job.State
		}{
			"keeper killed":                     {`kill -KILL $PPID; sleep 1000`, job.Failed},
			"keeper stopped":                    {`kill -STOP $PPID; sleep 1000`, job.TimedOut},
			"supervisor killed":                 {`kill -KILL ` + supervisor + `; sleep 1000`, job.Orphaned},
			"supervisor stopped":                {`kill -STOP ` + supervisor + `; sleep 1000`, job.TimedOut},
			"keeper stopped, supervisor killed": {`kill -STOP $PPID; kill -KILL ` + supervisor + `; sleep 1000`, job.TimedOut}, // whose lock the keeper has
		} {
			t.Run(string(tier)+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, tier, group, leaves+c.script)
				s.Limits.Wall, s.Limits.Grace = time.Second, time.Second
				r := s.run(t)
				ok := r.State == c.state
				if tier == scope.Namespace { // where a number means itself, or nobody
					ok = r.State == job.TimedOut || r.State == job.Failed
				}
				if !ok {
					t.Errorf("%s, %+v", r.State, r.Moves[len(r.Moves)-1])
				}
			})
		}
	}
}
