package program

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/program/lower"
)

var update = flag.Bool("update", false, "write docs/reference/language.md")

const languagePage = "../../docs/reference/language.md"

// TestLanguageReference: the page says what the engine has, by asking it. The
// names that it is asked for are all that stand in its source as a case.
func TestLanguageReference(t *testing.T) {
	want := languageReference(t)
	if *update {
		if err := os.WriteFile(languagePage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(languagePage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is stale; make generate writes it (-want +got):\n%s", languagePage, diff)
	}
}

type page struct {
	strings.Builder
	t     *testing.T
	names []string
}

func languageReference(t *testing.T) string {
	table, err := binding.ParseTable(binding.EncodeTable(nil))
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(Program{}, table, nil)
	p := &page{t: t, names: candidates(t)}
	p.WriteString(`<!-- Written by TestLanguageReference of runtime/program: do not edit, make generate writes it anew. -->

# The program language

A program is Python, as far as this page goes, and does what CPython 3.11 would do. [Programs](programs.md) tells what is
special of them: capabilities, data, calls at once. What a program uses beyond this page is refused before it runs, with its
place and with what to write instead.

`)
	p.constructs()
	p.builtins(e)
	p.methods(e)
	p.modules(e)
	p.instead()
	p.bounds()
	p.differences()
	return p.String()
}

// construct is a row of what there is, and what there is not: runs compile,
// and none of refused does.
type construct struct {
	have, not     string
	runs, refused []string
}

func constructs() []construct {
	return []construct{
		{
			"`def`, `lambda`, defaults, `*args`, `**kwargs`, keyword-only and positional-only parameters, closures, `nonlocal`, `global`, recursion, decorators; annotations, which nobody evaluates",
			"`class`, `yield`",
			[]string{"def f(a, /, b=1, *c, d: int = 2, **e) -> str:\n  def g():\n    nonlocal b\n    global x\n    b = x = 1\n  return g\nx = lambda a=1: a\n@x\ndef g():\n  pass"},
			[]string{"class A:\n  pass", "def f():\n  yield 1"},
		},
		{
			"`if`, `for` and `while` with `else`, `break`, `continue`, `pass`", "`match`, `with`",
			[]string{"for x in [1]:\n  if x: break\n  else: continue\nelse: pass\nwhile False:\n  pass\nelse:\n  pass"},
			[]string{"match 1:\n  case 1: pass", "with 1 as x:\n  pass"},
		},
		{
			"`try`, `except`, `else`, `finally`, `raise … from`, `assert`", "`except*`",
			[]string{"try:\n  raise ValueError(1) from None\nexcept (TypeError, ValueError) as e:\n  assert e, 'm'\nelse:\n  pass\nfinally:\n  pass"},
			[]string{"try:\n  pass\nexcept* ValueError:\n  pass"},
		},
		{
			"`async def`, `await`, `asyncio.gather`", "`async with`",
			[]string{"import asyncio\nasync def f():\n  return await asyncio.gather(f(), f())"},
			[]string{"async def f():\n  async with 1: pass"},
		},
		{
			"assignment to several targets, starred ones, slices and items; `:=`, augmented assignment, `del`", "",
			[]string{"a = b, *c = [1, 2]\nc[0:1] = [3]\nd = {}\nd['x'] = 1\nd['x'] += 1\nif (n := 1): del n, d['x']"}, nil,
		},
		{
			"f-strings with format specifications, raw, adjacent and byte strings", "`\\N{…}`, complex numbers",
			[]string{"f'{1:>5}' 'x' r'\\d'\nb'x'"}, []string{"'\\N{BULLET}'", "1j"},
		},
		{
			"comprehensions of lists, sets and dicts, generator expressions, `*` and `**` in displays and calls, chained comparison, `is`, `in`, `**`, `//`, slices", "`@`",
			[]string{"[{x for x in 'ab' if x}, {x: 1 for x in 'ab'}, sum(x for x in [1]), [*[1]], {**{}}, 1 < 2 <= 3 is not None, 2 ** 3 // 2, 'abc'[::-1]]"}, []string{"[1] @ [2]"},
		},
		{
			"`import` and `from … import` of [modules](#modules) below", "`import *`, relative imports",
			[]string{"import json, math as m\nfrom math import sqrt as root"}, []string{"from math import *", "from . import x"},
		},
	}
}

func (p *page) constructs() {
	fmt.Fprintf(p, "## Statements and expressions\n\n")
	p.table("There is", "Not")
	for _, c := range constructs() {
		fmt.Fprintf(p, "| %s | %s |\n", c.have, c.not)
	}
	p.WriteString("\n")
}

// What the page says of constructs holds.
func TestLanguageConstructs(t *testing.T) {
	table, err := binding.ParseTable(binding.EncodeTable(nil))
	if err != nil {
		t.Fatal(err)
	}
	compiled := func(source string) bool {
		p := Program{Source: source, Limits: Limits{SourceBytes: 1 << 10}}
		_, problems := compile(p, newEngine(p, table, nil))
		for _, f := range problems {
			if f.Hint == "" {
				t.Errorf("%s: refused without saying what to write instead: %s", source, f.Message)
			}
		}
		return len(problems) == 0
	}
	for _, c := range constructs() {
		for _, source := range c.runs {
			if !compiled(source) {
				t.Errorf("does not compile: %s", source)
			}
		}
		for _, source := range c.refused {
			if compiled(source) {
				t.Errorf("is not refused: %s", source)
			}
		}
	}
}

// candidates are the names that stand as cases in the engine's source.
func candidates(t *testing.T) []string {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, s := range cases(t, name) {
			names[s] = true
		}
	}
	for name := range starlark.Universe {
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// cases are the texts of a file's case clauses.
func cases(t *testing.T, file string) (out []string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.CaseClause); ok {
			for _, e := range c.List {
				if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
					s, _ := strconv.Unquote(l.Value)
					out = append(out, s)
				}
			}
		}
		return true
	})
	return out
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = "`" + name + "`"
	}
	return strings.Join(out, ", ")
}

