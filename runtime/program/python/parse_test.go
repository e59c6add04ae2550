package python

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chunk is source and what CPython made of it (testdata/record.py).
type chunk struct{ source, want string }

func chunks(t testing.TB, name string) []chunk {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []chunk
	for _, c := range strings.Split(string(text), "===\n") {
		source, want, ok := strings.Cut(c, "---\n")
		if !ok {
			t.Fatalf("%s: a chunk without answer: %q", name, c)
		}
		out = append(out, chunk{source, want})
	}
	return out
}

func TestTreesAreCPythons(t *testing.T) {
	for _, c := range chunks(t, "trees.txt") {
		m, err := Parse(c.source)
		if err != nil {
			t.Errorf("%s\n%v", c.source, err)
			continue
		}
		if diff := cmp.Diff(c.want, dump(m)); diff != "" {
			t.Errorf("%s\n(-CPython +ours)\n%s", c.source, diff)
		}
		if err := placed(m, c.source); err != nil {
			t.Errorf("%s\n%v", c.source, err)
		}
	}
}

// TestErrorsAreCPythons compares the kind; the messages are a golden of ours.
func TestErrorsAreCPythons(t *testing.T) {
	var got strings.Builder
	for _, c := range chunks(t, "errors.txt") {
		_, err := Parse(c.source)
		if err == nil {
			t.Errorf("accepted, CPython says %s%s", c.want, c.source)
			continue
		}
		if err.Kind+"\n" != c.want {
			t.Errorf("%s\n%s (%v), CPython says %s", c.source, err.Kind, err, c.want)
		}
		fmt.Fprintf(&got, "%s%s %v", c.source, err.Kind, err)
		if err.Hint != "" {
			fmt.Fprintf(&got, " (%s)", err.Hint)
		}
		got.WriteString("\n\n")
	}
	golden := filepath.Join("testdata", "errors.golden")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("messages changed (UPDATE_GOLDEN=1 writes them anew):\n%s", diff)
	}
}

func TestHostileSource(t *testing.T) {
	kib := func(s string) string { return strings.Repeat(s, 64<<10/len(s)) }
	for name, source := range map[string]string{
		"parentheses": kib("("), "lists": kib("[") + kib("]"), "calls": "f" + kib("()"), "signs": kib("-") + "1",
		"not": kib("not ") + "1", "and": "a" + kib(" and a"), "plus": "1" + kib("+1"), "attributes": "a" + kib(".a"),
		"compare": "a" + kib("<a"), "power": "a" + kib("**a"), "lambda": kib("lambda:") + "1", "if": kib("1 if 1 else ") + "1",
		"elif": "if a: b\n" + kib("elif a: b\n"), "blocks": nestedBlocks(1000), "fstrings": kib(`f"{`), "formats": `f"{a` + kib(":{a"),
		"strings": kib(`"" `), "quotes": kib(`"`), "assign": kib("a=") + "1", "commas": kib("a,"), "semicolons": kib("a;"),
		"comprehension": "[a" + kib(" for a in a") + "]", "conditions": "[a for a in a" + kib(" if a") + "]", "decorators": kib("@a\n"),
		"digits": kib("9"), "underscores": kib("_"), "dots": kib("."), "backslashes": kib("\\\n"), "tabs": kib("\t"), "newlines": kib("\n"),
		"walrus": "(" + kib("a:=") + "1)", "await": kib("await ") + "a", "stars": "f(" + kib("*") + ")", "subscripts": "a" + kib("[0]"),
		"dict": kib("{a:"), "del": "del " + kib("(") + "a", "nul": kib("\x00"), "bad UTF-8": kib("\xff"), "slices": "a[" + kib("::,") + "]",
		"arguments": "f(" + kib("a,") + ")", "parameters": "def f(" + kib("a,") + "): pass", "excepts": "try: a\n" + kib("except a: b\n"),
		"global": "global " + kib("a,") + "a", "adjacent f-strings": kib(`f"{a}"`),
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Parse(source)
			if err == nil {
				if err := placed(m, source); err != nil {
					t.Error(err)
				}
				return
			}
			checkError(t, err, source)
		})
	}
	if _, err := Parse(strings.Repeat("\n", 1<<20+1)); err == nil {
		t.Error("a source of more than 1 MiB was read")
	}
}

// An error quotes no more of a long name than a message may have.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("h", 3_000)
	for _, source := range []string{"+" + long + "\x00", "1 " + long, "f(" + long + "=1, " + long + "=2)", "def f(" + long + ", " + long + "): pass"} {
		_, err := Parse(source)
		if err == nil {
			t.Fatal("an error is expected")
		}
		checkError(t, err, source)
	}
}

func nestedBlocks(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "if a:\n")
	}
	return b.String()
}

func checkError(t *testing.T, err *Error, source string) {
	t.Helper()
	lines := int32(strings.Count(strings.ReplaceAll(source, "\r", "\n"), "\n")) + 1
	if err.Pos.Line < 1 || err.Pos.Col < 1 || err.Pos.Line > lines {
		t.Errorf("an error at %v, the source has %d lines: %v", err.Pos, lines, err)
	}
	if len(err.Error()) > 400 {
		t.Errorf("a message of %d bytes", len(err.Error()))
	}
	if err.Message == "" || err.Kind == "" {
		t.Errorf("an empty error: %#v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"trees.txt", "errors.txt"} {
		for _, c := range chunks(f, name) {
			f.Add(c.source)
		}
	}
	f.Fuzz(func(t *testing.T, source string) {
		m, err := Parse(source)
		if err != nil {
			checkError(t, err, source)
			return
		}
		if err := placed(m, source); err != nil {
			t.Error(err)
		}
	})
}

// placed checks that every node of a tree has a position within source.
func placed(m *Module, source string) error {
	lines := int32(strings.Count(strings.ReplaceAll(source, "\r", "\n"), "\n")) + 1
	var bad error
	Walk(m, func(n Node) bool {
		if p := n.Start(); p.Line < 1 || p.Col < 1 || p.Line > lines {
			bad = errors.Join(bad, fmt.Errorf("%T at %v", n, p))
		}
		return bad == nil
	})
	return bad
}
