package lower

import (
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/python"
)

// Entry is the name of the function that a lowered file defines.
const Entry = "$program"

const mainName = "main"

// Options is what a program finds around it.
type Options struct {
	// Module tells whether import finds a module of that name. Nil finds none.
	Module func(name string) bool
	// Namespace tells whether name is the root of capabilities' names.
	Namespace func(name string) bool
	// Predeclared tells whether a name is there before the program binds it.
	// Nil knows none.
	Predeclared func(name string) bool
	// RequireMain refuses programs that do not define main().
	RequireMain bool
}

// Program is a lowered program. Calling Entry runs it and returns its value.
type Program struct {
	File *syntax.File
	// Main tells that the program's top level only prepares its main().
	Main bool
	// NoValue tells that a script ends in nothing that is its value.
	NoValue bool
	// Uses are where capabilities are named, in the order of lowering.
	Uses []Use
}

// Lower rewrites m.
//
//   - A program that defines main() runs main(); a last or guarded
//     (`if __name__ == "__main__"`) top-level call of it is that same run.
//   - A program without main is a script: its value is the last statement's if
//     that is an expression, else the variable result, else None.
//   - A program that defines main and uses it at its top level in any other
//     way, or ends in another expression, says itself how main is to run: it
//     is a script too.
func Lower(m *python.Module, o Options) (*Program, *python.Error) {
	found, top, err := findScopes(m)
	if err != nil {
		return nil, err
	}
	l := &lowerer{options: o, scopes: found, scope: top, file: FileName, region: &region{}, used: map[string]bool{}}
	program, err := l.program(m)
	if err == nil {
		err = l.err
	}
	if err != nil {
		return nil, err
	}
	return program, nil
}

// lowerer writes one program.
type lowerer struct {
	options Options
	scopes  *scopes
	file    string
	err     *python.Error

	scope       *scope
	region      *region
	temporaries int
	used        map[string]bool // helpers
	uses        []Use
	hidden      []string // predeclared names that the module binds
}

// region is one Starlark function: a function's body, or a part of it that try
// made a function.
type region struct {
	// outer is the region whose statement this is a part of; nil for a whole
	// body.
	outer *region
	loops []*loop
	// returns, breaks and continues tell which signals it may return.
	returns, breaks, continues bool
	// caught is the variable of the innermost handler; empty outside.
	caught string
	// handlers are those around that name what they caught.
	handlers []handler
}

// handler is `except … as name`, within so many loops of its region.
type handler struct {
	pos   python.Pos
	name  string
	loops int
}

// loop is one within a region; broke is the variable that tells its else part
// that break ended it, empty without such a part.
type loop struct{ broke string }

// fail keeps the first error.
func (l *lowerer) fail(p python.Pos, hint, format string, args ...any) {
	if l.err == nil {
		l.err = python.NewError(p, hint, format, args...)
	}
}

func (l *lowerer) program(m *python.Module) (*Program, *python.Error) {
	statements := unguard(m.Body)
	if len(statements) == 0 {
		return nil, python.NewError(python.Pos{Line: 1, Col: 1}, "define main() and return a value from it", "the program is empty")
	}
	p := &Program{}
	start := statements[0].Start()
	definition := findMain(statements)
	if definition == nil && l.options.RequireMain {
		return nil, python.NewError(start, "put the statements into def main(): and return the value", "the program defines no main()")
	}
	main := false
	if definition != nil {
		if last := len(statements) - 1; runsMain(statements[last]) {
			statements = statements[:last]
		}
		main = !endsInExpression(statements) && !mentionsMain(statements)
		if name := required(&definition.Parameters); main && name != nil {
			return nil, python.NewError(name.Pos, "write def main(): and put the values into its body", "main takes no parameters, but %s is required", name.Name)
		}
	}
	// The value of a script's last statement is the script's.
	var value python.Expr
	end := statements[len(statements)-1].Start()
	if s, ok := statements[len(statements)-1].(*python.ExprStmt); ok && !main {
		statements, value = statements[:len(statements)-1], s.Value
	}
	body := append(l.cells(start, nil), l.shadows(start)...)
	body = append(body, l.block(statements)...)
	switch {
	case main:
		p.Main = true
		at := definition.NamePos
		body = append(body, l.ret(at, l.call(at, EnterMain, l.variable(at, mainName))))
	case value != nil:
		body = append(body, l.ret(end, l.expression(value)))
	case l.scope.bound["result"]:
		body = append(body, l.ret(end, l.variable(end, "result")))
	default:
		p.NoValue = true
	}
	p.File = l.wrap(start, body)
	p.Uses = l.uses
	return p, nil
}

// hiddenPrefix sets apart the globals that keep predeclared names which the
// module's own variables hide.
const hiddenPrefix = "$was "

// shadows gives the module's variables that hide a predeclared name its value
// to begin with: max = max(xs) reads the builtin, and then is a variable.
func (l *lowerer) shadows(p python.Pos) []syntax.Stmt {
	var out []syntax.Stmt
	for _, name := range l.scope.order {
		if l.options.Predeclared != nil && l.options.Predeclared(name) {
			l.hidden = append(l.hidden, name)
			target := l.variable(p, name)
			if l.scope.boxed[name] && (l.options.Namespace == nil || !l.options.Namespace(name)) {
				target = l.dot(p, l.ident(p, l.scope.cell(name)), HiddenField)
			}
			out = append(out, l.assign(p, target, l.ident(p, hiddenPrefix+name)))
		}
	}
	return out
}

// wrap makes body the function of a file.
func (l *lowerer) wrap(p python.Pos, body []syntax.Stmt) *syntax.File {
	return &syntax.File{
		Path:    FileName,
		Stmts:   append(l.prelude(p), l.def(p, Entry, nil, body)),
		Options: FileOptions(),
	}
}

// FileOptions are those that a lowered file needs.
func FileOptions() *syntax.FileOptions {
	return &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
}

// block lowers statements, none of which may be reached from elsewhere.
func (l *lowerer) block(statements []python.Stmt) []syntax.Stmt {
	var out []syntax.Stmt
	for _, s := range statements {
		out = l.statement(out, s)
	}
	return out
}

// cells begins a function: it makes its boxed variables, and puts the boxed
// parameters into theirs.
func (l *lowerer) cells(p python.Pos, parameters []*python.Parameter) []syntax.Stmt {
	var out []syntax.Stmt
	for _, name := range l.scope.order {
		if !l.scope.boxed[name] {
			continue
		}
		out = append(out, l.assign(p, l.ident(p, l.scope.cell(name)), l.unary(p, Cell, l.text(p, name))))
	}
	for _, x := range parameters {
		if l.scope.boxed[x.Name] {
			out = append(out, l.assign(p, l.dot(p, l.ident(p, l.scope.cell(x.Name)), CellField), l.ident(p, l.scope.parameter(x.Name))))
		}
	}
	return out
}

// variable is the variable name, as a value or a target.
func (l *lowerer) variable(p python.Pos, name string) syntax.Expr {
	owner := l.scope.owner(name)
	switch {
	case owner == nil:
		return l.ident(p, name)
	case !owner.boxed[name] && owner.parent == nil:
		return l.ident(p, name+GlobalMark)
	case !owner.boxed[name]:
		return l.ident(p, owner.local(name))
	case owner.parent == nil:
		return l.dot(p, l.ident(p, owner.cell(name)), GlobalField)
	case owner != l.scope: // a comprehension is a function of its own
		return l.dot(p, l.ident(p, owner.cell(name)), FreeField)
	}
	return l.dot(p, l.ident(p, owner.cell(name)), CellField)
}
