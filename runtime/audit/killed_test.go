package audit

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// writerVariable makes the test binary a process that records calls in the
// directory that it names until it is killed.
const writerVariable = "AUDIT_TEST_WRITER"

// TestWriter is that process; it does nothing in a run of the tests.
func TestWriter(t *testing.T) {
	dir := os.Getenv(writerVariable)
	if dir == "" {
		t.Skip("only a process of TestKilled does this")
	}
	o := options(dir)
	o.MaxFileBytes = minFileBytes
	l := opened(t, o)
	for i := range 1_000_000 {
		calls(t, l, i, 1)
		fmt.Fprintln(os.Stderr, "recorded")
	}
}

// A process that is killed while it writes leaves a log that the next one goes
// on with: all that it has acknowledged is there, and nothing keeps the lock.
func TestKilled(t *testing.T) {
	o := options(t.TempDir())
	acknowledged := 0
	for round := range 3 {
		c := exec.Command(os.Args[0], "-test.run=^TestWriter$")
		c.Env = append(os.Environ(), writerVariable+"="+o.Dir)
		stderr, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		watchdog := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
		lines := bufio.NewScanner(stderr)
		for n := 0; n < 5+3*round && lines.Scan(); n++ {
			acknowledged++
		}
		c.Process.Kill()
		for lines.Scan() { // what it had acknowledged by then
			acknowledged++
		}
		c.Wait()
		watchdog.Stop()
	}
	l := opened(t, o)
	calls(t, l, 1, 1)
	closed(t, l)
	r, err := verified(t, o.Dir, VerifyOptions{})
	if err != nil || acknowledged < 15 || int(r.Last) < acknowledged {
		t.Errorf("%+v of %d acknowledged records, %v", r, acknowledged, err)
	}
}
