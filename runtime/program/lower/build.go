package lower

import (
	"maps"
	"slices"
	"strconv"

	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/python"
)

// FileName stands in the positions of all nodes.
const FileName = "program"

// position is p for Starlark.
func (l *lowerer) position(p python.Pos) syntax.Position {
	return syntax.MakePosition(&l.file, p.Line, p.Col)
}

func (l *lowerer) ident(p python.Pos, name string) *syntax.Ident {
	return &syntax.Ident{NamePos: l.position(p), Name: name}
}

func (l *lowerer) text(p python.Pos, s string) syntax.Expr {
	return &syntax.Literal{Token: syntax.STRING, TokenPos: l.position(p), Raw: strconv.Quote(s), Value: s}
}

func (l *lowerer) int(p python.Pos, n int) syntax.Expr {
	return &syntax.Literal{Token: syntax.INT, TokenPos: l.position(p), Raw: strconv.Itoa(n), Value: int64(n)}
}

func (l *lowerer) none(p python.Pos) syntax.Expr { return l.ident(p, "None") }

// helper is a use of a helper, which the file keeps in a global: looking up a
// predeclared name costs more.
func (l *lowerer) helper(p python.Pos, name string) *syntax.Ident {
	l.used[name] = true
	return l.ident(p, globalPrefix+name)
}

// globalPrefix sets the globals apart from the predeclared names that are
// assigned to them.
const globalPrefix = "$"

// prelude assigns the helpers in use, and predeclared names that are hidden.
func (l *lowerer) prelude(p python.Pos) []syntax.Stmt {
	var out []syntax.Stmt
	for _, name := range slices.Sorted(maps.Keys(l.used)) {
		out = append(out, l.assign(p, l.ident(p, globalPrefix+name), l.ident(p, name)))
	}
	for _, name := range l.hidden {
		out = append(out, l.assign(p, l.ident(p, hiddenPrefix+name), l.ident(p, name)))
	}
	return out
}

// unary is helper - x.
func (l *lowerer) unary(p python.Pos, helper string, x syntax.Expr) syntax.Expr {
	return &syntax.BinaryExpr{X: l.helper(p, helper), OpPos: l.position(p), Op: syntax.MINUS, Y: x}
}

// binary is (helper - x) - y.
func (l *lowerer) binary(p python.Pos, helper string, x, y syntax.Expr) syntax.Expr {
	return &syntax.BinaryExpr{X: l.unary(p, helper, x), OpPos: l.position(p), Op: syntax.MINUS, Y: y}
}

// minus is x - y, of which x is a helper that has some of its operands.
func (l *lowerer) minus(p python.Pos, x, y syntax.Expr) syntax.Expr {
	return &syntax.BinaryExpr{X: x, OpPos: l.position(p), Op: syntax.MINUS, Y: y}
}

// call is helper(args…).
func (l *lowerer) call(p python.Pos, helper string, args ...syntax.Expr) syntax.Expr {
	return &syntax.CallExpr{Fn: l.helper(p, helper), Lparen: l.position(p), Args: args, Rparen: l.position(p)}
}

func (l *lowerer) dot(p python.Pos, x syntax.Expr, name string) syntax.Expr {
	at := l.position(p)
	return &syntax.DotExpr{X: x, Dot: at, NamePos: at, Name: l.ident(p, name)}
}

func (l *lowerer) lambda(p python.Pos, body syntax.Expr, parameters ...string) syntax.Expr {
	e := &syntax.LambdaExpr{Lambda: l.position(p), Body: body}
	for _, name := range parameters {
		e.Params = append(e.Params, l.ident(p, name))
	}
	return e
}

func (l *lowerer) assign(p python.Pos, target, value syntax.Expr) syntax.Stmt {
	return &syntax.AssignStmt{OpPos: l.position(p), Op: syntax.EQ, LHS: target, RHS: value}
}

func (l *lowerer) expr(e syntax.Expr) syntax.Stmt { return &syntax.ExprStmt{X: e} }

func (l *lowerer) ret(p python.Pos, e syntax.Expr) syntax.Stmt {
	return &syntax.ReturnStmt{Return: l.position(p), Result: e}
}

func (l *lowerer) branch(p python.Pos, token syntax.Token) syntax.Stmt {
	return &syntax.BranchStmt{Token: token, TokenPos: l.position(p)}
}

func (l *lowerer) ifThen(p python.Pos, condition syntax.Expr, then, otherwise []syntax.Stmt) syntax.Stmt {
	at := l.position(p)
	return &syntax.IfStmt{If: at, Cond: condition, True: l.filled(p, then), ElsePos: at, False: otherwise}
}

// filled is a block that is not empty.
func (l *lowerer) filled(p python.Pos, block []syntax.Stmt) []syntax.Stmt {
	if len(block) == 0 {
		return []syntax.Stmt{l.branch(p, syntax.PASS)}
	}
	return block
}

func (l *lowerer) def(p python.Pos, name string, parameters []syntax.Expr, body []syntax.Stmt) syntax.Stmt {
	at := l.position(p)
	return &syntax.DefStmt{Def: at, Name: l.ident(p, name), Lparen: at, Params: parameters, Rparen: at, Body: l.filled(p, body)}
}

// temporary is a variable that no program has, nor a cell of one.
func (l *lowerer) temporary() string {
	l.temporaries++
	return "$" + strconv.Itoa(l.temporaries)
}
