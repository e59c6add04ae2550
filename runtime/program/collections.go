package program

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/lower"
)

// each calls f for every element of v, at a step each.
func (e *engine) each(v starlark.Value, f func(starlark.Value) error) error {
	over, err := e.iter(v)
	if err != nil {
		return err
	}
	iterator := over.(starlark.Iterable).Iterate()
	defer iterator.Done()
	var item starlark.Value
	for iterator.Next(&item) {
		if err := e.charge(1); err != nil {
			return err
		}
		if err := f(item); err != nil {
			return err
		}
	}
	_, err = e.done(starlark.None)
	return err
}

// collect are the elements of v, at a step each, in a slice of its own.
func (e *engine) collect(v starlark.Value) ([]starlark.Value, error) {
	var items []starlark.Value
	if n := starlark.Len(v); n > 0 {
		// Refused before room is made for them.
		if err := e.roomItems(n); err != nil {
			return nil, err
		}
		if e.thread.Steps+uint64(n) >= uint64(e.limits.Steps) {
			return nil, e.charge(n)
		}
		items = make([]starlark.Value, 0, n)
	}
	err := e.each(v, func(item starlark.Value) error {
		items = append(items, item)
		return e.roomItems(len(items))
	})
	return items, err
}

// extend appends the elements of items, which may be those of list.
func (e *engine) extend(list *starlark.List, items starlark.Value) error {
	more, err := e.collect(items)
	if err != nil {
		return err
	}
	if err := e.roomItems(list.Len() + len(more)); err != nil {
		return err
	}
	for _, item := range more {
		if err := list.Append(item); err != nil {
			return err
		}
	}
	return nil
}

// one is the only argument of a builtin, which must be iterable; nil if there
// may be none and is none.
func one(name string, args starlark.Tuple, kwargs []starlark.Tuple, least int) (starlark.Value, error) {
	var items starlark.Value
	err := starlark.UnpackPositionalArgs(name, args, kwargs, least, &items)
	return items, err
}

func (e *engine) newList(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	items, err := one(b.Name(), args, kwargs, 0)
	if err != nil || items == nil {
		return starlark.NewList(nil), err
	}
	list, err := e.collect(items)
	return starlark.NewList(list), err
}

func (e *engine) newTuple(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	items, err := one(b.Name(), args, kwargs, 0)
	if err != nil || items == nil {
		return starlark.Tuple(nil), err
	}
	list, err := e.collect(items)
	return starlark.Tuple(list), err
}

func (e *engine) newSet(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	items, err := one(b.Name(), args, kwargs, 0)
	set := new(starlark.Set)
	if err != nil || items == nil {
		return set, err
	}
	return set, e.insert(set, items)
}

// insert adds the elements of items to set.
func (e *engine) insert(set *starlark.Set, items starlark.Value) error {
	return e.each(items, func(item starlark.Value) error {
		if err := e.charge(1); err != nil { // as in updateDict
			return err
		}
		if err := e.addKey(set, item); err != nil {
			return err
		}
		return e.roomKeys(set.Len())
	})
}

func (e *engine) newDict(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	dict := new(starlark.Dict)
	return dict, e.fill(b.Name(), dict, args, kwargs)
}

