package program

import (
	"slices"
	"strconv"

	"go.starlark.net/syntax"
)

// boundOperators rewrites file so that operators, method calls and keys whose
// work or result a program can make large go through guards and helpers
// (guard.go), and puts in front what assigns those to globals. Where operands
// are literals that rule that out, the interpreter's own operator stays. Nodes
// keep their positions.
func boundOperators(file *syntax.File, isNamespace func(string) bool) {
	b := &bounder{isNamespace: isNamespace, assigned: map[string]bool{}, helpers: map[string]bool{}}
	for _, name := range assignedNames(file) {
		b.assigned[name] = true
	}
	start, _ := file.Stmts[0].Span()
	body := b.statements(file.Stmts)
	file.Stmts = nil
	names := make([]string, 0, len(b.helpers))
	for name := range b.helpers {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		file.Stmts = append(file.Stmts, &syntax.AssignStmt{
			OpPos: start, Op: syntax.EQ,
			LHS: &syntax.Ident{NamePos: start, Name: guardPrefix + name},
			RHS: &syntax.Ident{NamePos: start, Name: name},
		})
	}
	file.Stmts = append(file.Stmts, body...)
}

type bounder struct {
	isNamespace func(string) bool
	assigned    map[string]bool // names that the program binds anywhere
	helpers     map[string]bool // names of the guards and helpers in use
	temporaries int
}

func (b *bounder) helper(name string, pos syntax.Position) *syntax.Ident {
	b.helpers[name] = true
	return &syntax.Ident{NamePos: pos, Name: guardPrefix + name}
}

// guarded is (name - x) - y.
func (b *bounder) guarded(name string, pos syntax.Position, x, y syntax.Expr) syntax.Expr {
	return &syntax.BinaryExpr{
		X:     b.checked(name, pos, x),
		OpPos: pos, Op: syntax.MINUS,
		Y: y,
	}
}

// checked is name - x.
func (b *bounder) checked(name string, pos syntax.Position, x syntax.Expr) syntax.Expr {
	return &syntax.BinaryExpr{X: b.helper(name, pos), OpPos: pos, Op: syntax.MINUS, Y: x}
}

func (b *bounder) statements(list []syntax.Stmt) []syntax.Stmt {
	if len(list) == 0 {
		return list // no else is not an empty one
	}
	out := make([]syntax.Stmt, 0, len(list))
	for _, s := range list {
		out = b.statement(out, s)
	}
	return out
}

func (b *bounder) statement(out []syntax.Stmt, s syntax.Stmt) []syntax.Stmt {
	switch s := s.(type) {
	case *syntax.AssignStmt:
		if s.Op != syntax.EQ {
			return b.augmented(out, s)
		}
		s.RHS = b.expr(s.RHS)
		s.LHS = b.target(s.LHS)
	case *syntax.DefStmt:
		b.parameters(s.Params)
		s.Body = b.statements(s.Body)
	case *syntax.ExprStmt:
		s.X = b.expr(s.X)
	case *syntax.ForStmt:
		s.X = b.expr(s.X)
		s.Vars = b.target(s.Vars)
		s.Body = b.statements(s.Body)
	case *syntax.WhileStmt:
		s.Cond = b.expr(s.Cond)
		s.Body = b.statements(s.Body)
	case *syntax.IfStmt:
		s.Cond = b.expr(s.Cond)
		s.True = b.statements(s.True)
		s.False = b.statements(s.False)
	case *syntax.ReturnStmt:
		if s.Result != nil {
			s.Result = b.expr(s.Result)
		}
	}
	return append(out, s)
}

