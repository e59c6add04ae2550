package program

import (
	"go.starlark.net/starlark"
)

// isModule tells whether import finds a module of that name.
func isModule(name string) bool {
	switch name {
	case "json", "math", "asyncio", "typing":
		return true
	}
	return false
}

// importModule is the value of a module.
func (e *engine) importModule(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	name, _ := starlark.AsString(args[0])
	if m := e.module(name); m != nil {
		return m, nil
	}
	return nil, raise("ModuleNotFoundError", "No module named '%s'", excerpt(name))
}

// module is the module of that name, made at first use; nil if there is none.
func (e *engine) module(name string) *module {
	if m := e.modules[name]; m != nil {
		return m
	}
	var get func(name string) starlark.Value
	switch name {
	case "json":
		get = e.jsonMember
	case "math":
		get = e.mathMember
	case "asyncio":
		get = e.asyncioMember
	case "typing":
		get = e.typingMember
	default:
		return nil
	}
	if e.modules == nil {
		e.modules = map[string]*module{}
	}
	m := &module{name: name, get: get}
	e.modules[name] = m
	return m
}

// module is a module that import finds.
type module struct {
	name string
	get  func(name string) starlark.Value
}

var _ starlark.HasAttrs = (*module)(nil)

func (m *module) String() string        { return "<module '" + m.name + "'>" }
func (m *module) Type() string          { return "module" }
func (m *module) Freeze()               {}
func (m *module) Truth() starlark.Bool  { return true }
func (m *module) Hash() (uint32, error) { return starlark.String(m.name).Hash() }

// Attr returns a member.
func (m *module) Attr(name string) (starlark.Value, error) {
	if v := m.get(name); v != nil {
		return v, nil
	}
	return nil, raise("AttributeError", "module '%s' has no attribute '%s'", m.name, excerpt(name))
}

// AttrNames implements starlark.HasAttrs; members are found by name only.
func (m *module) AttrNames() []string { return nil }

func (e *engine) asyncioMember(name string) starlark.Value {
	switch name {
	case "gather":
		return e.native(name, e.gather)
	case "run", "create_task", "ensure_future", "wait_for":
		return e.native(name, runFirst)
	case "sleep":
		return e.native(name, func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
			return starlark.None, nil
		})
	}
	return nil
}

// gather awaits all its arguments at the same time (parallel).
func (e *engine) gather(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	keep := false
	if err := starlark.UnpackArgs("gather", nil, kwargs, "return_exceptions?", &keep); err != nil {
		return nil, err
	}
	out := make([]starlark.Value, len(args))
	var list []starlark.Callable
	var places []int
	for i, v := range args {
		c, ok := v.(*coroutine)
		if !ok {
			out[i] = v // the result of a capability, which is there already
			continue
		}
		places = append(places, i)
		list = append(list, starlark.NewBuiltin("gather", func(thread *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return c.run(thread)
		}))
	}
	if len(list) > maxCallables {
		return nil, raise("ValueError", "gather: %d coroutines, at most %d are taken: let each do more", len(list), maxCallables)
	}
	results, errs, err := e.concurrently(list)
	if err != nil {
		return nil, err
	}
	for i, at := range places {
		out[at] = results[i]
		if errs[i] == nil {
			continue
		}
		x, caught := e.catch(errs[i])
		if !keep || !caught {
			return nil, errs[i]
		}
		out[at] = x
	}
	return starlark.NewList(out), nil
}

// runFirst awaits its first argument.
func runFirst(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 0 {
		return nil, raise("TypeError", "%s() missing 1 required positional argument", b.Name())
	}
	return await(thread, b, args[:1], nil)
}
