package confine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// What an honest candidate does, in shell: it reads its code and arguments, works
// in tmp, and writes its result, by the same paths in every tier.
const honestShell = `set -eu
[ "$(cat arguments.json)" = '{"n":3}' ]
cat code/main > tmp/copy
mkdir tmp/dir && mv tmp/copy tmp/dir/copy && ln -s copy tmp/dir/link && cmp code/main tmp/dir/link
cat /dev/zero 2>/dev/null | head -c 10 > /dev/null
(exit 3) || true
echo '{"sum":6}' > out/result.json
[ "$(umask)" = 0077 ]
echo fine`

// The same in Python, with what such programs import.
const honestPython = `import ctypes, json, math, decimal, random, statistics, subprocess, tempfile, threading, concurrent.futures, os, sys, helper
assert helper.answer == 42
for capability in range(64): # not even for what it executes
    assert ctypes.CDLL(None).prctl(23, capability, 0, 0, 0) != 1, capability
for fd in range(3, 64):
    try:
        os.fstat(fd)
        assert False, "descriptor %d is open" % fd
    except OSError:
        pass
arguments = json.load(open("arguments.json"))
with concurrent.futures.ThreadPoolExecutor() as pool:
    total = sum(pool.map(int, range(arguments["n"] + 1)))
assert open("code/main").read().startswith("import")
with tempfile.TemporaryFile() as f, tempfile.NamedTemporaryFile() as g, tempfile.TemporaryDirectory() as d:
    f.write(os.urandom(16))
    open(os.path.join(d, "x"), "w").close()
    assert os.listdir(d) == ["x"]
assert subprocess.run(["/bin/sh", "-c", "exit 5"]).returncode == 5
assert random.random() < 1 and math.isfinite(statistics.mean([1, 2]))
json.dump({"sum": total}, open("out/result.json", "w"))
print("fine")
`

// boot starts a script of Python that only a relative path leads to. Python makes
// paths absolute where it can, and where the directory above the box is private, an
// account of its own does not get through that.
const boot = `import os, posix, sys
posix.getcwd = os.getcwd = lambda: "."
sys.path.insert(0, "code")
sys.argv = [__file__ := "code/main"]
exec(compile(open(__file__, "rb").read(), __file__, "exec"))
`

func interpreterArgs(name string) []string {
	if name == "python3" {
		return []string{name, "-I", "-B", "-c", boot}
	}
	return []string{name, "code/main"}
}

// Interpreters work in each tier, in each scope, and what is theirs is not more.
func TestHonest(t *testing.T) {
	for _, s := range native(t) {
		for _, o := range scopes(t) {
			for path, text := range map[string]string{"/bin/sh": honestShell, "/usr/bin/python3": honestPython} {
				name := filepath.Base(path)
				t.Run(string(s.Tier)+"/"+string(o.Tier)+"/"+name, func(t *testing.T) {
					if _, err := exec.LookPath(path); err != nil {
						t.Skip(err)
					}
					// As it is below a state directory.
					s.Box = newBox(t, private(t), "main", text)
					write(t, filepath.Join(s.Box, "code", "helper.py"), "answer = 42\n", 0o600)
					if err := s.Own(); err != nil {
						t.Fatal(err)
					}
					output, exit := run(t, o, scope.Command{
						Path: path, Args: interpreterArgs(name), Dir: s.Box, Env: []string{"PATH=/usr/bin:/bin", "HOME=tmp", "TMPDIR=tmp"},
						Limits: scope.Limits{Processes: 64, Memory: 4 << 30, File: 1 << 20, Open: 64}, Confine: &s,
					})
					if exit.Code != 0 || output != "fine\n" {
						t.Fatalf("%v: %s", exit, output)
					}
					result, err := os.ReadFile(filepath.Join(s.Box, "out", "result.json"))
					if err != nil || strings.ReplaceAll(strings.TrimSpace(string(result)), " ", "") != `{"sum":6}` {
						t.Errorf("%s, %v", result, err)
					}
				})
			}
		}
	}
}
