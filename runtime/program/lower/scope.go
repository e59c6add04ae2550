package lower

import (
	"maps"
	"slices"

	"github.com/capgen/capgen/runtime/program/python"
)

// scope holds the names that a function, lambda, comprehension or the module
// binds, reference section 4.2.
type scope struct {
	parent *scope
	// comprehension scopes bind their targets only; := reaches through them.
	comprehension bool
	bound         map[string]bool
	boxed         map[string]bool
	// name is the function's; empty for all else.
	name       string
	parameters map[string]bool
	// positional are the parameters before a slash, which no call names.
	positional map[string]bool
	// order is the bound names in the order of the source.
	order             []string
	globals, nonlocal map[string]python.Pos
}

func newScope(parent *scope) *scope {
	return &scope{parent: parent, bound: map[string]bool{}, boxed: map[string]bool{}}
}

func (s *scope) bind(name string) {
	if s.globals[name] != (python.Pos{}) || s.nonlocal[name] != (python.Pos{}) {
		return
	}
	if !s.bound[name] {
		s.bound[name] = true
		s.order = append(s.order, name)
	}
}

// parameter is what a parameter is called.
func (s *scope) parameter(name string) string {
	if s.positional[name] {
		return name + PositionalMark
	}
	return name
}

// local is what a variable of a function or comprehension is called.
func (s *scope) local(name string) string {
	if s.name == "" || s.parameters[name] {
		return s.parameter(name)
	}
	return name + LocalMark + s.name
}

// cell is what the cell of a variable is called: those of the top level are
// told apart, for global reaches them past functions that have one of that name.
func (s *scope) cell(name string) string {
	if s.parent == nil {
		return "$" + name + GlobalMark
	}
	return "$" + name
}

// function is the innermost scope that is no comprehension.
func (s *scope) function() *scope {
	for s.comprehension {
		s = s.parent
	}
	return s
}

func (s *scope) module() *scope {
	for s.parent != nil {
		s = s.parent
	}
	return s
}

// owner is the scope whose variable name is in s; nil if no scope binds it.
func (s *scope) owner(name string) *scope {
	for at := s; at != nil; at = at.parent {
		switch {
		case at.globals[name] != (python.Pos{}):
			return at.module()
		case at.bound[name]:
			return at
		}
	}
	return nil
}

// scopes are those of a module, found before anything is lowered: what a
// variable is may be decided behind its use.
type scopes struct {
	of   map[python.Node]*scope
	list []*scope // functions and lambdas, in the order of the source
	err  *python.Error
}

func findScopes(m *python.Module) (*scopes, *scope, *python.Error) {
	ss := &scopes{of: map[python.Node]*scope{}}
	top := newScope(nil)
	f := finder{ss, top, 0}
	f.declare(m.Body)
	f.all(m.Body)
	for _, s := range ss.list {
		ss.resolve(s)
	}
	return ss, top, ss.err
}

// resolve boxes what s reaches in outer functions.
func (ss *scopes) resolve(s *scope) {
	for _, name := range slices.Sorted(maps.Keys(s.globals)) {
		top := s.module()
		top.bind(name)
		top.boxed[name] = true
	}
	for name, pos := range s.nonlocal {
		owner := s.parent.owner(name)
		if owner == nil || owner.parent == nil {
			ss.fail(pos, "", "no binding for nonlocal '%s' found", name)
			continue
		}
		owner.boxed[name] = true
	}
}

// fail keeps the first error of the source.
func (ss *scopes) fail(pos python.Pos, hint, format string, args ...any) {
	e := python.NewError(pos, hint, format, args...)
	if ss.err == nil || pos.Line < ss.err.Pos.Line || pos.Line == ss.err.Pos.Line && pos.Col < ss.err.Pos.Col {
		ss.err = e
	}
}

// finder collects the names of one scope. depth counts the bodies of try
// around what is read: each will be a function.
type finder struct {
	*scopes
	scope *scope
	depth int
}

// declare reads the global and nonlocal statements of a scope, which hold for
// all of it.
func (f *finder) declare(body []python.Stmt) {
	for _, s := range body {
		python.WalkNode(s, func(n python.Node) bool {
			switch n := n.(type) {
			case *python.FunctionDef, *python.Lambda, *python.Comprehension:
				return false
			case *python.Global:
				for _, name := range n.Names {
					if f.scope.parent == nil {
						continue
					}
					if f.scope.bound[name.ID] {
						f.fail(name.Pos, "", "name '%s' is parameter and global", name.ID)
					}
					if f.scope.globals == nil {
						f.scope.globals = map[string]python.Pos{}
					}
					f.scope.globals[name.ID] = name.Pos
				}
			case *python.Nonlocal:
				for _, name := range n.Names {
					if f.scope.bound[name.ID] {
						f.fail(name.Pos, "", "name '%s' is parameter and nonlocal", name.ID)
					}
					if f.scope.nonlocal == nil {
						f.scope.nonlocal = map[string]python.Pos{}
					}
					f.scope.nonlocal[name.ID] = name.Pos
				}
			}
			return true
		})
	}
}

func (f *finder) bind(name string) {
	f.scope.bind(name)
	if f.depth > 0 {
		f.box(name)
	}
}

// box decides that the variable name of this scope lives in a cell.
func (f *finder) box(name string) {
	if s := f.scope; s.bound[name] {
		s.boxed[name] = true
	}
}

func (f *finder) all(body []python.Stmt) {
	for _, s := range body {
		f.statement(s)
	}
}

