package program

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// frozenSet is a set that nothing changes, and that can be a key.
type frozenSet struct{ set *starlark.Set }

var (
	_ starlark.Sequence   = (*frozenSet)(nil)
	_ starlark.Comparable = (*frozenSet)(nil)
)

func (s *frozenSet) Type() string               { return "frozenset" }
func (s *frozenSet) Freeze()                    {}
func (s *frozenSet) Truth() starlark.Bool       { return s.set.Len() > 0 }
func (s *frozenSet) Len() int                   { return s.set.Len() }
func (s *frozenSet) Iterate() starlark.Iterator { return s.set.Iterate() }
func (s *frozenSet) String() string             { return "frozenset(" + s.set.String() + ")" }

// Hash does not depend on the order of the elements.
func (s *frozenSet) Hash() (uint32, error) {
	var sum uint32
	for item := range s.set.Elements() {
		h, err := item.Hash()
		if err != nil {
			return 0, err
		}
		sum += h*2654435769 ^ h>>16
	}
	return sum, nil
}

// CompareSameType is == of keys.
func (s *frozenSet) CompareSameType(op syntax.Token, other starlark.Value, _ int) (bool, error) {
	o := other.(*frozenSet)
	same := s.set.Len() == o.set.Len()
	for item := range s.set.Elements() {
		if !same {
			break
		}
		has, err := o.set.Has(item)
		if err != nil {
			return false, err
		}
		same = has
	}
	return same == (op == syntax.EQL), nil
}

// newFrozenSet is frozenset(x).
func (e *engine) newFrozenSet(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	set := new(starlark.Set)
	if len(args) == 1 {
		if s, ok := args[0].(*frozenSet); ok {
			return s, nil
		}
		if err := e.insert(set, args[0]); err != nil {
			return nil, err
		}
	}
	return &frozenSet{set}, nil
}

// setOf is the set that v is, or that it freezes.
func setOf(v starlark.Value) *starlark.Set {
	if s, ok := v.(*frozenSet); ok {
		return s.set
	}
	return v.(*starlark.Set)
}

// likeSet is set as what of is: a set, or a frozen one.
func likeSet(of starlark.Value, set *starlark.Set) starlark.Value {
	if _, ok := of.(*frozenSet); ok {
		return &frozenSet{set}
	}
	return set
}

// frozenMethod is a method of frozenset: those of set that change nothing.
func frozenMethod(name string) method {
	switch name {
	case "copy", "isdisjoint", "issubset", "issuperset", "difference", "intersection", "union", "symmetric_difference":
		return setMethod(name)
	}
	return nil
}