// augmented writes x op= y as x = x op y, where op may change x in place. An x
// that is an element is computed once: a[i] += y is
//
//	$1 = a; $2 = i; $1[$2] = $1[$2] + y
func (b *bounder) augmented(out []syntax.Stmt, s *syntax.AssignStmt) []syntax.Stmt {
	op := s.Op - syntax.PLUS_EQ + syntax.PLUS
	name := b.operatorName(op, nil, s.RHS)
	switch name {
	case "$+", "$|":
		name += "="
	}
	s.RHS = b.expr(s.RHS)
	target := s.LHS
	if index, ok := unparen(target).(*syntax.IndexExpr); ok {
		out, index.X = b.once(out, index.X)
		out, index.Y = b.once(out, index.Y)
		target = &syntax.IndexExpr{X: index.X, Lbrack: index.Lbrack, Y: index.Y, Rbrack: index.Rbrack}
		s.LHS = b.target(index)
	}
	if _, ok := unparen(target).(*syntax.DotExpr); ok || name == "" && target == s.LHS {
		return append(out, s) // no value's fields can be assigned, which it will say
	}
	value := syntax.Expr(&syntax.BinaryExpr{X: b.copied(target), OpPos: s.OpPos, Op: op, Y: s.RHS})
	if name != "" {
		value = b.guarded(name, s.OpPos, b.copied(target), s.RHS)
	}
	return append(out, &syntax.AssignStmt{OpPos: s.OpPos, Op: syntax.EQ, LHS: s.LHS, RHS: value})
}

// copied is a target of ours as a value: a node has one place in a tree, for
// the resolver writes into it.
func (b *bounder) copied(target syntax.Expr) syntax.Expr {
	switch t := unparen(target).(type) {
	case *syntax.Ident:
		return &syntax.Ident{NamePos: t.NamePos, Name: t.Name}
	case *syntax.Literal:
		return t
	case *syntax.IndexExpr:
		return b.index(&syntax.IndexExpr{X: b.copied(t.X), Lbrack: t.Lbrack, Y: b.copied(t.Y), Rbrack: t.Rbrack})
	}
	return target
}

// once makes sure that e, which is written twice, is computed once.
func (b *bounder) once(out []syntax.Stmt, e syntax.Expr) ([]syntax.Stmt, syntax.Expr) {
	switch e := unparen(e).(type) {
	case *syntax.Ident, *syntax.Literal:
		return out, e
	}
	b.temporaries++
	pos, _ := e.Span()
	temporary := &syntax.Ident{NamePos: pos, Name: guardPrefix + strconv.Itoa(b.temporaries)}
	out = append(out, &syntax.AssignStmt{OpPos: pos, Op: syntax.EQ, LHS: temporary, RHS: b.expr(e)})
	return out, &syntax.Ident{NamePos: pos, Name: temporary.Name}
}

// target rewrites what is assigned to: only what its parts compute.
func (b *bounder) target(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		e.X = b.target(e.X)
	case *syntax.TupleExpr:
		for i := range e.List {
			e.List[i] = b.target(e.List[i])
		}
	case *syntax.ListExpr:
		for i := range e.List {
			e.List[i] = b.target(e.List[i])
		}
	case *syntax.IndexExpr:
		e.X = b.checked(guardSet, e.Lbrack, b.expr(e.X))
		e.Y = b.expr(e.Y)
	case *syntax.DotExpr:
		e.X = b.expr(e.X)
	}
	return e
}

// key rewrites the key of a dict that is written out.
func (b *bounder) key(e syntax.Expr) syntax.Expr {
	if isLiteral(e) {
		return e
	}
	pos, _ := e.Span()
	return b.checked(guardKey, pos, b.expr(e))
}

func (b *bounder) parameters(list []syntax.Expr) {
	for _, p := range list {
		if d, ok := p.(*syntax.BinaryExpr); ok {
			d.Y = b.expr(d.Y)
		}
	}
}

func (b *bounder) list(list []syntax.Expr) {
	for i := range list {
		list[i] = b.expr(list[i])
	}
}