func (f *finder) statement(s python.Stmt) {
	switch s := s.(type) {
	case *python.FunctionDef:
		f.bind(s.Name)
		f.exprs(s.Decorators)
		f.function(s, &s.Parameters, s.Body, nil)
	case *python.Try:
		f.try(s)
	case *python.Delete:
		for _, t := range s.Targets {
			if n, ok := t.(*python.Name); ok {
				f.bind(n.ID)
				f.box(n.ID)
			}
			f.expr(t)
		}
	case *python.Assign:
		f.expr(s.Value)
		for _, t := range s.Targets {
			f.target(t)
		}
	case *python.AugAssign:
		f.expr(s.Value)
		f.target(s.Target)
	case *python.AnnAssign:
		f.expr(s.Value)
		f.target(s.Target)
	case *python.For:
		f.expr(s.Iter)
		f.target(s.Target)
		f.all(s.Body)
		f.all(s.Else)
	case *python.While:
		f.expr(s.Test)
		f.all(s.Body)
		f.all(s.Else)
	case *python.If:
		f.expr(s.Test)
		f.all(s.Body)
		f.all(s.Else)
	case *python.Import:
		for _, a := range s.Names {
			f.bind(bindsImport(s, &a))
		}
	default:
		python.WalkNode(s, func(n python.Node) bool {
			if e, ok := n.(python.Expr); ok {
				f.expr(e)
				return false
			}
			return true
		})
	}
}

// try counts its parts as emitTry makes functions of them.
func (f *finder) try(s *python.Try) {
	if len(s.Finally) > 0 {
		f.depth++
	}
	if len(s.Handlers) > 0 {
		f.depth++
		f.all(s.Body)
		f.depth--
	} else {
		f.all(s.Body)
	}
	for _, h := range s.Handlers {
		f.expr(h.Type)
		if h.Name != "" {
			f.bind(h.Name)
			f.box(h.Name) // it is emptied behind the handler
		}
		f.all(h.Body)
	}
	f.all(s.Else)
	if len(s.Finally) > 0 {
		f.depth--
	}
	f.all(s.Finally)
}

func (f *finder) target(e python.Expr) {
	switch e := e.(type) {
	case *python.Name:
		f.bind(e.ID)
	case *python.Tuple:
		for _, item := range e.Items {
			f.target(item)
		}
	case *python.List:
		for _, item := range e.Items {
			f.target(item)
		}
	case *python.Starred:
		f.target(e.Value)
	default:
		f.expr(e)
	}
}

func (f *finder) exprs(list []python.Expr) {
	for _, e := range list {
		f.expr(e)
	}
}

// expr finds the scopes and assignments within an expression.
func (f *finder) expr(e python.Expr) {
	if e == nil {
		return
	}
	python.WalkNode(e, func(n python.Node) bool {
		switch n := n.(type) {
		case *python.Lambda:
			f.function(n, &n.Parameters, nil, n.Body)
			return false
		case *python.Comprehension:
			f.comprehension(n)
			return false
		case *python.NamedExpr:
			outer := finder{f.scopes, f.scope.function(), f.depth}
			if f.inTarget(n.Target.ID) {
				f.fail(n.Target.Pos, "choose another name", "assignment expression cannot rebind comprehension iteration variable '%s'", n.Target.ID)
			}
			outer.bind(n.Target.ID)
			if owner := outer.scope; owner.bound[n.Target.ID] {
				owner.boxed[n.Target.ID] = true
			}
		}
		return true
	})
}

// inTarget tells whether a comprehension around binds name.
func (f *finder) inTarget(name string) bool {
	for s := f.scope; s.comprehension; s = s.parent {
		if s.bound[name] {
			return true
		}
	}
	return false
}

func (f *finder) function(n python.Node, ps *python.Parameters, body []python.Stmt, value python.Expr) {
	for _, p := range all(ps) {
		f.expr(p.Default)
	}
	inner := finder{f.scopes, newScope(f.scope), 0}
	f.of[n] = inner.scope
	f.list = append(f.list, inner.scope)
	if d, ok := n.(*python.FunctionDef); ok {
		inner.scope.name = d.Name
	}
	inner.scope.parameters = map[string]bool{}
	for _, p := range all(ps) {
		inner.scope.bind(p.Name)
		inner.scope.parameters[p.Name] = true
	}
	for _, p := range ps.Ordinary[:ps.PositionalOnly] {
		if inner.scope.positional == nil {
			inner.scope.positional = map[string]bool{}
		}
		inner.scope.positional[p.Name] = true
	}
	inner.declare(body)
	inner.all(body)
	inner.expr(value)
}

func (f *finder) comprehension(c *python.Comprehension) {
	// The first iterable belongs to the scope around.
	f.expr(c.Clauses[0].Iter)
	inner := finder{f.scopes, newScope(f.scope), 0}
	inner.scope.comprehension = true
	f.of[c] = inner.scope
	for _, clause := range c.Clauses {
		inner.target(clause.Target)
	}
	for i, clause := range c.Clauses {
		if i > 0 {
			inner.expr(clause.Iter)
		}
		inner.exprs(clause.Conditions)
	}
	inner.expr(c.Key)
	inner.expr(c.Value)
}

// all are the parameters in the order of the source.
func all(ps *python.Parameters) []*python.Parameter {
	list := append([]*python.Parameter(nil), ps.Ordinary...)
	if ps.Rest != nil {
		list = append(list, ps.Rest)
	}
	list = append(list, ps.KeywordOnly...)
	if ps.Keywords != nil {
		list = append(list, ps.Keywords)
	}
	return list
}
