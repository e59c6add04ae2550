package program

import "go.starlark.net/starlark"

// class is a built-in class: what type(x) returns, what isinstance and except
// compare with, and what makes a value when it is called. There is one value
// for each class in an execution.
type class struct {
	name string
	base *class // nil for object
	// call makes an instance; nil where programs cannot.
	call native
}

var (
	_ starlark.Callable = (*class)(nil)
	_ starlark.HasAttrs = (*class)(nil)
)

func (c *class) String() string        { return "<class '" + c.name + "'>" }
func (c *class) Type() string          { return "type" }
func (c *class) Freeze()               {}
func (c *class) Truth() starlark.Bool  { return true }
func (c *class) Hash() (uint32, error) { return starlark.String(c.name).Hash() }
func (c *class) Name() string          { return c.name }

// CallInternal makes an instance.
func (c *class) CallInternal(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if c.call == nil {
		return nil, raise("TypeError", "cannot create '%s' instances", c.name)
	}
	return c.call(thread, starlark.NewBuiltin(c.name, c.call), args, kwargs)
}

// Attr has what programs ask a class.
func (c *class) Attr(name string) (starlark.Value, error) {
	switch name {
	case "__name__", "__qualname__":
		return starlark.String(c.name), nil
	}
	return nil, nil
}

// AttrNames implements starlark.HasAttrs.
func (c *class) AttrNames() []string { return []string{"__name__", "__qualname__"} }

// is tells whether c is other or derives from it.
func (c *class) is(other *class) bool {
	for ; c != nil; c = c.base {
		if c == other {
			return true
		}
	}
	return false
}

// class returns the class of that name; nil if there is none.
func (e *engine) class(name string) *class {
	if c := e.classes[name]; c != nil {
		return c
	}
	base, ok := baseClass(name)
	if !ok {
		return nil
	}
	c := &class{name: name}
	if base != "" {
		c.base = e.class(base)
	}
	if e.classes == nil {
		e.classes = map[string]*class{}
	}
	e.classes[name] = c
	switch {
	case c.base != nil && c.is(e.class("BaseException")):
		c.call = func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if len(kwargs) > 0 {
				return nil, raise("TypeError", "%s() takes no keyword arguments", name)
			}
			return &exception{engine: e, class: c, args: args}, nil
		}
	default:
		c.call = e.function(name)
	}
	return c
}

// baseClass is what a class derives from, as in CPython's library reference,
// "Exception hierarchy".
func baseClass(name string) (base string, ok bool) {
	switch name {
	case "object":
		return "", true
	case "int", "float", "str", "bytes", "list", "tuple", "dict", "set", "frozenset", "slice", "type", "NoneType", "range", "function", "builtin_function_or_method", "BaseException":
		return "object", true
	case "bool":
		return "int", true
	case "Exception", "KeyboardInterrupt", "SystemExit", "GeneratorExit":
		return "BaseException", true
	case "ArithmeticError", "AssertionError", "AttributeError", "EOFError", "ImportError", "LookupError", "MemoryError", "NameError",
		"OSError", "RuntimeError", "StopIteration", "StopAsyncIteration", "SyntaxError", "TypeError", "ValueError", "Warning", "CapabilityError":
		return "Exception", true
	case "ZeroDivisionError", "OverflowError", "FloatingPointError":
		return "ArithmeticError", true
	case "IndexError", "KeyError":
		return "LookupError", true
	case "ModuleNotFoundError":
		return "ImportError", true
	case "UnboundLocalError":
		return "NameError", true
	case "FileNotFoundError", "PermissionError", "TimeoutError", "ConnectionError", "FileExistsError":
		return "OSError", true
	case "NotImplementedError", "RecursionError":
		return "RuntimeError", true
	case "UnicodeError", "JSONDecodeError":
		return "ValueError", true
	case "UnicodeDecodeError", "UnicodeEncodeError":
		return "UnicodeError", true
	case "IndentationError":
		return "SyntaxError", true
	case "UserWarning", "DeprecationWarning", "RuntimeWarning":
		return "Warning", true
	}
	return "", false
}

// isException tells whether c can be raised.
func (e *engine) isException(c *class) bool { return c.is(e.class("BaseException")) }

// classOf is type(v).
func (e *engine) classOf(v starlark.Value) *class {
	switch v := v.(type) {
	case *exception:
		return v.class
	case *class:
		return e.class("type")
	case *record:
		return e.class("dict")
	case *starlark.Function, *asyncFunction:
		return e.class("function")
	}
	name := className(v)
	if c := e.class(name); c != nil {
		return c
	}
	return &class{name: name, base: e.class("object")}
}

// instance tells whether v is an instance of of, a class or a tuple of them.
func (e *engine) instance(v, of starlark.Value) (bool, error) {
	switch of := of.(type) {
	case *union:
		for _, part := range of.parts {
			if part == starlark.None {
				part = e.class("NoneType")
			}
			if is, err := e.instance(v, part); err != nil || is {
				return is, err
			}
		}
		return false, nil
	case *alias:
		return false, raise("TypeError", "isinstance() argument 2 cannot be a parameterized generic")
	case *class:
		return e.classOf(v).is(of), nil
	case starlark.Tuple:
		for _, c := range of {
			if is, err := e.instance(v, c); err != nil || is {
				return is, err
			}
		}
		return false, nil
	}
	return false, raise("TypeError", "isinstance() arg 2 must be a type, a tuple of types, or a union")
}

// subclass tells whether c derives from of, a class or a tuple of them.
func (e *engine) subclass(c *class, of starlark.Value) (bool, error) {
	switch of := of.(type) {
	case *union:
		for _, part := range of.parts {
			if part == starlark.None {
				part = e.class("NoneType")
			}
			if is, err := e.subclass(c, part); err != nil || is {
				return is, err
			}
		}
		return false, nil
	case *class:
		return c.is(of), nil
	case starlark.Tuple:
		for _, one := range of {
			if is, err := e.subclass(c, one); err != nil || is {
				return is, err
			}
		}
		return false, nil
	}
	return false, raise("TypeError", "issubclass() arg 2 must be a class, a tuple of classes, or a union")
}

// object is what object() returns: a value that is only itself.
type object struct{ starlark.NoneType }

func (o *object) String() string        { return "<object>" }
func (o *object) Type() string          { return "object" }
func (o *object) Truth() starlark.Bool  { return true }
func (o *object) Hash() (uint32, error) { return 1, nil }

func newObject(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args)+len(kwargs) > 0 {
		return nil, raise("TypeError", "object() takes no arguments")
	}
	return &object{}, nil
}