func (p *page) table(heads ...string) {
	p.WriteString("| " + strings.Join(heads, " | ") + " |\n|" + strings.Repeat("---|", len(heads)) + "\n")
}

func (p *page) builtins(e *engine) {
	var functions, types, constants, own []string
	exceptions := map[string][]string{}
	for _, name := range p.names {
		c := e.class(name)
		switch {
		case !e.isPredeclared(name) || strings.HasPrefix(name, "__") || isModule(name):
		case slices.Contains([]string{"attempt", "fail", "pages", "parallel"}, name):
			own = append(own, name)
		case name == "IOError", name == "EnvironmentError": // other names of OSError
		case c != nil && e.isException(c):
			base := "object"
			if c.base != nil {
				base = c.base.name
			}
			exceptions[base] = append(exceptions[base], name)
		case c != nil && name != "object":
			types = append(types, name)
		default:
			if _, callable := e.builtin(name).(starlark.Callable); callable || isStarlarkFunction(name) {
				functions = append(functions, name)
			} else {
				constants = append(constants, name)
			}
		}
	}
	fmt.Fprintf(p, "## Builtins\n\n")
	p.table("Kind", "Names")
	fmt.Fprintf(p, "| functions | %s |\n| types | %s |\n| values | %s |\n| of capgen | %s: see [programs](programs.md) |\n", quoted(functions), quoted(types), quoted(constants), quoted(own))
	fmt.Fprintf(p, "\n## Exceptions\n\n`except` takes a class, and with it all that derive from it. `CapabilityError` is what\na failed call of a capability raises; arguments that do not bind are a `TypeError`. `IOError` and `EnvironmentError` are `OSError`.\n\n")
	p.table("Class", "Classes that derive from it")
	for _, base := range slices.Sorted(maps.Keys(exceptions)) {
		if base != "object" {
			fmt.Fprintf(p, "| `%s` | %s |\n", base, quoted(exceptions[base]))
		}
	}
	p.WriteString("\n")
}

func isStarlarkFunction(name string) bool {
	_, ok := starlark.Universe[name].(*starlark.Builtin)
	return ok
}

