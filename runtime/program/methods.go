package program

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/internal/nearest"
)

// method is a method of a built-in type.
type method func(e *engine, thread *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

// methods are those of one name.
type methods struct{ ofString, ofList, ofDict, ofSet, ofView, ofTuple, ofBytes, ofFrozen, ofRange, ofRecord method }

// methodsNamed are the methods of that name, made when a program first names it:
// a loop reads one again and again. Names that no type has are not kept.
func (e *engine) methodsNamed(name string) *methods {
	if m := e.methods[name]; m != nil {
		return m
	}
	m := &methods{
		ofString: stringMethod(name), ofList: listMethod(name), ofDict: dictMethod(name),
		ofSet: setMethod(name), ofView: viewMethod(name), ofTuple: tupleMethod(name), ofBytes: bytesMethod(name),
		ofFrozen: frozenMethod(name), ofRange: rangeMethod(name),
	}
	m.ofRecord = onDict(name, m.ofDict)
	if m.ofString == nil && m.ofList == nil && m.ofDict == nil && m.ofSet == nil && m.ofView == nil && m.ofTuple == nil && m.ofBytes == nil {
		return m
	}
	if e.methods == nil {
		e.methods = map[string]*methods{}
	}
	e.methods[name] = m
	return m
}

// of is the method of receiver's type; nil if the type has none.
func (m *methods) of(receiver starlark.Value) method {
	switch receiver.(type) {
	case starlark.String:
		return m.ofString
	case *starlark.List:
		return m.ofList
	case *starlark.Dict:
		return m.ofDict
	case *starlark.Set:
		return m.ofSet
	case starlark.Tuple:
		return m.ofTuple
	case starlark.Bytes:
		return m.ofBytes
	case *view:
		return m.ofView
	case *record:
		return m.ofRecord
	case *frozenSet:
		return m.ofFrozen
	}
	if m.ofRange != nil && isRange(receiver) {
		return m.ofRange
	}
	return nil
}

// onDict is a method of dict for records. It goes before a field of the same
// name, which is none that could be called.
func onDict(name string, f method) method {
	if f == nil {
		return nil
	}
	return func(e *engine, thread *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		r := receiver.(*record)
		if r.own == nil {
			if name == "get" && len(args) > 0 && len(args) < 3 && len(kwargs) == 0 {
				return r.get(args)
			}
			if err := e.charge(r.length); err != nil {
				return nil, err
			}
		}
		return f(e, thread, r.dict(), args, kwargs)
	}
}

// methodHelper is called with the receiver first: x.split(",") is
// $.split(x, ","). It is the attribute's call for receivers of other types.
func (e *engine) methodHelper(name string) starlark.Value {
	m := e.methodsNamed(name)
	return e.native(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		receiver, args := args[0], args[1:]
		if f := m.of(receiver); f != nil {
			return f(e, thread, receiver, args, kwargs)
		}
		f, err := e.attr(receiver, name)
		if err != nil {
			return nil, err
		}
		return starlark.Call(thread, f, args, kwargs)
	})
}

// having returns its operand, if that has something of that name.
func (e *engine) having(name string) check {
	m := e.methodsNamed(name)
	return func(x starlark.Value) (starlark.Value, error) {
		if m.of(x) != nil {
			return x, nil
		}
		switch x.(type) {
		case starlark.NoneType, starlark.Bool, starlark.Int, starlark.Float, starlark.String, *starlark.List, starlark.Tuple, *starlark.Dict, *starlark.Set:
			_, err := e.attr(x, name)
			return x, err
		}
		return x, nil // the call will tell
	}
}

