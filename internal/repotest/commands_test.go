package repotest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/internal/shelltest"
)

// TestDocumentedCommands runs what the documents tell a reader to type, in a
// copy of the repository with bin/ built. Lines that begin with make are left
// out: makeTargets checks that the target is there, and continuous integration
// runs it.
func TestDocumentedCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("builds both programs")
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh on this system")
	}
	repo := repository(t)
	dir := t.TempDir()
	for _, name := range repo.files {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(repo.read(name)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, stderr, err := command(dir, "", "go", "build", "-o", "bin/", "./cmd/capgen", "./cmd/workspace"); err != nil {
		t.Fatalf("go build: %v\n%s", err, stderr)
	}
	ran := 0
	for _, b := range repo.blocks() {
		run := func(args ...string) {
			ran++
			t.Run(strings.ReplaceAll(b.at(), "/", "_"), func(t *testing.T) {
				stdout, stderr, err := command(dir, b.text, args...)
				if err != nil {
					t.Errorf("%s: %v\n%s\n%s%s", b.at(), err, b.text, stdout, stderr)
				}
			})
		}
		switch {
		case b.project != "":
		case b.lang == "sh":
			var script []string
			for _, line := range strings.Split(strings.TrimSpace(b.text), "\n") {
				if !strings.HasPrefix(line, "make ") {
					script = append(script, line)
				}
			}
			if len(script) > 0 {
				run("sh", "-euc", strings.Join(script, "\n"))
			}
		case b.lang == "python" && b.from == "":
			run("bin/workspace", "exec", "--root", ".", "-")
		case b.lang == "json" && strings.Contains(b.text, `"mcpServers"`):
			ran++
			t.Run(strings.ReplaceAll(b.at(), "/", "_"), func(t *testing.T) { serverEntry(t, dir, b) })
		}
	}
	if ran == 0 {
		t.Error("the documents show no command: does this test read them?")
	}
}

// serverEntry starts the server of an mcpServers entry as a client would, and
// ends the session at once: the server must leave in good order and print
// nothing that is not protocol.
func serverEntry(t *testing.T, dir string, b block) {
	var config struct {
		MCPServers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(b.text), &config); err != nil {
		t.Fatal(err)
	}
	for name, s := range config.MCPServers {
		args := []string{filepath.Join("bin", filepath.Base(s.Command))}
		for _, a := range s.Args {
			if filepath.IsAbs(a) { // a place on the reader's machine
				a = dir
			}
			args = append(args, a)
		}
		stdout, stderr, err := command(dir, "", args...)
		if err != nil || stdout != "" {
			t.Errorf("%s: server %s: %v, printed %q\n%s", b.at(), name, err, stdout, stderr)
		}
	}
}

// command runs one command in dir, for at most two minutes, and ends what it has
// started.
func command(dir, stdin string, args ...string) (stdout, stderr string, err error) {
	name := args[0]
	if strings.ContainsRune(name, filepath.Separator) {
		name = filepath.Join(dir, name)
	}
	cmd := exec.Command(name, args[1:]...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	return shelltest.Run(cmd, 2*time.Minute)
}
