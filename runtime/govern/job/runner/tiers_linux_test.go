//go:build amd64 || arm64

package runner

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// account is one that nobody else has, here as much as a test can know.
const account = 70021

// tiers are those that this machine can confine native code by.
func tiers(t *testing.T) (list []confine.Spec) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var s confine.Spec
	if os.Geteuid() == 0 {
		s.UID, s.GID = account, account
	}
	for _, a := range confine.Probe(ctx, confine.Options{UID: s.UID, GID: s.GID, Patience: time.Minute}) {
		if a.Tier == confine.Worker {
			continue
		}
		if a.Err != nil {
			t.Logf("no tier %s: %v", a.Tier, a.Err)
			continue
		}
		s.Tier = a.Tier
		list = append(list, s)
	}
	return list
}

// openBoxFor is a box as it is below a state directory, which the account of s
// cannot pass.
func openBoxFor(t *testing.T, s confine.Spec, arguments string, files map[string]string) confine.Spec {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "capgen-runner-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s.Box = filepath.Join(dir, "box")
	if err := os.Rename(newBox(t, arguments, files), s.Box); err != nil {
		t.Skip(err) // the directory of tests is on another disk
	}
	if err := s.Own(); err != nil {
		t.Fatal(err)
	}
	return s
}

// confined runs a runner in a scope, as a supervisor would.
func confined(t *testing.T, r Runner, s confine.Spec, limits scope.Limits, env ...string) ran {
	t.Helper()
	i, err := r.Identify()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	held, err := scope.Open(scope.Options{Tier: scope.Tree, Stdout: theirs, Stderr: theirs})
	if err != nil {
		theirs.Close()
		t.Skip(err)
	}
	defer func() {
		if err := held.End(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	}()
	s.Read = i.Read
	err = held.Start(ctx, scope.Command{Path: i.Path, Args: i.Args, Env: append(i.Env, env...), Dir: s.Box, Limits: limits, Confine: &s})
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(io.LimitReader(out, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	exit, err := held.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	result, _ := os.ReadFile(filepath.Join(s.Box, "out", "result.json"))
	return ran{exit: exit.Code, stdout: string(text), result: string(result)}
}

// systemPython is an interpreter that other accounts can reach too.
func systemPython(t *testing.T) Runner {
	t.Helper()
	const path = "/usr/bin/python3"
	if _, err := exec.LookPath(path); err != nil {
		t.Skip(err)
	}
	r, err := Python(path)
	if err != nil {
		t.Skip(err)
	}
	return r
}

// TestPythonInTiers: an honest candidate works in every tier that there is, and a
// hostile one gets nothing in those that confine.
func TestPythonInTiers(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hunter2"), 0o644); err != nil {
		t.Fatal(err)
	}
	limits := scope.Limits{CPU: 20 * time.Second, Memory: 2 << 30, File: 1 << 20, Open: 64, Processes: 64}
	for _, tier := range tiers(t) {
		s := openBoxFor(t, tier, `{"n":2}`, map[string]string{"other.py": "def double(x): return 2 * x", "main.py": `
import json, os, statistics, sys, tempfile, threading
from other import double
assert (__name__, __file__, sys.argv) == ("__main__", "code/main.py", ["code/main.py"]), sys.argv
assert "posix" not in globals() and os.path.samefile(os.path.abspath("out"), "out")
with tempfile.NamedTemporaryFile() as f:
    f.write(b"x")
n = json.load(open("arguments.json"))["n"]
with open("out/result.json", "w") as f:
    json.dump({"n": double(n), "mean": statistics.mean([1, 2])}, f)
print("fine")
`})
		if got := confined(t, systemPython(t), s, limits); got.exit != 0 || got.stdout != "fine\n" || got.result != `{"n": 4, "mean": 1.5}` {
			t.Errorf("%s: %+v", tier.Tier, got)
		}
		if tier.Tier == confine.None {
			continue
		}
		s = openBoxFor(t, tier, fmt.Sprintf(`{"secret":%q}`, secret), map[string]string{"main.py": `
import json, os, socket, sys
secret = json.load(open("arguments.json"))["secret"]
def tried(name, f):
    try:
        f()
        print("did", name)
    except OSError:
        pass
tried("read", lambda: open(secret).read())
tried("passwd", lambda: open("/proc/1/environ").read())
tried("write", lambda: open("code/main.py", "a").write("x"))
tried("arguments", lambda: open("arguments.json", "a"))
tried("beside", lambda: open("../x", "w"))
tried("interpreter", lambda: open(sys.executable, "a"))
tried("library", lambda: open(os.path.dirname(os.__file__) + "/x", "w"))
tried("network", lambda: socket.create_connection(("127.0.0.1", 9), 1))
tried("socket", lambda: socket.socket())
tried("kill", lambda: os.kill(os.getppid(), 0))
tried("large", lambda: open("out/x", "wb").write(bytes(4 << 20)))
print("tried")
`})
		if got := confined(t, systemPython(t), s, limits); !strings.HasSuffix(got.stdout, "tried\n") || strings.Contains(got.stdout, "did") {
			t.Errorf("%s: %+v", tier.Tier, got)
		}
	}
}

// TestStarlarkInItsTier: the host's own binary runs candidates in tier worker, with
// the limits that a supervisor sets for it, in the server's account or another.
func TestStarlarkInItsTier(t *testing.T) {
	specs := []confine.Spec{{Tier: confine.Worker}}
	if os.Geteuid() == 0 {
		specs = append(specs, confine.Spec{Tier: confine.Worker, UID: account, GID: account})
	}
	r := starlark(t)
	// Where go test builds, other accounts may have nothing to look for.
	text, err := os.ReadFile(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "capgen-runner-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.Path = filepath.Join(dir, "host")
	if err := os.WriteFile(r.Path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	limits := scope.Limits{CPU: time.Second, File: 1 << 20, Open: 64}
	memory := fmt.Sprint(MemoryVariable, "=", 128<<20)
	for _, spec := range specs {
		s := openBoxFor(t, spec, `{"n":2}`, map[string]string{"main.star": "print(\"fine\")\n{\"n\": data[\"n\"]}"})
		if got := confined(t, r, s, limits, memory); got.exit != 0 || got.stdout != "fine\n" || got.result != `{"n":2}` {
			t.Errorf("account %d: %+v", spec.UID, got)
		}
		s = openBoxFor(t, spec, `{}`, map[string]string{"main.star": "'é' * 600000"})
		if got := confined(t, r, s, limits, memory); got.exit != ExitLimit || got.result != "" {
			t.Errorf("a result that no file may have, account %d: %.300v", spec.UID, got)
		}
		s = openBoxFor(t, spec, `{}`, map[string]string{"main.star": "while True: pass"})
		if got := confined(t, r, s, limits, memory); got.exit != -1 || got.result != "" {
			t.Errorf("without end, account %d: %+v", spec.UID, got)
		}
	}
}
