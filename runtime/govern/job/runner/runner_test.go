package runner

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// executable is a file that could be a runner's.
func executable(t *testing.T, text string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "program")
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func of(path string) Runner {
	return Runner{Name: "fake", Path: path, Args: []string{"fake", "code/main.fake"}, Env: []string{"A=b=c"}, Read: []string{"/"}, Entry: "main.fake"}
}

func TestIdentify(t *testing.T) {
	name := executable(t, "abc")
	link := name + ".link"
	if err := os.Symlink(name, link); err != nil {
		t.Skip(err)
	}
	i, err := of(link).Identify()
	if err != nil || i.Path != name || i.SHA256 != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" || i.Name != "fake" || i.Entry != "main.fake" || i.Worker {
		t.Fatalf("%+v, %v", i, err)
	}
	if err := i.Check(); err != nil {
		t.Error(err)
	}
	// What was frozen is not a view of what the host has.
	r := of(link)
	if i, err = r.Identify(); err != nil {
		t.Fatal(err)
	}
	r.Args[1], r.Env[0] = "x", "x=y"
	if i.Args[1] == "x" || i.Env[0] == "x=y" {
		t.Error("shared with the runner")
	}
	if err := os.WriteFile(name, []byte("abd"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := i.Check(); !errors.Is(err, ErrChanged) {
		t.Errorf("another file: %v", err)
	}
	// A link in its place is not followed, though it leads to the same bytes.
	if err := os.WriteFile(name+".moved", []byte("abc"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := i.Check(); !errors.Is(err, ErrChanged) {
		t.Errorf("gone: %v", err)
	}
	if err := os.Symlink(name+".moved", name); err != nil {
		t.Fatal(err)
	}
	if err := i.Check(); err == nil && runtime.GOOS != "windows" {
		t.Error("a link is followed")
	}
}

// A path is followed as the kernel does.
func TestSettled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no links")
	}
	name := executable(t, "abc")
	dir := filepath.Dir(name)
	for link, to := range map[string]string{"absolute": name, "relative": "program", "dir": ".", "chain": "dir/relative", "loop": "loop", "up": "../" + filepath.Base(dir) + "/program"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"program", "absolute", "relative", "dir/program", "dir/dir/chain", "chain", "up", "./program", "dir/../" + filepath.Base(dir) + "/up"} {
		if got, err := settled(dir + "/" + path); err != nil || got != name {
			t.Errorf("%s: %s, %v", path, got, err)
		}
	}
	for _, path := range []string{dir + "/loop", dir + "/none", dir + "/program/x", "program"} {
		if got, err := settled(path); err == nil {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestIdentifyRefuses(t *testing.T) {
	for want, path := range map[string]string{
		"is a script": executable(t, "#!/bin/sh\n"), "EOF": executable(t, ""), "no such file": filepath.Join(t.TempDir(), "none"), "not a regular file": t.TempDir(),
	} {
		if _, err := of(path).Identify(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if runtime.GOOS != "windows" {
		for _, mode := range []os.FileMode{0o775, 0o757, 0o755 | os.ModeSetuid} {
			name := executable(t, "abc")
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
			if _, err := of(name).Identify(); err == nil {
				t.Errorf("mode %v", mode)
			}
		}
	}
	if runtime.GOOS != "windows" {
		for mode, ok := range map[os.FileMode]bool{0o777: false, 0o775: false, 0o755: true, 0o777 | os.ModeSticky: true, 0o755 | os.ModeSetgid: true} {
			name := executable(t, "abc")
			i, err := of(name).Identify()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Dir(name), mode); err != nil {
				t.Fatal(err)
			}
			if _, err := of(name).Identify(); (err == nil) != ok {
				t.Errorf("in a directory of mode %v: %v", mode, err)
			}
			if err := i.Check(); (err == nil) != ok {
				t.Errorf("before its start, in a directory of mode %v: %v", mode, err)
			}
		}
	}
	name := executable(t, "abc")
	if os.Geteuid() == 0 {
		above := executable(t, "abc")
		if err := os.Chown(filepath.Dir(above), 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if _, err := of(above).Identify(); err == nil || !strings.Contains(err.Error(), "65534") {
			t.Errorf("in another account's directory: %v", err)
		}
		if err := os.Chown(name, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if _, err := of(name).Identify(); err == nil || !strings.Contains(err.Error(), "65534") {
			t.Errorf("another account's: %v", err)
		}
	}
	for what, spoil := range map[string]func(*Runner){
		"name":  func(r *Runner) { r.Name = "Fake 1" },
		"path":  func(r *Runner) { r.Path = "program" },
		"args":  func(r *Runner) { r.Args = nil },
		"entry": func(r *Runner) { r.Entry = "../main" },
		"env":   func(r *Runner) { r.Env = []string{"A"} },
		"blank": func(r *Runner) { r.Env = []string{"=b"} },
		"NUL":   func(r *Runner) { r.Args = []string{"a\x00"} },
		"read":  func(r *Runner) { r.Read = []string{"lib"} },
		"read2": func(r *Runner) { r.Read = []string{"/a/../b"} },
	} {
		r := of(name)
		spoil(&r)
		if _, err := r.Identify(); err == nil || r.Check() == nil {
			t.Errorf("%s is taken: %+v", what, r)
		}
	}
}
