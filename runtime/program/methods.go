package program

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/internal/nearest"
)

// method is a bounded method of a type of the language. It may leave the call
// to the interpreter's own, once it has checked and charged it.
type method func(e *engine, thread *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

// boundedMethods are the names of methods whose work or result may be large.
// The lowering sends calls of these names through methodHelper, whatever their
// receiver is; all others are the interpreter's own.
func boundedMethod(name string) bool {
	switch name {
	case "capitalize", "count", "find", "format", "index", "join", "lower", "replace", "rfind", "rindex", "rsplit", "split", "splitlines", "title", "upper",
		"extend", "insert", "pop", "remove",
		"get", "items", "keys", "setdefault", "update", "values",
		"add", "difference", "discard", "intersection", "issubset", "issuperset", "symmetric_difference", "union":
		return true
	}
	return false
}

// methodOf is the bounded method of that name of receiver's type; nil if the
// type has none, or it needs no bound.
func methodOf(receiver starlark.Value, name string) method {
	switch receiver.(type) {
	case starlark.String:
		return stringMethod(name)
	case *starlark.List:
		return listMethod(name)
	case *starlark.Dict:
		return dictMethod(name)
	case *starlark.Set:
		return setMethod(name)
	}
	return nil
}

// methodHelper is called with the receiver first: x.split(",") is
// $.split(x, ","). It is the attribute's call for receivers of other types.
func (e *engine) methodHelper(name string) starlark.Value {
	return e.native(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		receiver, args := args[0], args[1:]
		if m := methodOf(receiver, name); m != nil {
			return m(e, thread, receiver, args, kwargs)
		}
		f, err := attribute(receiver, name)
		if err != nil {
			return nil, err
		}
		return starlark.Call(thread, f, args, kwargs)
	})
}

// attr is x.name, where a bounded method stays one.
func (e *engine) attr(x starlark.Value, name string) (starlark.Value, error) {
	v, err := attribute(x, name)
	if m := methodOf(x, name); err == nil && m != nil {
		return e.native(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return m(e, thread, x, args, kwargs)
		}), nil
	}
	return v, err
}

// attribute is x.name as the interpreter has it.
func attribute(x starlark.Value, name string) (starlark.Value, error) {
	var names []string
	if x, ok := x.(starlark.HasAttrs); ok {
		v, err := x.Attr(name)
		if err != nil || v != nil {
			return v, err
		}
		names = x.AttrNames()
	}
	message := fmt.Sprintf("%s has no .%s field or method", x.Type(), excerpt(name))
	if near := nearest.Name(name, names); near != "" {
		message += fmt.Sprintf(" (did you mean .%s?)", near)
	}
	return nil, fmt.Errorf("%s", message)
}

// own calls the interpreter's own method.
func own(thread *starlark.Thread, receiver starlark.Value, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	f, err := attribute(receiver, name)
	if err != nil {
		return nil, err
	}
	return f.(*starlark.Builtin).CallInternal(thread, args, kwargs)
}

// after is a method that is the interpreter's own once before has passed.
func after(name string, before func(e *engine, receiver starlark.Value, args starlark.Tuple) error) method {
	return func(e *engine, thread *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := before(e, receiver, args); err != nil {
			return nil, err
		}
		return own(thread, receiver, name, args, kwargs)
	}
}
