package program

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/internal/nearest"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program/lower"
	"github.com/capgen/capgen/runtime/program/python"
)

// code is a program that can run: Init it, then call lower.Entry.
type code struct {
	program *starlark.Program
	// main tells that the top level only prepares main().
	main bool
}

// compile checks, parses, lowers and resolves source.
func compile(source string, e *engine) (*code, *fault.Fault) {
	if f := checkSource(source, e.limits.SourceBytes); f != nil {
		return nil, f
	}
	module, problem := python.Parse(source)
	if problem != nil {
		return nil, e.sourceFault(problem)
	}
	lowered, problem := lower.Lower(module, lower.Options{Module: isModule, Namespace: e.isNamespace})
	if problem != nil {
		return nil, e.sourceFault(problem)
	}
	e.signatures = findSignatures(module)
	e.predeclared = starlark.StringDict{}
	program, err := starlark.FileProgram(lowered.File, e.has)
	if err != nil {
		return nil, e.resolveFault(module, err)
	}
	return &code{program: program, main: lowered.Main}, nil
}

// sourceFault is the fault for source that cannot be read or lowered.
func (e *engine) sourceFault(p *python.Error) *fault.Fault {
	f := e.fault(fault.InvalidProgram, p.Message)
	f.Hint, f.Line, f.Column = p.Hint, int(p.Pos.Line), int(p.Pos.Col)
	return f
}

// resolveFault is the fault for the first name that is not defined.
func (e *engine) resolveFault(module *python.Module, err error) *fault.Fault {
	var list resolve.ErrorList
	if !errors.As(err, &list) {
		return e.fault(fault.InvalidProgram, "the program does not resolve")
	}
	first := list[0]
	f := at(first.Pos, e.fault(fault.InvalidProgram, first.Msg))
	if name, ok := strings.CutPrefix(first.Msg, "undefined: "); ok {
		name, _, _ = strings.Cut(name, " ")
		e.undefined(f, module, first.Pos, name)
	}
	return f
}

// undefined explains an unknown name: a capability when it is used as a
// namespace, else the nearest name there is.
func (e *engine) undefined(f *fault.Fault, module *python.Module, pos syntax.Position, name string) {
	f.Message = fmt.Sprintf("NameError: name '%s' is not defined", excerpt(name))
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
		case *python.Assign:
			for _, t := range n.Targets {
				if id, ok := t.(*python.Name); ok {
					names = append(names, id.ID)
				}
			}
		case *python.Attribute:
			if name, at := flatten(n); name != "" && at == pos && dotted == "" {
				dotted = name
			}
		}
		return true
	})
	return names, dotted
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
