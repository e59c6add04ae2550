package python

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// dump writes a tree in the form of CPython's ast.dump, as far as the two
// agree; chunk tests compare it.
func dump(m *Module) string {
	var b strings.Builder
	for _, s := range m.Body {
		b.WriteString(dumpStmt(s))
		b.WriteByte('\n')
	}
	return b.String()
}

func list[T any](items []T, f func(T) string) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = f(item)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func node(name string, parts ...string) string {
	var kept []string
	for _, part := range parts {
		if !strings.HasSuffix(part, "=") {
			kept = append(kept, part)
		}
	}
	return name + "(" + strings.Join(kept, ", ") + ")"
}

func body(s []Stmt) string { return list(s, dumpStmt) }

func quoted(s string) string { return strconv.QuoteToASCII(s) }

func dumpStmt(s Stmt) string {
	switch s := s.(type) {
	case *FunctionDef:
		name := "FunctionDef"
		if s.Async {
			name = "AsyncFunctionDef"
		}
		return node(name, "name="+s.Name, "args="+dumpParameters(&s.Parameters), "body="+body(s.Body), "decorators="+list(s.Decorators, dumpExpr), "returns="+dumpExpr(s.Returns))
	case *Return:
		return node("Return", "value="+dumpExpr(s.Value))
	case *Delete:
		return node("Delete", "targets="+list(s.Targets, dumpExpr))
	case *Assign:
		return node("Assign", "targets="+list(s.Targets, dumpExpr), "value="+dumpExpr(s.Value))
	case *AugAssign:
		return node("AugAssign", "target="+dumpExpr(s.Target), "op="+s.Op, "value="+dumpExpr(s.Value))
	case *AnnAssign:
		return node("AnnAssign", "target="+dumpExpr(s.Target), "annotation="+dumpExpr(s.Annotation), "value="+dumpExpr(s.Value))
	case *For:
		name := "For"
		if s.Async {
			name = "AsyncFor"
		}
		return node(name, "target="+dumpExpr(s.Target), "iter="+dumpExpr(s.Iter), "body="+body(s.Body), "orelse="+body(s.Else))
	case *While:
		return node("While", "test="+dumpExpr(s.Test), "body="+body(s.Body), "orelse="+body(s.Else))
	case *If:
		return node("If", "test="+dumpExpr(s.Test), "body="+body(s.Body), "orelse="+body(s.Else))
	case *Raise:
		return node("Raise", "exc="+dumpExpr(s.Exc), "cause="+dumpExpr(s.Cause))
	case *Try:
		handlers := list(s.Handlers, func(h *ExceptHandler) string {
			return node("ExceptHandler", "type="+dumpExpr(h.Type), "name="+h.Name, "body="+body(h.Body))
		})
		return node("Try", "body="+body(s.Body), "handlers="+handlers, "orelse="+body(s.Else), "finalbody="+body(s.Finally))
	case *Assert:
		return node("Assert", "test="+dumpExpr(s.Test), "msg="+dumpExpr(s.Message))
	case *Import:
		names := list(s.Names, func(a Alias) string { return strings.TrimSuffix(a.Name+" as "+a.As, " as ") })
		if s.IsFrom {
			return node("ImportFrom", "module="+s.From, "names="+names)
		}
		return node("Import", "names="+names)
	case *Global:
		return node("Global", "names="+list(s.Names, func(n *Name) string { return n.ID }))
	case *Nonlocal:
		return node("Nonlocal", "names="+list(s.Names, func(n *Name) string { return n.ID }))
	case *ExprStmt:
		return node("Expr", "value="+dumpExpr(s.Value))
	case *Pass:
		return "Pass()"
	case *Break:
		return "Break()"
	case *Continue:
		return "Continue()"
	}
	return fmt.Sprintf("%T?", s)
}

func dumpParameters(ps *Parameters) string {
	one := func(p *Parameter) string {
		if p == nil {
			return ""
		}
		s := p.Name
		if p.Annotation != nil {
			s += ": " + dumpExpr(p.Annotation)
		}
		if p.Default != nil {
			s += " = " + dumpExpr(p.Default)
		}
		return s
	}
	return node("arguments", "posonlyargs="+list(ps.Ordinary[:ps.PositionalOnly], one), "args="+list(ps.Ordinary[ps.PositionalOnly:], one),
		"vararg="+one(ps.Rest), "kwonlyargs="+list(ps.KeywordOnly, one), "kwarg="+one(ps.Keywords))
}

