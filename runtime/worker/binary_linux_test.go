//go:build amd64 || arm64

package worker_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/worker"
)

// ownFolder is one that belongs to this process's user all the way up, which
// a temporary one does not: everybody may write where it is made.
func ownFolder(t *testing.T) string {
	t.Helper()
	var why error
	for _, at := range []func() (string, error){os.UserCacheDir, os.Getwd} {
		parent, err := at()
		if err == nil {
			err = os.MkdirAll(parent, 0o755)
		}
		if err == nil {
			parent, err = filepath.EvalSymlinks(parent)
		}
		if err != nil {
			why = err
			continue
		}
		dir, err := os.MkdirTemp(parent, "capgen-test-")
		if err != nil {
			why = err
			continue
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		if why = os.WriteFile(filepath.Join(dir, "probe"), nil, 0o755); why == nil {
			b, err := worker.OpenBinary(filepath.Join(dir, "probe"), "")
			if err == nil {
				b.Close()
				return dir
			}
			why = err
		}
	}
	t.Skip("no folder here that nobody else can write: ", why)
	return ""
}

// install copies this test binary, which is a worker, to dir.
func install(t *testing.T, dir, name string) string {
	t.Helper()
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	path := filepath.Join(dir, name)
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path, sum string) *worker.Binary {
	t.Helper()
	b, err := worker.OpenBinary(path, sum)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// What was opened runs, whatever becomes of the path.
func TestBinaryIsWhatWasOpened(t *testing.T) {
	dir := ownFolder(t)
	path := install(t, dir, worker.BinaryName)
	b := open(t, path, "")
	if b.Path() != path || len(b.SHA256()) != 64 {
		t.Errorf("%s %s", b.Path(), b.SHA256())
	}
	open(t, path, strings.ToUpper(b.SHA256()))
	run := func(when string) {
		t.Helper()
		p := pool(t, worker.Config{Binary: b, Layers: worker.Available(t)})
		r, err := p.Run(context.Background(), job("1 + 1"))
		if err != nil || json(t, r.Value) != "2" {
			t.Errorf("%s: %v", when, err)
		}
	}
	run("installed")
	evil := filepath.Join(dir, "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\nexit 9\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(evil, path); err != nil {
		t.Fatal(err)
	}
	run("swapped after the check")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	run("removed")
}

func TestUntrustedBinaries(t *testing.T) {
	dir := ownFolder(t)
	good := install(t, dir, "good")
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	copyTo := func(folder string) string {
		must(os.MkdirAll(at(folder), 0o755))
		return install(t, at(folder), "worker")
	}
	chmod := func(path string, mode os.FileMode) { must(os.Chmod(path, mode)) }
	link := func(old, new string) string { must(os.Symlink(old, new)); return new }
	change := func(name string, mode os.FileMode) string {
		path := install(t, dir, name)
		chmod(path, mode)
		return path
	}
	cases := map[string]struct{ path, sum, want string }{
		"missing":             {at("missing"), "", "no such file"},
		"relative":            {"worker", "", "not an absolute, clean path"},
		"not clean":           {dir + "/../" + filepath.Base(dir) + "/good", "", "not an absolute, clean path"},
		"a folder":            {dir, "", "not a regular file"},
		"below a file":        {good + "/worker", "", "it is not a folder"},
		"another digest":      {good, strings.Repeat("0", 64), "this host was built with 0000"},
		"group may write":     {change("group", 0o775), "", "mode 0775 lets others"},
		"others may write":    {change("others", 0o757), "", "mode 0757 lets others"},
		"not executable":      {change("plain", 0o644), "", "lets nobody run it"},
		"set-user-id":         {change("setuid", 0o755|os.ModeSetuid), "", "another user's rights"},
		"symbolic link":       {link(good, at("link")), "", "symbolic link"},
		"a device":            {"/dev/null", "", "not a regular file"},
		"linked folder":       {link(dir, at("loop")) + "/good", "", "symbolic link"},
		"writable folder":     {copyTo("open"), "", "/open: its mode 0777 lets others"},
		"writable far above":  {copyTo("wide/deep/down"), "", "/wide: its mode 0775 lets others"},
		"sticky folder":       {copyTo("sticky"), "", "/sticky: its mode 1777 lets others"},
		"another's folder":    {copyTo("foreign"), "", "/foreign: it belongs to user 65534"},
		"another user's file": {install(t, dir, "foreign file"), "", "it belongs to user 65534"},
	}
	chmod(at("open"), 0o777)
	chmod(at("wide"), 0o775)
	chmod(at("sticky"), 0o777|os.ModeSticky)
	root := os.Geteuid() == 0
	if root {
		must(os.Chown(at("foreign"), 65534, 65534))
		must(os.Chown(at("foreign file"), 65534, 65534))
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(c.want, "65534") && !root {
				t.Skip("only root can give a file away")
			}
			b, err := worker.OpenBinary(c.path, c.sum)
			if err == nil {
				b.Close()
				t.Fatal("it is trusted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	open(t, good, "")
}

// Nor does it matter to a host that runs itself what becomes of its file.
func TestHostIsReplaced(t *testing.T) {
	dir := t.TempDir()
	path := install(t, dir, "host")
	host := startHost(t, path)
	host.run("1 + 1", "2")
	if err := os.WriteFile(path+".new", []byte("#!/bin/sh\nexit 9\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	host.run("2 + 2", "4")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	host.run("3 + 3", "6")
}

// runLines is a host that runs a program a line.
func runLines(p *worker.Pool) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		r, err := p.Run(context.Background(), job(lines.Text()))
		if err != nil {
			fmt.Println(err)
			continue
		}
		text, _, err := canon.WireToJSON(nil, r.Value, 40)
		fmt.Println(string(text), err)
	}
	os.Exit(0)
}

// lineHost is a host of another process.
type lineHost struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
}

func startHost(t *testing.T, path string) *lineHost {
	t.Helper()
	c := exec.Command(path, hostArgument, "lines")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		c.Wait()
	})
	h := &lineHost{t, in, bufio.NewScanner(out)}
	h.out.Scan() // what a package initialization prints
	return h
}

func (h *lineHost) run(source, want string) {
	h.t.Helper()
	if _, err := fmt.Fprintln(h.in, source); err != nil {
		h.t.Fatal(err)
	}
	if !h.out.Scan() {
		h.t.Fatal("the host ended")
	}
	if got := h.out.Text(); got != want+" <nil>" {
		h.t.Errorf("%s: got %s", source, got)
	}
}
