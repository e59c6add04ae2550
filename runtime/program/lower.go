package program

import (
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/fault"
)

const (
	mainName = "main"
	// scriptName is the function a script's statements become. No program can
	// spell it.
	scriptName = "<script>"
)

// lower rewrites file so that calling the function it names runs the program
// and returns its value.
//
//   - A program that defines main() runs main(); a last or guarded
//     (`if __name__ == "__main__"`) top-level call of it is that same run.
//   - A program without main is a script: its statements become the body of a
//     function. Its value is the last statement's if that is an expression,
//     else the variable result, else None.
//   - A program that defines main and uses it at its top level in any other
//     way, or ends in another expression, says itself how main is to run: it
//     is a script too.
func lower(file *syntax.File) (entry string, f *fault.Fault) {
	if f := refuseLoad(file); f != nil {
		return "", f
	}
	file.Stmts = unguard(file.Stmts)
	if len(file.Stmts) == 0 {
		return "", &fault.Fault{
			Class:   fault.InvalidProgram,
			Message: "the program is empty",
			Hint:    "define main() and return a value from it",
			Line:    1, Column: 1,
		}
	}
	definition := findMain(file.Stmts)
	if definition == nil {
		wrapScript(file)
		return scriptName, nil
	}
	if last := len(file.Stmts) - 1; runsMain(file.Stmts[last]) {
		file.Stmts = file.Stmts[:last]
	}
	if endsInExpression(file.Stmts) || mentionsMain(file.Stmts) {
		wrapScript(file)
		return scriptName, nil
	}
	if name := requiredParameter(definition); name != nil {
		return "", at(name.NamePos, &fault.Fault{
			Class:   fault.InvalidProgram,
			Message: "main takes no parameters, but " + name.Name + " is required",
			Hint:    "write def main(): and put the values into its body",
		})
	}
	return mainName, nil
}

// refuseLoad finds a load statement anywhere.
func refuseLoad(file *syntax.File) (f *fault.Fault) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if load, ok := n.(*syntax.LoadStmt); ok && f == nil {
			f = at(load.Load, &fault.Fault{
				Class:   fault.InvalidProgram,
				Message: "load is not available: a program is one file",
				Hint:    "json, math, sum and the capabilities' namespaces are already there",
			})
		}
		return f == nil
	})
	return f
}

// unguard replaces each top-level `if __name__ == "__main__":` by its body.
func unguard(statements []syntax.Stmt) []syntax.Stmt {
	var out []syntax.Stmt
	for _, s := range statements {
		if guard, ok := s.(*syntax.IfStmt); ok && isGuard(guard.Cond) && len(guard.False) == 0 {
			out = append(out, guard.True...)
			continue
		}
		out = append(out, s)
	}
	return out
}

func isGuard(condition syntax.Expr) bool {
	b, ok := unparen(condition).(*syntax.BinaryExpr)
	if !ok || b.Op != syntax.EQL {
		return false
	}
	x, y := unparen(b.X), unparen(b.Y)
	return isName(x, "__name__") && isString(y, "__main__") || isName(y, "__name__") && isString(x, "__main__")
}

func findMain(statements []syntax.Stmt) *syntax.DefStmt {
	for _, s := range statements {
		if d, ok := s.(*syntax.DefStmt); ok && d.Name.Name == mainName {
			return d
		}
	}
	return nil
}

// runsMain recognizes main() and print(main()) as a statement.
func runsMain(s syntax.Stmt) bool {
	e, ok := s.(*syntax.ExprStmt)
	if !ok {
		return false
	}
	if call, ok := unparen(e.X).(*syntax.CallExpr); ok && isName(call.Fn, "print") && len(call.Args) == 1 {
		return isMainCall(call.Args[0])
	}
	return isMainCall(e.X)
}

func isMainCall(e syntax.Expr) bool {
	call, ok := unparen(e).(*syntax.CallExpr)
	return ok && isName(call.Fn, mainName) && len(call.Args) == 0
}

// endsInExpression: a lone docstring is no value.
func endsInExpression(statements []syntax.Stmt) bool {
	if len(statements) < 2 {
		return false
	}
	_, ok := statements[len(statements)-1].(*syntax.ExprStmt)
	return ok
}

// mentionsMain reports whether a top-level statement other than a function
// definition refers to main. Helpers may: recursion is theirs.
func mentionsMain(statements []syntax.Stmt) (found bool) {
	for _, s := range statements {
		if _, ok := s.(*syntax.DefStmt); ok {
			continue
		}
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DefStmt:
				return false
			case *syntax.Ident:
				found = found || n.Name == mainName
			}
			return !found
		})
	}
	return found
}

// requiredParameter returns the first parameter that main() would lack.
func requiredParameter(d *syntax.DefStmt) *syntax.Ident {
	for _, p := range d.Params {
		if id, ok := p.(*syntax.Ident); ok {
			return id
		}
	}
	return nil
}

// wrapScript makes the file's statements the body of one function. Every node
// keeps its position.
func wrapScript(file *syntax.File) {
	body := file.Stmts
	last := body[len(body)-1]
	start, _ := last.Span()
	switch s := last.(type) {
	case *syntax.ExprStmt:
		body[len(body)-1] = &syntax.ReturnStmt{Return: start, Result: s.X}
	default:
		if assigns(body, "result") {
			body = append(body, &syntax.ReturnStmt{Return: start, Result: &syntax.Ident{NamePos: start, Name: "result"}})
		}
	}
	first, _ := body[0].Span()
	file.Stmts = []syntax.Stmt{&syntax.DefStmt{
		Def:    first,
		Name:   &syntax.Ident{NamePos: first, Name: scriptName},
		Lparen: first,
		Rparen: first,
		Body:   body,
	}}
}

// assigns reports whether statements bind name in their own scope.
func assigns(statements []syntax.Stmt, name string) bool {
	for _, s := range statements {
		switch s := s.(type) {
		case *syntax.AssignStmt:
			if binds(s.LHS, name) {
				return true
			}
		case *syntax.ForStmt:
			if binds(s.Vars, name) || assigns(s.Body, name) {
				return true
			}
		case *syntax.WhileStmt:
			if assigns(s.Body, name) {
				return true
			}
		case *syntax.IfStmt:
			if assigns(s.True, name) || assigns(s.False, name) {
				return true
			}
		}
	}
	return false
}

func binds(target syntax.Expr, name string) bool {
	switch t := unparen(target).(type) {
	case *syntax.Ident:
		return t.Name == name
	case *syntax.TupleExpr:
		return anyBinds(t.List, name)
	case *syntax.ListExpr:
		return anyBinds(t.List, name)
	}
	return false
}

func anyBinds(targets []syntax.Expr, name string) bool {
	for _, t := range targets {
		if binds(t, name) {
			return true
		}
	}
	return false
}

func unparen(e syntax.Expr) syntax.Expr {
	for {
		p, ok := e.(*syntax.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}

func isName(e syntax.Expr, name string) bool {
	id, ok := e.(*syntax.Ident)
	return ok && id.Name == name
}

func isString(e syntax.Expr, value string) bool {
	l, ok := e.(*syntax.Literal)
	return ok && l.Token == syntax.STRING && l.Value == any(value)
}
