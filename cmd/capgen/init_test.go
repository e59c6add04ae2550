package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/internal/shelltest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/mod/modfile"
)

// goEnvironment gives scripts the go command as it is here, with its caches,
// but without a network. CHECKOUT is this repository, TOOLS the folder with
// capgen alone.
func goEnvironment(t *testing.T) func(*testscript.Env) error {
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPATH").Output()
	if err != nil {
		t.Fatal(err)
	}
	var vars map[string]string
	if err := json.Unmarshal(out, &vars); err != nil {
		t.Fatal(err)
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return func(e *testscript.Env) error {
		for name, value := range vars {
			e.Setenv(name, value)
		}
		e.Setenv("GOFLAGS", "-mod=mod")
		e.Setenv("GOPROXY", "off")
		e.Setenv("GOTOOLCHAIN", "local")
		e.Setenv("GOWORK", "")
		e.Setenv("CHECKOUT", checkout)
		e.Setenv("TOOLS", filepath.SplitList(e.Getenv("PATH"))[0])
		return nil
	}
}

// indirect MAX FILE fails if a go.mod has more indirect requirements.
func indirect(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: indirect MAX FILE")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	f, err := modfile.Parse(args[1], []byte(ts.ReadFile(args[1])), nil)
	ts.Check(err)
	n := 0
	for _, r := range f.Require {
		if r.Indirect {
			n++
		}
	}
	if n == 0 || n > most {
		ts.Fatalf("%s has %d indirect requirements, want 1 to %d", args[1], n, most)
	}
}

// client PROGRAM speaks MCP with a server made of the project, and calls each
// tool.
func client(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: client PROGRAM")
	}
	cmd := exec.Command(ts.MkAbs(args[0]), "stdio")
	s, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(context.Background(), &mcp.CommandTransport{Command: cmd}, nil)
	ts.Check(err)
	for _, call := range []struct{ tool, arguments, want string }{
		{"search_api", `{"query":"roll dice"}`, "random.int(*, min: int, max: int)"},
		{"describe_api", `{"name":"random.int"}`, "The smallest number that may come."},
		{"execute", `{"source":"def main():\n    return random.int(min=6, max=6)"}`, `"result":6`},
		{"execute", `{"source":"def main():\n    return random.int(min=6, max=1)"}`, "min is 6, which is greater than max, 1"},
	} {
		r, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: call.tool, Arguments: json.RawMessage(call.arguments)})
		ts.Check(err)
		if text := r.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, call.want) {
			ts.Fatalf("%s %s: %s\ndoes not say %s", call.tool, call.arguments, text, call.want)
		}
	}
	ts.Check(s.Close())
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		ts.Fatalf("the server exits %d", code)
	}
}

var projectLine = regexp.MustCompile(`^<!-- project: (run|append to|fails with) ?(.*) -->$`)

// blockLimit bounds a block of a page, which may compile all that a project
// needs.
const blockLimit = 4 * time.Minute

// page FILE does what a document tells the reader to do in a new project, here
// in the current folder. The line above each block says how:
//
//	<!-- project: run -->               its commands succeed
//	<!-- project: fails with WORDS -->  the last one fails, and says so
//	<!-- project: append to FILE -->    its text is added to the file
func page(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: page FILE")
	}
	// A script has no other way to tell what its commands get.
	ts.Check(ts.Exec("env"))
	environ := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	steps := 0
	lines := strings.Split(ts.ReadFile(args[0]), "\n")
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(lines[i], "```") {
			continue
		}
		m := projectLine.FindStringSubmatch(lines[i-1])
		if m == nil {
			ts.Fatalf("%s:%d: the line above does not say what the block is for", args[0], i+1)
		}
		start := i + 1
		for i++; lines[i] != "```"; i++ {
		}
		text := strings.Join(lines[start:i], "\n") + "\n"
		steps++
		switch how, what := m[1], m[2]; how {
		case "append to":
			ts.Check(os.WriteFile(ts.MkAbs(what), []byte(ts.ReadFile(what)+text), 0o666))
		default:
			cmd := exec.Command("sh", "-euc", text)
			cmd.Dir, cmd.Env = ts.MkAbs("."), environ
			stdout, stderr, err := shelltest.Run(cmd, blockLimit)
			fmt.Fprint(ts.Stdout(), stdout)
			fmt.Fprint(ts.Stderr(), stderr)
			if (err == nil) != (how == "run") || !strings.Contains(stderr, what) {
				ts.Fatalf("%s:%d: %v\n%s%s", args[0], start, err, text, stderr)
			}
		}
	}
	if steps == 0 {
		ts.Fatalf("%s has no block: does this test read it?", args[0])
	}
}

// Only a program that was built from a downloaded module knows a version that
// a project can require.
func TestReleased(t *testing.T) {
	main := func(path, version, sum string, replace *debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: path, Version: version, Sum: sum, Replace: replace}}
	}
	for _, c := range []struct {
		name string
		info *debug.BuildInfo
		want string
	}{
		{"go install of a release", main("github.com/capgen/capgen", "v1.2.3", "h1:x", nil), "v1.2.3"},
		{"go install of a commit", main("github.com/capgen/capgen", "v0.0.0-20260101000000-0123456789ab", "h1:x", nil), "v0.0.0-20260101000000-0123456789ab"},
		{"built in a clone", main("github.com/capgen/capgen", "v0.0.0-20260101000000-0123456789ab", "", nil), ""},
		{"built in a clone without history", main("github.com/capgen/capgen", "(devel)", "", nil), ""},
		{"tool of a project that replaces it", main("github.com/capgen/capgen", "v1.2.3", "h1:x", &debug.Module{Path: "../capgen"}), ""},
		{"part of another program", main("example.com/other", "v1.2.3", "h1:x", nil), ""},
		{"unknown", nil, ""},
	} {
		got, err := released(c.info)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), "--replace") {
			t.Errorf("%s: %v does not name --replace", c.name, err)
		}
	}
}

// A replacement is relative to the project, however the shell's folder lies.
func TestReplacement(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ checkout, project, want string }{
		{"capgen", "notes", "../capgen"},
		{"./capgen", "a/b/notes", "../../../capgen"},
		{"../capgen", ".", "../capgen"},
		{".", "notes", ".."},
		{"notes/capgen", "notes", "./capgen"},
		{"notes/..capgen", "notes", "./..capgen"},
		{filepath.Join(dir, "x", "..", "capgen"), "notes", filepath.Join(dir, "capgen")},
	} {
		got, err := (&tool{dir: dir}).replacement(c.checkout, c.project)
		if err != nil || got != c.want {
			t.Errorf("%s in %s: %q, %v; want %q", c.checkout, c.project, got, err, c.want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for s, want := range map[string]string{"../notes": "../notes", "my notes": `"my notes"`, "~x": `"~x"`, "-x": `"-x"`, "a\x1b": `"a\x1b"`, "": `""`} {
		if got := shellWord(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}
