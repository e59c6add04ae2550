package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/fault"
	"github.com/capgen/capgen/runtime/govern/root"
)

// killAt is the variable that makes the test binary land in the directory it
// names, and kill itself at a step.
const killAt = "CAPGEN_TEST_LAND"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killAt); dir != "" {
		if err := landInChild(dir, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fileJournal keeps a state in a file, as durable as a rename.
type fileJournal struct {
	path string
	step func() error
}

func (j *fileJournal) State() (State, error) {
	b, err := os.ReadFile(j.path)
	return State(bytes.TrimSpace(b)), err
}

func (j *fileJournal) Advance(from, to State) error {
	if err := j.step(); err != nil {
		return err
	}
	if now, err := j.State(); err != nil || now != from {
		return fmt.Errorf("the state is %s, not %s: %w", now, from, err)
	}
	if err := os.WriteFile(j.path+".new", []byte(to), 0o600); err != nil {
		return err
	}
	return os.Rename(j.path+".new", j.path)
}

// landInChild lands what lies in dir, and kills its process at the step told.
func landInChild(dir, at string) error {
	kill, err := strconv.Atoi(at)
	if err != nil {
		return err
	}
	steps := 0
	step := func() error {
		if steps++; steps == kill {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
	s, err := onDisk(dir, step)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if _, err := s.landing.Land(ctx, s.blobs, s.kept); err != nil {
		return err
	}
	_, err = s.landing.Clean(ctx, s.kept)
	return err
}

// realScene is a landing on a real disk.
type realScene struct {
	landing Landing
	blobs   *cas.Store
	kept    *fileJournal
	pre     Tree
}

// onDisk is the landing in dir: objects, targets/t, and the state beside them.
func onDisk(dir string, step func() error) (realScene, error) {
	objects, err := root.Open(filepath.Join(dir, "objects"))
	if err != nil {
		return realScene{}, err
	}
	targets, err := root.Open(filepath.Join(dir, "targets"))
	if err != nil {
		return realScene{}, err
	}
	blobs := cas.New(objects)
	pre, err := build3(blobs, "old")
	if err != nil {
		return realScene{}, err
	}
	post, err := build3(blobs, "new")
	if err != nil {
		return realScene{}, err
	}
	l := Landing{Parent: fault.Stepped(targets, step), Name: "t", ID: "x1", Pre: pre.Hash(), Post: post}
	return realScene{l, blobs, &fileJournal{filepath.Join(dir, "state"), step}, pre}, nil
}

// build3 is a tree of three files, each with the content mark.
func build3(blobs *cas.Store, mark string) (Tree, error) {
	t := Tree{Present: true, Mode: 0o755}
	d, err := blobs.Put([]byte(mark))
	for _, path := range []string{"a", "b", "lib", "lib/c"} {
		n := Node{Path: path, Mode: 0o644, Size: int64(len(mark)), Digest: d}
		if path == "lib" {
			n = Node{Path: path, Dir: true, Mode: 0o755}
		}
		t.Nodes = append(t.Nodes, n)
	}
	return t, err
}

// newOnDisk makes a landing in a new directory, with the old tree in place.
func newOnDisk(t testing.TB) (string, realScene) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"objects", "targets"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "state"), []byte(Intent), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := onDisk(dir, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	place(t, s.landing.Parent, "t", s.pre, s.blobs)
	return dir, s
}

// TestKill kills the process that lands before its steps, every third in CI, on
// a real disk, while others read the target, and lands again.
func TestKill(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stride := 3
	if *soak {
		stride = 1
	}
	for n := 1; ; n += stride {
		dir, s := newOnDisk(t)
		mixed := watch(t, s.landing.Parent)
		killed := run(t, exe, dir, n)
		if killed {
			if _, err := s.landing.Land(t.Context(), s.blobs, s.kept); err != nil {
				t.Fatalf("killed at step %d, once more: %v", n, err)
			}
			if _, err := s.landing.Clean(t.Context(), s.kept); err != nil {
				t.Fatal(err)
			}
		}
		if reads, bad := mixed(); bad != nil || reads == 0 {
			t.Fatalf("killed at step %d: %d reads, %v", n, reads, bad)
		}
		state, err := s.kept.State()
		if got := names(t, s.landing.Parent); err != nil || got != "t" || state != Cleaned || hash(t, s.landing.Parent, "t") != s.landing.Post.Hash() {
			t.Fatalf("killed at step %d: %s, %v, left %s", n, state, err, got)
		}
		if !killed {
			if n < 20 {
				t.Errorf("only %d steps", n)
			}
			return
		}
	}
}

// run lands in a child that kills itself at step n, and tells whether it did.
func run(t *testing.T, exe, dir string, n int) (killed bool) {
	t.Helper()
	c := exec.CommandContext(t.Context(), exe, strconv.Itoa(n))
	c.Env = append(os.Environ(), killAt+"="+dir)
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("step %d: %v: %s", n, err, out)
	}
	return false
}

// watch reads the target until the function it returns is called: how often,
// and the first time that it was missing, or neither old nor new as a whole.
func watch(t testing.TB, parent root.Dir) func() (int, error) {
	var reader sync.WaitGroup
	stop := make(chan struct{})
	reads := 0
	var bad error
	reader.Go(func() {
		for bad == nil {
			select {
			case <-stop:
				return
			default:
				bad = readWhole(parent)
				reads++
			}
		}
	})
	return func() (int, error) {
		close(stop)
		reader.Wait()
		return reads, bad
	}
}

// readWhole opens the target once and reads all of it through that.
func readWhole(parent root.Dir) error {
	d, err := parent.Sub("t")
	if err != nil {
		return err
	}
	defer d.Close()
	seen := map[string]int{}
	for _, name := range []string{"a", "b"} {
		f, err := d.Open(name)
		if errors.Is(err, os.ErrNotExist) {
			// The old tree, opened before it was displaced, may be on its way out.
			return nil
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			return err
		}
		seen[string(content)]++
	}
	if len(seen) != 1 {
		return fmt.Errorf("mixed: %v", seen)
	}
	return nil
}