// fill is dict(…) and d.update(…).
func (e *engine) fill(name string, dict *starlark.Dict, args starlark.Tuple, kwargs []starlark.Tuple) error {
	if len(args) > 1 {
		return fmt.Errorf("%s: got %d arguments, want at most 1", name, len(args))
	}
	if len(args) == 1 {
		var err error
		switch from := args[0].(type) {
		case starlark.IterableMapping:
			err = e.updateDict(dict, from)
		default:
			err = e.updatePairs(name, dict, from)
		}
		if err != nil {
			return err
		}
	}
	for _, pair := range kwargs {
		if err := e.charge(1); err != nil {
			return err
		}
		if err := e.setKey(dict, pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

// updateDict copies the entries of from.
func (e *engine) updateDict(dict *starlark.Dict, from starlark.IterableMapping) error {
	n := max(0, starlark.Len(from))
	if err := e.roomItems(n); err != nil {
		return err
	}
	if err := e.charge(2 * n); err != nil { // to hash and to keep a key takes longer than a step
		return err
	}
	for _, entry := range from.Items() {
		if err := e.setKey(dict, entry[0], entry[1]); err != nil {
			return err
		}
	}
	return e.roomKeys(dict.Len())
}

func (e *engine) updatePairs(name string, dict *starlark.Dict, from starlark.Value) error {
	i := 0
	return e.each(from, func(item starlark.Value) error {
		pair, err := e.collect(item)
		if err != nil {
			return raise("TypeError", "cannot convert dictionary update sequence element #%d to a sequence", i)
		}
		if len(pair) != 2 {
			return raise("ValueError", "dictionary update sequence element #%d has length %d; 2 is required", i, len(pair))
		}
		i++
		if err := e.setKey(dict, pair[0], pair[1]); err != nil {
			return err
		}
		return e.roomKeys(dict.Len())
	})
}

func (e *engine) enumerate(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var items starlark.Value
	var start starlark.Value = starlark.MakeInt(0)
	for _, pair := range kwargs {
		if name, _ := starlark.AsString(pair[0]); name != "iterable" && name != "start" {
			return nil, raise("TypeError", "'%s' is an invalid keyword argument for enumerate()", excerpt(name))
		}
	}
	if len(args)+len(kwargs) == 0 {
		return nil, raise("TypeError", "enumerate() missing required argument 'iterable'")
	}
	if err := unpackArguments(b.Name(), args, kwargs, "iterable", &items, "start?", &start); err != nil {
		return nil, err
	}
	n, ok := number(start).(starlark.Int)
	if !ok {
		return nil, raise("TypeError", "'%s' object cannot be interpreted as an integer", typeName(start))
	}
	sources, err := e.iterators(starlark.Tuple{items})
	if err != nil {
		return nil, err
	}
	return e.lazy("enumerate", func() (starlark.Value, bool, error) {
		row, ok := advance(sources)
		if !ok {
			return nil, false, nil
		}
		pair := starlark.Tuple{n, row[0]}
		n = n.Add(starlark.MakeInt(1))
		return pair, true, e.charge(1)
	}), nil
}

func (e *engine) zip(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var given starlark.Value = starlark.False
	if err := unpackArguments(b.Name(), nil, kwargs, "strict?", &given); err != nil {
		return nil, err
	}
	strict := bool(given.Truth())
	sources, err := e.iterators(args)
	if err != nil {
		return nil, err
	}
	return e.lazy("zip", func() (starlark.Value, bool, error) {
		if err := e.charge(len(sources)); err != nil {
			return nil, false, err
		}
		row := make(starlark.Tuple, len(sources))
		for i, it := range sources {
			if it.Next(&row[i]) {
				continue
			}
			if !strict || e.endsEarly() {
				return nil, false, nil
			}
			return nil, false, unequal(i, sources)
		}
		return row, len(row) > 0, nil
	}), nil
}

// unequal is the error of a strict zip whose source i ended first; nil when
// all ended.
func unequal(i int, sources []starlark.Iterator) error {
	plural := func(n int) string {
		if n == 1 {
			return "argument 1"
		}
		return fmt.Sprintf("arguments 1-%d", n)
	}
	if i > 0 {
		return raise("ValueError", "zip() argument %d is shorter than %s", i+1, plural(i))
	}
	var item starlark.Value
	for n, it := range sources[1:] {
		if it.Next(&item) {
			return raise("ValueError", "zip() argument %d is longer than %s", n+2, plural(n+1))
		}
	}
	return nil
}

var errEnough = fmt.Errorf("enough")

// quantify is any (want is true) and all (want is false): it looks no further
// than the first element that decides.
func (e *engine) quantify(want bool) native {
	return func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		items, err := one(b.Name(), args, kwargs, 1)
		if err != nil {
			return nil, err
		}
		err = e.each(items, func(item starlark.Value) error {
			if bool(item.Truth()) == want {
				return errEnough
			}
			return nil
		})
		if err == errEnough {
			return starlark.Bool(want), nil
		}
		return starlark.Bool(!want), err
	}
}

// extreme is max (op is GT) and min (op is LT).
func (e *engine) extreme(op syntax.Token) native {
	return func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) == 0 {
			return nil, raise("TypeError", "%s expected at least 1 argument, got 0", b.Name())
		}
		var by, fallback starlark.Value = starlark.None, nil
		if err := unpackArguments(b.Name(), nil, kwargs, "key?", &by, "default?", &fallback); err != nil {
			return nil, err
		}
		var items starlark.Value = args
		if len(args) == 1 {
			items = args[0]
		} else if fallback != nil {
			return nil, raise("TypeError", "Cannot specify a default for %s() with multiple positional arguments", b.Name())
		}
		var best, bestKey starlark.Value
		err := e.each(items, func(item starlark.Value) error {
			key := item
			if by != starlark.None {
				var err error
				if key, err = starlark.Call(thread, by, starlark.Tuple{item}, nil); err != nil {
					return err
				}
			}
			if best != nil {
				if better, err := e.compare(op, key, bestKey); err != nil || !better {
					return err
				}
			}
			best, bestKey = item, key
			return nil
		})
		switch {
		case err != nil:
			return nil, err
		case best != nil:
			return best, nil
		case fallback != nil:
			return fallback, nil
		}
		return nil, raise("ValueError", "%s() arg is an empty sequence", b.Name())
	}
}

// sum is sum(iterable, start=0).
func (e *engine) sum(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var items starlark.Value
	var total starlark.Value = starlark.MakeInt(0)
	if len(args) == 0 {
		return nil, raise("TypeError", "sum() takes at least 1 positional argument (0 given)")
	}
	if err := unpackArguments(b.Name(), args, kwargs, "iterable", &items, "start?", &total); err != nil {
		return nil, err
	}
	if _, ok := total.(starlark.String); ok {
		return nil, raise("TypeError", "sum() can't sum strings [use ''.join(seq) instead]")
	}
	add := e.operator(lower.Add)
	err := e.each(items, func(item starlark.Value) (err error) {
		total, err = add(total, item)
		return err
	})
	return total, err
}

func isNumber(v starlark.Value) bool {
	switch v.(type) {
	case starlark.Int, starlark.Float:
		return true
	}
	return false
}
