package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A host that opts in returns prints over HTTP and stdio, and exec writes them
// to standard error, where control characters do nothing.
func TestReturnPrints(t *testing.T) {
	const program = "print('a', 1)\nprint('\\x1b[2J')\n7"
	const answer = `{"result":7,"prints":{"text":"a 1\n\u001b[2J\n"}}`
	c, url := serveHTTP(t, []string{printsVariable + "=1"})
	for _, protocol := range bothEras {
		s, err := dial(t, url, "", protocol)
		if err != nil {
			t.Fatal(err)
		}
		if got := executeOver(t, s, program); got != answer {
			t.Errorf("%s: %s", protocol, got)
		}
		s.Close()
	}
	c.in.Close()
	file := filepath.Join(t.TempDir(), "p.py")
	if err := os.WriteFile(file, []byte("print('a', 1)\nprint('\\x1b[2J')\nprint('x' * 20000)\n7"), 0o600); err != nil {
		t.Fatal(err)
	}
	for on, want := range map[string]bool{"=1": true, "=": false} {
		cmd := childCommand(t, "exec", file)
		cmd.Env = append(cmd.Env, printsVariable+on)
		var stderr child
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		// A package of the child prints, too.
		if err != nil || !strings.HasSuffix(string(out), "\n7\n") {
			t.Errorf("%s: %q, %v", on, out, err)
		}
		for _, line := range []string{"printed: a 1\n", "printed: \\u001b[2J\n", "printed: more than 16384 bytes, which were cut\n"} {
			if got := strings.Contains(stderr.stderr(), line); got != want {
				t.Errorf("%s: %q is there: %v", on, line, got)
			}
		}
	}
}
