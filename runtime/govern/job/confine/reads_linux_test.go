package confine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// What a candidate is given to read does not hold its box, other boxes or the keys
// above them by another name either: such a candidate is not started. Nor is one that
// would read what only a link leads to. A link to anything else is fine.
func TestReadByLink(t *testing.T) {
	for _, s := range native(t) {
		dir := place(t)
		write(t, filepath.Join(dir, "real/app/state/token.key"), secret, 0o644)
		write(t, filepath.Join(dir, "real/lib/module"), secret, 0o644)
		for link, to := range map[string]string{"app": "real/app", "all": "real", "lib": "real/lib", "proc": "/proc", "shm": "/dev/shm"} {
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
		box := newBox(t, filepath.Join(dir, "real/app/state/jobs/own"), "main", "")
		s.Box = box
		if err := s.Own(); err != nil {
			t.Fatal(err)
		}
		tries := func(change func(*confine.Spec), read, file string) string {
			t.Helper()
			s := s
			s.Box, s.Read = box, append(system(), filepath.Join(dir, read))
			change(&s)
			output, _ := run(t, scope.Options{Tier: scope.Tree}, scope.Command{
				Path: "/bin/sh", Args: []string{"sh", "-c", "cat " + filepath.Join(dir, file)}, Dir: s.Box, Env: []string{"PATH=/usr/bin:/bin"}, Confine: &s,
			})
			return output
		}
		same := func(*confine.Spec) {}
		byLink := func(s *confine.Spec) { s.Box = filepath.Join(dir, "app/state/jobs/own/box") }
		apart := func(s *confine.Spec) { s.Apart = filepath.Join(dir, "app/state") }
		for _, c := range []struct {
			name       string
			change     func(*confine.Spec)
			read, file string
		}{
			{"a link to what holds the box", same, "app", "app/state/token.key"},
			{"a link above it", same, "all/app", "all/app/state/token.key"},
			{"the box by a link", byLink, "real/app", "real/app/state/token.key"},
			{"a key", apart, "app/state/token.key", "app/state/token.key"},
			{"other boxes", same, "all/app/state/jobs", "all/app/state/jobs/own/box/arguments.json"},
			{"processes", same, "proc", "proc/self/status"},
			{"shared memory", same, "shm", "shm"},
		} {
			if output := tries(c.change, c.read, c.file); !strings.HasPrefix(output, "not started: ") || !strings.Contains(output, "confine: read ") {
				t.Errorf("%s, %s: %s", s.Tier, c.name, output)
			}
		}
		for _, change := range []func(*confine.Spec){same, byLink, apart} {
			if output := tries(change, "lib", "lib/module"); output != secret {
				t.Errorf("%s: %s", s.Tier, output)
			}
		}
	}
}
