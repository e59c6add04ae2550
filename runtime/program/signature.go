package program

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/program/lower"
	"github.com/capgen/capgen/runtime/program/python"
)

// signature is a function of the program: what CPython calls it, and its
// parameters.
type signature struct {
	start      python.Pos
	shown      string // the qualified name
	parameters *python.Parameters
}

// signatures are a program's functions by name, in the order of the source. The
// interpreter's errors name a function, and say less of its parameters than
// CPython's.
type signatures map[string][]*signature

// lambdaName is the name of all lambdas to the interpreter.
const lambdaName = "lambda"

func findSignatures(m *python.Module) signatures {
	found := signatures{}
	var within func(n python.Node, prefix string)
	add := func(n python.Node, name, shown, prefix string, p *python.Parameters) {
		found[name] = append(found[name], &signature{n.Start(), prefix + shown, p})
		within(n, prefix+shown+".<locals>.")
	}
	within = func(n python.Node, prefix string) {
		visit := func(inner python.Node) bool {
			switch f := inner.(type) {
			case *python.FunctionDef:
				if inner != n {
					add(f, f.Name, f.Name, prefix, &f.Parameters)
					return false
				}
			case *python.Lambda:
				if inner != n {
					add(f, lambdaName, "<lambda>", prefix, &f.Parameters)
					return false
				}
			}
			return true
		}
		python.WalkNode(n, visit)
	}
	for _, s := range m.Body {
		if f, ok := s.(*python.FunctionDef); ok {
			add(f, f.Name, f.Name, "", &f.Parameters)
			continue
		}
		within(s, "")
	}
	return found
}

