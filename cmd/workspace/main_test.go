package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/host"
)

// asServer makes the test binary the server, so that tests run the program
// that users run, in a process of its own.
const asServer = "WORKSPACE_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	runtime.ServeWorkerAndExit()
	scope.ServeKeeperAndExit()
	if os.Getenv(asServer) != "" {
		main()
	}
	os.Exit(m.Run())
}

// workspace runs the server with a program on standard input.
func workspace(t *testing.T, input string, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return run(t, self, input, args...)
}

// run runs a binary of this package: the test's own, or one that was built.
func run(t *testing.T, binary, input string, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, binary, args...)
	command.Env = append(os.Environ(), asServer+"=1")
	command.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil && command.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), command.ProcessState.ExitCode()
}

// TestExplore runs the program of make run within the default limits, and
// compares its value with what go/parser and go/scanner say.
//
// It builds the server as make does: the race detector, which the test's own
// binary may hold, takes ten times the steps' time, and the limits count it.
func TestExplore(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "workspace")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, directory := range map[string]func(*testing.T) string{
		"tools":           toolsDirectory,
		"this repository": func(*testing.T) string { return "../.." },
	} {
		t.Run(name, func(t *testing.T) {
			dir := directory(t)
			stdout, stderr, exit := run(t, binary, "", "exec", "--root", dir, exploreProgram)
			if exit != 0 {
				t.Fatalf("exit %d: %s", exit, stderr)
			}
			if !strings.Contains(stderr, "receipt ") || !strings.Contains(stderr, "files.read") {
				t.Errorf("no receipt of the calls: %s", stderr)
			}
			t.Logf("%d bytes; %s", len(stdout), stderr)
			var got exploration
			if err := json.Unmarshal([]byte(stdout), &got); err != nil {
				t.Fatal(err)
			}
			if got.GoFiles == 0 || len(stdout) > 128<<10 {
				t.Errorf("%d Go files, %d bytes", got.GoFiles, len(stdout))
			}
			// What tools/go.mod pins is v0.52.0.
			if name == "tools" && (got.GoFiles != 1291 || got.Lines < 240_000) {
				t.Errorf("golang.org/x/tools has %d Go files of %d lines", got.GoFiles, got.Lines)
			}
			if diff := cmp.Diff(computeExploration(t, dir), got); diff != "" {
				t.Errorf("computed by go/parser (-) and by the program (+): %s", diff)
			}
		})
	}
}

