package program

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// The interpreter's operators cannot be replaced, but an operand of a type of
// ours decides what one does. So the lowering writes x * y as
//
//	($* - x) - y
//
// where $* is a global that holds a guard: the first subtraction keeps x, the
// second calls the bounded multiplication. A call of a builtin would say the
// same at twice the price, for it copies its arguments and pushes a frame.
// Operators of one operand, such as the check of a dict's key, are $key - x.
//
// A program cannot get hold of a guard: no name of its can be spelled.

// binary is an operator of two operands.
type binary func(x, y starlark.Value) (starlark.Value, error)

// guard is the global of a binary operator.
type guard struct {
	starlark.NoneType
	operator binary
	// free are operands that can be used again. One thread of an execution runs
	// at a time.
	free []*operand
}

// operand is x of x op y, while y is computed.
type operand struct {
	starlark.NoneType
	guard *guard
	x     starlark.Value
}

var (
	_ starlark.HasBinary = (*guard)(nil)
	_ starlark.HasBinary = (*operand)(nil)
	_ starlark.HasBinary = (*setter)(nil)
	_ starlark.HasSetKey = (*item)(nil)
)

// Binary implements starlark.HasBinary.
func (g *guard) Binary(_ syntax.Token, x starlark.Value, side starlark.Side) (starlark.Value, error) {
	if side != starlark.Left {
		return nil, nil
	}
	if last := len(g.free) - 1; last >= 0 {
		o := g.free[last]
		g.free = g.free[:last]
		o.x = x
		return o, nil
	}
	return &operand{guard: g, x: x}, nil
}

// Binary implements starlark.HasBinary.
func (o *operand) Binary(_ syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	if side != starlark.Left {
		return nil, nil
	}
	x := o.x
	o.x = nil
	o.guard.free = append(o.guard.free, o)
	return o.guard.operator(x, y)
}

// check is the global of an operator of one operand.
type check func(x starlark.Value) (starlark.Value, error)

// Binary implements starlark.HasBinary.
func (c check) Binary(_ syntax.Token, x starlark.Value, side starlark.Side) (starlark.Value, error) {
	if side != starlark.Left {
		return nil, nil
	}
	return c(x)
}

func (check) String() string        { return "" }
func (check) Type() string          { return "NoneType" }
func (check) Freeze()               {}
func (check) Truth() starlark.Bool  { return false }
func (check) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable type: check") }

// setter is the global of x[y] = z, which the lowering writes as
// ($set - x)[y] = z: what it returns takes y and z.
type setter struct {
	starlark.NoneType
	engine *engine
	free   []*item
}

// item is x of x[y] = z.
type item struct {
	starlark.NoneType
	setter *setter
	x      starlark.Value
}

// Binary implements starlark.HasBinary.
func (s *setter) Binary(_ syntax.Token, x starlark.Value, side starlark.Side) (starlark.Value, error) {
	if side != starlark.Left {
		return nil, nil
	}
	if last := len(s.free) - 1; last >= 0 {
		i := s.free[last]
		s.free = s.free[:last]
		i.x = x
		return i, nil
	}
	return &item{setter: s, x: x}, nil
}

// SetKey implements starlark.HasSetKey.
func (i *item) SetKey(y, z starlark.Value) error {
	x := i.x
	i.x = nil
	i.setter.free = append(i.setter.free, i)
	return i.setter.engine.setItem(x, y, z)
}

// Get implements starlark.Mapping, of which a HasSetKey is one. Nothing calls it.
func (i *item) Get(starlark.Value) (starlark.Value, bool, error) { return nil, false, nil }

func (e *engine) native(name string, f native) starlark.Value { return starlark.NewBuiltin(name, f) }

type native = func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

// spread is the operand of f(*x), which the interpreter copies.
func (e *engine) spread(x starlark.Value) (starlark.Value, error) {
	if _, err := e.iter(x); err != nil {
		return nil, raise("TypeError", "Value after * must be an iterable, not %s", className(x))
	}
	list, err := e.collect(x)
	return starlark.Tuple(list), err
}

// spreadNamed is the operand of f(**x).
func (e *engine) spreadNamed(x starlark.Value) (starlark.Value, error) {
	e.spreadLast = x
	return x, e.charge(4 * max(0, starlark.Len(x)))
}