var (
	missingArguments = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^function (\S+) missing \d+ arguments? \((.*)\)$`) })
	namedArgument    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^function (\S+) got (?:an unexpected keyword argument|multiple values for parameter) "(\S+)"`)
	})
	tooManyArguments = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^function (\S+) accepts (?:(no arguments)|(?:at most )?\d+ positional arguments?) \((\d+) given\)$`)
	})
)

// explain is the class and text of the interpreter's error about the arguments
// of a call, which is where stack ends; the class is empty for other errors.
func (e *engine) explain(message string, stack starlark.CallStack) (class, text string) {
	if !strings.HasPrefix(message, "function ") {
		return "", ""
	}
	if m := missingArguments().FindStringSubmatch(message); m != nil {
		names := strings.Split(m[2], ", ")
		for i := range names {
			names[i] = strings.TrimSuffix(names[i], lower.PositionalMark)
		}
		return "TypeError", e.called(m[1], stack).missing(names)
	}
	if m := tooManyArguments().FindStringSubmatch(message); m != nil {
		given, _ := strconv.Atoi(m[3])
		names := e.givenNames(stack)
		if m[2] != "" { // of what takes nothing all are counted
			given -= len(names)
		}
		f := e.called(m[1], stack)
		if text := f.named(given, names); text != "" {
			return "TypeError", text
		}
		return "TypeError", f.tooMany(given, names)
	}
	if m := namedArgument().FindStringSubmatch(message); m != nil {
		f := e.called(m[1], stack)
		names := append([]string{m[2]}, e.givenNames(stack)...)
		most := 0
		if strings.Contains(message, "multiple values") {
			most = len(f.parameters.Ordinary)
		}
		return "TypeError", f.named(most, names)
	}
	return "", ""
}

// called is the function of that name that was to be called where stack ends:
// of several, the one that begins last before what it was to run.
func (e *engine) called(name string, stack starlark.CallStack) *signature {
	list := e.signatures[name]
	if len(list) == 0 {
		return &signature{shown: name, parameters: &python.Parameters{}}
	}
	_ = e.charge(len(list) / 8) // without steps left the program ends whatever follows
	at := stack.At(0).Pos
	found := list[0]
	for _, f := range list[1:] {
		if !before(python.Pos{Line: at.Line, Col: at.Col}, f.start) {
			found = f
		}
	}
	return found
}

// functionName is the __name__ or __qualname__ of a function; empty for other
// attributes.
func (e *engine) functionName(f starlark.Callable, attribute string) string {
	if attribute != "__name__" && attribute != "__qualname__" {
		return ""
	}
	name, shown := f.Name(), f.Name()
	if name == lambdaName {
		name, shown = "<lambda>", "<lambda>"
	}
	if async, ok := f.(*asyncFunction); ok {
		f = async.Callable
	}
	if f, ok := f.(*starlark.Function); ok {
		at := f.Position()
		for _, s := range e.signatures[f.Name()] {
			if s.start.Line == at.Line && s.start.Col <= at.Col {
				shown = s.shown
			}
		}
	}
	if attribute == "__name__" {
		return name
	}
	return shown
}

// givenNames are the named arguments of the call where stack ends.
func (e *engine) givenNames(stack starlark.CallStack) (names []string) {
	if len(stack) < 2 || stack.At(1).Pos.Filename() != lower.FileName {
		return nil // a builtin called it, with positions only
	}
	at := stack.At(1).Pos
	c := e.places().calls[python.Pos{Line: at.Line, Col: at.Col}]
	if c == nil {
		return nil
	}
	spread := false
	for _, a := range c.Arguments {
		spread = spread || a.Star == 2
		if a.Name != "" {
			names = append(names, a.Name)
		}
	}
	if from, ok := e.spreadLast.(starlark.IterableMapping); ok && spread {
		if e.charge(starlark.Len(from)) != nil { // the program ends whatever follows
			return nil
		}
		names = nil
		for _, item := range from.Items() {
			name, _ := starlark.AsString(item[0])
			names = append(names, name)
		}
	}
	return names
}

// named is the error of the first named argument that is one; empty if all are
// right. given positions are filled.
func (f *signature) named(given int, names []string) string {
	p := f.parameters
	for _, name := range names {
		i := slices.IndexFunc(p.Ordinary, func(x *python.Parameter) bool { return x.Name == name })
		switch {
		case i >= p.PositionalOnly && i < given:
			return fmt.Sprintf("%s() got multiple values for argument '%s'", f.shown, name)
		case i >= p.PositionalOnly, p.Keywords != nil, slices.ContainsFunc(p.KeywordOnly, func(x *python.Parameter) bool { return x.Name == name }):
			continue
		}
		var positional []string
		for _, x := range p.Ordinary[:p.PositionalOnly] {
			if slices.Contains(names, x.Name) {
				positional = append(positional, x.Name)
			}
		}
		if positional != nil {
			return fmt.Sprintf("%s() got some positional-only arguments passed as keyword arguments: '%s'", f.shown, strings.Join(positional, ", "))
		}
		return fmt.Sprintf("%s() got an unexpected keyword argument '%s'", f.shown, excerpt(name))
	}
	return ""
}

// missing tells of required parameters: CPython tells of those that take a
// position first.
func (f *signature) missing(names []string) string {
	var positions, others []string
	for _, name := range names {
		if slices.ContainsFunc(f.parameters.KeywordOnly, func(x *python.Parameter) bool { return x.Name == name }) {
			others = append(others, name)
		} else {
			positions = append(positions, name)
		}
	}
	kind := "positional"
	if len(positions) == 0 {
		kind, positions = "keyword-only", others
	}
	return fmt.Sprintf("%s() missing %d required %s argument%s: %s", f.shown, len(positions), kind, plural(len(positions)), namesInWords(positions))
}

// tooMany tells how many positions a function takes.
func (f *signature) tooMany(given int, names []string) string {
	p := f.parameters
	most, least := len(p.Ordinary), 0
	for _, x := range p.Ordinary {
		if x.Default == nil {
			least++
		}
	}
	takes, s := strconv.Itoa(most), plural(most)
	if least < most {
		takes, s = fmt.Sprintf("from %d to %d", least, most), "s"
	}
	others := 0
	for _, x := range p.KeywordOnly {
		if slices.Contains(names, x.Name) {
			others++
		}
	}
	gave := strconv.Itoa(given)
	if others > 0 {
		gave += fmt.Sprintf(" positional argument%s (and %d keyword-only argument%s)", plural(given), others, plural(others))
	}
	were := "were"
	if given == 1 && others == 0 {
		were = "was"
	}
	return fmt.Sprintf("%s() takes %s positional argument%s but %s %s given", f.shown, takes, s, gave, were)
}

// namesInWords is 'a', 'b', and 'c'.
func namesInWords(names []string) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i > 0 && len(names) == 2:
			b.WriteString(" and ")
		case i > 0 && i == len(names)-1:
			b.WriteString(", and ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString("'" + name + "'")
	}
	return b.String()
}
