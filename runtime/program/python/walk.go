package python

// Walk calls f for each node of m in the order of the source, parents first.
// Where f returns false, the parts of that node are left out.
func Walk(m *Module, f func(Node) bool) {
	walkAll(m.Body, f)
}

// WalkNode is Walk for the tree below n, n included.
func WalkNode(n Node, f func(Node) bool) {
	if !f(n) {
		return
	}
	switch n := n.(type) {
	case *FunctionDef:
		walkAll(n.Decorators, f)
		walkParameters(&n.Parameters, f)
		walkOne(n.Returns, f)
		walkAll(n.Body, f)
	case *Return:
		walkOne(n.Value, f)
	case *Delete:
		walkAll(n.Targets, f)
	case *Assign:
		walkAll(n.Targets, f)
		walkOne(n.Value, f)
	case *AugAssign:
		walkOne(n.Target, f)
		walkOne(n.Value, f)
	case *AnnAssign:
		walkOne(n.Target, f)
		walkOne(n.Annotation, f)
		walkOne(n.Value, f)
	case *For:
		walkOne(n.Target, f)
		walkOne(n.Iter, f)
		walkAll(n.Body, f)
		walkAll(n.Else, f)
	case *While:
		walkOne(n.Test, f)
		walkAll(n.Body, f)
		walkAll(n.Else, f)
	case *If:
		walkOne(n.Test, f)
		walkAll(n.Body, f)
		walkAll(n.Else, f)
	case *Raise:
		walkOne(n.Exc, f)
		walkOne(n.Cause, f)
	case *Try:
		walkAll(n.Body, f)
		for _, h := range n.Handlers {
			walkOne(h.Type, f)
			walkAll(h.Body, f)
		}
		walkAll(n.Else, f)
		walkAll(n.Finally, f)
	case *Assert:
		walkOne(n.Test, f)
		walkOne(n.Message, f)
	case *Global:
		walkAll(n.Names, f)
	case *Nonlocal:
		walkAll(n.Names, f)
	case *ExprStmt:
		walkOne(n.Value, f)
	default:
		walkExpr(n, f)
	}
}

func walkExpr(n Node, f func(Node) bool) {
	switch n := n.(type) {
	case *BoolOp:
		walkAll(n.Values, f)
	case *NamedExpr:
		walkOne(n.Target, f)
		walkOne(n.Value, f)
	case *BinOp:
		walkOne(n.Left, f)
		walkOne(n.Right, f)
	case *UnaryOp:
		walkOne(n.Operand, f)
	case *Lambda:
		walkParameters(&n.Parameters, f)
		walkOne(n.Body, f)
	case *IfExp:
		walkOne(n.Body, f)
		walkOne(n.Test, f)
		walkOne(n.Else, f)
	case *Dict:
		for i, value := range n.Values {
			walkOne(n.Keys[i], f)
			walkOne(value, f)
		}
	case *Set:
		walkAll(n.Items, f)
	case *List:
		walkAll(n.Items, f)
	case *Tuple:
		walkAll(n.Items, f)
	case *Comprehension:
		walkOne(n.Key, f)
		walkOne(n.Value, f)
		for _, c := range n.Clauses {
			walkOne(c.Target, f)
			walkOne(c.Iter, f)
			walkAll(c.Conditions, f)
		}
	case *Await:
		walkOne(n.Value, f)
	case *Compare:
		walkOne(n.Left, f)
		walkAll(n.Rights, f)
	case *Call:
		walkOne(n.Func, f)
		for _, a := range n.Arguments {
			walkOne(a.Value, f)
		}
	case *Attribute:
		walkOne(n.Value, f)
	case *Subscript:
		walkOne(n.Value, f)
		walkOne(n.Index, f)
	case *Slice:
		walkOne(n.Low, f)
		walkOne(n.High, f)
		walkOne(n.Step, f)
	case *Starred:
		walkOne(n.Value, f)
	case *JoinedStr:
		walkAll(n.Parts, f)
	case *FormattedValue:
		walkOne(n.Value, f)
		walkAll(n.Format, f)
	}
}

func walkParameters(ps *Parameters, f func(Node) bool) {
	one := func(p *Parameter) {
		if p != nil {
			walkOne(p.Annotation, f)
			walkOne(p.Default, f)
		}
	}
	for _, p := range ps.Ordinary {
		one(p)
	}
	one(ps.Rest)
	for _, p := range ps.KeywordOnly {
		one(p)
	}
	one(ps.Keywords)
}

func walkAll[T Node](nodes []T, f func(Node) bool) {
	for _, n := range nodes {
		WalkNode(n, f)
	}
}

func walkOne(e Expr, f func(Node) bool) {
	if e != nil {
		WalkNode(e, f)
	}
}
