package program

import (
	"fmt"
	"sort"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// each calls f for every element of v, at a step each.
func (e *engine) each(v starlark.Iterable, f func(starlark.Value) error) error {
	iterator := v.Iterate()
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
	return nil
}

// collect are the elements of v, at a step each, in a slice of its own.
func (e *engine) collect(v starlark.Iterable) ([]starlark.Value, error) {
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
func (e *engine) extend(list *starlark.List, items starlark.Iterable) error {
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
func one(name string, args starlark.Tuple, kwargs []starlark.Tuple, least int) (starlark.Iterable, error) {
	var items starlark.Iterable
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
func (e *engine) insert(set *starlark.Set, items starlark.Iterable) error {
	return e.each(items, func(item starlark.Value) error {
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
		case starlark.Iterable:
			err = e.updatePairs(name, dict, from)
		default:
			err = fmt.Errorf("%s: got %s, want iterable", name, from.Type())
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
	if err := e.charge(n); err != nil {
		return err
	}
	for _, entry := range from.Items() {
		if err := e.setKey(dict, entry[0], entry[1]); err != nil {
			return err
		}
	}
	return e.roomKeys(dict.Len())
}

func (e *engine) updatePairs(name string, dict *starlark.Dict, from starlark.Iterable) error {
	i := 0
	return e.each(from, func(item starlark.Value) error {
		pair, ok := item.(starlark.Iterable)
		if !ok {
			return fmt.Errorf("%s: element %d is not iterable (%s)", name, i, item.Type())
		}
		if n := starlark.Len(pair); n != 2 {
			return fmt.Errorf("%s: element %d has length %d, want 2", name, i, n)
		}
		i++
		var key, value starlark.Value
		iterator := pair.Iterate()
		defer iterator.Done()
		iterator.Next(&key)
		iterator.Next(&value)
		if err := e.setKey(dict, key, value); err != nil {
			return err
		}
		return e.roomKeys(dict.Len())
	})
}

func (e *engine) reversed(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	items, err := one(b.Name(), args, kwargs, 1)
	if err != nil {
		return nil, err
	}
	list, err := e.collect(items)
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return starlark.NewList(list), err
}

func (e *engine) enumerate(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var items starlark.Iterable
	start := 0
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "iterable", &items, "start?", &start); err != nil {
		return nil, err
	}
	list, err := e.collect(items)
	if err != nil {
		return nil, err
	}
	pairs := make(starlark.Tuple, 2*len(list)) // one allocation
	for i, item := range list {
		pair := pairs[2*i : 2*i+2 : 2*i+2]
		pair[0], pair[1] = starlark.MakeInt(start+i), item
		list[i] = pair
	}
	return starlark.NewList(list), nil
}

func (e *engine) zip(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(kwargs) > 0 {
		return nil, fmt.Errorf("zip does not accept keyword arguments")
	}
	iterators := make([]starlark.Iterator, 0, len(args))
	defer func() {
		for _, it := range iterators {
			it.Done()
		}
	}()
	for i, arg := range args {
		it := starlark.Iterate(arg)
		if it == nil {
			return nil, fmt.Errorf("zip: argument #%d is not iterable: %s", i+1, arg.Type())
		}
		iterators = append(iterators, it)
	}
	var rows []starlark.Value
	for len(args) > 0 {
		if err := e.charge(len(args)); err != nil {
			return nil, err
		}
		row := make(starlark.Tuple, len(args))
		for i, it := range iterators {
			if !it.Next(&row[i]) {
				return starlark.NewList(rows), nil
			}
		}
		rows = append(rows, row)
		if err := e.roomItems(len(rows) * len(args)); err != nil {
			return nil, err
		}
	}
	return starlark.NewList(nil), nil
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
			return nil, fmt.Errorf("%s requires at least one positional argument", b.Name())
		}
		var by starlark.Callable
		if err := starlark.UnpackArgs(b.Name(), nil, kwargs, "key?", &by); err != nil {
			return nil, err
		}
		var items starlark.Iterable = args
		if len(args) == 1 {
			var ok bool
			if items, ok = args[0].(starlark.Iterable); !ok {
				return nil, fmt.Errorf("%s: %s value is not iterable", b.Name(), args[0].Type())
			}
		}
		var best, bestKey starlark.Value
		err := e.each(items, func(item starlark.Value) error {
			key := item
			if by != nil {
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
		if err == nil && best == nil {
			err = fmt.Errorf("%s: argument is an empty sequence", b.Name())
		}
		return best, err
	}
}

func (e *engine) sorted(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var items starlark.Iterable
	var by starlark.Callable
	reverse := false
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "iterable", &items, "key?", &by, "reverse?", &reverse); err != nil {
		return nil, err
	}
	s := &sorter{engine: e, reverse: reverse}
	var err error
	if s.values, err = e.collect(items); err != nil {
		return nil, err
	}
	s.keys = s.values
	if by != nil {
		s.keys = make([]starlark.Value, len(s.values))
		for i, v := range s.values {
			if s.keys[i], err = starlark.Call(thread, by, starlark.Tuple{v}, nil); err != nil {
				return nil, err
			}
		}
	}
	s.paired = by != nil
	sort.Stable(s)
	return starlark.NewList(s.values), s.err
}

// sorter orders values by their keys. After the first error every comparison
// is over at once.
type sorter struct {
	engine       *engine
	values, keys []starlark.Value
	paired       bool // keys are not the values themselves
	reverse      bool
	err          error
}

func (s *sorter) Len() int { return len(s.values) }

func (s *sorter) Less(i, j int) bool {
	if s.err != nil {
		return false
	}
	if s.err = s.engine.charge(1); s.err != nil {
		return false
	}
	if s.reverse {
		i, j = j, i
	}
	var less bool
	less, s.err = s.engine.compare(syntax.LT, s.keys[i], s.keys[j])
	return less
}

func (s *sorter) Swap(i, j int) {
	s.values[i], s.values[j] = s.values[j], s.values[i]
	if s.paired {
		s.keys[i], s.keys[j] = s.keys[j], s.keys[i]
	}
}

// sum(iterable, start=0) adds ints and floats, left to right.
func (e *engine) sum(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var items starlark.Iterable
	var total starlark.Value = starlark.MakeInt(0)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "iterable", &items, "start?", &total); err != nil {
		return nil, err
	}
	if !isNumber(total) {
		return nil, fmt.Errorf("sum: start must be int or float, got %s", total.Type())
	}
	i := 0
	err := e.each(items, func(item starlark.Value) error {
		if v, ok := item.(starlark.Bool); ok {
			// As in Python, True counts as 1.
			item = starlark.MakeInt(0)
			if v {
				item = starlark.MakeInt(1)
			}
		}
		if !isNumber(item) {
			return fmt.Errorf("sum: element %d is %s, want int or float", i, item.Type())
		}
		i++
		var err error
		total, err = starlark.Binary(syntax.PLUS, total, item)
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
