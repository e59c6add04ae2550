package program

import "go.starlark.net/starlark"

func (e *engine) iterators(values starlark.Tuple) ([]starlark.Iterator, error) {
	out := make([]starlark.Iterator, len(values))
	for i, v := range values {
		over, err := e.iter(v)
		if err != nil {
			return nil, err
		}
		out[i] = over.(starlark.Iterable).Iterate()
	}
	return out, nil
}

// advance takes one element of each; ok is false when one has none.
func advance(sources []starlark.Iterator) (row starlark.Tuple, ok bool) {
	row = make(starlark.Tuple, len(sources))
	for i, it := range sources {
		if !it.Next(&row[i]) {
			return nil, false
		}
	}
	return row, len(row) > 0
}

// lazy is an iterator of ours: what map, filter, zip and enumerate return.
func (e *engine) lazy(name string, next func() (starlark.Value, bool, error)) starlark.Value {
	over := false
	return &iterator{name: name, loop: loop{engine: e, next: func(*loop) (starlark.Value, bool) {
		if over {
			return nil, false
		}
		v, ok, err := next()
		if isStop(err) { // of a function that map or filter called: their end
			over = true
			return nil, false
		}
		if err != nil {
			e.endEarly(err)
		}
		over = !ok || err != nil
		return v, !over
	}}}
}

// iterator is a loop that a program can hold.
type iterator struct {
	loop
	name string
}

func (i *iterator) String() string        { return "<" + i.name + " object>" }
func (i *iterator) Type() string          { return i.name }
func (i *iterator) Truth() starlark.Bool  { return true }
func (i *iterator) Hash() (uint32, error) { return starlark.String(i.name).Hash() }

// Iterate returns the iterator itself: it can be gone through once.
func (i *iterator) Iterate() starlark.Iterator { return &i.loop }

// next is next(iterator, default).
func (e *engine) next(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v, fallback starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &v, &fallback); err != nil {
		return nil, err
	}
	var it starlark.Iterator
	switch v := v.(type) {
	case *generator:
		it = v
	case *iterator:
		it = &v.loop
	default:
		return nil, raise("TypeError", "'%s' object is not an iterator", className(v))
	}
	var item starlark.Value
	if it.Next(&item) {
		return item, nil
	}
	if _, err := e.done(starlark.None); err != nil {
		return nil, err
	}
	if fallback != nil {
		return fallback, nil
	}
	return nil, &raised{exception: &exception{engine: e, class: e.class("StopIteration")}}
}

// until calls f until it returns last.
func (e *engine) until(f, last starlark.Value) (starlark.Value, error) {
	if _, ok := f.(starlark.Callable); !ok {
		return nil, raise("TypeError", "iter(v, w): v must be callable")
	}
	return e.lazy("callable_iterator", func() (starlark.Value, bool, error) {
		v, err := starlark.Call(e.thread, f, nil, nil)
		if err != nil {
			return nil, false, err
		}
		over, err := e.equalOrSame(v, last, 0)
		return v, !over, err
	}), nil
}

// newIterator is iter(x), and iter(f, last).
func (e *engine) newIterator(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 2 {
		return e.until(args[0], args[1])
	}
	switch v := args[0].(type) {
	case *generator, *iterator:
		return v, nil
	}
	sources, err := e.iterators(args)
	if err != nil {
		return nil, err
	}
	return e.lazy(className(args[0])+"_iterator", func() (starlark.Value, bool, error) {
		row, ok := advance(sources)
		if !ok {
			return nil, false, nil
		}
		return row[0], true, nil
	}), nil
}

// reversed is reversed(x), lazy.
func (e *engine) reversed(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) != 1 {
		return nil, raise("TypeError", "reversed expected 1 argument, got %d", len(args))
	}
	items := args[0]
	name, list := "reversed", starlark.Indexable(nil)
	switch x := items.(type) {
	case *starlark.List:
		name, list = "list_reverseiterator", x
	case starlark.Tuple:
		list = x
	case *starlark.Dict, *record, *view:
		name = "dict_reverse" + map[string]string{"dict_values": "value", "dict_items": "item"}[className(x)] + "iterator"
		if name == "dict_reverseiterator" {
			name = "dict_reversekeyiterator"
		}
	case starlark.String:
	default:
		if className(x) != "range" {
			return nil, raise("TypeError", "'%s' object is not reversible", className(x))
		}
		name = "range_iterator"
	}
	if list == nil {
		all, err := e.collect(items)
		if err != nil {
			return nil, err
		}
		list = starlark.Tuple(all)
	}
	at := list.Len()
	return e.lazy(name, func() (starlark.Value, bool, error) {
		if at--; at < 0 || at >= list.Len() {
			at = 0
			return nil, false, nil
		}
		return list.Index(at), true, e.charge(1)
	}), nil
}
