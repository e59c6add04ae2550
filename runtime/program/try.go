package program

import (
	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/program/lower"
)

// returned is the signal of a return within try.
type returned struct {
	starlark.NoneType
	value starlark.Value
}

// caught is what a try caught.
type caught struct {
	starlark.NoneType
	exception *exception
}

// try runs the body of a try: None, a signal, or what was caught.
func (e *engine) try(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	v, err := starlark.Call(thread, args[0], nil, nil)
	if err == nil {
		return v, nil
	}
	x, ok := e.catch(err)
	if !ok {
		return nil, err
	}
	return &caught{exception: x}, nil
}

// raiseStatement is `raise x from cause`.
func (e *engine) raiseStatement(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 0 {
		return nil, raise("RuntimeError", "No active exception to reraise")
	}
	x, err := e.instanceOf(thread, args[0])
	if err != nil {
		return nil, err
	}
	if args[1] != starlark.None {
		cause, err := e.instanceOf(thread, args[1])
		if err != nil {
			return nil, raise("TypeError", "exception causes must derive from BaseException")
		}
		x.cause = cause
	}
	return nil, &raised{exception: x}
}

// instanceOf is the exception that raise makes of a class or an instance.
func (e *engine) instanceOf(thread *starlark.Thread, v starlark.Value) (*exception, error) {
	if c, ok := v.(*class); ok && e.isException(c) {
		made, err := starlark.Call(thread, c, nil, nil)
		if err != nil {
			return nil, err
		}
		v = made
	}
	x, ok := v.(*exception)
	if !ok {
		return nil, raise("TypeError", "exceptions must derive from BaseException")
	}
	return x, nil
}

func (e *engine) assertion(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	return nil, &raised{exception: &exception{engine: e, class: e.class("AssertionError"), args: args}}
}

// matches is `except of` for what was caught.
func (e *engine) matches(x, of starlark.Value) (starlark.Value, error) {
	classes, ok := of.(starlark.Tuple)
	if !ok {
		classes = starlark.Tuple{of}
	}
	is := false
	for _, v := range classes {
		c, ok := v.(*class)
		if !ok || !e.isException(c) {
			return nil, raise("TypeError", "catching classes that do not inherit from BaseException is not allowed")
		}
		is = is || x.(*caught).exception.class.is(c)
	}
	return starlark.Bool(is), nil
}

// tryHelper is what the lowering asks of the result of a try.
func tryHelper(name string) check {
	switch name {
	case lower.Caught:
		return func(v starlark.Value) (starlark.Value, error) {
			_, is := v.(*caught)
			return starlark.Bool(is), nil
		}
	case lower.Returned:
		return func(v starlark.Value) (starlark.Value, error) {
			_, is := v.(*returned)
			return starlark.Bool(is), nil
		}
	case lower.Broke:
		return func(v starlark.Value) (starlark.Value, error) { return starlark.Bool(v == breakSignal), nil }
	case lower.Continued:
		return func(v starlark.Value) (starlark.Value, error) { return starlark.Bool(v == continueSignal), nil }
	case lower.Return:
		return func(v starlark.Value) (starlark.Value, error) { return &returned{value: v}, nil }
	case lower.Value:
		return func(v starlark.Value) (starlark.Value, error) { return v.(*returned).value, nil }
	case lower.Exception:
		return func(v starlark.Value) (starlark.Value, error) { return v.(*caught).exception, nil }
	case lower.Reraise, lower.Finish:
		return func(v starlark.Value) (starlark.Value, error) {
			if c, ok := v.(*caught); ok {
				return nil, &raised{exception: c.exception}
			}
			return starlark.None, nil
		}
	}
	return nil
}
