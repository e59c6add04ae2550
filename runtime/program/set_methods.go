package program

import (
	"go.starlark.net/starlark"
)

// setMethod is a method of set; nil if set has none of that name.
func setMethod(name string) method {
	switch name {
	case "add":
		return plainMethod(name, 1, 1, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			set := setOf(x)
			if err := e.addKey(set, args[0]); err != nil {
				return nil, err
			}
			return starlark.None, e.roomKeys(set.Len())
		})
	case "clear":
		return plainMethod(name, 0, 0, func(_ *engine, x starlark.Value, _ starlark.Tuple) (starlark.Value, error) {
			return starlark.None, setOf(x).Clear()
		})
	case "copy":
		return plainMethod(name, 0, 0, func(e *engine, x starlark.Value, _ starlark.Tuple) (starlark.Value, error) {
			set := new(starlark.Set)
			if err := e.insert(set, x); err != nil {
				return nil, err
			}
			return e.likeSet(x, set)
		})
	case "discard", "remove":
		return plainMethod(name, 1, 1, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			set := setOf(x)
			found, err := e.member(set, args[0])
			if err == nil && found {
				_, err = set.Delete(args[0])
			}
			if err == nil && !found && name == "remove" {
				err = raiseKey(args[0])
			}
			return starlark.None, err
		})
	case "pop":
		return plainMethod(name, 0, 0, func(e *engine, x starlark.Value, _ starlark.Tuple) (starlark.Value, error) {
			set := setOf(x)
			var first starlark.Value
			for item := range set.Elements() {
				first = item
				break
			}
			if first == nil {
				return nil, raiseKey(starlark.String("pop from an empty set"))
			}
			_, err := set.Delete(first)
			return first, err
		})
	case "isdisjoint":
		return plainMethod(name, 1, 1, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			return isDisjoint(e, setOf(x), args)
		})
	case "issubset":
		return plainMethod(name, 1, 1, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			other, err := e.setFrom(args[0])
			if err != nil {
				return nil, err
			}
			return e.within(setOf(x), other)
		})
	case "issuperset":
		return plainMethod(name, 1, 1, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			other, err := e.setFrom(args[0])
			if err != nil {
				return nil, err
			}
			return e.within(other, setOf(x))
		})
	case "difference", "intersection", "union":
		return plainMethod(name, 0, 1<<20, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			set, err := e.combined(name, setOf(x), args)
			if err != nil {
				return nil, err
			}
			return e.likeSet(x, set)
		})
	case "symmetric_difference":
		return plainMethod(name, 1, 1, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			set, err := e.combined(name, setOf(x), args)
			if err != nil {
				return nil, err
			}
			return e.likeSet(x, set)
		})
	case "symmetric_difference_update":
		return plainMethod(name, 1, 1, updateSet(name))
	case "update", "difference_update", "intersection_update":
		return plainMethod(name, 0, 1<<20, updateSet(name))
	}
	return nil
}

func updateSet(name string) func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
	operation := map[string]string{"update": "union", "difference_update": "difference", "intersection_update": "intersection",
		"symmetric_difference_update": "symmetric_difference"}[name]
	return func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
		set := setOf(x)
		if operation == "union" { // one by one: what is in before an error stays in
			for _, v := range args {
				if v == x {
					continue
				}
				if err := e.insert(set, v); err != nil {
					return nil, err
				}
			}
			return starlark.None, nil
		}
		result, err := e.combined(operation, set, args)
		if err != nil {
			return nil, err
		}
		if err := set.Clear(); err != nil {
			return nil, err
		}
		return starlark.None, e.insert(set, result)
	}
}

// setFrom is v as a set.
func (e *engine) setFrom(v starlark.Value) (*starlark.Set, error) {
	switch v.(type) {
	case *starlark.Set, *frozenSet:
		return setOf(v), nil
	}
	s := new(starlark.Set)
	return s, e.insert(s, v)
}

func isDisjoint(e *engine, set *starlark.Set, args starlark.Tuple) (starlark.Value, error) {
	other, err := e.setFrom(args[0])
	if err != nil {
		return nil, err
	}
	for item := range set.Elements() {
		if err := e.charge(1); err != nil {
			return nil, err
		}
		if has, err := e.member(other, item); err != nil || has {
			return starlark.Bool(!has), err
		}
	}
	return starlark.True, nil
}

// within tells whether all of x is in y.
func (e *engine) within(x, y *starlark.Set) (starlark.Value, error) {
	for item := range x.Elements() {
		if err := e.charge(2); err != nil {
			return nil, err
		}
		if has, err := e.member(y, item); err != nil || !has {
			return starlark.False, err
		}
	}
	return starlark.True, nil
}

// combined is set operation others, from left to right. The order of the
// elements is that of set, then those of others.
func (e *engine) combined(operation string, set *starlark.Set, others starlark.Tuple) (*starlark.Set, error) {
	out := new(starlark.Set)
	if err := e.insert(out, set); err != nil {
		return nil, err
	}
	for _, v := range others {
		other, err := e.setFrom(v)
		if err != nil {
			return nil, err
		}
		if out, err = e.combine(operation, out, other); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (e *engine) combine(operation string, x, y *starlark.Set) (*starlark.Set, error) {
	out := new(starlark.Set)
	take := func(from, other *starlark.Set, want bool) error {
		for item := range from.Elements() {
			if err := e.charge(2); err != nil {
				return err
			}
			has, err := e.member(other, item)
			if err != nil {
				return err
			}
			if has == want {
				if err := e.addKey(out, item); err != nil {
					return err
				}
			}
		}
		return e.roomKeys(out.Len())
	}
	var err error
	switch operation {
	case "union":
		if err = e.insert(out, x); err == nil {
			err = e.insert(out, y)
		}
	case "intersection":
		err = take(x, y, true)
	case "difference":
		err = take(x, y, false)
	default:
		if err = take(x, y, false); err == nil {
			err = take(y, x, false)
		}
	}
	return out, err
}
