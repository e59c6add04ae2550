package program

import (
	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/program/lower"
)

// cell is a variable that several functions assign (package lower).
type cell struct {
	starlark.NoneType
	name   string
	value  starlark.Value // nil: it has none
	hidden starlark.Value // the predeclared one that it hides, if any
}

var _ starlark.HasSetField = (*cell)(nil)

// Attr reads the variable.
func (c *cell) Attr(field string) (starlark.Value, error) {
	switch {
	case c.value != nil:
		return c.value, nil
	case c.hidden != nil:
		return c.hidden, nil
	}
	return nil, c.unbound(field)
}

// unbound is the error of a variable without a value.
func (c *cell) unbound(field string) error {
	switch field {
	case lower.GlobalField:
		return raise("NameError", "name '%s' is not defined", c.name)
	case lower.FreeField:
		return raise("NameError", "cannot access free variable '%s' where it is not associated with a value in enclosing scope", c.name)
	}
	return raise("UnboundLocalError", "cannot access local variable '%s' where it is not associated with a value", c.name)
}

// AttrNames implements starlark.HasAttrs.
func (c *cell) AttrNames() []string { return []string{lower.CellField} }

// SetField assigns the variable; unset and deleted empty it.
func (c *cell) SetField(field string, v starlark.Value) error {
	switch {
	case field == lower.HiddenField:
		c.hidden = v
		return nil
	case v == deleted && c.value == nil:
		return c.unbound(field)
	case v == unset || v == deleted:
		v = nil
	}
	c.value = v
	return nil
}

// mark is a value that only the lowering writes.
type mark struct {
	starlark.NoneType
	name string
}

// ellipsis is what ... stands for.
type ellipsis struct{}

func (ellipsis) String() string        { return "Ellipsis" }
func (ellipsis) Type() string          { return "ellipsis" }
func (ellipsis) Freeze()               {}
func (ellipsis) Truth() starlark.Bool  { return true }
func (ellipsis) Hash() (uint32, error) { return 5, nil }

var (
	unset          starlark.Value = &mark{name: lower.Unset}
	deleted        starlark.Value = &mark{name: lower.Deleted}
	skip           starlark.Value = &mark{name: lower.Skip}
	breakSignal    starlark.Value = &mark{name: lower.Break}
	continueSignal starlark.Value = &mark{name: lower.Continue}
)

func newCell(name starlark.Value) (starlark.Value, error) {
	s, _ := starlark.AsString(name)
	return &cell{name: s}, nil
}

func filledCell(name, value starlark.Value) (starlark.Value, error) {
	s, _ := starlark.AsString(name)
	return &cell{name: s, value: value}, nil
}

// assignCell is := of a cell.
func assignCell(x, value starlark.Value) (starlark.Value, error) {
	x.(*cell).value = value
	return value, nil
}
