package program

import (
	"strings"

	"go.starlark.net/starlark"
)

const (
	// maxTypeParts and maxTypeName bound types that are made of others.
	maxTypeParts = 1_000
	maxTypeName  = 4 << 10 // bytes
)

// union is int | str: what isinstance takes in place of a tuple of classes.
type union struct {
	engine *engine
	parts  []starlark.Value // classes, aliases and None
}

func (u *union) Type() string          { return "types.UnionType" }
func (u *union) Freeze()               {}
func (u *union) Truth() starlark.Bool  { return true }
func (u *union) Hash() (uint32, error) { return uint32(len(u.parts)), nil }

func (u *union) String() string {
	names := make([]string, len(u.parts))
	for i, part := range u.parts {
		names[i] = shownType(part)
	}
	return strings.Join(names, " | ")
}

// alias is a class with parameters, list[int], and a name of typing.
type alias struct {
	name string
	of   *class // nil for a name of typing
}

var _ starlark.Callable = (*alias)(nil)

func (a *alias) String() string        { return a.name }
func (a *alias) Type() string          { return "types.GenericAlias" }
func (a *alias) Freeze()               {}
func (a *alias) Truth() starlark.Bool  { return true }
func (a *alias) Hash() (uint32, error) { return starlark.String(a.name).Hash() }
func (a *alias) Name() string          { return a.name }

// CallInternal makes an instance of the class. What typing makes of a call is a
// type again: TypeVar("T").
func (a *alias) CallInternal(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if a.of == nil {
		return a, nil
	}
	return a.of.CallInternal(thread, args, kwargs)
}

// shownType is how a type stands in others.
func shownType(v starlark.Value) string {
	switch v := v.(type) {
	case *class:
		return v.name
	case *union:
		return excerpt(v.String())
	case *alias:
		return v.name
	case starlark.String:
		return excerpt(string(v))
	}
	if v == (ellipsis{}) {
		return "..."
	}
	if v == starlark.None {
		return "None"
	}
	return className(v)
}

// joined is x | y of types; ok is false for other operands.
func (e *engine) joined(x, y starlark.Value) (u *union, ok bool, err error) {
	u = &union{engine: e}
	types := 0
	for _, v := range []starlark.Value{x, y} {
		parts := []starlark.Value{v}
		switch v := v.(type) {
		case *class, *alias:
			types++
		case *union:
			types++
			parts = v.parts
		case starlark.NoneType:
		default:
			return nil, false, nil
		}
		for _, part := range parts {
			if !u.has(part) {
				u.parts = append(u.parts, part)
			}
		}
	}
	if types == 0 {
		return nil, false, nil
	}
	if len(u.parts) > maxTypeParts {
		return nil, false, e.tooLarge("a type of that many parts")
	}
	return u, true, e.charge(len(u.parts))
}

func (u *union) has(part starlark.Value) bool {
	for _, have := range u.parts {
		if have == part {
			return true
		}
	}
	return false
}

// parameterized is c[of], of classes that hold others.
func (e *engine) parameterized(c *class, of starlark.Value) (starlark.Value, error) {
	switch c.name {
	case "list", "dict", "tuple", "set", "frozenset", "type":
	default:
		return nil, raise("TypeError", "type '%s' is not subscriptable", c.name)
	}
	parts, ok := of.(starlark.Tuple)
	if !ok {
		parts = starlark.Tuple{of}
	}
	if err := e.charge(len(parts)); err != nil {
		return nil, err
	}
	names, length := make([]string, len(parts)), 0
	for i, part := range parts {
		names[i] = shownType(part)
		if length += len(names[i]); length > maxTypeName {
			return nil, e.tooLarge("a type of that many parts")
		}
	}
	name := c.name + "[" + strings.Join(names, ", ") + "]"
	return &alias{name: name, of: c}, nil
}

// typingMember is a name of typing: annotations are not evaluated, and what is
// made of types elsewhere is a type.
func (e *engine) typingMember(name string) starlark.Value {
	switch name {
	case "TYPE_CHECKING":
		return starlark.False
	case "cast":
		return e.native(name, positionalOnly(name, 2, 2, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return args[1], nil
		}))
	}
	return &alias{name: "typing." + name}
}
