package worker

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/capgen/capgen/internal/cgrouptest"
	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/worker/cgroup"
)

func content(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

//capgenvet:allow workerentry TestMain of the external test package begins with it, which this package cannot see
func TestPoolWithoutItsCgroup(t *testing.T) {
	config := Config{Table: binding.EncodeTable(nil), Processes: 1, Cgroup: "relative"}
	if _, err := NewPool(config); err == nil || !strings.Contains(err.Error(), "not an absolute path") {
		t.Errorf("a pool: %v", err)
	}
}

// What the kernel ended for its group's memory is told as that.
func TestStarvedWorker(t *testing.T) {
	if f := explain(nil, nil, true, 1<<28); f.Limit != fault.WorkerMemory || f.Bound != 1<<28 {
		t.Errorf("%+v", f)
	}
	if f := explain(nil, nil, false, 1<<28); f.Class != fault.WorkerLost {
		t.Errorf("%+v", f)
	}
}

// A group that stays populated is given up, and said so.
func TestCgroupThatStays(t *testing.T) {
	files := map[string]string{"cgroup.controllers": "", "cgroup.subtree_control": "", "cgroup.kill": "", "cgroup.events": "populated 1\nfrozen 0\n"}
	write := func(dir string) {
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir := t.TempDir()
	write(dir)
	c, err := cgroup.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.Make(cgroup.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	write(g.Path())
	var told error
	p := &process{group: g, failed: func(err error) { told = err }}
	p.leaveGroup()
	if told == nil || !strings.Contains(told.Error(), "is not empty") {
		t.Errorf("told %v", told)
	}
	if content(t, g.Path(), "cgroup.kill") != "1" {
		t.Error("not killed")
	}
}

// A worker starts in its group and cannot outlive it, and the group does not
// outlive the worker: in the kernel's own, without limits where it has the
// controllers elsewhere.
func TestWorkerInItsCgroup(t *testing.T) {
	dir, err := cgrouptest.Dir(t)
	if err != nil {
		t.Skip(err)
	}
	r, err := Config{Table: binding.EncodeTable(nil), Processes: 1}.resolve()
	if err != nil {
		t.Fatal(err)
	}
	r.failed = func(err error) { t.Error(err) }
	if r.groups, err = cgroup.Open(dir, cgroup.ForMemory, cgroup.ForProcesses); err == nil {
		r.bounds = cgroup.Limits{Memory: r.memory + groupSlack, Processes: groupThreads}
	} else {
		t.Logf("without limits: %v", err)
		if r.groups, err = cgroup.Open(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, end := range []struct {
		name string
		kill func(p *process)
	}{
		{"its host ends it", func(p *process) { p.kill() }},
		{"its group is killed", func(p *process) {
			if err := p.group.Kill(); err != nil {
				t.Error(err)
			}
		}},
	} {
		p, err := start(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		group := p.group.Path()
		if got := content(t, "/proc", strconv.Itoa(p.os.Pid), "cgroup"); !strings.Contains(got, filepath.Base(dir)+"/"+filepath.Base(group)+"\n") {
			t.Errorf("%s: the worker is in %s", end.name, got)
		}
		end.kill(p)
		state := p.reap()
		if state.Success() {
			t.Errorf("%s: %v", end.name, state)
		}
		if _, err := os.Stat(group); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the group is left: %v", end.name, err)
		}
	}
}
