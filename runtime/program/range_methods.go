package program

import (
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

func isRange(v starlark.Value) bool { return v.Type() == "range" }

// rangeBounds are the start, stop and step of a range, which the interpreter
// tells by its text only.
func rangeBounds(v starlark.Value) (start, stop, step int) {
	inside := strings.TrimSuffix(strings.TrimPrefix(v.String(), "range("), ")")
	parts := strings.Split(inside, ", ")
	n := make([]int, len(parts))
	for i, part := range parts {
		n[i], _ = strconv.Atoi(part)
	}
	switch len(n) {
	case 1:
		return 0, n[0], 1
	case 2:
		return n[0], n[1], 1
	}
	return n[0], n[1], n[2]
}

// rangeAttr is start, stop or step of a range; nil for other names.
func rangeAttr(v starlark.Value, name string) starlark.Value {
	start, stop, step := rangeBounds(v)
	switch name {
	case "start":
		return starlark.MakeInt(start)
	case "stop":
		return starlark.MakeInt(stop)
	case "step":
		return starlark.MakeInt(step)
	}
	return nil
}

// rangeMethod is a method of range; nil if range has none of that name.
func rangeMethod(name string) method {
	switch name {
	case "count":
		return plainMethod(name, 1, 1, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			has, err := e.contains(args[0], x)
			return number(starlark.Bool(has)), err
		})
	case "index":
		return plainMethod(name, 1, 1, func(e *engine, x starlark.Value, args starlark.Tuple) (starlark.Value, error) {
			has, err := e.contains(args[0], x)
			if err != nil {
				return nil, err
			}
			if !has {
				if _, ok := number(args[0]).(starlark.Int); ok {
					return nil, raise("ValueError", "%s is not in range", e.brief(args[0]))
				}
				return nil, raise("ValueError", "sequence.index(x): x not in sequence")
			}
			v, err := starlark.NumberToInt(number(args[0]))
			if err != nil {
				return nil, err
			}
			n, _ := v.Int64()
			start, _, step := rangeBounds(x)
			return starlark.MakeInt64((n - int64(start)) / int64(step)), nil
		})
	}
	return nil
}
