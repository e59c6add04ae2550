package lower

import (
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/python"
)

// Use is one place where a program names a capability, or a namespace.
type Use struct {
	// Name is dotted, and as long as the program wrote it.
	Name string
	Pos  python.Pos
	// Called tells that it is called there, with Arguments.
	Called    bool
	Paren     python.Pos
	Arguments []python.Argument
	// By is attempt or pages where that calls it.
	By string
	// Hidden tells that a variable of the module has the namespace's name, as
	// in orders = orders.list(): what is named may be a part of its value.
	Hidden bool
	// TopLevel tells that it stands outside of every function.
	TopLevel bool
}

// capability is a dotted name, which isCapability recognized.
func (l *lowerer) capability(a *python.Attribute) syntax.Expr {
	if inner, ok := a.Value.(*python.Attribute); ok {
		return l.dot(a.NamePos, l.capability(inner), a.Name)
	}
	return l.dot(a.NamePos, l.expression(a.Value), a.Name)
}

// useCalled notes a call of a dotted name, of a namespace's, and those that
// attempt and pages make.
func (l *lowerer) useCalled(e *python.Call) {
	u := Use{Called: true, Paren: e.Paren, Arguments: e.Arguments, TopLevel: l.topLevel()}
	switch f := e.Func.(type) {
	case *python.Attribute:
		if !l.isCapability(f) {
			if !l.isHidden(f) {
				return
			}
			u.Hidden, u.Called = true, false
		}
		u.Name, u.Pos = dotted(f), nameOf(f).Pos
	case *python.Name:
		switch {
		case l.scope.owner(f.ID) != nil:
			return
		case l.options.Namespace != nil && l.options.Namespace(f.ID):
			u.Name, u.Pos = f.ID, f.Pos
		case f.ID == "attempt" || f.ID == "pages":
			if len(e.Arguments) == 0 || e.Arguments[0].Star > 0 || e.Arguments[0].Name != "" {
				return
			}
			a, ok := e.Arguments[0].Value.(*python.Attribute)
			if !ok || !l.isCapability(a) {
				return
			}
			u.Name, u.Pos, u.By, u.Arguments = dotted(a), nameOf(a).Pos, f.ID, e.Arguments[1:]
		default:
			return
		}
	default:
		return
	}
	l.uses = append(l.uses, u)
}

// isHidden tells whether a is a dotted name that begins with a namespace which
// a variable of the module hides once it has a value.
func (l *lowerer) isHidden(a *python.Attribute) bool {
	for {
		switch x := a.Value.(type) {
		case *python.Attribute:
			a = x
			continue
		case *python.Name:
			owner := l.scope.owner(x.ID)
			return l.options.Namespace != nil && l.options.Namespace(x.ID) && owner != nil && owner.parent == nil
		}
		return false
	}
}

// topLevel tells whether what is lowered now runs outside of every function.
func (l *lowerer) topLevel() bool { return l.scope.function().parent == nil }

func dotted(a *python.Attribute) string {
	if inner, ok := a.Value.(*python.Attribute); ok {
		return dotted(inner) + "." + a.Name
	}
	return nameOf(a).ID + "." + a.Name
}

// nameOf is the name that a dotted one begins with.
func nameOf(a *python.Attribute) *python.Name {
	switch x := a.Value.(type) {
	case *python.Attribute:
		return nameOf(x)
	case *python.Name:
		return x
	}
	return &python.Name{At: python.At{Pos: a.Start()}}
}