func (p *page) methods(e *engine) {
	fmt.Fprintf(p, "## Methods\n\nStrings count code points. A record, which capabilities return, has those of dict.\n\n")
	p.table("Of", "Names")
	for _, of := range []struct {
		name string
		get  func(*methods) method
	}{
		{"str", func(m *methods) method { return m.ofString }},
		{"list", func(m *methods) method { return m.ofList }},
		{"dict", func(m *methods) method { return m.ofDict }},
		{"set", func(m *methods) method { return m.ofSet }},
		{"frozenset", func(m *methods) method { return m.ofFrozen }},
		{"tuple", func(m *methods) method { return m.ofTuple }},
		{"range", func(m *methods) method { return m.ofRange }},
		{"bytes", func(m *methods) method { return m.ofBytes }},
	} {
		var have []string
		for _, name := range p.names {
			if of.get(e.methodsNamed(name)) != nil {
				have = append(have, name)
			}
		}
		fmt.Fprintf(p, "| `%s` | %s |\n", of.name, quoted(have))
	}
	for _, x := range []starlark.Value{starlark.MakeInt(1), starlark.Float(1)} {
		var have []string
		for _, name := range p.names {
			if numberMethod(x, name) != nil || numberAttr(x, name) != nil {
				have = append(have, name)
			}
		}
		fmt.Fprintf(p, "| `%s` | %s |\n", className(x), quoted(have))
	}
	p.WriteString("\n")
}

func (p *page) modules(e *engine) {
	fmt.Fprintf(p, "## Modules\n\nWith or without import. `typing` has every name, as annotations are not evaluated.\n\n")
	p.table("Module", "Members")
	for _, name := range p.names {
		if !isModule(name) || name == "typing" {
			continue
		}
		var members []string
		for _, member := range p.names {
			if e.module(name).get(member) != nil {
				members = append(members, member)
			}
		}
		fmt.Fprintf(p, "| `%s` | %s |\n", name, quoted(members))
	}
	p.WriteString("\n")
}

func (p *page) instead() {
	fmt.Fprintf(p, "## What to use instead\n\n")
	p.table("Of", "Instead")
	names := map[string][]string{}
	var hints []string
	for _, name := range cases(p.t, filepath.Join("lower", "import.go")) {
		hint, ok := lower.Instead(name)
		if !ok {
			continue
		}
		if names[hint] == nil {
			hints = append(hints, hint)
		}
		names[hint] = append(names[hint], name)
	}
	for _, hint := range hints {
		fmt.Fprintf(p, "| %s | %s |\n", quoted(names[hint]), hint)
	}
	p.WriteString("\n")
}

func (p *page) bounds() {
	fmt.Fprintf(p, "## Bounds\n\nBeside the [limits](limits.md), which a host may set, these hold for one value or operation. They are not options.\n\n")
	p.table("What", "Most")
	for _, b := range []struct {
		what string
		most int
	}{
		{"bytes of a str or bytes that an operation builds", maxStringBytes},
		{"elements of a list or tuple that an operation builds", maxItems},
		{"keys of a dict or set that an operation builds", maxKeys},
		{"bits of an int that is multiplied, shifted or raised", maxIntBits},
		{"digits of an int that becomes text, or of text that becomes an int", maxDigits},
		{"values within values, for str, repr, format, == and <", maxNesting},
		{"arrays and objects within each other, for json", maxJSONDepth},
		{"tuples within each other in a key", maxKeyNesting},
		{"parts of a tuple that is a key", maxKeyParts},
		{"calls of functions within each other, about", maxRecursion},
		{"callables of one parallel", maxCallables},
		{"calls of parallel within each other", MaxNesting},
		{"pages that pages reads", maxPages},
	} {
		fmt.Fprintf(p, "| %s | %s |\n", b.what, grouped(b.most))
	}
	p.WriteString("\n")
}

// grouped writes 4096 as 4,096.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func (p *page) differences() {
	fmt.Fprintf(p, "## Where it differs from CPython\n\nThis list is closed: what differs beyond it is a defect.\n\n")
	p.table("What", "In CPython", "Here", "Why")
	for _, d := range Differences() {
		fmt.Fprintf(p, "| %s | %s | %s | %s |\n", inCell(d.Construct), inCell(d.CPython), inCell(d.Here), inCell(d.Reason))
	}
}

// inCell keeps Markdown from reading what a text says.
func inCell(s string) string {
	return strings.NewReplacer("|", "\\|", "*", "\\*", "_", "\\_", "<", "\\<", "\n", " ").Replace(s)
}
