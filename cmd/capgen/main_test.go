package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"capgen": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"client":   client,
			"exits":    exits,
			"indirect": indirect,
			"page":     page,
			"replace":  replace,
		},
		Setup: goEnvironment(t),
	})
}

// exits CODE capgen ARGS… runs capgen and compares its exit code. The outputs
// are in the files out and err.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || args[1] != "capgen" {
		ts.Fatalf("usage: exits CODE capgen ARGS…")
	}
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), args[2:], &tool{stdout: &stdout, stderr: &stderr, dir: ts.MkAbs(".")})
	ts.Check(os.WriteFile(ts.MkAbs("out"), stdout.Bytes(), 0o666))
	ts.Check(os.WriteFile(ts.MkAbs("err"), stderr.Bytes(), 0o666))
	if got := string(rune('0' + code)); got != args[0] {
		ts.Fatalf("capgen exits %s, want %s\nstdout:\n%s\nstderr:\n%s", got, args[0], &stdout, &stderr)
	}
}

// replace OLD NEW FILE changes the one place where OLD is.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace OLD NEW FILE")
	}
	text := ts.ReadFile(args[2])
	if strings.Count(text, args[0]) != 1 {
		ts.Fatalf("%s holds %q %d times", args[2], args[0], strings.Count(text, args[0]))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Replace(text, args[0], args[1], 1)), 0o666))
}

const smallManifest = `capgen: 1
go: {package: example.com/x/generated}
server: {name: x, version: 1.0.0}
capabilities:
  - {name: x.one, summary: One., effect: read, idempotency: natural, world: closed, scopes: none, input: {type: object, properties: {}}, output: {type: boolean}}
`

// An interrupted generate exits 2, says what to do, and leaves whole files:
// those that are there are right, and the next run completes them.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "capabilities.yaml"), []byte(smallManifest), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stderr bytes.Buffer
	if code := run(ctx, []string{"generate"}, &tool{stdout: io.Discard, stderr: &stderr, dir: dir}); code != exitUsage || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit %d: %s", code, &stderr)
	}
	for _, command := range []string{"generate", "check"} {
		if code := run(context.Background(), []string{command}, &tool{stdout: io.Discard, stderr: &stderr, dir: dir}); code != exitClean {
			t.Errorf("%s exits %d: %s", command, code, &stderr)
		}
	}
}

// What cannot be written leaves the old file and no temporary one.
func TestWriteFailure(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	tr := &tree{name: "generated", root: root}
	defer tr.close()
	if err := os.MkdirAll(filepath.Join(dir, "a_gen.go", "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := tr.write("a_gen.go", []byte("x")); err == nil || !strings.HasPrefix(err.Error(), "write generated/a_gen.go: ") {
		t.Errorf("writing over a directory: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// A terminal obeys nothing that an edited file says.
func TestDiffIsInert(t *testing.T) {
	got := unified("x.go", []byte("a\x1b[2J\u009bb\r\n"), true, []byte("c\td\n"), true)
	if strings.ContainsAny(got, "\x1b\u009b\r") || !strings.Contains(got, "-a\ufffd[2J\ufffdb\ufffd\n+c\td\n") {
		t.Errorf("%q", got)
	}
}

// Nor anything that a manifest says, should one get so far.
func TestShowIsInert(t *testing.T) {
	var b bytes.Buffer
	f := effectiveForm{Name: "a\x1b[2J", Description: "b\u202ec", Input: []byte(`"\u200b"`), Output: []byte(`{"a":"` + "\u009b" + `"}`)}
	if err := f.writeText(&b); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e\u200b\u009b") {
		t.Errorf("%q", b.String())
	}
}
