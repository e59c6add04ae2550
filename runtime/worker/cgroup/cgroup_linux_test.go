package cgroup

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/capgen/capgen/internal/cgrouptest"
)

// fakeGroups is a folder with the files that the kernel makes of a delegated
// group.
func fakeGroups(t *testing.T, controllers, subtree string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{fileControllers: controllers, fileSubtree: subtree, fileKill: ""} {
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

func TestOpen(t *testing.T) {
	for _, c := range []struct{ name, controllers, subtree, want, written string }{
		{"all there", "cpu io memory pids\n", "memory pids\n", "", "memory pids\n"},
		{"to be passed on", "cpu memory pids\n", "", "", "+memory +pids"},
		{"one to be passed on", "memory pids\n", "memory\n", "", "+pidsy\n"}, // the kernel's file is no file
		{"no memory", "cpu pids\n", "", "the controllers memory are not delegated", ""},
		{"none", "\n", "", "the controllers memory and pids are not delegated", ""},
	} {
		dir := fakeGroups(t, c.controllers, c.subtree)
		_, err := Open(dir, ForMemory, ForProcesses)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := content(t, dir, fileSubtree); got != c.written {
			t.Errorf("%s: passed on %q", c.name, got)
		}
	}
	old := fakeGroups(t, "memory pids", "memory pids")
	if err := os.Remove(filepath.Join(old, fileKill)); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{old: "Linux 5.14", "relative": "not an absolute path", t.TempDir(): "no such file"} {
		if _, err := Open(dir, ForMemory, ForProcesses); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestLimits(t *testing.T) {
	c, err := Open(fakeGroups(t, "memory pids", "memory pids"), ForMemory, ForProcesses)
	if err != nil {
		t.Fatal(err)
	}
	files := []string{fileMemory, fileProcesses, fileSwap, fileKill, fileEvents, fileMemoryEvent}
	c.mkdir = kernelMkdir(files...)
	seen := map[string]bool{}
	for range 3 {
		g, err := c.Make(Limits{Memory: 256 << 20, Processes: 64})
		if err != nil {
			t.Fatal(err)
		}
		if seen[g.dir] {
			t.Errorf("%s is used again", g.dir)
		}
		seen[g.dir] = true
		for file, want := range map[string]string{fileMemory: "268435456", fileProcesses: "64", fileSwap: "0", fileKill: ""} {
			if got := content(t, g.dir, file); got != want {
				t.Errorf("%s is %q, want %q", file, got, want)
			}
		}
		if g.OutOfMemory() {
			t.Error("out of memory from the start")
		}
		if err := os.WriteFile(filepath.Join(g.dir, fileMemoryEvent), []byte("low 0\nmax 12\noom 1\noom_kill 1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if !g.OutOfMemory() {
			t.Error("not out of memory")
		}
		if err := g.Kill(); err != nil || content(t, g.dir, fileKill) != "1" {
			t.Errorf("kill: %v", err)
		}
	}
	// Without swap there is no limit of it; without any other, no group.
	for _, missing := range files[:3] {
		c.mkdir = kernelMkdir(slices.DeleteFunc(slices.Clone(files), func(f string) bool { return f == missing })...)
		g, err := c.Make(Limits{Memory: 256 << 20, Processes: 64})
		if (err == nil) != (missing == fileSwap) {
			t.Errorf("without %s: %v", missing, err)
		}
		if err == nil {
			g.opened.Close()
		}
	}
	c.mkdir = func(string, fs.FileMode) error { return errors.New("no more groups") }
	if _, err := c.Make(Limits{Memory: 256 << 20, Processes: 64}); err == nil || !strings.Contains(err.Error(), "no more groups") {
		t.Errorf("%v", err)
	}
}

// What cannot be read is not taken for an empty group.
func TestPopulated(t *testing.T) {
	p := &Parent{dir: t.TempDir(), mkdir: kernelMkdir(fileKill, fileEvents)}
	g, err := p.Make(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if is, err := g.Populated(); err == nil {
		t.Errorf("without a number: %t", is)
	}
	for text, want := range map[string]bool{"populated 1\nfrozen 0\n": true, "populated 0\nfrozen 0\n": false} {
		if err := os.WriteFile(filepath.Join(g.dir, fileEvents), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if is, err := g.Populated(); err != nil || is != want {
			t.Errorf("%q: %t, %v", text, is, err)
		}
	}
	if err := os.RemoveAll(g.dir); err != nil {
		t.Fatal(err)
	}
	if is, err := g.Populated(); err != nil || is {
		t.Errorf("one that is removed: %t, %v", is, err)
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
}

// Only the path of a group that was made here is one.
func TestReopen(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{"capgen-1": "not the path", dir: "not the path", dir + "/../capgen-1": "not the path"} {
		if _, err := Reopen(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Reopen(filepath.Join(dir, "capgen-1")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that is not there: %v", err)
	}
}

// A group of the kernel's own holds what was started in it, and another process
// that knows its path kills that.
func TestKernelGroup(t *testing.T) {
	dir, err := cgrouptest.Dir(t)
	if err != nil {
		t.Skip(err)
	}
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Make(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("sleep", "1000")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := g.Place(c.SysProcAttr); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if is, err := g.Populated(); err != nil || !is {
		t.Errorf("with a process in it: %t, %v", is, err)
	}
	again, err := Reopen(g.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Error("it was not killed")
	}
	if err := errors.Join(again.Remove(), g.Remove()); err != nil {
		t.Error(err)
	}
}