// TestExploreSource runs the program on what its string methods could mistake.
func TestExploreSource(t *testing.T) {
	dir := t.TempDir()
	for name, source := range map[string]string{
		"empty/a.go":   "",
		"plain/a.go":   "package a\n\n// TODO one\nfunc F() {\n\tx := 1 // FIXME(me): two\n\t_ = x\n}\n\nfunc (t *T[K, V]) M() int {\n\treturn 1\n}\n",
		"crlf/a.go":    "package a\r\n\r\n// TODO: x\r\nfunc F() {\r\n}\r\n",
		"strings/a.go": "package a\n\nvar s = \"// TODO no\" + `/* TODO no\n}\nfunc G() {\n` + \"\\\"// XXX no\" // XXX yes\nvar r = '\"' // TODO after a quote\nvar q = '\\'' // TODO after an escape\n",
		"raw/a.go":     "package a\n\nfunc F() string {\n\treturn `\n}\nfunc no() {\n`\n}\n\nfunc G() string { return `\n` }\n",
		"block/a.go":   "package a\n\n/* TODO first\n * XXX second */\nfunc F() { /* FIXME: x */ }\n\n/*\nfunc no() {\n}\n*/\n",
		"words/a.go":   "package a\n\n// TODOs, MYTODO, TODO_x and XXXX are no markers, but TODO: is\n// context.TODO is one\nvar TODO = 1\n",
		"long/a.go":    "package a\n\n// TODO " + strings.Repeat("é", 80) + " " + strings.Repeat("x ", 80) + "\n// TODO" + strings.Repeat("(é)", 80) + "\n// XXX " + strings.Repeat("ab ", 60) + "\n",
		"decl/a.go":    "package a\n\nfunc asm(x int)\n\nfunc wide(\n\tx int,\n) (y int)\n\nfunc body(\n\tx struct {\n\t\ty int\n\t},\n) error {\n\treturn nil\n}\n",
		"broken/a.go":  "package a\n\nvar s = \"not closed // TODO no\n// TODO yes\nfunc F() {\n}\n",
		"a.go":         "package a // no line break at the end, TODO",
		".git/a.go":    "package a // TODO not looked at",
		"notes.txt":    "TODO is no Go",
	} {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stdout, stderr, exit := workspace(t, "", "exec", "--root", dir, exploreProgram)
	if exit != 0 {
		t.Fatalf("exit %d: %s", exit, stderr)
	}
	var got exploration
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(computeExploration(t, dir), got); diff != "" {
		t.Errorf("computed by go/parser (-) and by the program (+): %s", diff)
	}
	if err := os.WriteFile(filepath.Join(dir, "bad.go"), []byte("package a\n// \xff\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, _, _ = workspace(t, "", "exec", "--root", dir, exploreProgram)
	if !strings.Contains(stdout, `"unread":["bad.go"]`) {
		t.Errorf("a file that is no text is not reported: %s", stdout)
	}
}

// TestProgram calls every capability the way an agent does.
func TestProgram(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{filepath.Join(one, "a.go"): "package a\n\nfunc A() {}\n", filepath.Join(two, "b.txt"): "needle\n"} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stdout, stderr, exit := workspace(t, `
def main():
    listed = files.list()
    walked = files.tree(include=["*.go"], kinds=["file"])
    stats = files.stat(paths=["one/a.go", "../x", "two/none"]).stats
    read = files.read(ranges=[{"path": "one/a.go", "first_line": 3, "last_line": 3}], paths=["two/b.txt", "two"])
    found = files.search(pattern="NEEDLE|func", ignore_case=True, limit=1)
    more = files.search(pattern="NEEDLE|func", ignore_case=True, limit=1, cursor=found.next)
    return {
        "list": [e.path for e in listed.entries],
        "tree": [e.path for e in walked.entries],
        "stat": [s.error.code if s.error else s.kind for s in stats],
        "read": [f.error.code if f.error else f.text for f in read.files],
        "search": [["%s:%d" % (m.path, m.line) for m in page.matches] for page in [found, more]],
        "truncated": [found.truncated, more.truncated],
    }
`, "exec", "--root", "one="+one, "--root", "two="+two, "-")
	want := `{"list":["one","two"],"tree":["one/a.go"],"stat":["file","invalid","not_found"],"read":["needle\n","not_file","func A() {}\n"],` +
		`"search":[["one/a.go:3"],["two/b.txt:1"]],"truncated":[true,false]}`
	if exit != 0 || strings.TrimSpace(stdout) != want {
		t.Errorf("exit %d, got %s\nwant %s\n%s", exit, stdout, want, stderr)
	}
}

func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	program := "def main():\n    return files.list(path=%q).entries\n"
	for name, test := range map[string]struct {
		args   []string
		path   string
		exit   int
		stderr string
	}{
		"no root":      {[]string{"exec", "-"}, ".", 2, "--root DIR"},
		"missing root": {[]string{"exec", "--root", filepath.Join(dir, "none"), "-"}, ".", 2, "no such file"},
		"empty root":   {[]string{"exec", "--root", "", "-"}, ".", 2, "root"},
		"two of one":   {[]string{"exec", "--root", dir, "--root", dir, "-"}, ".", 2, "two roots have the name"},
		"works":        {[]string{"exec", "--root", dir, "-"}, ".", 0, "files.list"},
		"named":        {[]string{"exec", "--root", "x=" + dir, "-"}, ".", 0, "files.list"},
		"up":           {[]string{"exec", "--root", dir, "-"}, "..", 1, "segments .. are refused"},
		"describe":     {[]string{"describe", "files.read"}, "", 0, ""},
		"search":       {[]string{"search", "grep"}, "", 0, ""},
		"limit zero":   {[]string{"search", "grep", "--explain", "--limit", "0"}, "", 2, "--limit is at least 1, not 0"},
		"limit":        {[]string{"search", "grep", "--limit", "21"}, "", 1, "expected 1 to 20 (MaxSearchResults), got 21"},
		"not search":   {[]string{"describe", "files.read", "--explain"}, "", 2, "flags of search, not of describe"},
		"doctor":       {[]string{"doctor"}, "", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, exit := workspace(t, strings.Replace(program, "%q", `"`+test.path+`"`, 1), test.args...)
			if exit != test.exit || !strings.Contains(stderr, test.stderr) {
				t.Errorf("exit %d, want %d; stderr %q does not say %q", exit, test.exit, stderr, test.stderr)
			}
			if (stdout != "") != (exit == 0) {
				t.Errorf("exit %d, stdout %q", exit, stdout)
			}
			if exit == 1 && strings.Contains(stderr, dir) {
				t.Errorf("the program learns of the host: %s", stderr)
			}
		})
	}
}

func TestSearchExplain(t *testing.T) {
	stdout, stderr, exit := workspace(t, "", "search", "--explain", "--limit", "1", "--namespace", "files", "find", "text")
	want := regexp.MustCompile(`^ +\d+\.\d\d  files\.search\n( +\d+\.\d\d  [a-z =]+\n)+$`)
	if exit != 0 || !want.MatchString(stdout) || !strings.Contains(stdout, "  find text\n") || !strings.Contains(stdout, "  find = search\n") {
		t.Errorf("exit %d, %s\n%s", exit, stderr, stdout)
	}
	for _, args := range [][]string{{"zebra"}, {"find", "--namespace", "none"}} {
		stdout, stderr, exit := workspace(t, "", append([]string{"search", "--explain"}, args...)...)
		if exit != 0 || stdout != "" || !strings.Contains(stderr, "nothing matches") {
			t.Errorf("%v: exit %d, %q, %q", args, exit, stdout, stderr)
		}
	}
	if _, stderr, exit := workspace(t, "", "search", "--explain", "--limit", "21", "x"); exit != 1 || !strings.Contains(stderr, "MaxSearchResults") {
		t.Errorf("exit %d, %q", exit, stderr)
	}
}

// A program's own words do not command the terminal they are shown on.
func TestErrorsAreShownNotObeyed(t *testing.T) {
	_, stderr, exit := workspace(t, `
def main():
    fail("\033[31m\nworkspace: forged")
`, "exec", "--root", t.TempDir(), "-")
	if exit != 1 || strings.Contains(stderr, "\x1b") || strings.Contains(stderr, "\nworkspace: forged") || !strings.Contains(stderr, `\u001b[31m\u000aworkspace: forged`) {
		t.Errorf("exit %d: %q", exit, stderr)
	}
}

// TestReferencePage: the page has the flags and variables that the program has.
func TestReferencePage(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(text), "\n## workspace")
	settings := host.Settings(options(new(roots)))
	for _, s := range settings {
		name := "`--" + s.Flag
		if s.Flag == "" { // the variable alone
			name = "`" + s.Variable
		}
		row := regexp.MustCompile("(?m)^\\|.*" + name + "[ `].*$").FindString(page)
		if row == "" || s.Variable != "" && !strings.Contains(row, "`"+s.Variable+"`") {
			t.Errorf("--%s %s: row %q", s.Flag, s.Variable, row)
		}
	}
	for _, name := range regexp.MustCompile(`--[a-z][a-z-]*|CAPGEN_[A-Z_]+`).FindAllString(page, -1) {
		if !slices.ContainsFunc(settings, func(s host.Setting) bool {
			return name == "--"+s.Flag || name == s.Variable
		}) {
			t.Errorf("%s is no flag or variable of the program", name)
		}
	}
}

// TestFound asks in the words of an agent.
func TestFound(t *testing.T) {
	for query, want := range map[string]string{
		"grep for a regular expression": "files.search", "list a directory": "files.list", "read file contents": "files.read",
		"project structure": "files.tree", "find files by name": "files.tree", "file size": "files.stat", "files.stat": "files.stat",
		"find references": "files.search", "get symbol definition": "files.search", "find TODO comments": "files.search", "largest files": "files.tree",
		"recursive listing": "files.tree", "head of a file": "files.read", "permissions": "files.stat",
	} {
		stdout, stderr, exit := workspace(t, "", "search", query)
		var answer runtime.SearchResult
		if err := json.Unmarshal([]byte(stdout), &answer); err != nil || exit != 0 || len(answer.Results) == 0 {
			t.Fatalf("%s: exit %d, %v: %s", query, exit, err, stderr)
		}
		if answer.Results[0].Name != want {
			t.Errorf("%s: first is %s, want %s", query, answer.Results[0].Name, want)
		}
	}
}
