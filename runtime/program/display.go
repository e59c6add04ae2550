package program

import (
	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/program/lower"
)

// display makes a list, tuple or set; iterables are unpacked into it where the
// flags say so (package lower).
func (e *engine) display(name string) native {
	return func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		flags, _ := starlark.AsString(args[0])
		var items []starlark.Value
		for i, v := range args[1:] {
			if flags[i] == '.' {
				items = append(items, v)
				continue
			}
			more, err := e.starred(name, v)
			if err != nil {
				return nil, err
			}
			items = append(items, more...)
			if err := e.roomItems(len(items)); err != nil {
				return nil, err
			}
		}
		switch name {
		case lower.MakeTuple:
			return starlark.Tuple(items), nil
		case lower.MakeSet:
			set := new(starlark.Set)
			return set, e.insert(set, starlark.Tuple(items))
		}
		return starlark.NewList(items), nil
	}
}

// starred are the elements of v in a display.
func (e *engine) starred(display string, v starlark.Value) ([]starlark.Value, error) {
	over, err := e.iter(v)
	if err != nil && display != lower.MakeSet {
		err = raise("TypeError", "Value after * must be an iterable, not %s", className(v))
	}
	if err != nil {
		return nil, err
	}
	return e.collect(over)
}

// makeDict makes a dict of pairs, and of mappings where the flags say so.
func (e *engine) makeDict(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	d := new(starlark.Dict)
	return d, e.pairs(args, func(key, value starlark.Value) error { return e.setKey(d, key, value) })
}

// makeKwargs makes the dict of a call's named arguments.
func (e *engine) makeKwargs(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	d := new(starlark.Dict)
	e.spreadLast = d
	return d, e.pairs(args, func(key, value starlark.Value) error {
		name, ok := starlark.AsString(key)
		if !ok {
			return raise("TypeError", "keywords must be strings")
		}
		if _, twice, _ := d.Get(key); twice {
			return raise("TypeError", "got multiple values for keyword argument '%s'", excerpt(name))
		}
		return e.setKey(d, key, value)
	})
}

func (e *engine) pairs(args starlark.Tuple, set func(key, value starlark.Value) error) error {
	flags, _ := starlark.AsString(args[0])
	rest := args[1:]
	for i := range len(flags) {
		if flags[i] == '.' {
			if err := set(rest[0], rest[1]); err != nil {
				return err
			}
			rest = rest[2:]
			continue
		}
		from, ok := rest[0].(starlark.IterableMapping)
		if !ok {
			return raise("TypeError", "'%s' object is not a mapping", className(rest[0]))
		}
		for _, item := range from.Items() {
			if err := e.charge(1); err != nil {
				return err
			}
			if err := set(item[0], item[1]); err != nil {
				return err
			}
		}
		rest = rest[1:]
	}
	return nil
}
