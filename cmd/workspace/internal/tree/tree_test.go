package tree_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capgen/capgen/cmd/workspace/internal/tree"
)

// build makes a directory from paths and contents; a path that ends with / is
// a directory.
func build(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		parent := filepath.Dir(full)
		if strings.HasSuffix(name, "/") {
			parent = full
		}
		if err := os.MkdirAll(parent, 0o755); err != nil {
			t.Fatal(err)
		}
		if parent == full {
			continue
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t testing.TB, roots ...string) *tree.Tree {
	t.Helper()
	opened, err := tree.Open(roots)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

func symlink(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("symbolic links cannot be made here: %v", err)
	}
}

// code is the code of an *tree.Error, "" for nil.
func code(t testing.TB, err error) tree.Code {
	t.Helper()
	if err == nil {
		return ""
	}
	var own *tree.Error
	if !errors.As(err, &own) {
		t.Fatalf("error %v is no *tree.Error", err)
	}
	if len(own.Message) > 256 || strings.Contains(own.Message, os.TempDir()) {
		t.Errorf("message %q is too long or holds a path of the host", own.Message)
	}
	return own.Code
}

// walkAll returns all pages of a walk as "path kind size", and how many there
// were.
func walkAll(t testing.TB, x *tree.Tree, r tree.WalkRequest) (entries []string, problems []string, pages int) {
	t.Helper()
	for {
		page, err := x.Walk(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Entries) > r.Limit {
			t.Fatalf("%d entries on a page of %d", len(page.Entries), r.Limit)
		}
		for _, e := range page.Entries {
			entries = append(entries, fmt.Sprintf("%s %s %d", e.Path, e.Kind, e.Size))
		}
		for _, p := range page.Problems {
			problems = append(problems, p.Path+" "+string(p.Code))
		}
		if pages++; pages > 100_000 {
			t.Fatal("the walk does not end")
		}
		if page.Next == "" {
			return entries, problems, pages
		}
		r.Cursor = page.Next
	}
}

func TestOpen(t *testing.T) {
	a, b := build(t, map[string]string{"x": "1"}), build(t, map[string]string{"y": "2"})
	for name, test := range map[string]struct {
		roots []string
		want  string
	}{
		"none":          {nil, "no root given"},
		"missing":       {[]string{filepath.Join(a, "none")}, "no such file"},
		"file":          {[]string{filepath.Join(a, "x")}, "root"},
		"same name":     {[]string{"r=" + a, "R=" + b}, "two roots have the name"},
		"bad name":      {[]string{"a b\x01=" + a, b}, "cannot be a name"},
		"many":          {make([]string, tree.MaxRoots+1), "at most 64"},
		"empty in many": {[]string{"a=" + a, "b="}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			opened, err := tree.Open(test.roots)
			if err == nil {
				_ = opened.Close()
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q does not say %q", err, test.want)
			}
		})
	}
}

func TestSeveralRoots(t *testing.T) {
	a, b := build(t, map[string]string{"x": "1"}), build(t, map[string]string{"d/y": "22"})
	x := open(t, "two="+b, "one="+a)
	for limit := 1; limit < 6; limit++ {
		got, problems, _ := walkAll(t, x, tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: limit})
		want := "one directory 0|one/x file 1|two directory 0|two/d directory 0|two/d/y file 2"
		if strings.Join(got, "|") != want || problems != nil {
			t.Errorf("limit %d: got %v and problems %v, want %s", limit, got, problems, want)
		}
	}
	read, err := x.Read(context.Background(), tree.ReadRequest{MaxBytes: 100, Ranges: []tree.Range{
		{Path: "two/d/y"}, {Path: "three/y"}, {Path: "."}, {Path: "one/../two/d/y"}, {Path: "one"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, text := range read.Texts {
		if text.Error != nil {
			got = append(got, string(text.Error.Code))
		} else {
			got = append(got, text.Text)
		}
	}
	if want := "22 not_found not_file invalid not_file"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	stats, err := x.Stat(context.Background(), []string{".", "one", "one/x", "four"})
	if err != nil {
		t.Fatal(err)
	}
	if stats[0].Kind != tree.Directory || stats[1].Kind != tree.Directory || stats[2].Size != 1 || stats[3].Error.Code != tree.NotFound {
		t.Errorf("got %+v", stats)
	}
}
