package program

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// frozenSet is a set that nothing changes, and that can be a key. What hashing
// and comparing it cost is known when it is made: sets within sets would cost
// twice as much with each level.
type frozenSet struct {
	set   *starlark.Set
	hash  uint32
	parts int // elements, and theirs
	depth int // of tuples and sets within each other
}

var (
	_ starlark.Sequence   = (*frozenSet)(nil)
	_ starlark.Comparable = (*frozenSet)(nil)
)

func (s *frozenSet) Type() string               { return "frozenset" }
func (s *frozenSet) Freeze()                    {}
func (s *frozenSet) Truth() starlark.Bool       { return s.set.Len() > 0 }
func (s *frozenSet) Len() int                   { return s.set.Len() }
func (s *frozenSet) Iterate() starlark.Iterator { return s.set.Iterate() }
func (s *frozenSet) String() string             { return fmt.Sprintf("frozenset of %d", s.set.Len()) }
func (s *frozenSet) Hash() (uint32, error)      { return s.hash, nil }

// frozen makes a frozenset of set, which nobody else has.
func (e *engine) frozen(set *starlark.Set) (*frozenSet, error) {
	s := &frozenSet{set: set, depth: 1}
	for item := range set.Elements() {
		parts, depth := 0, 0
		switch item := item.(type) {
		case starlark.Tuple:
			if err := e.keyParts(item, 0, &parts); err != nil {
				return nil, err
			}
			depth = tupleDepth(item)
		case *frozenSet:
			parts, depth = item.parts, item.depth
		}
		s.parts += 1 + parts
		s.depth = max(s.depth, 1+depth)
		if s.depth > maxKeyNesting {
			return nil, fmt.Errorf("a key is nested more than %d deep", maxKeyNesting)
		}
		if s.depth > 1 && s.parts > maxKeyParts {
			return nil, fmt.Errorf("a key has more than %d parts", maxKeyParts)
		}
		h, err := item.Hash()
		if err != nil {
			return nil, err
		}
		s.hash += h*2654435769 ^ h>>16 // whatever the order of the elements
	}
	return s, e.charge(s.parts)
}

// tupleDepth is how deep tuples and sets stand in t, itself included.
func tupleDepth(t starlark.Tuple) int {
	depth := 0
	for _, item := range t {
		switch item := item.(type) {
		case starlark.Tuple:
			depth = max(depth, tupleDepth(item))
		case *frozenSet:
			depth = max(depth, item.depth)
		}
	}
	return 1 + depth
}

// CompareSameType is == of keys.
func (s *frozenSet) CompareSameType(op syntax.Token, other starlark.Value, _ int) (bool, error) {
	o := other.(*frozenSet)
	same := s.set.Len() == o.set.Len() && s.hash == o.hash
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
	return e.frozen(set)
}

// setOf is the set that v is, or that it freezes.
func setOf(v starlark.Value) *starlark.Set {
	if s, ok := v.(*frozenSet); ok {
		return s.set
	}
	return v.(*starlark.Set)
}

// likeSet is set, which nobody else has, as what of is: a set, or a frozen one.
func (e *engine) likeSet(of starlark.Value, set *starlark.Set) (starlark.Value, error) {
	if _, ok := of.(*frozenSet); ok {
		return e.frozen(set)
	}
	return set, nil
}

// frozenMethod is a method of frozenset: those of set that change nothing.
func frozenMethod(name string) method {
	switch name {
	case "copy", "isdisjoint", "issubset", "issuperset", "difference", "intersection", "union", "symmetric_difference":
		return setMethod(name)
	}
	return nil
}
