package supervise

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// wreck leaves in a job's directory what makes it hard to remove.
func wreck(t *testing.T, dir, outside string, depth int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "box", "out"), 0o700); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "box", "out")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink(outside, filepath.Join(out, "link")))
	must(os.Symlink("/", filepath.Join(out, "root")))
	must(os.Link(filepath.Join(outside, "file"), filepath.Join(out, "hard")))
	must(unix.Mkfifo(filepath.Join(out, "pipe"), 0o600))
	must(os.WriteFile(filepath.Join(out, "a\nb\xff"), nil, 0))
	must(os.MkdirAll(filepath.Join(out, "closed", "in it"), 0o700))
	must(os.WriteFile(filepath.Join(out, "closed", "in it", "x"), nil, 0))
	must(os.Chmod(filepath.Join(out, "closed", "in it"), 0))
	must(os.Chmod(filepath.Join(out, "closed"), 0o1000))
	for n := range 5 {
		for m := range 3 {
			must(os.MkdirAll(filepath.Join(out, "wide"+strconv.Itoa(n), "removed-"+strconv.Itoa(m), "removed-1"), 0o700))
		}
	}
	for n := range 2500 {
		must(os.WriteFile(filepath.Join(out, strconv.Itoa(n)), nil, 0o600))
	}
	// Deeper than any path may be long.
	at, err := unix.Open(out, unix.O_PATH|unix.O_CLOEXEC, 0)
	must(err)
	for range depth {
		must(unix.Mkdirat(at, "directory", 0o700))
		next, err := unix.Openat(at, "directory", unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
		must(err)
		must(unix.Symlinkat(outside, next, "link"))
		unix.Close(at)
		at = next
	}
	unix.Close(at)
	must(os.Chmod(filepath.Join(dir, "box"), 0o555))
	must(os.WriteFile(filepath.Join(dir, aliveName), nil, 0o600))
}

// outsideOf is a directory that is none of the job's, with a file in it.
func outsideOf(t *testing.T) string {
	t.Helper()
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "file"), []byte("x"), 0o640); err != nil {
		t.Fatal(err)
	}
	return outside
}

// Whatever is in a job's directory, all of it is removed, and nothing else; by
// accounts as well that modes bind.
func TestRemove(t *testing.T) {
	depth := 1200
	if *soak {
		depth = 20_000
	}
	outside := outsideOf(t)
	dir := filepath.Join(t.TempDir(), "job")
	wreck(t, dir, outside, depth)
	if err := Remove(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	info, err := os.Stat(filepath.Join(outside, "file"))
	if err != nil || info.Size() != 1 || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
	if err := Remove(t.Context(), dir); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

// Remove takes no longer than it may, and the next one goes on from there.
func TestRemoveInTime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "job")
	wreck(t, dir, outsideOf(t), 10)
	over, end := context.WithCancel(t.Context())
	end()
	if err := Remove(over, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "box")); err != nil {
		t.Error(err)
	}
	if err := Remove(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

// What somebody holds stays; what is no directory is not entered.
func TestRemoveRefuses(t *testing.T) {
	dir := t.TempDir()
	held, err := hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := Remove(t.Context(), dir); !errors.Is(err, ErrHeld) {
		t.Errorf("%v", err)
	}
	held.Close()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Remove(t.Context(), link); err == nil {
		t.Error("a link was taken for the directory")
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err != nil {
		t.Error(err)
	}
}

// The same by an account that is not root's, for which modes mean something.
func TestRemoveUnprivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("TestRemove is that here")
	}
	parent, err := os.MkdirTemp("/tmp", "capgen-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(parent)
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(parent, "test")
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{parent: 0o755, filepath.Join(parent, "work"): 0o700} {
		if path != parent {
			if err := os.Mkdir(path, mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(path, 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(program, "-test.run", "^(TestRemove|TestCount)$", "-test.timeout", "60s")
	c.Dir, c.Env = parent, []string{"TMPDIR=" + filepath.Join(parent, "work")}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if text, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}
