package program

import (
	"errors"

	"go.starlark.net/starlark"
)

// asyncFunction is what async def makes: calling it makes a coroutine.
type asyncFunction struct{ starlark.Callable }

// CallInternal makes a coroutine and runs nothing.
func (f *asyncFunction) CallInternal(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return &coroutine{async: true, f: f.Callable, args: append(starlark.Tuple(nil), args...), kwargs: kwargs}, nil
}

// coroutine is a call that runs when it is awaited.
type coroutine struct {
	f       starlark.Value
	args    starlark.Tuple
	kwargs  []starlark.Tuple
	awaited bool
	async   bool // f is what stands in an async def
}

func (c *coroutine) String() string        { return "<coroutine object>" }
func (c *coroutine) Type() string          { return "coroutine" }
func (c *coroutine) Freeze()               {}
func (c *coroutine) Truth() starlark.Bool  { return true }
func (c *coroutine) Hash() (uint32, error) { return 0, nil }

// run makes the call; what an async function returned is awaited in turn.
func (c *coroutine) run(thread *starlark.Thread) (starlark.Value, error) {
	if c.awaited {
		return nil, raise("RuntimeError", "cannot reuse already awaited coroutine")
	}
	c.awaited = true
	v, err := starlark.Call(thread, c.f, c.args, c.kwargs)
	if c.async && err != nil {
		return nil, noStop("coroutine", err)
	}
	if inner, ok := v.(*coroutine); ok && err == nil {
		if _, async := c.f.(*asyncFunction); async {
			return inner.run(thread)
		}
	}
	return v, err
}

// isStop tells whether err is a StopIteration that somebody raised.
func isStop(err error) bool {
	var r *raised
	return err != nil && errors.As(err, &r) && r.exception != nil && r.exception.class.name == "StopIteration"
}

// noStop is err, unless that is StopIteration: it would end an iteration far
// from here.
func noStop(what string, err error) error {
	if !isStop(err) {
		return err
	}
	var r *raised
	errors.As(err, &r)
	e := r.exception.engine
	text := starlark.String(what + " raised StopIteration")
	return &raised{exception: &exception{engine: e, class: e.class("RuntimeError"), args: starlark.Tuple{text}, cause: r.exception}}
}

func newAsync(f starlark.Value) (starlark.Value, error) {
	return &asyncFunction{f.(starlark.Callable)}, nil
}

// await runs a coroutine. The results of capabilities are there already.
func await(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if c, ok := args[0].(*coroutine); ok {
		return c.run(thread)
	}
	return args[0], nil
}

// deferCall makes a coroutine of a call.
func deferCall(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return &coroutine{f: args[0], args: append(starlark.Tuple(nil), args[1:]...), kwargs: kwargs}, nil
}
