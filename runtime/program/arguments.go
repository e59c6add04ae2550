package program

import (
	"strings"

	"go.starlark.net/starlark"
)

// unpackArguments assigns the arguments of a builtin to its parameters: names
// in order, each with a pointer; a name that ends in ? may be left out.
func unpackArguments(function string, args starlark.Tuple, kwargs []starlark.Tuple, parameters ...any) error {
	n, least := len(parameters)/2, 0
	for i := range n {
		if !strings.HasSuffix(parameters[2*i].(string), "?") {
			least++
		}
	}
	if given := len(args) + len(kwargs); given > n {
		at := "at most"
		if least == n {
			at = "exactly"
		}
		return raise("TypeError", "%s() takes %s %d argument%s (%d given)", function, at, n, plural(n), given)
	}
	given := make([]bool, n)
	set := func(i int, v starlark.Value) {
		*parameters[2*i+1].(*starlark.Value) = v
		given[i] = true
	}
	for i, v := range args {
		set(i, v)
	}
	var unknown error
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
		if !found && unknown == nil {
			unknown = raise("TypeError", "'%s' is an invalid keyword argument for %s()", excerpt(name), function)
		}
	}
	for i := range least {
		if name := parameters[2*i].(string); !given[i] {
			return raise("TypeError", "%s() missing required argument '%s' (pos %d)", function, name, i+1)
		}
	}
	return unknown
}

// className is the name of v's class in messages.
func className(v starlark.Value) string {
	switch v.(type) {
	case starlark.NoneType:
		return "NoneType"
	case *starlark.Builtin:
		return "builtin_function_or_method"
	}
	return typeName(v)
}
