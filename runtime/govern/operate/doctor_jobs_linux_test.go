package operate

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/govern/job/runner"
)

// shell is a runner of these tests: what it runs is native code.
func shell() runner.Runner {
	return runner.Runner{
		Name: "shell", Path: "/bin/sh", Args: []string{"sh", "code/main.sh"}, Env: []string{"PATH=/usr/bin:/bin"},
		Read: []string{"/usr", "/bin", "/lib", "/lib64"}, Entry: "main.sh", Note: "for tests",
	}
}

// results take whatever a candidate has come to.
var results = map[string]func([]byte) ([]byte, error){"notes.try": func(b []byte) ([]byte, error) { return b, nil }}

// TestDoctorOfRuns: what a host has for runs is said without a state directory,
// and nothing is written.
func TestDoctorOfRuns(t *testing.T) {
	at := newPlace(t)
	before := listing(t, at.dir)
	cmd := at.command("doctor", "--max-jobs", "2")
	cmd.Args = cmd.Args[:4] // without a state
	out, _ := cmd.CombinedOutput()
	for _, want := range []string{
		`(?m)^runs +2 at a time$`,
		`(?m)^runner +shell: /\S+, SHA-256 [0-9a-f]{16}, native code$`,
		`(?m)^job_accounts +none`,
		`(?m)^job_sandbox +namespaces`,
		`(?m)^ +landlock: not here: .`, // it needs accounts
		`(?m)^ +none$`,
		`(?m)^kill_scope +cgroup: not here: none was delegated`,
		`(?m)^changes +off`,
	} {
		if !regexp.MustCompile(want).MatchString(string(out)) {
			t.Errorf("%s is missing:\n%s", want, out)
		}
	}
	if after := listing(t, at.dir); after != before {
		t.Errorf("doctor wrote:\n%s\n%s", before, after)
	}
	if out := at.doctor("--job-uids", "1-3"); os.Geteuid() == 0 && !strings.Contains(out, "MISSING 1 has a name") {
		t.Errorf("%s", out)
	}
	if out := at.doctor("--job-cgroup", at.dir); !strings.Contains(out, "cgroup: not here: no control group of version 2") {
		t.Errorf("%s", out)
	}
	if after := listing(t, at.dir); after != before {
		t.Errorf("doctor wrote:\n%s\n%s", before, after)
	}
}
