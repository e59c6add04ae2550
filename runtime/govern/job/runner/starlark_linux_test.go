//go:build amd64 || arm64

package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/worker/sandbox"
)

var soak = flag.Bool("soak", false, "run every hostile program of the shared suite")

// spoilMark is the variable that names a layer which a candidate's process leaves
// out.
const spoilMark = "CAPGEN_TEST_WITHOUT"

func spoil() {
	if without := os.Getenv(spoilMark); without != "" {
		endStarlark(runStarlark(slices.DeleteFunc(sandbox.Layers(), func(l sandbox.Layer) bool { return string(l) == without })))
	}
}

// newBox is a directory as a candidate finds it.
func newBox(t *testing.T, arguments string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"code", "out", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "arguments.json"), []byte(arguments), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, "code", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ran is how a candidate ended.
type ran struct {
	exit                             int
	stdout, stderr, result, progress string
}

// run runs a runner in a box, for at most a minute.
func run(t *testing.T, r Runner, dir string, env ...string) ran {
	t.Helper()
	i, err := r.Identify()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, i.Path)
	command.Args, command.Env, command.Dir = i.Args, append(i.Env, env...), dir
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	out := ran{command.ProcessState.ExitCode(), stdout.String(), stderr.String(), "", ""}
	for name, to := range map[string]*string{"result.json": &out.result, "progress": &out.progress} {
		text, err := os.ReadFile(filepath.Join(dir, "out", name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		*to = string(text)
	}
	return out
}

func starlark(t *testing.T) Runner {
	t.Helper()
	if raced {
		t.Skip("the race detector links C code, whose threads the sandbox cannot reach")
	}
	r, err := Starlark()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func runSource(t *testing.T, source string, env ...string) ran {
	t.Helper()
	return run(t, starlark(t), newBox(t, `{"n": 2}`, map[string]string{"main.star": source}), env...)
}

func TestStarlark(t *testing.T) {
	got := runSource(t, `
def main():
    for i in range(data["n"]):
        print("progress: " + str(i + 1) + " of 2")
    print("progress:", "é" * 150, end = "")
    print()
    print("bye")
    return {"n": data["n"] + 1, "x": 0.5, "name": "a\"b"}
`)
	if got.exit != 0 || got.stderr != "" || got.result != `{"n":3,"x":0.5,"name":"a\"b"}` {
		t.Errorf("%+v", got)
	}
	if want := "progress: 1 of 2\nprogress: 2 of 2\nprogress: " + strings.Repeat("é", 150) + "\nbye\n"; got.stdout != want {
		t.Errorf("%q", got.stdout)
	}
	if want := strings.Repeat("é", 100); got.progress != want {
		t.Errorf("%q", got.progress)
	}
	if got := runSource(t, "def main():\n    print('progress: one')\n    return 1"); got.progress != "one"+strings.Repeat(" ", confine.MaxProgress-3) {
		t.Errorf("%q", got.progress)
	}
}

// How a program that is no good ends, and what its author reads.
func TestStarlarkFails(t *testing.T) {
	for source, want := range map[string]ran{
		"def main():\n    return 1 // 0":                {exit: ExitProgram, stderr: "main.star:2:14: ZeroDivisionError"},
		"def main(:":                                    {exit: ExitProgram, stderr: "main.star:1:9: "},
		"def main(arguments):\n    return 1":            {exit: ExitProgram, stderr: "main takes no parameters"},
		"load('other.star', 'x')\ndef main(): return 1": {exit: ExitProgram, stderr: "main.star:1"},
		"import os\nos.system('id')":                    {exit: ExitProgram, stderr: "main.star:1"},
		"open('/etc/passwd').read()":                    {exit: ExitProgram, stderr: "main.star:1"},
		"files.read(paths=['x'])":                       {exit: ExitProgram, stderr: "main.star:1"},
		"def main():\n    return main":                  {exit: ExitProgram, stderr: "main.star"},
		"def main():\n    data['x'] = 1":                {exit: ExitProgram, stderr: "main.star:2"},
		"x = 1":                                         {exit: ExitProgram, stderr: "it has no result"},
		"":                                              {exit: ExitProgram, stderr: "main.star"},
		"'x' * (1 << 40)":                               {exit: ExitLimit, stderr: "the memory that the run may have (limits.memory is "},
		"'é' * 12000000":                                {exit: ExitLimit, stderr: "main.star"},
		"def f(): return f()\nf()":                      {exit: ExitProgram, stderr: "main.star"},
		"x = []\nfor i in range(70): x = [x]\nx":        {exit: ExitLimit, stderr: "main.star"},
		"a\x00b":                                        {exit: ExitProgram, stderr: "main.star"},
		"\xff":                                          {exit: ExitProgram, stderr: "main.star"},
	} {
		got := runSource(t, source)
		if got.exit != want.exit || !strings.Contains(got.stderr, want.stderr) || got.stdout != "" || got.result != "" || strings.Contains(got.stderr, "capabilities") || strings.Contains(got.stderr, "a capability") || strings.Contains(strings.ToLower(got.stderr), "worker") {
			t.Errorf("%.60q: %d, %q, %q, %.60q", source, got.exit, got.stderr, got.stdout, got.result)
		}
	}
}

// A box that is not as it has to be runs nothing.
func TestStarlarkRefusesBoxes(t *testing.T) {
	const source = "print('ran')\n1"
	for name, spoil := range map[string]func(dir string) error{
		"no entry": func(dir string) error { return os.Remove(filepath.Join(dir, "code", "main.star")) },
		"entry is a link": func(dir string) error {
			return relink(filepath.Join(dir, "code", "main.star"), filepath.Join(dir, "arguments.json"))
		},
		"entry too large": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "code", "main.star"), make([]byte, maxSource+1), 0o600)
		},
		"no arguments": func(dir string) error { return os.Remove(filepath.Join(dir, "arguments.json")) },
		"a result":     func(dir string) error { return os.WriteFile(filepath.Join(dir, "out", "result.json"), nil, 0o600) },
		"a link as result": func(dir string) error {
			return os.Symlink(filepath.Join(dir, "tmp", "x"), filepath.Join(dir, "out", "result.json"))
		},
		"progress": func(dir string) error { return os.WriteFile(filepath.Join(dir, "out", "progress"), nil, 0o600) },
		"no out":   func(dir string) error { return os.Remove(filepath.Join(dir, "out")) },
	} {
		dir := newBox(t, "{}", map[string]string{"main.star": source})
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		if got := run(t, starlark(t), dir); got.exit != ExitBox || got.stdout != "" || got.stderr == "" || got.result != "" {
			t.Errorf("%s: %+v", name, got)
		}
		if _, err := os.Lstat(filepath.Join(dir, "tmp", "x")); err == nil {
			t.Errorf("%s: it was followed", name)
		}
	}
	for _, memory := range []string{"", "x", "0", "-1", "9223372036854775807", " 268435456"} {
		if got := runSource(t, source, MemoryVariable+"="+memory); got.exit != ExitBox || got.stdout != "" {
			t.Errorf("memory %q: %+v", memory, got)
		}
	}
}

