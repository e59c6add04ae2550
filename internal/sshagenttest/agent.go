package sshagenttest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Start starts an ssh-agent with a new Ed25519 key, which ends with the test, and
// returns the path of its socket. Where OpenSSH's client is not installed, the
// test is skipped.
func Start(t testing.TB) (socket string) {
	t.Helper()
	for _, program := range []string{"ssh-agent", "ssh-add", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("needs OpenSSH's client: ", err)
		}
	}
	dir := t.TempDir()
	socket = filepath.Join(dir, "agent")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		agent.Process.Kill()
		agent.Wait()
	})
	for i := 0; ; i++ {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		if i == 1000 {
			t.Fatal("the agent does not listen")
		}
		time.Sleep(10 * time.Millisecond)
	}
	key := filepath.Join(dir, "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%s, %v", out, err)
	}
	add := exec.Command("ssh-add", key)
	add.Env = append(add.Environ(), "SSH_AUTH_SOCK="+socket)
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("%s, %v", out, err)
	}
	return socket
}
