package govern

import (
	"testing"

	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/store"
)

// The number of its processes is bounded where only the candidate's count: by an
// account of its own, or by a user namespace, which root does not make.
func TestProcessesAreBounded(t *testing.T) {
	for _, c := range []struct {
		name   string
		server uint32
		own    int64
		tier   confine.Tier
		worker bool
		want   int
	}{
		{"an account of its own", 0, 70000, confine.Landlock, false, 7},
		{"a user namespace", 1000, 0, confine.Namespaces, false, 7},
		{"the server's account", 1000, 0, confine.None, false, 0},
		{"root's account", 0, 0, confine.None, false, 0},
		{"a process of ours", 1000, 0, confine.Worker, true, 0},
	} {
		s := &Service{uid: c.server}
		v := startedRun{job: store.Job{UID: c.own}}
		v.Plan = plan.Plan{ID: "plan_0123456789abcdef0123456789abcdef", Run: &plan.Run{
			Runner: plan.Runner{Worker: c.worker}, Limits: plan.Limits{Processes: 7}, Sandbox: string(c.tier),
		}}
		if command, _ := s.candidate(v); command.Limits.Processes != c.want {
			t.Errorf("%s: %d processes, want %d", c.name, command.Limits.Processes, c.want)
		}
	}
}
