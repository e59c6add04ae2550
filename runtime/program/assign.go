package program

import (
	"go.starlark.net/starlark"
)

// setAttr is x.name = v.
func (e *engine) setAttr(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	name, _ := starlark.AsString(args[1])
	if r, ok := args[0].(*record); ok {
		return starlark.None, e.setKey(r.dict(), starlark.String(name), args[2])
	}
	return nil, raise("AttributeError", "'%s' object has no attribute '%s'", className(args[0]), name)
}

func listIndexError(i starlark.Value, outside string) error {
	if n, ok := number(i).(starlark.Int); ok {
		if _, small := n.Int64(); !small {
			return raise("IndexError", "cannot fit 'int' into an index-sized integer")
		}
		return raise("IndexError", "%s", outside)
	}
	return raise("TypeError", "list indices must be integers or slices, not %s", className(i))
}

// delItem is del x[i].
func (e *engine) delItem(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	x, i := args[0], args[1]
	if r, ok := x.(*record); ok {
		x = r.dict()
	}
	switch x := x.(type) {
	case *starlark.List:
		if s, isSlice := i.(*sliceValue); isSlice {
			return e.delSlice(nil, nil, starlark.Tuple{x, s.start, s.stop, s.step}, nil)
		}
		at, ok := place(i, x.Len())
		if !ok {
			return nil, listIndexError(i, "list assignment index out of range")
		}
		return starlark.None, e.splice(x, at, at+1, nil)
	case *starlark.Dict:
		if err := e.key(i); err != nil {
			return nil, err
		}
		e.removals++
		_, found, err := x.Delete(i)
		if err == nil && !found {
			err = raiseKey(i)
		}
		return starlark.None, err
	}
	return nil, noDeletion(x)
}

func noDeletion(x starlark.Value) error {
	if _, ok := x.(starlark.Indexable); ok { // a sequence
		return raise("TypeError", "'%s' object doesn't support item deletion", className(x))
	}
	return raise("TypeError", "'%s' object does not support item deletion", className(x))
}

// splice replaces list[from:to] by items.
func (e *engine) splice(list *starlark.List, from, to int, items []starlark.Value) error {
	n := list.Len() - (to - from) + len(items)
	if err := e.roomCopy(n); err != nil {
		return err
	}
	after := make([]starlark.Value, 0, n)
	for i := range from {
		after = append(after, list.Index(i))
	}
	after = append(after, items...)
	for i := to; i < list.Len(); i++ {
		after = append(after, list.Index(i))
	}
	return e.refill(list, after)
}

// refill makes items the elements of list.
func (e *engine) refill(list *starlark.List, items []starlark.Value) error {
	if err := list.Clear(); err != nil {
		return err
	}
	for _, v := range items {
		if err := list.Append(v); err != nil {
			return err
		}
	}
	return nil
}

// setSlice is x[low:high:step] = v.
func (e *engine) setSlice(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	list, ok := args[0].(*starlark.List)
	if !ok {
		return nil, raise("TypeError", "'%s' object does not support item assignment", className(args[0]))
	}
	from, to, step, err := sliceBounds(list.Len(), args[1], args[2], args[3])
	if err != nil {
		return nil, err
	}
	over, err := e.iter(args[4])
	if err != nil {
		return nil, raise("TypeError", "can only assign an iterable")
	}
	items, err := e.collect(over)
	if err != nil {
		return nil, err
	}
	if step == 1 {
		return starlark.None, e.splice(list, from, max(from, to), items)
	}
	places := steps(from, to, step)
	if len(places) != len(items) {
		return nil, raise("ValueError", "attempt to assign sequence of size %d to extended slice of size %d", len(items), len(places))
	}
	for n, at := range places {
		if err := list.SetIndex(at, items[n]); err != nil {
			return nil, err
		}
	}
	return starlark.None, nil
}

// delSlice is del x[low:high:step].
func (e *engine) delSlice(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	list, ok := args[0].(*starlark.List)
	if !ok {
		return nil, raise("TypeError", "'%s' object does not support item deletion", className(args[0]))
	}
	from, to, step, err := sliceBounds(list.Len(), args[1], args[2], args[3])
	if err != nil {
		return nil, err
	}
	gone := map[int]bool{}
	for _, at := range steps(from, to, step) {
		gone[at] = true
	}
	var kept []starlark.Value
	for i := range list.Len() {
		if !gone[i] {
			kept = append(kept, list.Index(i))
		}
	}
	if err := e.chargeCopy(list.Len()); err != nil {
		return nil, err
	}
	return starlark.None, e.refill(list, kept)
}

// steps are the places of a slice.
func steps(from, to, step int) []int {
	var out []int
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		out = append(out, i)
	}
	return out
}

// sliceBounds makes those of a slice absolute.
func sliceBounds(n int, low, high, by starlark.Value) (from, to, step int, err error) {
	step = 1
	if by != starlark.None {
		if step, err = starlark.AsInt32(number(by)); err != nil {
			return 0, 0, 0, raise("TypeError", "slice indices must be integers or None or have an __index__ method")
		}
		if step == 0 {
			return 0, 0, 0, raise("ValueError", "slice step cannot be zero")
		}
	}
	least, most := 0, n
	from, to = 0, n
	if step < 0 {
		least, most = -1, n-1
		from, to = n-1, -1
	}
	if from, err = bound("start", number(low), from, n, least, most); err == nil {
		to, err = bound("end", number(high), to, n, least, most)
	}
	if err != nil {
		return 0, 0, 0, raise("TypeError", "slice indices must be integers or None or have an __index__ method")
	}
	return from, to, step, nil
}
