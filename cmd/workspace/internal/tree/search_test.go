package tree_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/cmd/workspace/internal/tree"
)

func searchAll(t testing.TB, x *tree.Tree, r tree.SearchRequest) (matches []tree.Match, problems []string, files int64) {
	t.Helper()
	for pages := 0; ; pages++ {
		page, err := x.Search(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Matches) > r.Limit {
			t.Fatalf("%d matches on a page of %d", len(page.Matches), r.Limit)
		}
		matches = append(matches, page.Matches...)
		for _, p := range page.Problems {
			problems = append(problems, p.Path+" "+string(p.Code))
		}
		files += page.Files
		if r.Cursor = page.Next; r.Cursor == "" {
			return matches, problems, files
		}
		if pages > 10_000 {
			t.Fatal("the search does not end")
		}
	}
}

// places are matches as path:line:column.
func places(matches []tree.Match) string {
	var b strings.Builder
	for _, m := range matches {
		fmt.Fprintf(&b, "%s:%d:%d ", m.Path, m.Line, m.Column)
	}
	return strings.TrimSpace(b.String())
}

func TestSearch(t *testing.T) {
	x := open(t, build(t, map[string]string{
		"a.go": "package a\n\nfunc F() {}\n", "b/c.go": "package c\r\nfunc f() {}\r\n// func\r\n", "b/d.txt": "func in text", "e": "", "bin": "func\x00", "latin": "func\xff",
		".git/x": "func", "u": "éé func func\n",
	}))
	for name, test := range map[string]struct {
		r    tree.SearchRequest
		want string
	}{
		"expression":  {tree.SearchRequest{Pattern: `func \w\(`}, "a.go:3:1 b/c.go:2:1"},
		"everything":  {tree.SearchRequest{Pattern: "func"}, "a.go:3:1 b/c.go:2:1 b/c.go:3:4 b/d.txt:1:1 u:1:4"},
		"ends":        {tree.SearchRequest{Pattern: `^func f\(\) {}$`}, "b/c.go:2:1"},
		"case":        {tree.SearchRequest{Pattern: `FUNC F\(`, IgnoreCase: true}, "a.go:3:1 b/c.go:2:1"},
		"literal":     {tree.SearchRequest{Pattern: "() {}", Literal: true}, "a.go:3:7 b/c.go:2:7"},
		"literal i":   {tree.SearchRequest{Pattern: "F() {}", Literal: true, IgnoreCase: true}, "a.go:3:6 b/c.go:2:6"},
		"include":     {tree.SearchRequest{Pattern: "func", Scope: tree.Scope{Include: []string{"*.txt"}}}, "b/d.txt:1:1"},
		"exclude":     {tree.SearchRequest{Pattern: "func", Scope: tree.Scope{Exclude: []string{"b", "u"}}}, "a.go:3:1"},
		"below":       {tree.SearchRequest{Pattern: "func", Scope: tree.Scope{Path: "b"}}, "b/c.go:2:1 b/c.go:3:4 b/d.txt:1:1"},
		"depth":       {tree.SearchRequest{Pattern: "func", Scope: tree.Scope{Depth: 1}}, "a.go:3:1 u:1:4"},
		"history":     {tree.SearchRequest{Pattern: "func", Scope: tree.Scope{Include: []string{".git/**"}, VersionControl: true}}, ".git/x:1:1"},
		"empty lines": {tree.SearchRequest{Pattern: "^$"}, "a.go:2:1"},
		"one file":    {tree.SearchRequest{Pattern: "func", Scope: tree.Scope{Path: "b/c.go"}}, "b/c.go:2:1 b/c.go:3:4"},
		"named":       {tree.SearchRequest{Pattern: "func", Scope: tree.Scope{Path: ".git/x"}}, ".git/x:1:1"},
		"not named":   {tree.SearchRequest{Pattern: "func", Scope: tree.Scope{Path: "b/c.go", Include: []string{"*.txt"}}}, ""},
		"left out":    {tree.SearchRequest{Pattern: "func", Scope: tree.Scope{Path: "b/c.go", Exclude: []string{"c.go"}}}, ""},
		"break":       {tree.SearchRequest{Pattern: "func$(|\\n)[^\\n]*"}, "b/c.go:3:4 u:1:9"},
		"no break":    {tree.SearchRequest{Pattern: "text(\\n|$)\\n?(\\n)*\\n{0,3}"}, "b/d.txt:1:9"},
		"nothing":     {tree.SearchRequest{Pattern: "nowhere"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if test.r.Path == "" {
				test.r.Path = "."
			}
			for limit := 1; limit < 8; limit++ {
				test.r.Limit, test.r.PerFile = limit, 100
				got, problems, _ := searchAll(t, x, test.r)
				if places(got) != test.want || problems != nil {
					t.Errorf("limit %d: got %s, problems %v; want %s", limit, places(got), problems, test.want)
				}
			}
		})
	}
	page, err := x.Search(context.Background(), tree.SearchRequest{Scope: tree.Scope{Path: "."}, Pattern: "func", Limit: 100, PerFile: 100})
	if err != nil || page.Files != 5 || page.Binary != 2 {
		t.Errorf("%d files searched, %d binary, %v; want 5 and 2", page.Files, page.Binary, err)
	}
}

