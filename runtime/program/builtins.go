package program

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// sum(iterable, start=0) adds ints and floats, left to right. Each element
// costs a step, so that a long range cannot run past the limit.
func sum(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var items starlark.Iterable
	var total starlark.Value = starlark.MakeInt(0)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "iterable", &items, "start?", &total); err != nil {
		return nil, err
	}
	if !isNumber(total) {
		return nil, fmt.Errorf("sum: start must be int or float, got %s", total.Type())
	}
	e := engineOf(thread)
	iterator := items.Iterate()
	defer iterator.Done()
	var item starlark.Value
	for i := 0; iterator.Next(&item); i++ {
		if !e.spend(1) {
			return nil, fmt.Errorf("sum: too many steps")
		}
		switch v := item.(type) {
		case starlark.Int, starlark.Float:
		case starlark.Bool:
			// As in Python, True counts as 1.
			n := 0
			if v {
				n = 1
			}
			item = starlark.MakeInt(n)
		default:
			return nil, fmt.Errorf("sum: element %d is %s, want int or float", i, item.Type())
		}
		var err error
		if total, err = starlark.Binary(syntax.PLUS, total, item); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func isNumber(v starlark.Value) bool {
	switch v.(type) {
	case starlark.Int, starlark.Float:
		return true
	}
	return false
}
