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
const honestPython = `import json, math, decimal, random, statistics, subprocess, tempfile, threading, concurrent.futures, os, sys
arguments = json.load(open("arguments.json"))
with concurrent.futures.ThreadPoolExecutor() as pool:
    total = sum(pool.map(int, range(arguments["n"] + 1)))
assert open("code/main").read().startswith("import")
with tempfile.TemporaryFile(dir="tmp") as f:
    f.write(os.urandom(16))
assert subprocess.run(["/bin/sh", "-c", "exit 5"]).returncode == 5
assert random.random() < 1 and math.isfinite(statistics.mean([1, 2]))
json.dump({"sum": total}, open("out/result.json", "w"))
print("fine")
`

// Interpreters work in each tier, in each scope, and what is theirs is not more.
func TestHonest(t *testing.T) {
	for _, s := range native(t) {
		for _, tier := range scopes(t) {
			for path, text := range map[string]string{"/bin/sh": honestShell, "/usr/bin/python3": honestPython} {
				name := filepath.Base(path)
				t.Run(string(s.Tier)+"/"+string(tier)+"/"+name, func(t *testing.T) {
					if _, err := exec.LookPath(path); err != nil {
						t.Skip(err)
					}
					s.Box = newBox(t, place(t), "main", text)
					if err := s.Own(); err != nil {
						t.Fatal(err)
					}
					args := []string{name, "code/main"}
					if name == "python3" {
						args = []string{name, "-I", "-B", "code/main"}
					}
					output, exit := run(t, tier, scope.Command{
						Path: path, Args: args, Dir: s.Box, Env: []string{"PATH=/usr/bin:/bin", "HOME=tmp", "TMPDIR=tmp"},
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
