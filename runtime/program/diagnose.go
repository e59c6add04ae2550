package program

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/internal/nearest"
	"github.com/capgen/capgen/runtime/fault"
)

const (
	// maxText bounds each text of a fault, in bytes: the interpreter quotes
	// values of any size.
	maxText = 4 << 10
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

// syntaxFault is the fault for source that does not parse.
func (e *engine) syntaxFault(source string, err error) *fault.Fault {
	f := e.fault(fault.InvalidProgram, "the program does not parse")
	var s syntax.Error
	if !errors.As(err, &s) {
		return f
	}
	f.Message = s.Msg
	line := sourceLine(source, int(s.Pos.Line))
	f.Line, f.Column = int(s.Pos.Line), tokenColumn(line, s)
	f.Hint = syntaxHint(s.Msg, line, f.Column)
	return f
}

// sourceLine returns a 1-based line without its end.
func sourceLine(source string, line int) string {
	for ; line > 1; line-- {
		_, rest, ok := strings.Cut(source, "\n")
		if !ok {
			return ""
		}
		source = rest
	}
	text, _, _ := strings.Cut(source, "\n")
	return strings.TrimSuffix(text, "\r")
}

// tokenColumn is where the offending token begins: where the parser expected
// another it reports the token's end.
func tokenColumn(line string, s syntax.Error) int {
	column := int(s.Pos.Col)
	if !strings.HasPrefix(s.Msg, "got ") || strings.HasSuffix(s.Msg, "want primary expression") {
		return column
	}
	runes := []rune(line)
	end := min(column-1, len(runes))
	token, _, _ := strings.Cut(strings.TrimPrefix(s.Msg, "got "), ", want")
	switch {
	case token == "newline" || token == "end of file" || token == "indent" || token == "outdent":
		return column
	case token == "string literal":
		return stringStart(runes[:max(end, 0)], column)
	case strings.HasPrefix(token, "'"):
		return max(column-len(strings.Trim(token, "'")), 1)
	}
	for end > 0 && isWordRune(runes[end-1]) {
		end--
	}
	return end + 1
}

// stringStart finds the opening quote of a one-line string that ends text.
func stringStart(text []rune, column int) int {
	if len(text) < 2 {
		return column
	}
	quote := text[len(text)-1]
	for i := len(text) - 2; i >= 0; i-- {
		if text[i] == quote && (i == 0 || text[i-1] != '\\') {
			return i + 1
		}
	}
	return column
}

func isWordRune(r rune) bool {
	return r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r >= 0x80
}

// resolveFault is the fault for the first name or statement that does not
// resolve.
func (e *engine) resolveFault(source string, err error) *fault.Fault {
	var list resolve.ErrorList
	if !errors.As(err, &list) {
		return e.fault(fault.InvalidProgram, "the program does not resolve")
	}
	first := list[0]
	f := at(first.Pos, e.fault(fault.InvalidProgram, first.Msg))
	name, ok := strings.CutPrefix(first.Msg, "undefined: ")
	if !ok {
		return f
	}
	name, _, _ = strings.Cut(name, " ")
	// As its author wrote it: what was resolved is lowered.
	file, err := dialect().Parse(sourceName, source, 0)
	if err != nil {
		return f
	}
	e.undefined(f, file, first.Pos, name)
	return f
}

// undefined explains an unknown name: a capability when it is used as a
// namespace, else the nearest name there is.
func (e *engine) undefined(f *fault.Fault, file *syntax.File, pos syntax.Position, name string) {
	own := strings.HasSuffix(f.Message, "?)") // the resolver found one near it in the program
	if hint, ok := pythonModules[name]; ok && !own {
		f.Message, f.Hint = "undefined: "+name, hint
		return
	}
	if dotted := dottedAt(file, pos); dotted != "" && !own {
		unknown := e.unknownCapability(dotted)
		f.Class, f.Message, f.Hint, f.Capability = unknown.Class, unknown.Message, unknown.Hint, unknown.Capability
		return
	}
	f.Message = "undefined: " + excerpt(name)
	if hint, ok := pythonNames[name]; ok {
		f.Hint = hint
		return
	}
	candidates := append(fileNames(file), e.visible()...)
	if near := nearest.Name(name, candidates); near != "" {
		f.Message += fmt.Sprintf(" (did you mean %s?)", near)
	}
}

// dottedAt returns the dotted name that begins with the name at pos, if it is
// used as one: a.b of a.b(…).
func dottedAt(file *syntax.File, pos syntax.Position) (dotted string) {
	syntax.Walk(file, func(n syntax.Node) bool {
		dot, ok := n.(*syntax.DotExpr)
		if !ok || dotted != "" {
			return dotted == ""
		}
		if name, at := flatten(dot); name != "" && at.Line == pos.Line && at.Col == pos.Col {
			dotted = name
		}
		return dotted == ""
	})
	return dotted
}

func flatten(e syntax.Expr) (string, syntax.Position) {
	switch e := e.(type) {
	case *syntax.Ident:
		return e.Name, e.NamePos
	case *syntax.DotExpr:
		if name, pos := flatten(e.X); name != "" {
			return name + "." + e.Name.Name, pos
		}
	}
	return "", syntax.Position{}
}

// fileNames are the names that the file assigns or defines anywhere.
func fileNames(file *syntax.File) []string {
	var names []string
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DefStmt:
			if n.Name.Name != scriptName {
				names = append(names, n.Name.Name)
			}
		case *syntax.AssignStmt:
			if id, ok := n.LHS.(*syntax.Ident); ok {
				names = append(names, id.Name)
			}
		}
		return true
	})
	return names
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
		return e.fault(fault.ProgramError, err.Error())
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
		message := truncate(eval.Msg, maxText)
		f = e.fault(fault.ProgramError, message)
		f.Hint = runtimeHint(message)
	}
	e.locate(f, eval.CallStack)
	return f
}

// locate sets position and trace from the frames that are the program's own. A
// fault that has them happened in a callable of parallel, which was called
// where stack ends.
func (e *engine) locate(f *fault.Fault, stack starlark.CallStack) {
	var own []starlark.CallFrame
	for _, frame := range stack {
		if frame.Pos.Filename() == sourceName && (frame.Name != "<toplevel>" || !e.running) {
			own = append(own, frame)
		}
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

func traceLine(frame starlark.CallFrame) string {
	switch frame.Name {
	case "<toplevel>", scriptName:
		return fmt.Sprintf("line %d", frame.Pos.Line)
	}
	return fmt.Sprintf("line %d, in %s", frame.Pos.Line, excerpt(frame.Name))
}
