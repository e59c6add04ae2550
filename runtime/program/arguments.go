package program

import (
	"strings"

	"go.starlark.net/starlark"
)

// unpackArguments assigns the arguments of a builtin to its parameters: names
// in order, each with a pointer; a name that ends in ? may be left out.
func unpackArguments(function string, args starlark.Tuple, kwargs []starlark.Tuple, parameters ...any) error {
	n := len(parameters) / 2
	if len(args) > n {
		return raise("TypeError", "%s() takes at most %d argument%s (%d given)", function, n, map[bool]string{true: "", false: "s"}[n == 1], len(args)+len(kwargs))
	}
	given := make([]bool, n)
	set := func(i int, v starlark.Value) {
		*parameters[2*i+1].(*starlark.Value) = v
		given[i] = true
	}
	for i, v := range args {
		set(i, v)
	}
	for _, pair := range kwargs {
		name, _ := starlark.AsString(pair[0])
		found := false
		for i := range n {
			if strings.TrimSuffix(parameters[2*i].(string), "?") != name {
				continue
			}
			if given[i] {
				return raise("TypeError", "argument for %s() given by name ('%s') and position (%d)", function, name, i+1)
			}
			set(i, pair[1])
			found = true
		}
		if !found {
			return raise("TypeError", "'%s' is an invalid keyword argument for %s()", excerpt(name), function)
		}
	}
	for i := range n {
		if name := parameters[2*i].(string); !given[i] && !strings.HasSuffix(name, "?") {
			return raise("TypeError", "%s() missing required argument '%s' (pos %d)", function, name, i+1)
		}
	}
	return nil
}

// className is the name of v's class in messages.
func className(v starlark.Value) string {
	if v == starlark.None {
		return "NoneType"
	}
	return typeName(v)
}
