package program

import (
	"regexp"
	"strings"
	"sync"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/lower"
	"github.com/capgen/capgen/runtime/program/python"
)

// translation is an error of the interpreter in CPython's words. The text may
// use the groups of the pattern.
type translation struct {
	pattern     *regexp.Regexp
	class, text string
}

// translations are of errors that the interpreter raises by itself: for what
// the helpers do, they raise CPython's own.
//
// They are compiled when the first error is looked at: most programs have none,
// and each starts a process.
var translations = sync.OnceValue(func() []translation {
	return []translation{
		{regexp.MustCompile(`^local variable (\S+)` + lower.GlobalMark + ` referenced before assignment$`), "NameError", "name '$1' is not defined"},
		{regexp.MustCompile(`^keywords must be strings`), "TypeError", "keywords must be strings"},
		{regexp.MustCompile(`^invalid call of non-function \((.*)\)$`), "TypeError", "'$1' object is not callable"},
		{regexp.MustCompile(`^range: step argument must not be zero$`), "ValueError", "range() arg 3 must not be zero"},
		{regexp.MustCompile(`^unhashable(?: type)?: (.*)$`), "TypeError", "unhashable type: '$1'"},
		{regexp.MustCompile(`^(\S+): missing argument for (.*)$`), "TypeError", "$1() missing required argument '$2'"},
		{regexp.MustCompile(`^(\S+): unexpected keyword argument "?([^"]*)"?$`), "TypeError", "$1() got an unexpected keyword argument '$2'"},
		{regexp.MustCompile(`^(\S+): got (\d+) arguments?, want 1$`), "TypeError", "$1() takes exactly one argument ($2 given)"},
		{regexp.MustCompile(`^(\S+): got (\d+) arguments?, want (\d+)$`), "TypeError", "$1 expected $3 arguments, got $2"},
		{regexp.MustCompile(`^(\S+): got (\d+) arguments?, want at (most|least) 1$`), "TypeError", "$1 expected at $3 1 argument, got $2"},
		{regexp.MustCompile(`^(\S+): got (\d+) arguments?, want at (most|least) (\d+)$`), "TypeError", "$1 expected at $3 $4 arguments, got $2"},
		{regexp.MustCompile(`^range: for parameter \d+: got (\S+), want int$`), "TypeError", "'$1' object cannot be interpreted as an integer"},
		{regexp.MustCompile(`^(\S+): (?:for parameter \S+: )?got (\S+), want (?:an? )?iterable$`), "TypeError", "'$2' object is not iterable"},
		{regexp.MustCompile(`^(?:\w+: )?cannot .*\bfrozen (?:hash table|list|set|dict)\b`), "TypeError", readOnly},
		{regexp.MustCompile(`^called recursively`), "RecursionError", "maximum recursion depth exceeded"},
	}
})

// readOnly is said of data: nothing else that a program holds is frozen.
const readOnly = "data is read-only"

// translate is the class and text of an interpreter's error in CPython.
func translate(message string) (class, text string) {
	for _, t := range translations() {
		if m := t.pattern.FindStringSubmatchIndex(message); m != nil {
			text := string(t.pattern.ExpandString(nil, t.text, message, m))
			return t.class, pythonTypes(text)
		}
	}
	return "TypeError", message
}

var noValue = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^local variable ([^ '@]+)(?:` + lower.LocalMark + `(\S+))? referenced before assignment$`)
})

// unbound is the class and text of the interpreter's error about a variable
// that has no value yet: whose variable it is depends on the function that
// uses it.
func (e *engine) unbound(message string, stack starlark.CallStack) (class, text string) {
	m := noValue().FindStringSubmatch(message)
	if m == nil {
		return "", ""
	}
	for i := range stack {
		frame := stack.At(i)
		if strings.HasPrefix(frame.Name, lower.BodyPrefix) || frame.Pos.Filename() != lower.FileName {
			continue // a part of the function around
		}
		if m[2] != "" && (frame.Name != m[2] || e.inComprehension(m[1], stack.At(0).Pos)) {
			return "NameError", "cannot access free variable '" + m[1] + "' where it is not associated with a value in enclosing scope"
		}
		break
	}
	return "UnboundLocalError", "cannot access local variable '" + m[1] + "' where it is not associated with a value"
}

// inComprehension tells whether the interpreter was in a comprehension that
// uses name when it had come to p: a comprehension is a function of its own to
// CPython, but for its first iterable.
func (e *engine) inComprehension(name string, p syntax.Position) bool {
	at := python.Pos{Line: p.Line, Col: p.Col}
	for _, c := range e.places().comprehensions {
		if c.uses[name] && !c.first[at] && !before(at, c.start) && !before(c.last, at) {
			return true
		}
	}
	return false
}

func before(a, b python.Pos) bool { return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col }

// pythonTypes writes the interpreter's names of types as Python's.
func pythonTypes(s string) string {
	return strings.ReplaceAll(s, "'string'", "'str'")
}
