package program

import "go.starlark.net/starlark"

// checkedBuiltin is f behind the check that CPython makes of the arguments of the
// builtin of that name, if those are positional only.
func checkedBuiltin(name string, f native) native {
	switch name {
	case "abs", "all", "any", "ascii", "bin", "callable", "chr", "hash", "hex", "len", "oct", "ord", "repr":
		return positionalOnly(name, 1, 1, f)
	case "divmod", "filter", "hasattr", "isinstance", "issubclass":
		return positionalOnly(name, 2, 2, f)
	case "format", "iter", "next":
		return positionalOnly(name, 1, 2, f)
	case "getattr":
		return positionalOnly(name, 2, 3, f)
	case "list", "tuple", "set", "frozenset", "bool", "float":
		return positionalOnly(name, 0, 1, f)
	case "range", "slice":
		return positionalOnly(name, 1, 3, f)
	case "map", "reversed":
		return positionalOnly(name, 0, maxItems, f)
	}
	return f
}

// positionalOnly is f, called with positional arguments only, so many.
func positionalOnly(name string, least, most int, f native) native {
	return func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := noKeywords(name, kwargs); err != nil {
			return nil, err
		}
		if len(args) < least || len(args) > most {
			return nil, argumentCount(name, len(args), least, most)
		}
		return f(thread, b, args, nil)
	}
}

func noKeywords(name string, kwargs []starlark.Tuple) error {
	if len(kwargs) > 0 {
		return raise("TypeError", "%s() takes no keyword arguments", name)
	}
	return nil
}

// parsedCount is argumentCount in the words of functions whose arguments
// CPython parses by a format.
func parsedCount(name string, n, least, most int) error {
	bound, at := least, "least"
	switch {
	case n >= least && n <= most:
		return nil
	case n > most:
		bound, at = most, "most"
	}
	if least == most {
		return raise("TypeError", "%s() takes exactly %d argument%s (%d given)", name, most, plural(most), n)
	}
	return raise("TypeError", "%s() takes at %s %d argument%s (%d given)", name, at, bound, plural(bound), n)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
