package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// PythonName is the name of Python's runner.
const PythonName = "python3"

const (
	pythonEntry = "main.py"
	// askTime bounds what an interpreter may take to answer.
	askTime = 10 * time.Second
	// maxAnswer bounds its answer, in bytes.
	maxAnswer = 64 << 10
)

// question has an interpreter say what it is, and where it reads from.
const question = `import json, sys
print(json.dumps({"executable": sys.executable, "version": "%d.%d.%d" % sys.version_info[:3], "prefix": sys.prefix, "base": sys.base_prefix, "path": sys.path}))`

// boot runs a candidate by relative paths alone: Python makes the path of a script,
// and of the modules beside it, absolute, and an account of its own may not get
// through the directories above the box.
const boot = `import os, posix, sys; os.getcwd = posix.getcwd = lambda: "."; sys.path[0] = "code"; sys.argv[0] = __file__ = "code/` + pythonEntry + `"; del os, posix, sys; exec(compile(open(__file__, "rb").read(), __file__, "exec"))`

// pythonAnswer is what it says.
type pythonAnswer struct {
	Executable string   `json:"executable"`
	Version    string   `json:"version"`
	Prefix     string   `json:"prefix"`
	Base       string   `json:"base"`
	Path       []string `json:"path"`
}

var pythonVersion = regexp.MustCompile(`^3\.[0-9]{1,3}\.[0-9]{1,3}$`)

// Python is the interpreter that the one at path, which may be a shim or a link,
// says it is. It starts it once, to ask, for at most ten seconds, in an environment
// that has nothing of this process's, unless somebody else than root and this account
// could have written or replaced it.
//
// Candidates have a fixed environment, the same order of sets in each run, and
// libraries of numbers with one thread each.
func Python(path string) (Runner, error) {
	answer, err := askPython(path)
	if err != nil {
		return Runner{}, fmt.Errorf("runner %s: %s: %w", PythonName, path, err)
	}
	r := Runner{
		Name: PythonName,
		Path: answer.Executable,
		// The interpreter looks for its library from the name that it goes by.
		// No site of the user, no files of bytecode, logs as they are written.
		Args: []string{answer.Executable, "-s", "-B", "-u", "-X", "utf8", "-c", boot},
		Env: []string{
			"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=tmp", "TMPDIR=tmp", "TZ=UTC0", "PYTHONHASHSEED=0",
			"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "NUMEXPR_NUM_THREADS=1", "VECLIB_MAXIMUM_THREADS=1",
		},
		Read:  answer.reads(),
		Entry: pythonEntry,
		Note:  "Python " + answer.Version,
	}
	_, err = r.Identify()
	return r, err
}

func askPython(path string) (answer pythonAnswer, err error) {
	ctx, stop := context.WithTimeout(context.Background(), askTime)
	defer stop()
	// What it says is believed: nobody else may have had it say that. A script may
	// say it, too, as a shim does.
	path, err = filepath.Abs(path)
	if err != nil {
		return answer, err
	}
	if _, err := settled(path); err != nil {
		return answer, err
	}
	command := exec.CommandContext(ctx, path, "-I", "-B", "-c", question)
	command.Dir, command.Env = filepath.Dir(path), []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8"}
	command.WaitDelay = time.Second
	var out, errs short
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		if errs.Len() > 0 {
			return answer, fmt.Errorf("%w: %q", err, errs.String())
		}
		return answer, err
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		return answer, fmt.Errorf("it does not answer as Python does: %w", err)
	}
	if !pythonVersion.MatchString(answer.Version) {
		return answer, fmt.Errorf("it is version %q, not Python 3", answer.Version)
	}
	if !filepath.IsAbs(answer.Executable) {
		return answer, fmt.Errorf("it does not know its own path, but says %q", answer.Executable)
	}
	answer.Executable = filepath.Clean(answer.Executable)
	return answer, nil
}

// reads are the paths that it reads from, of those that are there: itself, its
// library, and the libraries of the system that it and its modules are linked to.
func (a pythonAnswer) reads() (list []string) {
	paths := []string{
		a.Executable,
		filepath.Join(a.Prefix, "pyvenv.cfg"), filepath.Join(a.Prefix, "lib"), filepath.Join(a.Base, "lib"),
		"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache",
	}
	if file, err := filepath.EvalSymlinks(a.Executable); err == nil {
		paths = append(paths, file)
	}
	for _, path := range append(paths, a.Path...) {
		if path = filepath.Clean(path); !filepath.IsAbs(path) || path == "/" || slices.Contains(list, path) {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			list = append(list, path)
		}
	}
	return list
}

// short keeps the first maxAnswer bytes of what is written to it.
type short struct{ bytes.Buffer }

func (s *short) Write(p []byte) (int, error) {
	s.Buffer.Write(p[:min(len(p), maxAnswer-s.Len())])
	return len(p), nil
}
