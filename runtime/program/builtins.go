package program

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// ownNames are the predeclared names that Starlark does not have.
func ownNames() []string { return []string{"attempt", "json", "math", "pages", "parallel", "sum"} }

// builtin is what a predeclared name stands for: ours, or one of Starlark's
// that is bounded here; nil for all others. It is asked once for each name
// that a program mentions, so that an execution pays for no other.
func (e *engine) builtin(name string) starlark.Value {
	switch name {
	case "json", "math", "asyncio":
		return e.module(name)
	case "__name__":
		return starlark.String("__main__")
	case "Ellipsis":
		return ellipsis{}
	case "IOError", "EnvironmentError":
		return e.class("OSError")
	}
	if c := e.class(name); c != nil && name != "NoneType" && name != "function" && name != "builtin_function_or_method" {
		return c
	}
	if f := e.function(name); f != nil {
		return e.native(name, f)
	}
	return nil
}

// function is the builtin function of that name, behind the check of its
// arguments; nil if there is none.
func (e *engine) function(name string) native {
	if f := e.plainFunction(name); f != nil {
		return checkedBuiltin(name, f)
	}
	return nil
}

func (e *engine) plainFunction(name string) native {
	switch name {
	case "abs":
		return e.abs
	case "len":
		return e.length
	case "isinstance":
		return e.isinstance
	case "issubclass":
		return e.issubclass
	case "object":
		return newObject
	case "type":
		return e.typeOf
	case "round":
		return e.round
	case "map":
		return e.apply
	case "filter":
		return e.filter
	case "divmod":
		return e.divmod
	case "pow":
		return e.pow
	case "next":
		return e.next
	case "bool":
		return newBool
	case "range":
		return func(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return universal(t, "range", args, kwargs)
		}
	case "all":
		return e.quantify(false)
	case "attempt":
		return e.attempt
	case "any":
		return e.quantify(true)
	case "bytes":
		return e.newBytes
	case "dict":
		return e.newDict
	case "enumerate":
		return e.enumerate
	case "fail":
		return e.fail
	case "float":
		return e.newFloat
	case "getattr":
		return e.getattr
	case "hasattr":
		return e.hasattr
	case "dir":
		return e.dir
	case "hash":
		return e.hash
	case "int":
		return e.newInt
	case "list":
		return e.newList
	case "max":
		return e.extreme(syntax.GT)
	case "min":
		return e.extreme(syntax.LT)
	case "pages":
		return e.pages
	case "parallel":
		return e.parallel
	case "print":
		return e.print
	case "repr":
		return e.converting("r")
	case "ascii":
		return e.converting("a")
	case "format":
		return e.format
	case "hex":
		return e.inBase(16, "0x")
	case "oct":
		return e.inBase(8, "0o")
	case "bin":
		return e.inBase(2, "0b")
	case "chr":
		return character
	case "ord":
		return ordinal
	case "callable":
		return callable
	case "iter":
		return e.newIterator
	case "reversed":
		return e.reversed
	case "set":
		return e.newSet
	case "frozenset":
		return e.newFrozenSet
	case "slice":
		return e.newSlice
	case "sorted":
		return e.sorted
	case "str":
		return e.newText
	case "sum":
		return e.sum
	case "tuple":
		return e.newTuple
	case "zip":
		return e.zip
	}
	return nil
}

// universal calls Starlark's own builtin, after what a bounded one has checked.
func universal(thread *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return starlark.Universe[name].(*starlark.Builtin).CallInternal(thread, args, kwargs)
}

func (e *engine) hash(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 1 {
		if err := e.key(args[0]); err != nil {
			return nil, err
		}
		if err := e.chargeBytes(8 * max(0, starlark.Len(args[0]))); err != nil {
			return nil, err
		}
	}
	return universal(thread, b.Name(), args, kwargs)
}

// fail ends the program with the text of its arguments, cut to what a message
// may have.
func (e *engine) fail(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	separator := " "
	if err := starlark.UnpackArgs(b.Name(), nil, kwargs, "sep?", &separator); err != nil {
		return nil, err
	}
	w := textWriter{engine: e, limit: maxText, cut: true}
	var err error
	for i, v := range args {
		if err == nil && i > 0 {
			err = w.text(separator)
		}
		if err != nil {
			break
		}
		if s, ok := starlark.AsString(v); ok {
			err = w.text(s)
		} else {
			err = w.value(v, 0)
		}
	}
	if err == errSteps {
		return nil, err
	}
	if err != nil {
		w.out.WriteString("…")
	}
	return nil, raise("RuntimeError", "%s", w.out.String())
}

func (e *engine) hasattr(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	name, ok := starlark.AsString(args[1])
	if !ok {
		return nil, raise("TypeError", "attribute name must be string, not '%s'", className(args[1]))
	}
	if _, err := e.attr(args[0], name); err != nil {
		return starlark.False, e.stopped()
	}
	return starlark.True, nil
}

// dir is the names that hasattr finds, sorted, without those that begin with
// underscores.
func (e *engine) dir(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := argumentCount(b.Name(), len(args)+len(kwargs), 1, 1); err != nil {
		return nil, err
	}
	names := methodNames(args[0])
	if x, ok := args[0].(starlark.HasAttrs); ok && names == nil {
		names = slices.DeleteFunc(x.AttrNames(), func(name string) bool { return strings.HasPrefix(name, "_") })
		slices.Sort(names)
	}
	if err := e.charge(len(names)); err != nil {
		return nil, err
	}
	return textList(names), nil
}

func (e *engine) getattr(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var object, fallback starlark.Value
	var name string
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &object, &name, &fallback); err != nil {
		return nil, err
	}
	v, err := e.attr(object, name)
	if err != nil && fallback != nil {
		return fallback, nil
	}
	return v, err
}