func relink(name, to string) error {
	if err := os.Remove(name); err != nil {
		return err
	}
	return os.Symlink(to, name)
}

// With a layer of the sandbox missing nothing runs.
func TestStarlarkNeedsItsSandbox(t *testing.T) {
	for _, l := range sandbox.Layers() {
		got := runSource(t, "print('ran')\n1", spoilMark+"="+string(l))
		if got.exit != ExitBox || got.stdout != "" || got.result != "" || !strings.Contains(got.stderr, "of the sandbox") {
			t.Errorf("without %s: %+v", l, got)
		}
	}
	if got := runSource(t, "print('ran')\n1", spoilMark+"=none of them"); got.exit != 0 {
		t.Errorf("%+v", got)
	}
}

// The memory that a supervisor gives is what the process has.
func TestStarlarkMemory(t *testing.T) {
	const source = "x = [i for i in range(3000000)]\nlen(x)"
	if got := runSource(t, source, fmt.Sprint(MemoryVariable, "=", 1<<30)); got.exit != 0 || got.result != "3000000" {
		t.Errorf("%+v", got)
	}
	if got := runSource(t, "1", fmt.Sprint(MemoryVariable, "=", 16<<20)); got.exit != 0 || got.result != "1" {
		t.Errorf("%+v", got)
	}
	if got := runSource(t, source, fmt.Sprint(MemoryVariable, "=", 16<<20)); got.exit != ExitLimit || got.result != "" {
		t.Errorf("exit %d: %.300s", got.exit, got.stderr)
	}
}

// TestStarlarkHostile runs the hostile programs of the shared suite with the
// processor time that a supervisor would give, and sees each end in a way that is
// named, with nothing written.
func TestStarlarkHostile(t *testing.T) {
	names := hostile(t)
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got := runLimited(t, string(source))
		switch {
		case got.exit == 0 && json.Valid([]byte(got.result)):
		case (got.exit == ExitProgram || got.exit == ExitLimit || got.exit == -1) && got.result == "":
		default:
			t.Errorf("%s: exit %d, result %.60q, %.300s", filepath.Base(name), got.exit, got.result, got.stderr)
		}
		if len(got.stderr) > maxComplaint+1 && got.exit == ExitProgram {
			t.Errorf("%s: %d bytes of complaints", filepath.Base(name), len(got.stderr))
		}
	}
}

// hostile are the programs of the shared suite, a few of them unless this is a soak.
func hostile(t *testing.T) []string {
	for dir := "."; ; dir = filepath.Join("..", dir) {
		names, _ := filepath.Glob(filepath.Join(dir, "shared", "suites", "hostile", "*.star"))
		if len(names) > 0 && !*soak {
			var some []string
			for _, few := range []string{"while_true", "bigint_square_32", "dag_json_exp_40", "list_double_loop", "recursion_hidden_Y", "src_nul", "json_decode_deep_5M", "cyclic_list_return"} {
				some = append(some, filepath.Join(dir, "shared", "suites", "hostile", few+".star"))
			}
			return some
		}
		if len(names) > 0 {
			return names
		}
		if at, err := filepath.Abs(dir); err != nil || at == "/" {
			t.Skip("the shared suite of hostile programs is not beside this repository")
		}
	}
}

// runLimited runs a program with a second of processor time, of which the kernel
// knows.
func runLimited(t *testing.T, source string) ran {
	t.Helper()
	dir := newBox(t, "{}", map[string]string{"main.star": source})
	r := starlark(t)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var stdout counter
	var stderr bytes.Buffer
	command := exec.CommandContext(ctx, sh, "-c", `ulimit -t 1; exec "$0" "$@"`, r.Path)
	command.Args = append(command.Args, r.Args[1:]...)
	command.Env, command.Dir = r.Env, dir
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	result, err := os.ReadFile(filepath.Join(dir, "out", "result.json"))
	if err != nil {
		t.Error(err)
	}
	return ran{exit: command.ProcessState.ExitCode(), stderr: stderr.String(), result: string(result)}
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
