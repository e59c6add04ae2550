package hostvet

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"
)

// handler is a function that answers a capability.
type handler struct {
	capability handles
	// at is where it becomes the handler: shown if it stands elsewhere.
	at token.Pos
	// fn is nil for a literal, and node for a function of another package.
	fn   *types.Func
	node *node
}

// findHandlers exports what the generated code of this package says of its
// interface of handlers, and finds the functions of this package that answer
// capabilities.
func (s *summary) findHandlers() {
	for _, file := range s.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				s.registration(call)
			}
			return true
		})
	}
	s.conversions(func(_ *node, pos token.Pos, c *ssa.MakeInterface) {
		wanted, ok := c.Type().Underlying().(*types.Interface)
		if !ok {
			return
		}
		set := types.NewMethodSet(c.X.Type())
		for i := range wanted.NumMethods() {
			m := wanted.Method(i)
			var fact handles
			if m.Pkg() == nil || !s.pass.ImportObjectFact(m, &fact) {
				continue
			}
			if selection := set.Lookup(m.Pkg(), m.Name()); selection != nil {
				fn := selection.Obj().(*types.Func)
				s.handlers = append(s.handlers, handler{fact, pos, fn, s.nodeOf(fn)})
			}
		}
	})
}

// registration reads a call of runtime.NewCapability, with the literal that
// generated code writes:
//
//	runtime.NewCapability(runtime.Info{ID: "files.stat", Effect: runtime.EffectRead}, h.Stat)
func (s *summary) registration(call *ast.CallExpr) {
	callee := typeutil.StaticCallee(s.pass.TypesInfo, call)
	if callee == nil || callee.FullName() != module+"/runtime.NewCapability" || len(call.Args) != 2 {
		return
	}
	info, ok := ast.Unparen(call.Args[0]).(*ast.CompositeLit)
	if !ok {
		return
	}
	capability := handles{ID: s.text(info, "ID"), Effect: s.text(info, "Effect")}
	switch handle := ast.Unparen(call.Args[1]).(type) {
	case *ast.FuncLit:
		s.handlers = append(s.handlers, handler{capability, handle.Pos(), nil, s.literal(handle)})
	case *ast.Ident, *ast.SelectorExpr:
		var used types.Object
		if selector, ok := handle.(*ast.SelectorExpr); ok {
			used = s.pass.TypesInfo.Uses[selector.Sel]
		} else {
			used = s.pass.TypesInfo.Uses[handle.(*ast.Ident)]
		}
		fn, ok := used.(*types.Func)
		if !ok {
			return
		}
		fn = fn.Origin()
		if recv := fn.Signature().Recv(); recv == nil || !types.IsInterface(recv.Type()) {
			s.handlers = append(s.handlers, handler{capability, handle.Pos(), fn, s.nodeOf(fn)})
		} else if fn.Pkg() == s.pass.Pkg {
			s.pass.ExportObjectFact(fn, &capability)
		}
	}
}

// text is a constant string of a literal's field.
func (s *summary) text(lit *ast.CompositeLit, field string) string {
	for _, element := range lit.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := pair.Key.(*ast.Ident); ok && key.Name == field {
			if v := s.pass.TypesInfo.Types[pair.Value].Value; v != nil && v.Kind() == constant.String {
				return constant.StringVal(v)
			}
		}
	}
	return ""
}

// readOnly: a handler of effect read reaches no write.
func readOnly(r reporter) {
	s := r.summary
	for _, h := range s.handlers {
		if h.capability.Effect != "read" {
			continue
		}
		what := "this function"
		if h.fn != nil {
			what = name(h.fn)
		}
		if h.node != nil {
			s.ends(h.node, writes, func(pos token.Pos, t trace) {
				r.report(pos, "%s is declared effect read, and its handler %s reaches %s", h.capability.ID, what, t)
			})
			continue
		}
		var fact reaches
		if h.fn == nil || !s.pass.ImportObjectFact(h.fn, &fact) {
			continue
		}
		for _, t := range fact.Traces {
			if t.Kind == writes {
				r.report(h.at, "%s is declared effect read, and its handler %s reaches %s", h.capability.ID, what, t.from(what))
			}
		}
	}
}
