package program

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/capgen/capgen/runtime/program/lower"
	"github.com/capgen/capgen/runtime/program/python"
)

// signatures are the parameters of a program's functions by name. The
// interpreter's errors name a function, and say less of its parameters than
// CPython's: functions that share a name are told apart by what the error says.
type signatures map[string][]*python.Parameters

// lambdaName is the name of all lambdas to the interpreter.
const lambdaName = "lambda"

func findSignatures(m *python.Module) signatures {
	found := signatures{}
	python.Walk(m, func(n python.Node) bool {
		switch n := n.(type) {
		case *python.FunctionDef:
			found[n.Name] = append(found[n.Name], &n.Parameters)
		case *python.Lambda:
			found[lambdaName] = append(found[lambdaName], &n.Parameters)
		}
		return true
	})
	return found
}

var (
	missingArguments = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^function (\S+) missing \d+ arguments? \((.*)\)$`) })
	unknownArgument  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^function (\S+) got an unexpected keyword argument "(\S+)"`)
	})
	tooManyArguments = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^function (\S+) accepts (?:no arguments|(?:at most )?(\d+) positional arguments?) \((\d+) given\)$`)
	})
)

// explain is the class and text of the interpreter's error about the arguments
// of a call; the class is empty for other errors.
func (s signatures) explain(message string) (class, text string) {
	if m := missingArguments().FindStringSubmatch(message); m != nil {
		return "TypeError", s.missing(m[1], strings.Split(m[2], ", "))
	}
	if m := tooManyArguments().FindStringSubmatch(message); m != nil {
		most, _ := strconv.Atoi(m[2])
		given, _ := strconv.Atoi(m[3])
		return "TypeError", s.tooMany(m[1], most, given)
	}
	if m := unknownArgument().FindStringSubmatch(message); m != nil && s.isPositional(m[1], m[2]) {
		return "TypeError", fmt.Sprintf("%s() got some positional-only arguments passed as keyword arguments: '%s'", shownFunction(m[1]), m[2])
	}
	return "", ""
}

// isPositional tells whether a function has that name before a slash.
func (s signatures) isPositional(function, name string) bool {
	for _, p := range s[function] {
		for _, x := range p.Ordinary[:p.PositionalOnly] {
			if x.Name == name {
				return true
			}
		}
	}
	return false
}

// missing tells of required parameters: CPython tells of those that take a
// position first.
func (s signatures) missing(function string, names []string) string {
	kind := "positional"
	for i := range names {
		names[i] = strings.TrimSuffix(names[i], lower.PositionalMark)
	}
	for _, p := range s[function] {
		var ordinary, keyword []string
		for _, x := range p.Ordinary {
			ordinary = append(ordinary, x.Name)
		}
		for _, x := range p.KeywordOnly {
			keyword = append(keyword, x.Name)
		}
		var positions, named []string
		for _, name := range names {
			switch {
			case slices.Contains(ordinary, name):
				positions = append(positions, name)
			case slices.Contains(keyword, name):
				named = append(named, name)
			}
		}
		if len(positions)+len(named) < len(names) {
			continue // another function of that name
		}
		if names = positions; len(positions) == 0 {
			kind, names = "keyword-only", named
		}
		break
	}
	plural := "s"
	if len(names) == 1 {
		plural = ""
	}
	return fmt.Sprintf("%s() missing %d required %s argument%s: %s", shownFunction(function), len(names), kind, plural, namesInWords(names))
}

// tooMany tells how many positions a function takes.
func (s signatures) tooMany(function string, most, given int) string {
	least := most
	for _, p := range s[function] {
		if len(p.Ordinary) != most {
			continue
		}
		least = 0
		for _, x := range p.Ordinary {
			if x.Default == nil {
				least++
			}
		}
		break
	}
	takes := strconv.Itoa(most)
	if least < most {
		takes = fmt.Sprintf("from %d to %d", least, most)
	}
	plural, were := "s", "were"
	if most == 1 && least == most {
		plural = ""
	}
	if given == 1 {
		were = "was"
	}
	return fmt.Sprintf("%s() takes %s positional argument%s but %d %s given", shownFunction(function), takes, plural, given, were)
}

func shownFunction(name string) string {
	if name == lambdaName {
		return "<lambda>"
	}
	return name
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
