//go:build unix

package shelltest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// What a script has started ends with it, whether it fails, succeeds or hangs,
// and what it said is there.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		name, script string
		limit        time.Duration
		want         func(error) bool
	}{
		{"fails", `sleep 60 & echo told; echo said >&2; exit 3`, time.Minute, func(err error) bool {
			exit := new(exec.ExitError)
			return errors.As(err, &exit) && exit.ExitCode() == 3
		}},
		{"leaves a process with its output", `sleep 60 & echo told; echo said >&2`, time.Minute, func(err error) bool { return errors.Is(err, exec.ErrWaitDelay) }},
		{"leaves a process without", `sleep 60 >/dev/null 2>&1 & echo told; echo said >&2`, time.Minute, func(err error) bool { return err == nil }},
		{"hangs", `sleep 60 & echo told; echo said >&2; wait`, 200 * time.Millisecond, func(err error) bool {
			return err != nil && strings.Contains(err.Error(), "killed after 200ms")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			// All that it starts has the end that is written to.
			alive, theirs, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer alive.Close()
			cmd := exec.Command("sh", "-euc", c.script)
			cmd.ExtraFiles = []*os.File{theirs}
			began := time.Now()
			stdout, stderr, err := Run(cmd, c.limit)
			theirs.Close()
			if !c.want(err) || stdout != "told\n" || stderr != "said\n" {
				t.Errorf("%q, %q, %v", stdout, stderr, err)
			}
			if took := time.Since(began); took > 40*time.Second {
				t.Errorf("took %s", took)
			}
			alive.SetReadDeadline(time.Now().Add(10 * time.Second))
			if _, err := io.Copy(io.Discard, alive); err != nil {
				t.Errorf("what it started is still there: %v", err)
			}
		})
	}
}
