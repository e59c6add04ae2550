package program

import (
	"go.starlark.net/starlark"
)

// plainMethod takes positional arguments only.
func plainMethod(name string, least, most int, f func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error)) method {
	return func(e *engine, _ *starlark.Thread, x starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		full := className(x) + "." + name
		if len(kwargs) > 0 {
			return nil, raise("TypeError", "%s() takes no keyword arguments", full)
		}
		if err := argumentCount(full, len(args), least, most); err != nil {
			return nil, err
		}
		return f(e, x, args)
	}
}

// listMethod is a method of list; nil if list has none of that name.
func listMethod(name string) method {
	switch name {
	case "append":
		return plainMethod(name, 1, 1, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			list := x.(*starlark.List)
			if err := e.roomItems(list.Len() + 1); err != nil {
				return nil, err
			}
			return starlark.None, list.Append(args[0])
		})
	case "clear":
		return plainMethod(name, 0, 0, func(_ *engine, x starlark.Value, _ starlark.Tuple) (starlark.Value, error) {
			return starlark.None, x.(*starlark.List).Clear()
		})
	case "copy":
		return plainMethod(name, 0, 0, func(e *engine, x starlark.Value, _ starlark.Tuple) (starlark.Value, error) {
			items, err := e.collect(x)
			return starlark.NewList(items), err
		})
	case "count":
		return plainMethod(name, 1, 1, countItems)
	case "extend":
		return plainMethod(name, 1, 1, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			return starlark.None, e.extend(x.(*starlark.List), args[0])
		})
	case "index":
		return plainMethod(name, 1, 3, indexItem)
	case "insert":
		return plainMethod(name, 2, 2, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			list := x.(*starlark.List)
			at, err := intArgument(args[0])
			if err != nil {
				return nil, err
			}
			n := list.Len()
			if at < 0 {
				at = max(at+n, 0)
			}
			at = min(at, n)
			if at == n {
				return starlark.None, list.Append(args[1])
			}
			return starlark.None, e.splice(list, at, at, []starlark.Value{args[1]})
		})
	case "pop":
		return plainMethod(name, 0, 1, popItem)
	case "remove":
		return plainMethod(name, 1, 1, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			list := x.(*starlark.List)
			i, err := e.position(list, args[0], 0, list.Len())
			if err != nil {
				return nil, err
			}
			if i < 0 {
				return nil, raise("ValueError", "list.remove(x): x not in list")
			}
			return starlark.None, e.splice(list, i, i+1, nil)
		})
	case "reverse":
		return plainMethod(name, 0, 0, func(e *engine, x starlark.Value, _ starlark.Tuple) (starlark.Value, error) {
			list := x.(*starlark.List)
			for i, j := 0, list.Len()-1; i < j; i, j = i+1, j-1 {
				a, b := list.Index(i), list.Index(j)
				if err := list.SetIndex(i, b); err != nil {
					return nil, err
				}
				if err := list.SetIndex(j, a); err != nil {
					return nil, err
				}
			}
			return starlark.None, e.chargeCopy(list.Len())
		})
	case "sort":
		return sortList
	}
	return nil
}

// tupleMethod is a method of tuple.
func tupleMethod(name string) method {
	switch name {
	case "count":
		return plainMethod(name, 1, 1, countItems)
	case "index":
		return plainMethod(name, 1, 3, indexItem)
	}
	return nil
}

// position is the first place of v in a sequence, from start on; -1 if there
// is none.
func (e *engine) position(x starlark.Indexable, v starlark.Value, start, end int) (int, error) {
	for i := start; i < min(end, x.Len()); i++ {
		if err := e.charge(1); err != nil {
			return -1, err
		}
		if same, err := e.equalOrSame(x.Index(i), v, 0); err != nil || same {
			return i, err
		}
	}
	return -1, nil
}

func countItems(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
	items := x.(starlark.Indexable)
	count := 0
	for i := 0; i < items.Len(); i++ {
		at, err := e.position(items, args[0], i, items.Len())
		if err != nil {
			return nil, err
		}
		if at < 0 {
			break
		}
		count++
		i = at
	}
	return starlark.MakeInt(count), nil
}

func indexItem(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
	items := x.(starlark.Indexable)
	start, end, err := offsets(args[1:])
	if err != nil {
		return nil, err
	}
	n := items.Len()
	if start < 0 {
		start = max(start+n, 0)
	}
	if end < 0 {
		end += n
	}
	i, err := e.position(items, args[0], start, end)
	if err == nil && i < 0 {
		if _, ok := x.(starlark.Tuple); ok {
			return nil, raise("ValueError", "tuple.index(x): x not in tuple")
		}
		shown := e.brief(args[0])
		return nil, raise("ValueError", "%s is not in list", shown)
	}
	return starlark.MakeInt(i), err
}

func popItem(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
	list := x.(*starlark.List)
	at := list.Len() - 1
	if len(args) > 0 {
		var err error
		if at, err = intArgument(args[0]); err != nil {
			return nil, err
		}
		if at < 0 {
			at += list.Len()
		}
	}
	if list.Len() == 0 {
		return nil, raise("IndexError", "pop from empty list")
	}
	if at < 0 || at >= list.Len() {
		return nil, raise("IndexError", "pop index out of range")
	}
	v := list.Index(at)
	if err := e.chargeCopy(list.Len() - at); err != nil {
		return nil, err
	}
	pop, err := list.Attr("pop") // the interpreter's own, which moves what is behind
	if err != nil {
		return nil, err
	}
	_, err = pop.(*starlark.Builtin).CallInternal(e.thread, starlark.Tuple{starlark.MakeInt(at)}, nil)
	return v, err
}

// sortList is list.sort(key, reverse). Meanwhile the list is empty, as in
// CPython.
func sortList(e *engine, thread *starlark.Thread, x starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	list := x.(*starlark.List)
	if len(args) > 0 {
		return nil, raise("TypeError", "sort() takes no positional arguments")
	}
	var by, reverse starlark.Value = starlark.None, starlark.False
	if err := unpackArguments("sort", nil, kwargs, "key?", &by, "reverse?", &reverse); err != nil {
		return nil, err
	}
	items, err := e.collect(list)
	if err != nil {
		return nil, err
	}
	if err := list.Clear(); err != nil {
		return nil, err
	}
	sorted, err := e.order(thread, append([]starlark.Value(nil), items...), by, reverse)
	if err != nil {
		sorted = items
	}
	changed := list.Len() > 0
	if refilled := e.refill(list, sorted); err == nil {
		err = refilled
	}
	if err == nil && changed {
		err = raise("ValueError", "list modified during sort")
	}
	return starlark.None, err
}