func TestSearchContext(t *testing.T) {
	x := open(t, build(t, map[string]string{"f": "1\r\n2 x\r\n3\r\n4 x\r\n5"}))
	for context, want := range map[int]string{
		0: "[]2 x[] []4 x[] ",
		1: "[1]2 x[3] [3]4 x[5] ",
		2: "[1]2 x[3 4 x] [2 x 3]4 x[5] ",
		9: "[1]2 x[3 4 x 5] [1 2 x 3]4 x[5] ",
	} {
		for limit := 1; limit < 3; limit++ {
			got, _, _ := searchAll(t, x, tree.SearchRequest{Scope: tree.Scope{Path: "."}, Pattern: "x", Context: context, Limit: limit, PerFile: 9})
			var b strings.Builder
			for _, m := range got {
				fmt.Fprintf(&b, "%v%s%v ", m.Before, m.Text, m.After)
			}
			if b.String() != want {
				t.Errorf("context %d, limit %d: got %s, want %s", context, limit, b.String(), want)
			}
		}
	}
}

func TestSearchLimits(t *testing.T) {
	long := strings.Repeat("é", 9000)
	x := open(t, build(t, map[string]string{
		"long": "x\n" + long + "x" + "\n" + long[:8000] + "needle" + long[:8000] + "\nx\n",
		"many": strings.Repeat("x\n", 20), "huge": strings.Repeat("x\n", 5<<20), "z": "x\n",
	}))
	for limit := 1; limit < 12; limit++ {
		got, problems, files := searchAll(t, x, tree.SearchRequest{Scope: tree.Scope{Path: "."}, Pattern: "x", Limit: limit, PerFile: 3})
		if want := "long:1:1 long:4:1 many:1:1 many:2:1 many:3:1 z:1:1"; places(got) != want {
			t.Errorf("limit %d: got %s, want %s", limit, places(got), want)
		}
		if diff := cmp.Diff([]string{"huge too_large", "long long_line", "many more_matches"}, problems); diff != "" || files != 3 {
			t.Errorf("limit %d: %d files, %s", limit, files, diff)
		}
	}
	got, _, _ := searchAll(t, x, tree.SearchRequest{Scope: tree.Scope{Path: "."}, Pattern: "needle", Limit: 5, PerFile: 3, Context: 2})
	if len(got) != 1 || !got[0].Cut || !strings.Contains(got[0].Text, "needle") || len(got[0].Text) > 400 || got[0].Column != 4001 {
		t.Fatalf("got %+v", got)
	}
	for _, line := range append(got[0].Before, got[0].After...) {
		if len(line) > 400 || !utf8.ValidString(line) {
			t.Errorf("a line of %d bytes around", len(line))
		}
	}
}

func TestSearchPageBytes(t *testing.T) {
	line := strings.Repeat("x", 390)
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("f%02d", i)] = strings.Repeat(line+"\n", 50)
	}
	x := open(t, build(t, files))
	r := tree.SearchRequest{Scope: tree.Scope{Path: "."}, Pattern: "x", Context: 5, Limit: 1000, PerFile: 1000}
	page, err := x.Search(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, m := range page.Matches {
		size += len(m.Text) + len(strings.Join(m.Before, "")) + len(strings.Join(m.After, ""))
	}
	if size > 512<<10 || page.Next == "" {
		t.Errorf("a page of %d bytes, next %q", size, page.Next)
	}
	if got, _, _ := searchAll(t, x, r); len(got) != 1000 {
		t.Errorf("%d matches, want 1000", len(got))
	}
}

// TestSearchScanned has more text than one page searches.
func TestSearchScanned(t *testing.T) {
	part := strings.Repeat("text\n", 6<<20/5)
	x := open(t, build(t, map[string]string{"a": part, "b": part, "c": part, "d": "needle"}))
	r := tree.SearchRequest{Scope: tree.Scope{Path: "."}, Pattern: "needle", Literal: true, Limit: 1, PerFile: 1}
	page, err := x.Search(context.Background(), r)
	if err != nil || len(page.Matches) != 0 || page.Next == "" || page.Files != 2 {
		t.Fatalf("%d matches, %d files, next %q, %v; want an empty page after two files", len(page.Matches), page.Files, page.Next, err)
	}
	if got, _, files := searchAll(t, x, r); places(got) != "d:1:1" || files != 4 {
		t.Errorf("got %s in %d files", places(got), files)
	}
}

