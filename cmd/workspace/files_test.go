package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/cmd/workspace/internal/tree"
	generated "github.com/capgen/capgen/generated/files"
	"github.com/capgen/capgen/generated/types"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

// serve returns handlers over a directory with these files.
func serve(t testing.TB, content map[string]string) *files {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := tree.Open([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return &files{tree: opened}
}

// wire encodes an answer as it crosses to a program, which checks it against
// the manifest, and checks the bound of one crossing.
func wire(t testing.TB, encode func(*canon.Writer)) int {
	t.Helper()
	w := canon.NewWireWriter(nil)
	encode(w)
	out, err := w.Bytes(), w.End()
	if err != nil {
		t.Fatalf("the answer is not what the manifest declares: %v", err)
	}
	if len(out) > 1<<20 {
		t.Fatalf("the answer has %d bytes, at most 1 MiB may cross", len(out))
	}
	return len(out)
}

func TestHandlers(t *testing.T) {
	f := serve(t, map[string]string{"a.go": "package a\n\nfunc A() {}\n", "d/b.txt": "b", "bin": "\x00", ".git/HEAD": "ref"})
	ctx := context.Background()

	listed, err := f.List(ctx, generated.ListInput{Path: ".", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	wire(t, listed.Encode)
	if got := fmt.Sprint(listed.Entries); got != "[{.git directory 0} {a.go file 23} {bin file 1} {d directory 0}]" {
		t.Errorf("list: %s", got)
	}

	walked, err := f.Tree(ctx, generated.TreeInput{Path: ".", Limit: 100, Kinds: canon.Some([]types.Kind{types.KindFile}), Exclude: canon.Some([]string{"bin"})})
	if err != nil {
		t.Fatal(err)
	}
	wire(t, walked.Encode)
	if got := fmt.Sprint(walked.Entries); got != "[{a.go file 23} {d/b.txt file 1}]" {
		t.Errorf("tree: %s", got)
	}

	stats, err := f.Stat(ctx, generated.StatInput{Paths: []string{"a.go", "none", "d"}})
	if err != nil {
		t.Fatal(err)
	}
	wire(t, stats.Encode)
	if s := stats.Stats; s[0].Size.Value != 23 || !s[0].Modified.Present || s[1].Error.Value.Code != types.FailureCodeNotFound || s[1].Kind.Present || s[2].Kind.Value != types.KindDirectory {
		t.Errorf("stat: %+v", s)
	}

	read, err := f.Read(ctx, generated.ReadInput{
		Paths:    canon.Some([]string{"a.go", "bin", "none"}),
		Ranges:   canon.Some([]types.Range{{Path: "a.go", FirstLine: canon.Some[int64](3)}, {Path: "a.go", Offset: canon.Some[int64](8), Length: canon.Some[int64](1)}}),
		MaxBytes: 1000,
	})
	if err != nil {
		t.Fatal(err)
	}
	wire(t, read.Encode)
	if r := read.Files; len(r) != 5 || r[0].Lines != 3 || r[0].Error.Present || !r[1].Binary || !r[2].Error.Present || r[3].Text != "func A() {}\n" || r[4].Text != "a" {
		t.Errorf("read: %+v", r)
	}

	found, err := f.Search(ctx, generated.SearchInput{Path: ".", Pattern: `func (\w+)`, Context: 1, Limit: 10, MaxPerFile: 10})
	if err != nil {
		t.Fatal(err)
	}
	wire(t, found.Encode)
	if len(found.Matches) != 1 || found.Matches[0].Line != 3 || found.Matches[0].Before[0] != "" || found.BinaryFiles != 1 || found.Truncated {
		t.Errorf("search: %+v", found)
	}
}

// TestDisclosed shows what a program learns of a request that is wrong.
func TestDisclosed(t *testing.T) {
	f := serve(t, map[string]string{"a": ""})
	ctx := context.Background()
	_, list := f.List(ctx, generated.ListInput{Path: "/etc", Limit: 1})
	_, walk := f.Tree(ctx, generated.TreeInput{Path: "none", Limit: 1})
	_, read := f.Read(ctx, generated.ReadInput{MaxBytes: 1})
	_, search := f.Search(ctx, generated.SearchInput{Path: ".", Pattern: "(", Limit: 1, MaxPerFile: 1})
	for want, err := range map[string]error{
		"invalid: absolute paths":              list,
		"not_found: no file or directory":      walk,
		"invalid: give paths or ranges":        read,
		"invalid: the pattern is no RE2 expre": search,
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := f.Stat(cancelled, generated.StatInput{Paths: []string{"a"}}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// TestLargestAnswers asks for as much as the manifest allows: what a handler
// returns must always be able to cross.
func TestLargestAnswers(t *testing.T) {
	content := map[string]string{}
	deep := strings.Repeat(strings.Repeat("d", 200)+"/", 18)
	var paths, wrong []string
	for i := range 100 {
		name := fmt.Sprintf("%s%03d", deep, i)
		content[name] = strings.Repeat("x\x01\"é", 1<<10) + "\n"
		paths = append(paths, name)
		wrong = append(wrong, strings.Repeat("€", 4093)+fmt.Sprintf("%03d", i))
	}
	f := serve(t, content)
	ctx := context.Background()
	for name, p := range map[string][]string{"good": paths, "refused": wrong} {
		read, err := f.Read(ctx, generated.ReadInput{Paths: canon.Some(p), MaxBytes: tree.MaxTextBytes})
		if err != nil {
			t.Fatal(err)
		}
		stats, err := f.Stat(ctx, generated.StatInput{Paths: p})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: read %d bytes, stat %d bytes", name, wire(t, read.Encode), wire(t, stats.Encode))
	}
	walked, err := f.Tree(ctx, generated.TreeInput{Path: ".", Limit: 5000})
	if err != nil {
		t.Fatal(err)
	}
	found, err := f.Search(ctx, generated.SearchInput{Path: ".", Pattern: "x", Context: 10, Limit: 1000, MaxPerFile: 1000})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("tree %d bytes, search %d bytes", wire(t, walked.Encode), wire(t, found.Encode))
}

// TestDeclaredErrors: what the manifest declares is all that a program is
// told, so that each failure of a request has its code there.
func TestDeclaredErrors(t *testing.T) {
	f := serve(t, map[string]string{"dir/file": "x", "big": strings.Repeat("x\n", 5<<20)})
	b := runtime.NewBuilder(runtime.Options{Authorizer: authz.AllowAll()})
	generated.Register(b, f)
	server, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for call, want := range map[string]string{
		`files.list(path = "/etc")`:                             "invalid",
		`files.list(path = "gone")`:                             "not_found",
		`files.list(path = "dir/file")`:                         "not_directory",
		`files.list(path = "dir/file/x")`:                       "not_directory",
		`files.list(path = "` + strings.Repeat("n", 300) + `")`: "not_found",
		`files.tree(path = "../x")`:                             "invalid",
		`files.tree(path = "gone", depth = 1)`:                  "not_found",
		`files.tree(path = "dir/file")`:                         "not_directory",
		`files.tree(cursor = "a")`:                              "invalid",
		`files.search(pattern = "(")`:                           "invalid",
		`files.search(pattern = "x", path = "gone")`:            "not_found",
		`files.search(pattern = "x", path = "dir/file/x")`:      "not_directory",
		`files.search(pattern = "x", path = "big")`:             "",
		`files.read()`:                                          "invalid",
		`files.read(paths = ["gone", "dir"])`:                   "",
		`files.stat(paths = ["gone", "/"])`:                     "",
	} {
		_, err := server.Execute(t.Context(), authz.Local(), "def main():\n    "+call+"\n")
		var failed *runtime.Error
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", call, err)
		case want != "" && (!errors.As(err, &failed) || failed.Fault().Code != want):
			t.Errorf("%s: got %v, want %s", call, err, want)
		}
	}
}
