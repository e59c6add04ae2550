package confine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/worker/sandbox"
)

func TestMain(m *testing.M) {
	scope.ServeKeeperAndExit()
	if text := os.Getenv(candidateMark); text != "" {
		become(text)
	}
	os.Exit(m.Run())
}

// An account that nobody else has, here as much as this test can know.
const account = 70011

// soon is what bounds a test that waits, on a machine that is very busy.
func soon(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(stop)
	return ctx
}

// asRoot skips a test that needs an account of its own for candidates.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root gives a candidate an account of its own")
	}
}

// plain skips a test whose candidate is this test binary, where the race detector
// is in it: what that needs of files and memory, and says, is in the way.
func plain(t *testing.T) {
	t.Helper()
	if sandbox.LinksC() {
		t.Skip("this build links C code")
	}
}

// place is a directory that every account can reach: what refuses its files is not
// their modes.
func place(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "capgen-confine-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// private is a directory that only this account can reach.
func private(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(place(t), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// write writes a file that everybody may read, and the directories above it.
func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// newBox makes a box with one file of code, as tight as a careful umask would.
func newBox(t *testing.T, dir, name, text string) string {
	t.Helper()
	box := filepath.Join(dir, "box")
	for _, d := range []string{"code", "out", "tmp"} {
		if err := os.MkdirAll(filepath.Join(box, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(box, "code", name), text, 0o600)
	write(t, filepath.Join(box, "arguments.json"), `{"n":3}`, 0o600)
	return box
}

// system is what dynamically linked programs of this system need.
func system() (list []string) {
	for _, p := range []string{"/bin", "/etc/ld.so.cache", "/lib", "/lib64", "/usr"} {
		if _, err := os.Stat(p); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// probe is what can be had here. A tier that was entered and does not hold is no
// reason to skip its tests: but for signals, which an old kernel lets through.
func probe(t *testing.T) []confine.Available {
	t.Helper()
	o := confine.Options{Patience: time.Minute}
	if os.Geteuid() == 0 {
		o.UID, o.GID = account, account
	}
	list := confine.Probe(soon(t), o)
	for _, a := range list {
		if a.Err != nil && strings.HasSuffix(a.Err.Error(), "is not refused") && !strings.Contains(a.Err.Error(), "signal") {
			t.Error(a.Err)
		}
	}
	return list
}

// native are specs of the tiers for native code that can be had here.
func native(t *testing.T) (list []confine.Spec) {
	t.Helper()
	s := confine.Spec{Read: system()}
	if os.Geteuid() == 0 {
		s.UID, s.GID = account, account
	}
	for _, a := range probe(t) {
		switch {
		case a.Tier == confine.Worker || a.Tier == confine.None:
		case a.Err != nil:
			t.Log(a.Err)
		default:
			s.Tier = a.Tier
			list = append(list, s)
		}
	}
	return list
}

// maxOutput bounds what a test reads of a candidate.
const maxOutput = 1 << 20

// run runs a command in a scope, up to its end or to maxOutput bytes of output,
// and ends it.
func run(t *testing.T, o scope.Options, c scope.Command) (string, scope.Exit) {
	t.Helper()
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	o.Stdout, o.Stderr = theirs, theirs
	s, err := scope.Open(o)
	if err != nil {
		theirs.Close()
		t.Fatal(err)
	}
	ended := false
	end := func() {
		if ended {
			return
		}
		ended = true
		if err := s.End(soon(t)); err != nil {
			t.Error(err)
		}
	}
	defer end()
	err = s.Start(soon(t), c)
	theirs.Close()
	if err != nil {
		return fmt.Sprintf("not started: %v", err), scope.Exit{Code: -1}
	}
	text, err := io.ReadAll(io.LimitReader(out, maxOutput))
	if err != nil {
		t.Fatal(err)
	}
	var exit scope.Exit
	if len(text) < maxOutput {
		if exit, err = s.Wait(soon(t)); err != nil {
			t.Error(err)
		}
	}
	end()
	return string(text), exit
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// scopes are the tiers of scopes that can be had here.
func scopes(t *testing.T) (list []scope.Options) {
	t.Helper()
	for _, o := range []scope.Options{{Tier: scope.Cgroup, Cgroup: unified(t)}, {Tier: scope.Namespace}, {Tier: scope.Tree}} {
		if err := scope.Probe(soon(t), o); err != nil {
			t.Log(err)
			continue
		}
		list = append(list, o)
	}
	return list
}

// unified is a group of version 2 below which others can be made, or "".
func unified(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		before, after, _ := strings.Cut(line, " - ")
		if fields := strings.Fields(before); len(fields) > 4 && strings.HasPrefix(after, "cgroup2 ") {
			dir, err := os.MkdirTemp(fields[4], "capgen-test-")
			if err != nil {
				return ""
			}
			t.Cleanup(func() {
				for began := time.Now(); os.Remove(dir) != nil && time.Since(began) < 5*time.Second; {
					time.Sleep(time.Millisecond)
				}
			})
			return dir
		}
	}
	return ""
}
