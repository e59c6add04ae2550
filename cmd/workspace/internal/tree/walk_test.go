package tree_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/cmd/workspace/internal/tree"
)

// mixed has names on both sides of "/", which a walk by directories would put
// in another order than bytes do.
var mixed = map[string]string{
	"a/x": "1", "a/y/z": "22", "a-b": "333", "a.txt": "", "a0/q": "4", "a/y-/k": "5", "b/": "", "c/d/e/f": "6", "c/d.go": "7",
	".git/config": "8", "c/.git": "9", ".hg/x": "", ".github/w": "1", "ü/é": "2",
}

func TestWalkOrderAndPages(t *testing.T) {
	x := open(t, build(t, mixed))
	want := strings.Split(".github directory 0|.github/w file 1|a directory 0|a-b file 3|a.txt file 0|a/x file 1|a/y directory 0|a/y- directory 0|"+
		"a/y-/k file 1|a/y/z file 2|a0 directory 0|a0/q file 1|b directory 0|c directory 0|c/d directory 0|c/d.go file 1|c/d/e directory 0|"+
		"c/d/e/f file 1|ü directory 0|ü/é file 1", "|")
	if !slices.IsSortedFunc(want, func(a, b string) int {
		return strings.Compare(strings.Fields(a)[0], strings.Fields(b)[0])
	}) {
		t.Fatal("the expected order is not bytewise")
	}
	for limit := 1; limit <= len(want)+1; limit++ {
		got, problems, pages := walkAll(t, x, tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: limit})
		if diff := cmp.Diff(want, got); diff != "" || problems != nil {
			t.Fatalf("limit %d: %s, problems %v", limit, diff, problems)
		}
		if expect := (len(want) + limit - 1) / limit; pages != expect {
			t.Errorf("limit %d: %d pages, want %d", limit, pages, expect)
		}
	}
}

func TestWalkFilters(t *testing.T) {
	x := open(t, build(t, mixed))
	for name, test := range map[string]struct {
		r    tree.WalkRequest
		want string
	}{
		"below":           {tree.WalkRequest{Scope: tree.Scope{Path: "c"}}, "c/d c/d.go c/d/e c/d/e/f"},
		"depth":           {tree.WalkRequest{Scope: tree.Scope{Path: ".", Depth: 1, Exclude: []string{".*"}}}, "a a-b a.txt a0 b c ü"},
		"depth 2":         {tree.WalkRequest{Scope: tree.Scope{Path: "c", Depth: 2}}, "c/d c/d.go c/d/e"},
		"include":         {tree.WalkRequest{Scope: tree.Scope{Path: ".", Include: []string{"*.go", "a/**"}}}, "a/x a/y a/y- a/y-/k a/y/z c/d.go"},
		"exclude":         {tree.WalkRequest{Scope: tree.Scope{Path: ".", Exclude: []string{"a/y", "c/**", ".*", "ü"}}}, "a a-b a.txt a/x a/y- a/y-/k a0 a0/q b c"},
		"kinds":           {tree.WalkRequest{Scope: tree.Scope{Path: "a"}, Kinds: []tree.Kind{tree.Directory}}, "a/y a/y-"},
		"version control": {tree.WalkRequest{Scope: tree.Scope{Path: ".", VersionControl: true, Include: []string{".git", "**/.git/**"}}}, ".git .git/config c/.git"},
		"asked for":       {tree.WalkRequest{Scope: tree.Scope{Path: ".git"}}, ".git/config"},
		"empty":           {tree.WalkRequest{Scope: tree.Scope{Path: "b"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for limit := 1; limit < 8; limit++ {
				test.r.Limit = limit
				entries, problems, _ := walkAll(t, x, test.r)
				for i, e := range entries {
					entries[i] = strings.Fields(e)[0]
				}
				if got := strings.Join(entries, " "); got != test.want || problems != nil {
					t.Errorf("limit %d: got %s, problems %v, want %s", limit, got, problems, test.want)
				}
			}
		})
	}
}

func TestWalkRefusals(t *testing.T) {
	x := open(t, build(t, map[string]string{"f": "1", "d/": ""}))
	for name, test := range map[string]struct {
		r    tree.WalkRequest
		want tree.Code
	}{
		"no limit":     {tree.WalkRequest{Scope: tree.Scope{Path: "."}}, tree.Invalid},
		"large limit":  {tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: tree.MaxEntries + 1}, tree.Invalid},
		"missing":      {tree.WalkRequest{Scope: tree.Scope{Path: "none"}, Limit: 1}, tree.NotFound},
		"file":         {tree.WalkRequest{Scope: tree.Scope{Path: "f"}, Limit: 1}, tree.NotDirectory},
		"below a file": {tree.WalkRequest{Scope: tree.Scope{Path: "f/x"}, Limit: 1}, tree.NotDirectory},
		"up":           {tree.WalkRequest{Scope: tree.Scope{Path: "d/.."}, Limit: 1}, tree.Invalid},
		"absolute":     {tree.WalkRequest{Scope: tree.Scope{Path: "/"}, Limit: 1}, tree.Invalid},
		"deep":         {tree.WalkRequest{Scope: tree.Scope{Path: ".", Depth: tree.MaxDepth + 1}, Limit: 1}, tree.Invalid},
		"include":      {tree.WalkRequest{Scope: tree.Scope{Path: ".", Include: []string{"["}}, Limit: 1}, tree.Invalid},
		"elsewhere":    {tree.WalkRequest{Scope: tree.Scope{Path: "d", Include: []string{"*", "e/*.go"}}, Limit: 1}, tree.Invalid},
		"exclude":      {tree.WalkRequest{Scope: tree.Scope{Path: ".", Exclude: []string{"["}}, Limit: 1}, tree.Invalid},
		"cursor":       {tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: 1, Cursor: "x"}, tree.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := x.Walk(context.Background(), test.r); code(t, err) != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// TestLargeDirectory has more names than a window holds and than a page looks
// at, so that both are read on.
func TestLargeDirectory(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 25,000 files")
	}
	dir := t.TempDir()
	const n = 25_000
	for i := range n {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%05d", i)))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	x := open(t, dir)
	got, _, _ := walkAll(t, x, tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: tree.MaxEntries})
	if len(got) != n || !slices.IsSorted(got) {
		t.Errorf("%d entries, sorted %v; want %d", len(got), slices.IsSorted(got), n)
	}
	got, _, pages := walkAll(t, x, tree.WalkRequest{Scope: tree.Scope{Path: ".", Include: []string{"24999"}}, Limit: 1})
	if len(got) != 1 || pages != 2 {
		t.Errorf("got %v on %d pages, want one entry on the second", got, pages)
	}
}

func TestPageBytes(t *testing.T) {
	files := map[string]string{}
	long := strings.Repeat("n", 200)
	for i := range 3000 {
		files[fmt.Sprintf("%s/%s%04d", long, long, i)] = ""
	}
	x := open(t, build(t, files))
	page, err := x.Walk(context.Background(), tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: tree.MaxEntries})
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, e := range page.Entries {
		size += len(e.Path)
	}
	if size > 512<<10 || page.Next == "" {
		t.Errorf("a page of %d bytes, next %q", size, page.Next)
	}
	if got, _, _ := walkAll(t, x, tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: tree.MaxEntries}); len(got) != 3001 {
		t.Errorf("%d entries, want 3001", len(got))
	}
}

