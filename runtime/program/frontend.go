package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/internal/nearest"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program/lower"
	"github.com/capgen/capgen/runtime/program/python"
)

// code is a program that can run: Init it, then call lower.Entry. program is
// nil where the names of one that was lowered do not resolve.
type code struct {
	program *starlark.Program
	lowered *lower.Program
}

// compile checks, parses, lowers and resolves a source. What it refuses has
// one fault, or one for each name that is not defined.
func compile(p Program, e *engine) (*code, []*fault.Fault) {
	if f := checkSource(p.Source, e.limits.SourceBytes); f != nil {
		return nil, []*fault.Fault{f}
	}
	module, problem := python.Parse(p.Source)
	if problem != nil {
		return nil, []*fault.Fault{e.sourceFault(problem)}
	}
	lowered, problem := lower.Lower(module, lower.Options{Module: isModule, Namespace: e.isNamespace, Predeclared: e.isPredeclared, RequireMain: e.requireMain})
	if problem != nil {
		return nil, []*fault.Fault{e.sourceFault(problem)}
	}
	e.tree, e.signatures = module, findSignatures(module)
	e.predeclared = starlark.StringDict{}
	program, err := starlark.FileProgram(lowered.File, e.has)
	if err != nil {
		return &code{lowered: lowered}, e.resolveFaults(module, err)
	}
	return &code{program: program, lowered: lowered}, nil
}

// sourceFault is the fault for source that cannot be read or lowered.
func (e *engine) sourceFault(p *python.Error) *fault.Fault {
	f := e.fault(fault.InvalidProgram, p.Message)
	f.Hint, f.Line, f.Column = p.Hint, int(p.Pos.Line), int(p.Pos.Col)
	return f
}

// resolveFaults are the faults for the names that are not defined, the first
// of them at least.
func (e *engine) resolveFaults(module *python.Module, err error) (out []*fault.Fault) {
	var list resolve.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return []*fault.Fault{e.fault(fault.InvalidProgram, "the program does not resolve")}
	}
	for _, problem := range list[:min(len(list), MaxProblems)] {
		f := at(problem.Pos, e.fault(fault.InvalidProgram, problem.Msg))
		if name, ok := strings.CutPrefix(problem.Msg, "undefined: "); ok {
			name, _, _ = strings.Cut(name, " ")
			e.undefined(f, module, problem.Pos, name)
		}
		out = append(out, f)
	}
	return out
}

// undefined explains an unknown name: a capability when it is used as a
// namespace, else the nearest name there is.
func (e *engine) undefined(f *fault.Fault, module *python.Module, pos syntax.Position, name string) {
	f.Message = fmt.Sprintf("NameError: name '%s' is not defined", excerpt(name))
	if name == dataName {
		f.Hint = "nothing was given beside source: give data, a JSON object"
		return
	}
	if hint, ok := lower.Instead(name); ok {
		f.Hint = hint
		return
	}
	names, dotted := namesIn(module, python.Pos{Line: pos.Line, Col: pos.Col})
	near := nearest.Name(name, names)
	if dotted != "" && near == "" {
		unknown := e.unknownCapability(dotted)
		f.Class, f.Message, f.Hint, f.Capability = unknown.Class, unknown.Message, unknown.Hint, unknown.Capability
		return
	}
	if near == "" {
		near = nearest.Name(name, e.visible())
	}
	if near != "" {
		f.Message += fmt.Sprintf(" (did you mean %s?)", near)
	}
}

// namesIn are the names that a program binds, and the dotted name that begins
// at pos, if the name there is used as one.
func namesIn(module *python.Module, pos python.Pos) (names []string, dotted string) {
	python.Walk(module, func(n python.Node) bool {
		switch n := n.(type) {
		case *python.FunctionDef:
			names = append(names, n.Name)
			for _, p := range slices.Concat(n.Parameters.Ordinary, n.Parameters.KeywordOnly) {
				names = append(names, p.Name)
			}
		case *python.Assign:
			for _, t := range n.Targets {
				names = append(names, targets(t)...)
			}
		case *python.For:
			names = append(names, targets(n.Target)...)
		case *python.Comprehension:
			for _, c := range n.Clauses {
				names = append(names, targets(c.Target)...)
			}
		case *python.NamedExpr:
			names = append(names, targets(n.Target)...)
		case *python.Attribute:
			if name, at := flatten(n); name != "" && at == pos && dotted == "" {
				dotted = name
			}
		}
		return true
	})
	return names, dotted
}

// targets are the variables that a target of an assignment assigns.
func targets(e python.Expr) (names []string) {
	switch e := e.(type) {
	case *python.Name:
		return []string{e.ID}
	case *python.Starred:
		return targets(e.Value)
	case *python.Tuple:
		for _, item := range e.Items {
			names = append(names, targets(item)...)
		}
	case *python.List:
		for _, item := range e.Items {
			names = append(names, targets(item)...)
		}
	}
	return names
}

func flatten(e python.Expr) (string, python.Pos) {
	switch e := e.(type) {
	case *python.Name:
		return e.ID, e.Pos
	case *python.Attribute:
		if name, pos := flatten(e.Value); name != "" {
			return name + "." + e.Name, pos
		}
	}
	return "", python.Pos{}
}