func (b *bounder) expr(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		return b.operation(e)
	case *syntax.CallExpr:
		return b.call(e)
	case *syntax.Comprehension:
		for _, clause := range e.Clauses {
			switch c := clause.(type) {
			case *syntax.ForClause:
				c.X = b.expr(c.X)
				c.Vars = b.target(c.Vars)
			case *syntax.IfClause:
				c.Cond = b.expr(c.Cond)
			}
		}
		entry, ok := e.Body.(*syntax.DictEntry)
		if !ok {
			e.Body = b.expr(e.Body)
			break
		}
		// {k: v for …} is dict([(k, v) for …]).
		e.Body = &syntax.TupleExpr{Lparen: entry.Colon, List: []syntax.Expr{b.expr(entry.Key), b.expr(entry.Value)}, Rparen: entry.Colon}
		e.Curly = false
		return &syntax.CallExpr{Fn: b.helper(callDict, e.Lbrack), Lparen: e.Lbrack, Args: []syntax.Expr{e}, Rparen: e.Rbrack}
	case *syntax.CondExpr:
		e.Cond, e.True, e.False = b.expr(e.Cond), b.expr(e.True), b.expr(e.False)
	case *syntax.DictExpr:
		for _, entry := range e.List {
			entry := entry.(*syntax.DictEntry)
			entry.Key, entry.Value = b.key(entry.Key), b.expr(entry.Value)
		}
	case *syntax.DotExpr:
		return b.dot(e)
	case *syntax.IndexExpr:
		e.X, e.Y = b.expr(e.X), b.expr(e.Y)
		return b.index(e)
	case *syntax.LambdaExpr:
		b.parameters(e.Params)
		e.Body = b.expr(e.Body)
	case *syntax.ListExpr:
		b.list(e.List)
	case *syntax.ParenExpr:
		e.X = b.expr(e.X)
	case *syntax.SliceExpr:
		return b.slice(e)
	case *syntax.TupleExpr:
		b.list(e.List)
	case *syntax.UnaryExpr:
		if e.X != nil {
			e.X = b.expr(e.X)
		}
	}
	return e
}

func (b *bounder) operation(e *syntax.BinaryExpr) syntax.Expr {
	name := b.operatorName(e.Op, e.X, e.Y)
	// A chain of 30,000 operators leans to the left: its depth is this loop's.
	e.X, e.Y = b.expr(e.X), b.expr(e.Y)
	if name == "" {
		return e
	}
	return b.guarded(name, e.OpPos, e.X, e.Y)
}

// operatorName is the guard of x op y; empty where the interpreter's own
// operator can do no harm. A nil x is one of which nothing is known.
func (b *bounder) operatorName(op syntax.Token, x, y syntax.Expr) string {
	number := isNumberLiteral(y) || x != nil && isNumberLiteral(x)
	literal := isLiteral(y) || x != nil && isLiteral(x)
	switch op {
	case syntax.PLUS:
		if !number { // a sum grows by no more than the number
			return "$+"
		}
	case syntax.STAR:
		if x == nil || !isNumberLiteral(x) || !isNumberLiteral(y) {
			return "$*"
		}
	case syntax.PERCENT:
		if !isNumberLiteral(y) {
			return "$%"
		}
	case syntax.LTLT:
		return "$<<"
	case syntax.PIPE:
		if !number {
			return "$|"
		}
	case syntax.IN, syntax.NOT_IN:
		if !isLiteralList(y) {
			return guardPrefix + op.String()
		}
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		if !literal { // to compare with a literal takes no longer than the literal is
			return guardPrefix + op.String()
		}
	}
	return ""
}

func isNumberLiteral(e syntax.Expr) bool {
	e = unparen(e)
	if u, ok := e.(*syntax.UnaryExpr); ok && u.Op == syntax.MINUS {
		e = unparen(u.X)
	}
	l, ok := e.(*syntax.Literal)
	return ok && (l.Token == syntax.INT || l.Token == syntax.FLOAT)
}

func isLiteral(e syntax.Expr) bool {
	_, ok := unparen(e).(*syntax.Literal)
	return ok || isNumberLiteral(e)
}

func isLiteralList(e syntax.Expr) bool {
	var list []syntax.Expr
	switch e := unparen(e).(type) {
	case *syntax.ListExpr:
		list = e.List
	case *syntax.TupleExpr:
		list = e.List
	default:
		return false
	}
	for _, item := range list {
		if !isLiteral(item) {
			return false
		}
	}
	return true
}

