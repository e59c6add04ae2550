package program

import (
	"fmt"

	"go.starlark.net/starlark"
)

func listMethod(name string) method {
	switch name {
	case "extend":
		return func(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			items, err := one(name, args, kwargs, 1)
			if err != nil {
				return nil, err
			}
			return starlark.None, e.extend(receiver.(*starlark.List), items)
		}
	case "insert", "pop":
		return after(name, func(e *engine, receiver starlark.Value, args starlark.Tuple) error {
			if len(args) == 0 {
				return nil // the last, which moves no other
			}
			n := starlark.Len(receiver)
			if i, ok := place(args[0], n); ok {
				n -= i
			}
			return e.chargeCopy(n)
		})
	case "index":
		return listIndex
	case "count":
		return listCount
	case "remove":
		return listRemove
	}
	return nil
}

// position is the first place of v in list, from start on; -1 if there is none.
func (e *engine) position(list *starlark.List, v starlark.Value, start, end int) (int, error) {
	for i := start; i < end; i++ {
		if err := e.charge(1); err != nil {
			return -1, err
		}
		if same, err := e.equal(list.Index(i), v); err != nil || same {
			return i, err
		}
	}
	return -1, nil
}

func listIndex(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	list := receiver.(*starlark.List)
	var v starlark.Value
	var from, to starlark.Value = starlark.None, starlark.None
	if err := starlark.UnpackPositionalArgs("index", args, kwargs, 1, &v, &from, &to); err != nil {
		return nil, err
	}
	n := list.Len()
	start, err := bound("start", from, 0, n, 0, n)
	if err != nil {
		return nil, err
	}
	end, err := bound("end", to, n, n, 0, n)
	if err != nil {
		return nil, err
	}
	i, err := e.position(list, v, start, end)
	if err == nil && i < 0 {
		err = fmt.Errorf("index: value not in list")
	}
	return starlark.MakeInt(i), err
}

// listCount is Python's; Starlark has no such method.
func listCount(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	list := receiver.(*starlark.List)
	var v starlark.Value
	if err := starlark.UnpackPositionalArgs("count", args, kwargs, 1, &v); err != nil {
		return nil, err
	}
	count, n := 0, list.Len()
	for i := 0; i < n; i++ {
		at, err := e.position(list, v, i, n)
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

func listRemove(e *engine, thread *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	list := receiver.(*starlark.List)
	var v starlark.Value
	if err := starlark.UnpackPositionalArgs("remove", args, kwargs, 1, &v); err != nil {
		return nil, err
	}
	i, err := e.position(list, v, 0, list.Len())
	if err != nil {
		return nil, err
	}
	if i < 0 {
		return nil, fmt.Errorf("remove: element not found")
	}
	if err := e.chargeCopy(list.Len() - i); err != nil {
		return nil, err
	}
	_, err = own(thread, list, "pop", starlark.Tuple{starlark.MakeInt(i)}, nil)
	return starlark.None, err
}

func dictMethod(name string) method {
	switch name {
	case "get":
		return dictGet
	case "pop":
		return after(name, func(e *engine, receiver starlark.Value, args starlark.Tuple) error {
			if len(args) == 0 {
				return nil
			}
			_, _, err := e.lookup(receiver.(*starlark.Dict), args[0])
			return err
		})
	case "setdefault":
		return setDefault
	case "items", "keys", "values":
		return after(name, func(e *engine, receiver starlark.Value, _ starlark.Tuple) error {
			n := starlark.Len(receiver)
			if err := e.roomItems(n); err != nil {
				return err
			}
			return e.charge(n)
		})
	case "update":
		return func(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return starlark.None, e.fill(name, receiver.(*starlark.Dict), args, kwargs)
		}
	}
	return nil
}

func setDefault(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var key, fallback starlark.Value = nil, starlark.None
	if err := starlark.UnpackPositionalArgs("setdefault", args, kwargs, 1, &key, &fallback); err != nil {
		return nil, err
	}
	dict := receiver.(*starlark.Dict)
	v, found, err := e.lookup(dict, key)
	if err == nil && !found {
		v, err = fallback, e.setKey(dict, key, fallback)
	}
	if err != nil {
		return nil, fmt.Errorf("setdefault: %w", err)
	}
	return v, nil
}

func dictGet(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var key, fallback starlark.Value = nil, starlark.None
	switch {
	case len(kwargs) == 0 && len(args) == 1:
		key = args[0]
	case len(kwargs) == 0 && len(args) == 2:
		key, fallback = args[0], args[1]
	default:
		if err := starlark.UnpackPositionalArgs("get", args, kwargs, 1, &key, &fallback); err != nil {
			return nil, err
		}
	}
	v, found, err := e.lookup(receiver.(*starlark.Dict), key)
	if err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	if !found {
		v = fallback
	}
	return v, nil
}

func setMethod(name string) method {
	switch name {
	case "add":
		return func(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var key starlark.Value
			if err := starlark.UnpackPositionalArgs(name, args, kwargs, 1, &key); err != nil {
				return nil, err
			}
			return starlark.None, e.addKey(receiver.(*starlark.Set), key)
		}
	case "discard", "remove":
		return after(name, func(e *engine, receiver starlark.Value, args starlark.Tuple) error {
			if len(args) == 0 {
				return nil
			}
			_, err := e.member(receiver.(*starlark.Set), args[0])
			return err
		})
	case "difference", "intersection", "issubset", "issuperset", "symmetric_difference", "union", "update":
		return setOperation(name)
	}
	return nil
}

// setOperation reads its operands itself, so that each element is charged for,
// and then is the interpreter's own.
func setOperation(name string) method {
	return func(e *engine, thread *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := e.charge(starlark.Len(receiver)); err != nil {
			return nil, err
		}
		total := starlark.Len(receiver)
		operands := make(starlark.Tuple, len(args))
		for i, arg := range args {
			operands[i] = arg
			items, ok := arg.(starlark.Iterable)
			if !ok {
				continue // the interpreter says so
			}
			list, err := e.collect(items)
			if err != nil {
				return nil, err
			}
			for _, item := range list {
				if err := e.key(item); err != nil {
					return nil, err
				}
			}
			operands[i] = starlark.Tuple(list)
			total += len(list)
		}
		if err := e.roomKeys(total); err != nil {
			return nil, err
		}
		return own(thread, receiver, name, operands, kwargs)
	}
}