func TestDeepTree(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, strings.Repeat("d/", tree.MaxDepth+3))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for limit := 1; limit < 4; limit++ {
		got, problems, _ := walkAll(t, open(t, dir), tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: limit})
		if len(got) != tree.MaxDepth || len(problems) != 1 || !strings.HasSuffix(problems[0], " too_deep") {
			t.Errorf("limit %d: %d entries, problems %v; want %d entries and one problem", limit, len(got), problems, tree.MaxDepth)
		}
	}
}

func TestUnnameable(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a\xff.go", `b\c.go`, "d\ne.go", "u\u0308.go", "ok.go", "z\xff/inside.go"}
	for _, name := range names {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Skipf("the file system refuses the name: %v", err)
		}
		if err := os.WriteFile(full, []byte("needle\n"), 0o644); err != nil {
			t.Skipf("the file system refuses the name: %v", err)
		}
	}
	x := open(t, dir)
	want := []string{`a\xff.go unnameable 0`, `b\\c.go unnameable 0`, `d\x0ae.go unnameable 0`, "ok.go file 7", `u\xcc\x88.go unnameable 0`, `z\xff unnameable 0`}
	for limit := 1; limit < 7; limit++ {
		got, problems, _ := walkAll(t, x, tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: limit})
		if diff := cmp.Diff(want, got); diff != "" || problems != nil {
			t.Errorf("limit %d: %s, problems %v", limit, diff, problems)
		}
	}
	for _, shown := range []string{`a\xff.go`, "a\xff.go", `b\\c.go`, `b\c.go`, "d\ne.go", "u\u0308.go", "z\xff/inside.go"} {
		page, err := x.Read(context.Background(), tree.ReadRequest{MaxBytes: 100, Ranges: []tree.Range{{Path: shown}}})
		if err != nil || page.Texts[0].Error == nil || page.Texts[0].Error.Code != tree.Invalid {
			t.Errorf("%q: got %+v, %v", shown, page, err)
		}
	}
	found, err := x.Search(context.Background(), tree.SearchRequest{Scope: tree.Scope{Path: ".", Include: []string{"*.go"}}, Pattern: "needle", Limit: 10, PerFile: 10})
	if err != nil || len(found.Matches) != 1 || len(found.Problems) != 4 {
		t.Errorf("got %+v, %v; want one match and four problems", found, err)
	}
}

func TestCancelled(t *testing.T) {
	x := open(t, build(t, mixed))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, walk := x.Walk(ctx, tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: 1})
	_, stat := x.Stat(ctx, []string{"a"})
	_, read := x.Read(ctx, tree.ReadRequest{Ranges: []tree.Range{{Path: "a-b"}}, MaxBytes: 1})
	_, search := x.Search(ctx, tree.SearchRequest{Scope: tree.Scope{Path: "."}, Pattern: "x", Limit: 1, PerFile: 1})
	for name, err := range map[string]error{"walk": walk, "stat": stat, "read": read, "search": search} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
