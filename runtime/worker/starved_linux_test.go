package worker_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/internal/cgrouptest"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/worker"
	"github.com/capgen/capgen/runtime/worker/cgroup"
)

// A worker that is none of ours, and so does not bound itself, is bounded by its
// group: in memory, of which it is told, whichever of its processes took it, and
// in processes, which end with it.
func TestWorkerHeldByItsCgroup(t *testing.T) {
	dir, err := cgrouptest.Dir(t, cgroup.ForMemory, cgroup.ForProcesses)
	if err != nil {
		t.Skip(err)
	}
	count := filepath.Join(t.TempDir(), "count")
	for _, c := range []struct {
		mode    string
		class   fault.Class
		message string
	}{
		{"hoards", fault.Limit, "memory"},
		{"runs dd if=/dev/zero of=/dev/null bs=300M count=1", fault.Limit, "memory"},
		{"runs dd if=/dev/zero of=/dev/null bs=100M count=1", fault.WorkerLost, "ended before"},
		{"runs i=0; while [ $i -lt 200 ]; do sleep 1000 & i=$((i+1)); echo $i > " + count + "; done", fault.WorkerLost, "ended before"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			s := pool(t, worker.Config{Executable: fakeWorker(t, c.mode), Cgroup: dir, Memory: worker.MinMemory})
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			_, err := s.Run(ctx, job("1"))
			f := wantFault(t, err, c.class, c.message)
			if c.class == fault.Limit && (f.Limit != fault.WorkerMemory || f.Bound != worker.MinMemory) {
				t.Errorf("%+v", f)
			}
			gone(t)
			if left, err := filepath.Glob(filepath.Join(dir, "capgen-*")); err != nil || len(left) > 0 {
				t.Errorf("groups are left: %q, %v", left, err)
			}
		})
	}
	text, err := os.ReadFile(count)
	if n, _ := strconv.Atoi(strings.TrimSpace(string(text))); err != nil || n > 60 || n < 40 { // the worker has threads
		t.Errorf("it came to %d children, %v", n, err)
	}
}
