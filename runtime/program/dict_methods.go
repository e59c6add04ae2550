package program

import (
	"go.starlark.net/starlark"
)

// dictMethod is a method of dict; nil if dict has none of that name.
func dictMethod(name string) method {
	switch name {
	case "clear":
		return plainMethod(name, 0, 0, func(e *engine, x starlark.Value, _ starlark.Tuple) (starlark.Value, error) {
			e.removals++
			return starlark.None, x.(*starlark.Dict).Clear()
		})
	case "copy":
		return plainMethod(name, 0, 0, func(e *engine, x starlark.Value, _ starlark.Tuple) (starlark.Value, error) {
			d := new(starlark.Dict)
			return d, e.updateDict(d, x.(*starlark.Dict))
		})
	case "get":
		return plainMethod(name, 1, 2, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			v, found, err := e.lookup(x.(*starlark.Dict), args[0])
			if err != nil || found {
				return v, err
			}
			if len(args) > 1 {
				return args[1], nil
			}
			return starlark.None, nil
		})
	case "items", "keys", "values":
		return plainMethod(name, 0, 0, func(e *engine, x starlark.Value, _ starlark.Tuple) (starlark.Value, error) {
			return &view{engine: e, of: x.(*starlark.Dict), part: name}, nil
		})
	case "pop":
		return plainMethod(name, 1, 2, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			d := x.(*starlark.Dict)
			var v starlark.Value
			found := false
			if d.Len() > 0 { // of an empty one CPython does not look at the key
				var err error
				if v, found, err = e.lookup(d, args[0]); err != nil {
					return nil, err
				}
			}
			if found {
				e.removals++
				_, _, err := d.Delete(args[0])
				return v, err
			}
			if len(args) > 1 {
				return args[1], nil
			}
			return nil, raiseKey(args[0])
		})
	case "popitem":
		return plainMethod(name, 0, 0, func(e *engine, x starlark.Value, _ starlark.Tuple) (starlark.Value, error) {
			d := x.(*starlark.Dict)
			keys := d.Keys()
			if len(keys) == 0 {
				return nil, raiseKey(starlark.String("popitem(): dictionary is empty"))
			}
			key := keys[len(keys)-1]
			e.removals++
			v, _, err := d.Delete(key)
			if err == nil {
				err = e.chargeCopy(len(keys))
			}
			return starlark.Tuple{key, v}, err
		})
	case "setdefault":
		return plainMethod(name, 1, 2, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			d := x.(*starlark.Dict)
			v, found, err := e.lookup(d, args[0])
			if err != nil || found {
				return v, err
			}
			v = starlark.None
			if len(args) > 1 {
				v = args[1]
			}
			return v, e.setKey(d, args[0], v)
		})
	case "update":
		return func(e *engine, _ *starlark.Thread, x starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return starlark.None, e.fill(name, x.(*starlark.Dict), args, kwargs)
		}
	case "fromkeys":
		return func(e *engine, t *starlark.Thread, _ starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return fromKeys(e, t, nil, args, kwargs)
		}
	}
	return nil
}

// fromKeys is dict.fromkeys(keys, value).
func fromKeys(e *engine, _ *starlark.Thread, _ starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := noKeywords("dict.fromkeys", kwargs); err != nil {
		return nil, err
	}
	if err := argumentCount("fromkeys", len(args), 1, 2); err != nil {
		return nil, err
	}
	var v starlark.Value = starlark.None
	if len(args) > 1 {
		v = args[1]
	}
	d := new(starlark.Dict)
	return d, e.each(args[0], func(key starlark.Value) error {
		if err := e.setKey(d, key, v); err != nil {
			return err
		}
		return e.roomKeys(d.Len())
	})
}

// view is what keys(), values() and items() return: it shows the dict as it is
// when somebody looks.
type view struct {
	engine *engine
	of     *starlark.Dict
	part   string // keys, values or items
}

var (
	_ starlark.Iterable = (*view)(nil)
	_ starlark.Sequence = (*view)(nil)
)

func (v *view) String() string       { return v.engine.brief(v) }
func (v *view) Type() string         { return "dict_" + v.part }
func (v *view) Freeze()              {}
func (v *view) Truth() starlark.Bool { return v.of.Len() > 0 }
func (v *view) Hash() (uint32, error) {
	return 0, raise("TypeError", "unhashable type: '%s'", v.Type())
}

// Len implements starlark.Sequence.
func (v *view) Len() int { return v.of.Len() }

// Iterate goes over the dict, and ends early when its size changes.
func (v *view) Iterate() starlark.Iterator {
	return v.engine.keys(v.of, func(key starlark.Value) starlark.Value {
		if v.part == "keys" {
			return key
		}
		value, _, _ := v.of.Get(key)
		if v.part == "values" {
			return value
		}
		return starlark.Tuple{key, value}
	})
}

// list is the elements at once.
func (v *view) list() starlark.Iterable {
	if v.part == "keys" {
		return starlark.NewList(v.of.Keys())
	}
	items := v.of.Items()
	out := make([]starlark.Value, len(items))
	for i, item := range items {
		out[i] = item
		if v.part == "values" {
			out[i] = item[1]
		}
	}
	return starlark.NewList(out)
}

// viewMethod is a method of a view.
func viewMethod(name string) method {
	if name != "isdisjoint" {
		return nil
	}
	return plainMethod(name, 1, 1, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
		set := new(starlark.Set)
		if err := e.insert(set, x); err != nil {
			return nil, err
		}
		return isDisjoint(e, set, args)
	})
}
