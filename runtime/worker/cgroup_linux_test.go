package worker

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/fault"
)

// fakeGroups is a folder with the files that the kernel makes of a delegated
// group.
func fakeGroups(t *testing.T, controllers, subtree string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{groupControllers: controllers, groupSubtree: subtree, groupKill: ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// kernelMkdir makes a group as the kernel does.
func kernelMkdir(files ...string) func(string, fs.FileMode) error {
	return func(dir string, mode fs.FileMode) error {
		if err := os.Mkdir(dir, mode); err != nil {
			return err
		}
		for _, name := range files {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
				return err
			}
		}
		return nil
	}
}

func content(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

//capgenvet:allow workerentry TestMain of the external test package begins with it, which this package cannot see
func TestOpenCgroups(t *testing.T) {
	for _, c := range []struct{ name, controllers, subtree, want, written string }{
		{"all there", "cpu io memory pids\n", "memory pids\n", "", "memory pids\n"},
		{"to be passed on", "cpu memory pids\n", "", "", "+memory +pids"},
		{"one to be passed on", "memory pids\n", "memory\n", "", "+pidsy\n"}, // the kernel's file is no file
		{"no memory", "cpu pids\n", "", "the controllers memory are not delegated", ""},
		{"none", "\n", "", "the controllers memory and pids are not delegated", ""},
	} {
		dir := fakeGroups(t, c.controllers, c.subtree)
		_, err := openCgroups(dir)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := content(t, dir, groupSubtree); got != c.written {
			t.Errorf("%s: passed on %q", c.name, got)
		}
	}
	old := fakeGroups(t, "memory pids", "memory pids")
	if err := os.Remove(filepath.Join(old, groupKill)); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{old: "Linux 5.14", "relative": "not an absolute path", t.TempDir(): "no such file"} {
		if _, err := openCgroups(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	config := Config{Table: binding.EncodeTable(nil), Processes: 1, Cgroup: old}
	if _, err := NewPool(config); err == nil || !strings.Contains(err.Error(), "Linux 5.14") {
		t.Errorf("a pool: %v", err)
	}
}

func TestCgroupLimits(t *testing.T) {
	c, err := openCgroups(fakeGroups(t, "memory pids", "memory pids"))
	if err != nil {
		t.Fatal(err)
	}
	files := []string{groupMemory, groupPids, groupSwap, groupKill, groupEvents, groupMemoryEvent}
	c.mkdir = kernelMkdir(files...)
	seen := map[string]bool{}
	for range 3 {
		g, err := c.make(256 << 20)
		if err != nil {
			t.Fatal(err)
		}
		if seen[g.dir] {
			t.Errorf("%s is used again", g.dir)
		}
		seen[g.dir] = true
		for file, want := range map[string]string{groupMemory: "335544320", groupPids: "64", groupSwap: "0", groupKill: ""} {
			if got := content(t, g.dir, file); got != want {
				t.Errorf("%s is %q, want %q", file, got, want)
			}
		}
		if g.outOfMemory() {
			t.Error("out of memory from the start")
		}
		if err := os.WriteFile(filepath.Join(g.dir, groupMemoryEvent), []byte("low 0\nmax 12\noom 1\noom_kill 1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if !g.outOfMemory() {
			t.Error("not out of memory")
		}
		if err := g.kill(); err != nil || content(t, g.dir, groupKill) != "1" {
			t.Errorf("kill: %v", err)
		}
	}
	// Without swap there is no limit of it; without any other, no group.
	for _, missing := range files[:3] {
		c.mkdir = kernelMkdir(slices.DeleteFunc(slices.Clone(files), func(f string) bool { return f == missing })...)
		g, err := c.make(256 << 20)
		if (err == nil) != (missing == groupSwap) {
			t.Errorf("without %s: %v", missing, err)
		}
		if err == nil {
			g.opened.Close()
		}
	}
	c.mkdir = func(string, fs.FileMode) error { return errors.New("no more groups") }
	if _, err := c.make(256 << 20); err == nil || !strings.Contains(err.Error(), "no more groups") {
		t.Errorf("%v", err)
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
	c := &cgroups{dir: t.TempDir(), mkdir: kernelMkdir(groupKill, groupEvents), bare: true}
	g, err := c.make(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(g.dir, groupEvents), []byte("populated 1\nfrozen 0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var told error
	p := &process{group: g, failed: func(err error) { told = err }}
	p.leaveGroup()
	if told == nil || !strings.Contains(told.Error(), "is not empty") {
		t.Errorf("told %v", told)
	}
	if content(t, g.dir, groupKill) != "1" {
		t.Error("not killed")
	}
}

// unified is a real group of version 2 in which this process may make others.
func unified(t *testing.T) string {
	t.Helper()
	for line := range strings.Lines(content(t, "/proc/self/mountinfo")) {
		before, after, _ := strings.Cut(line, " - ")
		if fields := strings.Fields(before); len(fields) > 4 && strings.HasPrefix(after, "cgroup2 ") {
			dir, err := os.MkdirTemp(fields[4], "capgen-test-")
			if err != nil {
				t.Skip("groups cannot be made here: ", err)
			}
			t.Cleanup(func() {
				for began := time.Now(); os.Remove(dir) != nil && time.Since(began) < time.Second; {
					time.Sleep(time.Millisecond)
				}
			})
			return dir
		}
	}
	t.Skip("no control groups of version 2 are mounted")
	return ""
}

// A worker starts in its group and cannot outlive it, and the group does not
// outlive the worker: in the kernel's own, without limits where it has the
// controllers elsewhere.
func TestWorkerInItsCgroup(t *testing.T) {
	dir := unified(t)
	r, err := Config{Table: binding.EncodeTable(nil), Processes: 1}.resolve()
	if err != nil {
		t.Fatal(err)
	}
	r.failed = func(err error) { t.Error(err) }
	if r.groups, err = openCgroups(dir); err != nil {
		t.Logf("without limits: %v", err)
		r.groups = &cgroups{dir: dir, mkdir: os.Mkdir, bare: true}
	}
	for _, end := range []struct {
		name string
		kill func(p *process)
	}{
		{"its host ends it", func(p *process) { p.kill() }},
		{"its group is killed", func(p *process) {
			if err := p.group.kill(); err != nil {
				t.Error(err)
			}
		}},
	} {
		p, err := start(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		group := p.group.dir
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