func TestSearchRefusals(t *testing.T) {
	x := open(t, build(t, map[string]string{"f": strings.Repeat("a", 1<<20)}))
	for name, change := range map[string]func(*tree.SearchRequest){
		"empty":        func(r *tree.SearchRequest) { r.Pattern = "" },
		"syntax":       func(r *tree.SearchRequest) { r.Pattern = "a(" },
		"lookahead":    func(r *tree.SearchRequest) { r.Pattern = "(?=a)" },
		"line break":   func(r *tree.SearchRequest) { r.Pattern = "a\nb" },
		"break":        func(r *tree.SearchRequest) { r.Pattern = `(a+(x|\n+)?(\n|[\n]{2}))+` },
		"break plain":  func(r *tree.SearchRequest) { r.Pattern, r.Literal = "a\n", true },
		"bytes":        func(r *tree.SearchRequest) { r.Pattern = "a\xff" },
		"long":         func(r *tree.SearchRequest) { r.Pattern = strings.Repeat("a", tree.MaxPatternBytes+1) },
		"large":        func(r *tree.SearchRequest) { r.Pattern = "((a{100}){10}){3}" },
		"long program": func(r *tree.SearchRequest) { r.Pattern = "a{1000}b{1000}c{1000}" },
		"larger":       func(r *tree.SearchRequest) { r.Pattern = "((((a{30}){30}){30}){30}){30}" },
		"nested":       func(r *tree.SearchRequest) { r.Pattern = strings.Repeat("(", 499) + "a" + strings.Repeat(")*", 499) },
		"context":      func(r *tree.SearchRequest) { r.Context = tree.MaxContext + 1 },
		"context < 0":  func(r *tree.SearchRequest) { r.Context = -1 },
		"limit":        func(r *tree.SearchRequest) { r.Limit = 0 },
		"limit >":      func(r *tree.SearchRequest) { r.Limit = tree.MaxMatches + 1 },
		"per file":     func(r *tree.SearchRequest) { r.PerFile = 0 },
		"cursor":       func(r *tree.SearchRequest) { r.Cursor = "AAAA" },
		"path":         func(r *tree.SearchRequest) { r.Path = "../x" },
		"glob":         func(r *tree.SearchRequest) { r.Include = []string{"{"} },
	} {
		t.Run(name, func(t *testing.T) {
			r := tree.SearchRequest{Scope: tree.Scope{Path: "."}, Pattern: "a", Limit: 1, PerFile: 1}
			change(&r)
			if _, err := x.Search(context.Background(), r); code(t, err) != tree.Invalid {
				t.Errorf("got %v", err)
			}
		})
	}
	// The most costly pattern that is allowed, on the longest line.
	begin := time.Now()
	if _, err := x.Search(context.Background(), tree.SearchRequest{Scope: tree.Scope{Path: "."}, Pattern: "(?:a?){600}(?:a*){90}b", Limit: 1, PerFile: 1}); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("the pattern took %v", took)
	} else {
		t.Logf("the pattern took %v", took)
	}
}

// A search of one file is paged and confined like any other.
func TestSearchOneFile(t *testing.T) {
	dir := build(t, map[string]string{"in/f": "x\nx\ny\nx\n", "in/d/g": "x\n", "out": "x\n"})
	symlink(t, "f", dir+"/in/inside")
	symlink(t, "../out", dir+"/in/outside")
	x := open(t, dir+"/in")
	for path, want := range map[string]string{"f": "f:1:1 f:2:1 f:4:1", "inside": "inside:1:1 inside:2:1 inside:4:1"} {
		for limit := 1; limit < 5; limit++ {
			got, problems, _ := searchAll(t, x, tree.SearchRequest{Scope: tree.Scope{Path: path}, Pattern: "x", Limit: limit, PerFile: 9})
			if places(got) != want || problems != nil {
				t.Errorf("%s by %d: got %s, problems %v; want %s", path, limit, places(got), problems, want)
			}
		}
	}
	for path, want := range map[string]tree.Code{"outside": tree.Outside, "none": tree.NotFound, "f/x": tree.NotDirectory, strings.Repeat("a", 300): tree.NotFound} {
		if _, err := x.Search(context.Background(), tree.SearchRequest{Scope: tree.Scope{Path: path}, Pattern: "x", Limit: 1, PerFile: 1}); code(t, err) != want {
			t.Errorf("%.9s: got %v, want %s", path, err, want)
		}
	}
	// Of several roots the top is no file and no place on disk.
	several := open(t, "a="+dir+"/in", "b="+dir+"/in")
	if got, _, _ := searchAll(t, several, tree.SearchRequest{Scope: tree.Scope{Path: "."}, Pattern: "y", Limit: 9, PerFile: 9}); places(got) != "a/f:3:1 b/f:3:1" {
		t.Errorf("several roots: got %s", places(got))
	}
}

func FuzzSearchPattern(f *testing.F) {
	f.Add("a.*b", "xaxb\ny", false)
	f.Add("(", "(", true)
	f.Fuzz(func(t *testing.T, pattern, text string, literal bool) {
		x := open(t, build(t, map[string]string{"f": text}))
		page, err := x.Search(context.Background(), tree.SearchRequest{Scope: tree.Scope{Path: "."}, Pattern: pattern, Literal: literal, Limit: 10, PerFile: 10})
		if err != nil {
			code(t, err)
			return
		}
		for _, m := range page.Matches {
			if literal && !m.Cut && !strings.Contains(m.Text, pattern) {
				t.Fatalf("%q is found in %q", pattern, m.Text)
			}
			if !utf8.ValidString(m.Text) {
				t.Fatalf("%q is not UTF-8", m.Text)
			}
		}
	})
}
