//go:build amd64 || arm64

package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// python is this machine's interpreter.
func python(t *testing.T) Runner {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	r, err := Python(path)
	if err != nil {
		t.Skip("no python3 that may run candidates: ", err)
	}
	return r
}

func TestPython(t *testing.T) {
	t.Setenv("PYTHONPATH", t.TempDir()) // of the host, not of candidates
	t.Setenv("SECRET", "secret")
	r := python(t)
	if r.Worker || r.Entry != "main.py" || !filepath.IsAbs(r.Path) || !strings.HasPrefix(r.Note, "Python 3.") {
		t.Errorf("%+v", r)
	}
	got := run(t, r, newBox(t, `{"n": 2}`, map[string]string{"other.py": "def double(x): return 2 * x", "main.py": `
import json, os, sys
from other import double
with open("arguments.json") as f:
    n = json.load(f)["n"]
with open("out/progress", "w") as f:
    f.write("half")
print("é", "SECRET" in os.environ, "PYTHONPATH" in os.environ, os.environ["HOME"], os.getcwd() in sys.path)
with open("out/result.json", "w") as f:
    json.dump({"n": double(n), "order": list({"a", "b", "c", "d", "e"}), "bytecode": os.path.exists("code/__pycache__")}, f)
`}))
	if got.exit != 0 || got.stderr != "" || got.stdout != "é False False tmp False\n" || got.progress != "half" || !strings.Contains(got.result, `"n": 4`) || !strings.Contains(got.result, `"bytecode": false`) {
		t.Errorf("%+v", got)
	}
	for range 3 { // sets have one order
		again := run(t, r, newBox(t, `{}`, map[string]string{"main.py": `print(list({"a", "b", "c", "d", "e"}))`}))
		first := run(t, r, newBox(t, `{}`, map[string]string{"main.py": `print(list({"a", "b", "c", "d", "e"}))`}))
		if again.stdout == "" || again.stdout != first.stdout {
			t.Errorf("%q, %q", again.stdout, first.stdout)
		}
	}
	if got := run(t, r, newBox(t, `{}`, map[string]string{"main.py": "1 / 0"})); got.exit != 1 || !strings.Contains(got.stderr, "ZeroDivisionError") {
		t.Errorf("%+v", got)
	}
}

// What an interpreter says that it reads is all that a program with modules of
// every kind opens, but for the box and what every process has.
func TestPythonReads(t *testing.T) {
	r := python(t)
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip(err)
	}
	dir := newBox(t, `{}`, map[string]string{"main.py": "import ctypes, csv, decimal, hashlib, json, random, sqlite3, statistics, time, zlib\n"})
	trace := filepath.Join(t.TempDir(), "trace")
	command := exec.CommandContext(t.Context(), strace, append([]string{"-f", "-o", trace, "-e", "trace=open,openat,execve", r.Path}, r.Args[1:]...)...)
	command.Env, command.Dir = r.Env, dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out) // a module is missing, or nothing can be traced
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	for line := range strings.Lines(string(text)) {
		_, rest, _ := strings.Cut(line, `"`)
		path, rest, _ := strings.Cut(rest, `"`)
		if !strings.HasPrefix(path, "/") || strings.Contains(rest, "= -1 ") || strings.HasPrefix(path, dir) {
			continue
		}
		opened++
		if strings.HasPrefix(path, "/etc/ssl/") { // what a machine's own site adds
			continue
		}
		if !slices.ContainsFunc(r.Read, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") }) && !strings.HasPrefix(path, "/usr/share/locale") {
			t.Errorf("it opens %s", path)
		}
	}
	if opened < 20 {
		t.Errorf("%d files opened:\n%s", opened, text)
	}
}

// What is not Python is refused, and so is an interpreter that others can write.
func TestPythonRefuses(t *testing.T) {
	for name, script := range map[string]string{
		"fails":       "#!/bin/sh\nexit 3\n",
		"says":        "#!/bin/sh\necho no\n",
		"two":         `#!/bin/sh` + "\n" + `echo '{"executable":"/bin/sh","version":"2.7.18"}'` + "\n",
		"relative":    `#!/bin/sh` + "\n" + `echo '{"executable":"python3","version":"3.11.7"}'` + "\n",
		"none":        `#!/bin/sh` + "\n" + `echo '{"executable":"/none/python3","version":"3.11.7"}'` + "\n",
		"is a script": `#!/bin/sh` + "\n" + `echo '{"executable":"'"$0"'","version":"3.11.7"}'` + "\n",
	} {
		if r, err := Python(executable(t, script)); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _, err := Python(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("what is not there")
	}
}

// A program that others could have written, or put there, is not even asked; nor is
// one that they chose by a link.
func TestPythonAsksNoStranger(t *testing.T) {
	asked := filepath.Join(t.TempDir(), "asked")
	shim := func() string { return executable(t, "#!/bin/sh\n: > "+asked+"\n") }
	link := func() string {
		name := shim()
		if err := os.Symlink(name, name+".link"); err != nil {
			t.Fatal(err)
		}
		return name + ".link"
	}
	for name, spoil := range map[string]func() (string, error){
		"mode":      func() (string, error) { p := shim(); return p, os.Chmod(p, 0o777) },
		"directory": func() (string, error) { p := shim(); return p, os.Chmod(filepath.Dir(p), 0o777) },
		"link":      func() (string, error) { p := link(); return p, os.Chmod(filepath.Dir(p), 0o775) },
		"its owner": func() (string, error) { p := shim(); return p, os.Chown(p, 65534, 65534) },
		"the link's owner": func() (string, error) {
			p := link()
			return p, os.Lchown(p, 65534, 65534)
		},
		"its target's owner": func() (string, error) {
			p := link()
			return p, os.Chown(p, 65534, 65534)
		},
	} {
		if strings.Contains(name, "owner") && os.Geteuid() != 0 {
			continue
		}
		path, err := spoil()
		if err != nil {
			t.Fatal(err)
		}
		_, err = Python(path)
		if _, started := os.Stat(asked); err == nil || started == nil {
			t.Fatalf("%s: %v, started: %t", name, err, started == nil)
		}
	}
	Python(shim())
	if _, err := os.Stat(asked); err != nil {
		t.Error("one that nobody else could write is not asked: ", err)
	}
}

// A shim is asked with nothing of this process's environment.
func TestPythonAsksAlone(t *testing.T) {
	t.Setenv("SECRET", "secret")
	shim := executable(t, "#!/bin/sh\n[ -z \"$SECRET\" ] || exit 9\nexec "+systemPython(t).Path+" \"$@\"\n")
	if r, err := Python(shim); err != nil || r.Path == shim {
		t.Errorf("%+v, %v", r, err)
	}
}
