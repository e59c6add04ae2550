package program

import "strings"

// runtimeHint says what usually helps against an exception that nothing caught,
// by its class and text.
func runtimeHint(message string) string {
	switch {
	case strings.HasPrefix(message, "UnboundLocalError:"):
		return "a name assigned anywhere in a function is local to all of it: choose another name, or declare it global or nonlocal"
	case strings.HasSuffix(message, readOnly):
		return "change a copy: d = dict(data), or rows = list(data[\"rows\"])"
	case strings.HasSuffix(message, "changed size during iteration"):
		return "loop over a copy: for x in list(items):"
	case strings.Contains(message, "'NoneType'"):
		return "the value is None: test it before using it"
	case strings.HasPrefix(message, "KeyError:"):
		return "read it with d.get(key), or test `key in d`"
	case strings.HasPrefix(message, "TypeError: can only concatenate list"):
		return "write items.append(x), or items + [x]"
	case strings.HasPrefix(message, "TypeError: can only concatenate str"),
		strings.HasPrefix(message, "TypeError: unsupported operand type(s) for +:") && strings.Contains(message, "'str'"):
		return "convert with str(…) or int(…) first, or write an f-string"
	case strings.Contains(message, "between instances of 'record'"), strings.Contains(message, "between instances of 'dict'"):
		return "say what to compare: sorted(items, key=lambda r: r.name)"
	case strings.HasPrefix(message, "AttributeError: 'str' object has no attribute"):
		return "the value is a str; a loop over a record or dict gives its keys: loop over the list inside it"
	case strings.HasPrefix(message, "AttributeError: 'list' object has no attribute"),
		strings.HasPrefix(message, "TypeError: list indices must be integers or slices, not str"):
		return "the value is a list: loop over it, or take one element of it, items[0]"
	case strings.HasPrefix(message, "AttributeError: 'dict' object has no attribute"):
		return "read a dict's item with d[\"key\"]"
	case strings.Contains(message, "'coroutine'"):
		return "a call of an async function is a coroutine: await it"
	}
	return ""
}
