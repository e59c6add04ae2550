package lower_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/lower"
	"github.com/capgen/capgen/runtime/program/python"
)

// FuzzCompile: whatever the source, it is refused with a position, or becomes
// Starlark that the resolver takes, but for names that are not defined, and
// each of whose nodes says where in the source it comes from.
func FuzzCompile(f *testing.F) {
	files, err := filepath.Glob("../testdata/differential/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal("no programs", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, chunk := range strings.Split(string(text), "===\n") {
			source, _, _ := strings.Cut(chunk, "---\n")
			f.Add(source)
		}
	}
	for _, source := range []string{
		strings.Repeat("(", 1000), strings.Repeat("[x for x in ", 200), strings.Repeat("if 1:\n ", 50), "f'{f'{f\"{1}\"}'}'", strings.Repeat("try:\n ", 40) + "pass",
		strings.Repeat("lambda: ", 300) + "1", strings.Repeat("not ", 2000) + "1", strings.Repeat("1 < ", 2000) + "1", strings.Repeat("-", 5000) + "1", "x" + strings.Repeat("[0]", 2000),
	} {
		f.Add(source)
	}
	word := func(name string) bool { return name == "math" || name == "records" }
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 16<<10 {
			return
		}
		m, problem := python.Parse(source)
		if problem == nil {
			var p *lower.Program
			if p, problem = lower.Lower(m, lower.Options{Module: word, Namespace: word}); problem == nil {
				lines := strings.Count(source, "\n") + strings.Count(source, "\r") + 1
				positions(t, p.File, int32(lines))
				resolved(t, p.File)
				return
			}
		}
		if problem.Message == "" || problem.Pos.Line < 1 || problem.Pos.Col < 1 {
			t.Fatalf("an error without text or place: %+v", problem)
		}
	})
}

// positions fails where a node says nothing, or something wrong.
func positions(t *testing.T, file *syntax.File, lines int32) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			return false
		}
		if _, whole := n.(*syntax.File); whole {
			return true
		}
		if start := where(n); start.Line < 1 || start.Col < 1 || start.Line > lines {
			t.Fatalf("%T stands at %v, of %d lines", n, start, lines)
		}
		return true
	})
}

// where is the position that errors of n have. Span fails for a list that
// holds nothing.
func where(n syntax.Node) syntax.Position {
	switch n := n.(type) {
	case *syntax.UnaryExpr: // a lone * of parameters has no operand
		return n.OpPos
	case *syntax.BinaryExpr:
		return n.OpPos
	}
	start, _ := n.Span()
	return start
}

func resolved(t *testing.T, file *syntax.File) {
	helper := func(name string) bool { return strings.HasPrefix(name, "$") }
	err := resolve.File(file, helper, starlark.Universe.Has)
	var list resolve.ErrorList
	if err != nil && !errors.As(err, &list) {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Pos.Line < 1 || !strings.HasPrefix(e.Msg, "undefined: ") {
			t.Fatalf("%v: %s", e.Pos, e.Msg)
		}
	}
}
