package tree

import (
	"regexp"
	"strings"
	"testing"
)

func TestGlobs(t *testing.T) {
	for _, test := range []struct{ pattern, match, other string }{
		{"*.go", "a.go x/y/b.go .go", "a.gox a.go/x go"},
		{"x", "x a/x", "xx a/x/b"},
		{"x/*.go", "x/a.go", "x/y/a.go a.go y/x/a.go"},
		{"**/x", "x a/x a/b/x", "ax a/xb"},
		{"x/**", "x/a x/a/b x/", "x yx/a"},
		{"x/**/y", "x/y x/a/y x/a/b/y", "x/ay xy"},
		{"**", "a a/b", ""},
		{"a**b", "ab axxb", "a/b"},
		{"?.c", "a.c x/b.c é.c", "ab.c .c"},
		{"[a-c].x", "a.x c.x", "d.x"},
		{"[!a-c].x", "d.x", "a.x"},
		{"[^a-c].x", "d.x", "a.x"},
		{"[.$]x", ".x $x", "ax"},
		{"{a,b/*}.go", "a.go b/c.go", "b.go c/a.go"},
		{"*.{go,md}", "a.go x/a.md", "a.txt"},
		{"{a,{b,c}}d", "ad bd cd", "d"},
		{`\*`, "*", "a"},
		{`a\{b`, "a{b", "ab"},
		{"a}b,c", "a}b,c", "ab"},
		{"a.b", "a.b", "axb"},
		{"(a|b)+$", "(a|b)+$", "a b"},
		{`\!a`, "!a", "a"},
		{"..a", "..a x/..a", "a"},
	} {
		g, err := compileGlobs([]string{test.pattern})
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		for _, p := range strings.Fields(test.match) {
			if !g.match(p) {
				t.Errorf("%s does not match %s", test.pattern, p)
			}
		}
		for _, p := range strings.Fields(test.other) {
			if g.match(p) {
				t.Errorf("%s matches %s", test.pattern, p)
			}
		}
	}
}

func TestGlobErrors(t *testing.T) {
	for _, pattern := range []string{
		"", "/a", "[", "[]", "[a", "{a", "{{{{{{{{{a}}}}}}}}}", `a\`, "[a/b]", "[-a]", "[a-]", "[z-a]", "a\xff", strings.Repeat("a", 257),
		"./a", "a/", "a//b", "a/../b", "a/.", "..", ".", "!a", strings.Repeat("é", 127) + "/",
	} {
		if _, err := compileGlobs([]string{pattern}); err == nil {
			t.Errorf("%q is accepted", pattern)
		} else if len(err.Error()) > 300 {
			t.Errorf("%q: message of %d bytes", pattern, len(err.Error()))
		}
	}
	if _, err := compileGlobs(make([]string, MaxGlobs+1)); err == nil {
		t.Error("too many globs are accepted")
	}
}

func TestGlobReaches(t *testing.T) {
	for _, test := range []struct {
		pattern, dir string
		want         bool
	}{
		{"a/b", ".", true}, {"b", "a", true}, {"*.go", "a/b", true},
		{"a/b", "a", true}, {"a/*", "a/b/c", true}, {"**/b", "a", true}, {"{x,y}/b", "a", true}, {"a?/b", "a", true}, {`\\a/b`, "a", true}, {"[a]/b", "a", true},
		{"a/b/c", "a/b", true}, {"a/b", "a/b", true}, {"a/b", "a/b/c", false}, {"b/*.go", "a", false}, {"a/c/**", "a/b", false}, {"a/c/**", "a/b/c", false},
	} {
		if got := globReaches(test.pattern, test.dir); got != test.want {
			t.Errorf("%s in %s: got %v", test.pattern, test.dir, got)
		}
	}
}

func FuzzGlob(f *testing.F) {
	for _, s := range []string{"*.go", "a/**/b", "[a-c]{x,y}?", `\[`, "{a,{b,c}}", "[^!]"} {
		f.Add(s, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, pattern, p string) {
		expression, err := globExpression(pattern)
		if err != nil {
			return
		}
		compiled, err := regexp.Compile(expression)
		if err != nil {
			// A class with its ends exchanged is all that RE2 may still refuse.
			if !strings.Contains(err.Error(), "character class range") {
				t.Fatalf("glob %q makes %q: %v", pattern, expression, err)
			}
			return
		}
		matched := compiled.MatchString(p)
		if !strings.ContainsAny(pattern, `*?[]{},\/`) {
			if last := p[strings.LastIndexByte(p, '/')+1:]; matched != (last == pattern) {
				t.Fatalf("plain glob %q matches %q: %v", pattern, p, matched)
			}
		}
	})
}