// index rewrites e, whose parts are.
func (b *bounder) index(e *syntax.IndexExpr) syntax.Expr {
	if isLiteral(e.Y) {
		return e
	}
	return b.guarded("$[]", e.Lbrack, e.X, e.Y)
}

func (b *bounder) slice(e *syntax.SliceExpr) syntax.Expr {
	args := []syntax.Expr{b.expr(e.X)}
	for _, part := range []syntax.Expr{e.Lo, e.Hi, e.Step} {
		if part == nil {
			args = append(args, &syntax.Ident{NamePos: e.Lbrack, Name: "None"})
			continue
		}
		args = append(args, b.expr(part))
	}
	return &syntax.CallExpr{Fn: b.helper(callSlice, e.Lbrack), Lparen: e.Lbrack, Args: args, Rparen: e.Rbrack}
}

// call sends a call of a bounded method through its helper.
func (b *bounder) call(e *syntax.CallExpr) syntax.Expr {
	for i, arg := range e.Args {
		switch a := arg.(type) {
		case *syntax.UnaryExpr:
			switch a.Op {
			case syntax.STAR:
				a.X = b.checked(guardSpread, a.OpPos, b.expr(a.X))
				continue
			case syntax.STARSTAR:
				a.X = b.checked(guardNamed, a.OpPos, b.expr(a.X))
				continue
			}
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ {
				a.Y = b.expr(a.Y)
				continue
			}
		}
		e.Args[i] = b.expr(arg)
	}
	if dot, ok := unparen(e.Fn).(*syntax.DotExpr); ok {
		if boundedMethod(dot.Name.Name) && !b.inNamespace(dot) {
			e.Args = append([]syntax.Expr{b.expr(dot.X)}, e.Args...)
			e.Fn = b.helper(callMethod+dot.Name.Name, dot.NamePos)
		} else {
			dot.X = b.expr(dot.X)
		}
		return e
	}
	e.Fn = b.expr(e.Fn)
	return e
}

// dot keeps a bounded method that is not called at once what it is.
func (b *bounder) dot(e *syntax.DotExpr) syntax.Expr {
	if !boundedMethod(e.Name.Name) || b.inNamespace(e) {
		e.X = b.expr(e.X)
		return e
	}
	name := &syntax.Literal{Token: syntax.STRING, TokenPos: e.NamePos, Raw: strconv.Quote(e.Name.Name), Value: e.Name.Name}
	return &syntax.CallExpr{Fn: b.helper(callAttr, e.Dot), Lparen: e.NamePos, Args: []syntax.Expr{b.expr(e.X), name}, Rparen: e.NamePos}
}

// inNamespace recognizes a capability or a namespace below one.
func (b *bounder) inNamespace(e *syntax.DotExpr) bool {
	name, _ := flatten(e.X)
	for i := range len(name) {
		if name[i] == '.' {
			name = name[:i]
			break
		}
	}
	return name != "" && !b.assigned[name] && b.isNamespace(name)
}

// assignedNames are the names that the file binds anywhere, in any scope.
func assignedNames(file *syntax.File) (names []string) {
	var target func(e syntax.Expr)
	targets := func(list []syntax.Expr) {
		for _, e := range list {
			target(e)
		}
	}
	target = func(e syntax.Expr) {
		switch e := unparen(e).(type) {
		case *syntax.Ident:
			names = append(names, e.Name)
		case *syntax.TupleExpr:
			targets(e.List)
		case *syntax.ListExpr:
			targets(e.List)
		case *syntax.BinaryExpr: // a parameter with a default
			target(e.X)
		case *syntax.UnaryExpr: // *args
			if e.X != nil {
				target(e.X)
			}
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			target(n.LHS)
		case *syntax.ForStmt:
			target(n.Vars)
		case *syntax.ForClause:
			target(n.Vars)
		case *syntax.DefStmt:
			target(n.Name)
			targets(n.Params)
		case *syntax.LambdaExpr:
			targets(n.Params)
		}
		return true
	})
	return names
}
