package lower

import "github.com/capgen/capgen/runtime/program/python"

// unguard replaces each top-level `if __name__ == "__main__":` by its body.
func unguard(statements []python.Stmt) []python.Stmt {
	var out []python.Stmt
	for _, s := range statements {
		if guard, ok := s.(*python.If); ok && isGuard(guard.Test) && len(guard.Else) == 0 {
			out = append(out, guard.Body...)
			continue
		}
		out = append(out, s)
	}
	return out
}

func isGuard(test python.Expr) bool {
	c, ok := test.(*python.Compare)
	if !ok || len(c.Ops) != 1 || c.Ops[0] != "==" {
		return false
	}
	x, y := c.Left, c.Rights[0]
	return isName(x, "__name__") && isText(y, "__main__") || isName(y, "__name__") && isText(x, "__main__")
}

func findMain(statements []python.Stmt) *python.FunctionDef {
	for _, s := range statements {
		if d, ok := s.(*python.FunctionDef); ok && d.Name == mainName {
			return d
		}
	}
	return nil
}

// runsMain recognizes main(), await main(), asyncio.run(main()), with print or
// an assignment around it, as a statement.
func runsMain(s python.Stmt) bool {
	switch s := s.(type) {
	case *python.ExprStmt:
		return isMainRun(s.Value)
	case *python.Assign:
		return len(s.Targets) == 1 && isName(s.Targets[0], "result") && isMainRun(s.Value)
	}
	return false
}

func isMainRun(e python.Expr) bool {
	switch e := e.(type) {
	case *python.Await:
		return isMainRun(e.Value)
	case *python.Call:
		if isName(e.Func, mainName) {
			return len(e.Arguments) == 0
		}
		a, isAttribute := e.Func.(*python.Attribute)
		wraps := isName(e.Func, "print") || isAttribute && a.Name == "run" && isName(a.Value, "asyncio")
		return wraps && len(e.Arguments) == 1 && e.Arguments[0].Star == 0 && isMainRun(e.Arguments[0].Value)
	}
	return false
}

// endsInExpression: a lone docstring is no value.
func endsInExpression(statements []python.Stmt) bool {
	if len(statements) < 2 {
		return false
	}
	_, ok := statements[len(statements)-1].(*python.ExprStmt)
	return ok
}

// mentionsMain reports whether a top-level statement other than a function
// definition refers to main. Helpers may: recursion is theirs.
func mentionsMain(statements []python.Stmt) (found bool) {
	for _, s := range statements {
		python.WalkNode(s, func(n python.Node) bool {
			switch n := n.(type) {
			case *python.FunctionDef:
				return false
			case *python.Name:
				found = found || n.ID == mainName
			}
			return !found
		})
	}
	return found
}

// required returns the first parameter that has no default.
func required(ps *python.Parameters) *python.Parameter {
	for _, p := range ps.Ordinary {
		if p.Default == nil {
			return p
		}
	}
	for _, p := range ps.KeywordOnly {
		if p.Default == nil {
			return p
		}
	}
	return nil
}

func isName(e python.Expr, name string) bool {
	n, ok := e.(*python.Name)
	return ok && n.ID == name
}

func isText(e python.Expr, value string) bool {
	s, ok := e.(*python.Str)
	return ok && s.Value == value
}
