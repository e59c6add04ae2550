package program

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program/lower"
	"github.com/capgen/capgen/runtime/program/python"
)

const (
	// maxText bounds each text of a fault, in bytes: the interpreter quotes
	// values of any size.
	maxText = 4 << 10
	// maxCauses bounds the causes that are told of an exception.
	maxCauses = 4
	// maxTrace bounds the lines of a trace; the middle of a longer one is cut.
	maxTrace = 16
)

// at sets the position of f.
func at(p syntax.Position, f *fault.Fault) *fault.Fault {
	f.Line, f.Column = int(p.Line), int(p.Col)
	return f
}

// bounded returns f with texts that may leave the worker: short, valid UTF-8.
func bounded(f *fault.Fault) *fault.Fault {
	out := *f
	for _, text := range []*string{&out.Message, &out.Hint, &out.Path, &out.Capability, &out.Code} {
		*text = truncate(*text, maxText)
	}
	return &out
}

func truncate(s string, limit int) string {
	if len(s) > limit {
		cut := limit - len("…")
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		// Concatenated, so that the long text can be collected.
		s = s[:cut] + "…"
	}
	return strings.ToValidUTF8(s, "?") // one byte for a run of bad ones: never longer
}

// visible are the names that are there without the program's doing.
func (e *engine) visible() []string {
	names := append(starlark.Universe.Keys(), ownNames()...)
	previous := ""
	for _, name := range e.table.Names() {
		if root, _, _ := strings.Cut(name, "."); root != previous {
			names = append(names, root)
			previous = root
		}
	}
	return names
}

// runtimeFault is the fault for a program that failed while it ran.
func (e *engine) runtimeFault(err error) *fault.Fault {
	var native *nativeFailure
	var eval *starlark.EvalError
	if !errors.As(err, &eval) {
		if errors.As(err, &native) {
			copied := *native.fault
			return &copied
		}
		return e.fault(fault.ProgramError, truncate(err.Error(), maxText))
	}
	var f *fault.Fault
	switch {
	case e.fatal != nil:
		errors.As(e.fatal, &native)
		copied := *native.fault
		f = &copied
	case e.outOfSteps:
		f = fault.Reached(fault.MaxSteps, e.limits.Steps, "the program took too many steps")
		f.Hint = "look for a loop that does not end, or do less per run"
	case e.tooDeep:
		f = e.fault(fault.ProgramError, fmt.Sprintf("functions call each other more than %d deep", maxRecursion))
		f.Hint = "the recursion does not end, or is too deep: use a loop"
	case errors.As(err, &native):
		copied := *native.fault
		f = &copied
	default:
		return e.uncaught(err)
	}
	e.locate(f, eval.CallStack)
	return f
}

// uncaught is the fault for an exception that nothing caught.
func (e *engine) uncaught(err error) *fault.Fault {
	x, ok := e.catch(err)
	if !ok {
		return e.fault(fault.Internal, "the interpreter failed on this program")
	}
	var f *fault.Fault
	if x.fault != nil {
		copied := *x.fault
		f = &copied
	} else {
		message := truncate((&raised{exception: x}).Error(), maxText)
		f = e.fault(fault.ProgramError, message)
		if f.Hint = x.hint; f.Hint == "" {
			f.Hint = e.hiddenHint(message)
		}
		if f.Hint == "" {
			f.Hint = runtimeHint(message)
		}
		f.Hint = strings.TrimPrefix(f.Hint+causeHint(x), "; ")
	}
	e.locate(f, x.stack)
	return f
}

// causeHint tells what x was raised from, with the place of each.
func causeHint(x *exception) string {
	var b strings.Builder
	for i := 0; i < maxCauses; i++ {
		cause, ok := x.cause.(*exception)
		if !ok {
			break
		}
		b.WriteString("; raised from " + truncate((&raised{exception: cause}).Error(), maxText/8))
		if own := ownFrames(cause.stack); len(own) > 0 {
			fmt.Fprintf(&b, " (line %d)", own[len(own)-1].Pos.Line)
		}
		x = cause
	}
	return b.String()
}

// ownFrames are those of the program.
func ownFrames(stack starlark.CallStack) (own []starlark.CallFrame) {
	for _, frame := range stack {
		if frame.Pos.Filename() == lower.FileName && frame.Name != "<toplevel>" {
			own = append(own, frame)
		}
	}
	return own
}

// hiddenHint is said where a variable of a function hides what it is made of,
// as in orders = orders.list(), or a namespace that is asked for a capability.
func (e *engine) hiddenHint(message string) string {
	if before, name, ok := strings.Cut(strings.TrimSuffix(message, "'"), "' object has no attribute '"); ok && strings.HasPrefix(before, "AttributeError: ") {
		names, _ := namesIn(e.tree, python.Pos{})
		for _, n := range names {
			if e.isCapability(n+"."+name) || e.isNamespace(n+"."+name) {
				return "the variable " + n + " hides the namespace of that name, which has " + n + "." + name + ": choose another name for the variable"
			}
		}
	}
	_, rest, ok := strings.Cut(message, "UnboundLocalError: cannot access local variable '")
	name, _, _ := strings.Cut(rest, "'")
	switch {
	case !ok:
	case e.isNamespace(name):
		return name + " is the namespace of capabilities, which the variable hides in all of the function: choose another name for the variable"
	case name == dataName && e.data != "":
		return "the variable hides the given data in all of the function: choose another name for the variable"
	}
	return ""
}

// locate sets position and trace from the frames that are the program's own. A
// fault that has them happened in a callable of parallel, which was called
// where stack ends.
func (e *engine) locate(f *fault.Fault, stack starlark.CallStack) {
	var own []starlark.CallFrame
	for _, frame := range ownFrames(stack) {
		if n := len(own); n > 0 && (strings.HasPrefix(frame.Name, lower.BodyPrefix) || frame.Name == lambdaName && !e.inLambda(frame.Pos)) {
			own[n-1].Pos = frame.Pos // a part of the function around it
			continue
		}
		own = append(own, frame)
	}
	if e.entered && len(own) > 1 {
		own = own[1:]
	}
	if len(own) == 0 {
		return
	}
	inner := f.Trace
	f.Trace = nil
	if f.Line == 0 {
		at(own[len(own)-1].Pos, f)
	}
	cut := 0
	if len(own) > maxTrace {
		cut = len(own) - maxTrace
	}
	for i, frame := range own {
		if cut > 0 && i >= maxTrace/2 && i < maxTrace/2+cut {
			if i == maxTrace/2 {
				f.Trace = append(f.Trace, fmt.Sprintf("… %d more", cut))
			}
			continue
		}
		f.Trace = append(f.Trace, traceLine(frame))
	}
	f.Trace = append(f.Trace, inner...)
}

// inLambda tells whether the program has a lambda around p; others are of the
// lowering's making.
func (e *engine) inLambda(p syntax.Position) bool {
	found := false
	python.Walk(e.tree, func(n python.Node) bool {
		if l, ok := n.(*python.Lambda); ok {
			start, body := l.Start(), l.Body.Start()
			after := p.Line > start.Line || p.Line == start.Line && p.Col >= start.Col
			found = found || after && p.Line <= body.Line
		}
		return !found
	})
	return found
}

func traceLine(frame starlark.CallFrame) string {
	switch frame.Name {
	case lower.Entry:
		return fmt.Sprintf("line %d", frame.Pos.Line)
	}
	return fmt.Sprintf("line %d, in %s", frame.Pos.Line, excerpt(frame.Name))
}
