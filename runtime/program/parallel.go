package program

import (
	"slices"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/fault"
)

const (
	// maxCallables bounds the list that parallel takes.
	maxCallables = 1_000
	// callableSteps is what it costs to begin one: a thread of its own.
	callableSteps = 50
)

// parallel([f, …]) calls each f without arguments, and returns what they
// return, in order. Their native calls are on their way at the same time, at
// most MaxParallelCalls of them; all else is done by one after the other, so
// that they may share values. A callable that fails does not stop the others;
// then the first of the list that did is what parallel fails with.
func (e *engine) parallel(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	items, err := one(b.Name(), args, kwargs, 1)
	if err != nil {
		return nil, err
	}
	list, err := e.callables(items)
	if err != nil {
		return nil, err
	}
	results, errs, err := e.concurrently(list)
	if err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			return nil, e.failedAt(i, err)
		}
	}
	return starlark.NewList(results), nil
}

// concurrently calls each of list without arguments. Its error is that of all;
// errs are those of the callables, nil for each that did not fail.
func (e *engine) concurrently(list []starlark.Callable) (results []starlark.Value, errs []error, err error) {
	if depth := len(e.current.path)/2 + 1; depth > MaxNesting {
		return nil, nil, raise("RecursionError", "parallel: more than %d calls of it stand within each other", MaxNesting)
	}
	if err := e.charge(callableSteps * len(list)); err != nil {
		return nil, nil, err
	}
	e.current.ordinal++
	g := &group{
		callables: list,
		results:   make([]starlark.Value, len(list)),
		errs:      make([]error, len(list)),
		left:      len(list),
		parent:    e.current,
		path:      append(slices.Clone(e.current.path), e.current.ordinal),
		base:      e.current.base + e.thread.CallStackDepth(),
	}
	if g.left > 0 {
		e.conduct(g)
	}
	if e.fatal != nil {
		return nil, nil, e.fatal
	}
	return g.results, g.errs, nil
}

// callables are the elements of items, if all can be called.
func (e *engine) callables(items starlark.Value) ([]starlark.Callable, error) {
	if n := starlark.Len(items); n > maxCallables {
		return nil, raise("ValueError", "parallel: a list of %d callables, at most %d are taken: let each do more", n, maxCallables)
	}
	var list []starlark.Callable
	err := e.each(items, func(item starlark.Value) error {
		f, ok := item.(starlark.Callable)
		switch {
		case !ok:
			return raise("TypeError", "parallel: element %d is %s, want a function without parameters: write lambda: in front of the call", len(list), typeName(item))
		case len(list) == maxCallables:
			return raise("ValueError", "parallel: more than %d callables: let each do more", maxCallables)
		}
		list = append(list, f)
		return nil
	})
	return list, err
}

// failedAt is the failure of one callable as that of parallel. It keeps its
// class, and where in the program it happened.
func (e *engine) failedAt(i int, err error) error {
	f := *e.runtimeFault(err)
	f.Message = fault.InCallable(i, f.Message)
	return &nativeFailure{&f}
}

// attempt(f, *args, **kwargs) calls f and returns a record: ok, and value, or
// error with code, message, capability and retryable. What a limit ends, or a
// cancel, it does not keep from ending.
func (e *engine) attempt(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 0 {
		return nil, raise("TypeError", "attempt: no function to call: write attempt(f, …)")
	}
	f, ok := args[0].(starlark.Callable)
	if !ok {
		return nil, raise("TypeError", "attempt: got %s, want a function: give the call's arguments after it, attempt(f, …), or write lambda: in front", typeName(args[0]))
	}
	value, err := starlark.Call(thread, f, args[1:], kwargs)
	if err == nil {
		return e.outcome(starlark.True, value, starlark.None), nil
	}
	if e.final(err) {
		return nil, err
	}
	failure := bounded(e.runtimeFault(err))
	code := failure.Code
	if code == "" {
		code = string(failure.Class)
	}
	capability := starlark.Value(starlark.None)
	if failure.Capability != "" {
		capability = starlark.String(failure.Capability)
	}
	return e.outcome(starlark.False, starlark.None, newRecord(e.errorShape(),
		starlark.String(code), starlark.String(failure.Message), capability, starlark.Bool(retryable(failure)))), nil
}

// retryable: the same call may succeed at another time.
func retryable(f *fault.Fault) bool { return f.Class == fault.CapabilityFailed && f.Code == "" }

// final reports whether err ends the program, whatever the program does.
func (e *engine) final(err error) bool {
	if e.fatal != nil || e.outOfSteps || e.tooDeep {
		return true
	}
	switch e.runtimeFault(err).Class {
	case fault.Limit, fault.Cancelled, fault.WorkerLost, fault.Internal:
		return true
	}
	return false
}

func (e *engine) outcome(ok, value, err starlark.Value) *record {
	if e.outcomeShape == nil {
		e.outcomeShape = recordShape("ok", "value", "error")
	}
	return newRecord(e.outcomeShape, ok, value, err)
}

func (e *engine) errorShape() *shape {
	if e.failureShape == nil {
		e.failureShape = recordShape("code", "message", "capability", "retryable")
	}
	return e.failureShape
}