func dumpExpr(e Expr) string {
	switch e := e.(type) {
	case nil:
		return ""
	case *BoolOp:
		return node("BoolOp", e.Op, list(e.Values, dumpExpr))
	case *NamedExpr:
		return node("NamedExpr", dumpExpr(e.Target), dumpExpr(e.Value))
	case *BinOp:
		return node("BinOp", dumpExpr(e.Left), e.Op, dumpExpr(e.Right))
	case *UnaryOp:
		return node("UnaryOp", e.Op, dumpExpr(e.Operand))
	case *Lambda:
		return node("Lambda", dumpParameters(&e.Parameters), dumpExpr(e.Body))
	case *IfExp:
		return node("IfExp", dumpExpr(e.Test), dumpExpr(e.Body), dumpExpr(e.Else))
	case *Dict:
		return node("Dict", list(e.Keys, func(k Expr) string {
			if k == nil {
				return "None"
			}
			return dumpExpr(k)
		}), list(e.Values, dumpExpr))
	case *Set:
		return node("Set", list(e.Items, dumpExpr))
	case *List:
		return node("List", list(e.Items, dumpExpr))
	case *Tuple:
		return node("Tuple", list(e.Items, dumpExpr))
	case *Comprehension:
		name := [...]string{"ListComp", "SetComp", "DictComp", "GeneratorExp"}[e.Kind]
		clauses := list(e.Clauses, func(c Clause) string {
			return node("comprehension", dumpExpr(c.Target), dumpExpr(c.Iter), list(c.Conditions, dumpExpr), fmt.Sprint(c.Async))
		})
		return node(name, "key="+dumpExpr(e.Key), dumpExpr(e.Value), clauses)
	case *Await:
		return node("Await", dumpExpr(e.Value))
	case *Compare:
		ops := make([]string, len(e.Ops))
		for i, op := range e.Ops {
			ops[i] = op + " " + dumpExpr(e.Rights[i])
		}
		return node("Compare", dumpExpr(e.Left), "["+strings.Join(ops, ", ")+"]")
	case *Call:
		return node("Call", dumpExpr(e.Func), list(e.Arguments, func(a Argument) string {
			return strings.Repeat("*", a.Star) + strings.TrimPrefix(a.Name+"="+dumpExpr(a.Value), "=")
		}))
	case *Attribute:
		return node("Attribute", dumpExpr(e.Value), e.Name)
	case *Subscript:
		return node("Subscript", dumpExpr(e.Value), dumpExpr(e.Index))
	case *Slice:
		return node("Slice", "lower="+dumpExpr(e.Low), "upper="+dumpExpr(e.High), "step="+dumpExpr(e.Step))
	case *Starred:
		return node("Starred", dumpExpr(e.Value))
	case *Name:
		return e.ID
	case *Bytes:
		return "b" + strconv.QuoteToASCII(e.Value)
	case *Str:
		return quoted(e.Value)
	case *Int:
		if e.Big != nil {
			return e.Big.String()
		}
		return strconv.FormatInt(e.Small, 10)
	case *Float:
		return fmt.Sprintf("float %016x", math.Float64bits(e.Value))
	case *Constant:
		return e.Value
	case *JoinedStr:
		return node("JoinedStr", parts(e.Parts))
	case *FormattedValue:
		format, conversion := "", ""
		if e.Format != nil {
			format = node("JoinedStr", parts(e.Format))
		}
		switch {
		case e.Conversion != 0:
			conversion = string(e.Conversion)
		case e.Debug != "" && e.Format == nil:
			conversion = "r"
		}
		return node("FormattedValue", dumpExpr(e.Value), "conversion="+conversion, "format="+format)
	}
	return fmt.Sprintf("%T?", e)
}

// parts joins adjacent texts and writes out what = stands for, as CPython does.
func parts(list []Expr) string {
	var out []string
	text := ""
	flush := func() {
		if text != "" {
			out = append(out, quoted(text))
			text = ""
		}
	}
	for _, e := range list {
		switch e := e.(type) {
		case *Str:
			text += e.Value
		case *FormattedValue:
			text += e.Debug
			flush()
			out = append(out, dumpExpr(e))
		}
	}
	flush()
	return "[" + strings.Join(out, ", ") + "]"
}
