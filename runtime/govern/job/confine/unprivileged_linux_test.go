package confine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A server that is not root: the tiers that it can have hold what the table says,
// though its candidates have its own account, and so has what they attack.
func TestUnprivileged(t *testing.T) {
	asRoot(t)
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(place(t), "test")
	write(t, path, string(binary), 0o755)
	c := exec.CommandContext(soon(t), path, "-test.run=^(TestTable|TestHonest)$", "-test.v")
	c.Dir = filepath.Dir(path)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherAccount, Gid: otherAccount}}
	output, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for line := range strings.Lines(string(output)) {
		if strings.Contains(line, "--- ") || strings.Contains(line, "not on this system") {
			t.Log(strings.TrimSpace(line))
		}
	}
}