// attr is x.name.
func (e *engine) attr(x starlark.Value, name string) (starlark.Value, error) {
	if r, ok := x.(*record); ok && r.hasField(name) {
		return r.Attr(name)
	}
	m := e.methodsNamed(name)
	if f := m.of(x); f != nil {
		return e.native(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return f(e, thread, x, args, kwargs)
		}), nil
	}
	var names []string
	switch x := x.(type) {
	case *class:
		if f := x.method(m, name); f != nil {
			return e.native(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
				return f(e, thread, nil, args, kwargs)
			}), nil
		}
	case *starlark.Function, *asyncFunction, *starlark.Builtin:
		if shown := e.functionName(x.(starlark.Callable), name); shown != "" {
			return starlark.String(shown), nil
		}
	case starlark.String, starlark.Bytes, *starlark.List, *starlark.Dict, *starlark.Set, starlark.Tuple:
		names = methodNames(x)
	}
	if x, ok := x.(starlark.HasAttrs); ok {
		switch x.(type) {
		case starlark.String, starlark.Bytes, *starlark.List, *starlark.Dict, *starlark.Set: // the interpreter's own methods are not CPython's
		default:
			v, err := x.Attr(name)
			if err != nil || v != nil {
				return v, err
			}
			names = x.AttrNames()
		}
	}
	if f := numberMethod(x, name); f != nil {
		return e.native(name, f), nil
	}
	if v := numberAttr(x, name); v != nil {
		return v, nil
	}
	if isRange(x) {
		if v := rangeAttr(x, name); v != nil {
			return v, nil
		}
	}
	if name == "__class__" {
		return e.classOf(x), nil
	}
	message := fmt.Sprintf("'%s' object has no attribute '%s'", className(x), excerpt(name))
	if c, ok := x.(*class); ok {
		message = fmt.Sprintf("type object '%s' has no attribute '%s'", c.name, excerpt(name))
	}
	err := &raised{class: "AttributeError", message: message}
	if d, ok := x.(*starlark.Dict); ok {
		if _, found, _ := d.Get(starlark.String(name)); found {
			err.hint = fmt.Sprintf("an item of a dict is read with brackets: d[%q]", excerpt(name))
			return nil, err
		}
	}
	if near := nearest.Name(name, names); near != "" {
		err.hint = "did you mean ." + near + "?"
	}
	return nil, err
}

// method is a method that is read from its class: str.upper, dict.fromkeys.
func (c *class) method(m *methods, name string) method {
	var f method
	switch c.name {
	case "str":
		f = m.ofString
		if name == "maketrans" {
			return func(e *engine, t *starlark.Thread, _ starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
				return m.ofString(e, t, starlark.String(""), args, kwargs)
			}
		}
	case "list":
		f = m.ofList
	case "dict":
		f = m.ofDict
		if name == "fromkeys" {
			return fromKeys
		}
	case "set":
		f = m.ofSet
	case "frozenset":
		f = m.ofFrozen
	case "bytes":
		f = m.ofBytes
	case "int", "float":
		var zero starlark.Value = starlark.MakeInt(0)
		if c.name == "float" {
			zero = starlark.Float(0)
		}
		if numberMethod(zero, name) == nil {
			return nil
		}
		f = func(e *engine, t *starlark.Thread, x starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return numberMethod(x, name)(t, nil, args, kwargs)
		}
	}
	if f == nil {
		return nil
	}
	return func(e *engine, t *starlark.Thread, _ starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) == 0 {
			return nil, raise("TypeError", "unbound method %s.%s() needs an argument", c.name, name)
		}
		if got := e.classOf(args[0]); !got.is(c) {
			return nil, raise("TypeError", "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", name, c.name, got.name)
		}
		if isNumber(number(args[0])) {
			return f(e, t, args[0], args[1:], kwargs)
		}
		if bound := m.of(args[0]); bound != nil {
			return bound(e, t, args[0], args[1:], kwargs)
		}
		return nil, raise("AttributeError", "'%s' object has no attribute '%s'", className(args[0]), name)
	}
}

// methodNames are those of a built-in type, for suggestions.
func methodNames(v starlark.Value) []string {
	switch v.(type) {
	case starlark.String:
		return []string{"capitalize", "casefold", "center", "count", "encode", "endswith", "expandtabs", "find", "format", "format_map", "index", "isalnum", "isalpha",
			"isascii", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isprintable", "isspace", "istitle", "isupper", "join", "ljust",
			"lower", "lstrip", "maketrans", "partition", "removeprefix", "removesuffix", "replace", "rfind", "rindex", "rjust", "rpartition", "rsplit",
			"rstrip", "split", "splitlines", "startswith", "strip", "swapcase", "title", "translate", "upper", "zfill"}
	case *starlark.List:
		return []string{"append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort"}
	case *starlark.Dict:
		return []string{"clear", "copy", "fromkeys", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"}
	case *starlark.Set:
		return []string{"add", "clear", "copy", "difference", "difference_update", "discard", "intersection", "intersection_update", "isdisjoint",
			"issubset", "issuperset", "pop", "remove", "symmetric_difference", "symmetric_difference_update", "union", "update"}
	case starlark.Tuple:
		return []string{"count", "index"}
	case starlark.Bytes:
		return []string{"decode", "hex"}
	}
	return nil
}
