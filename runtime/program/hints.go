package program

import "strings"

// syntaxHint says what to write instead of what does not parse. The parser
// names tokens, which misleads whoever writes Python.
func syntaxHint(message, line string, column int) string {
	got, _, _ := strings.Cut(strings.TrimPrefix(message, "got "), ", want")
	if hint, ok := wordHints[got]; ok {
		return hint
	}
	before := []rune(line)
	before = before[:max(0, min(column-1, len(before)))]
	switch {
	case got == "string literal" && endsInPrefix(string(before)):
		return `f-strings are not in the language: write "…{}…".format(value)`
	case got == "string literal":
		return "join two strings with +"
	case strings.HasPrefix(strings.TrimSpace(line), "assert "):
		return wordHints["assert"]
	case strings.HasPrefix(message, "unexpected input character '`'"):
		return "give the program alone, without ``` around it"
	case message == "got for, want ','" || message == "got for, want ')'":
		return "generator expressions are not in the language: put brackets around it, sum([x for x in items])"
	case got == "'**'":
		return "write math.pow(x, y), or multiply"
	case strings.Contains(message, "does not associate"):
		return "chained comparisons are not in the language: write a < b and b < c"
	case got == "':'" && strings.Contains(message, "want ')'"), got == "':'" && strings.HasSuffix(message, "want newline"):
		return "type annotations and := are not in the language: leave them out"
	case got == "indent":
		return "indent only the body of def, if, for and while"
	case strings.HasSuffix(message, "want indent"):
		return "indent the body of def, if, for and while"
	case strings.HasPrefix(message, "conditional expression without else"):
		return "write x if condition else y"
	case got == "for" && strings.HasSuffix(message, "want ':'"):
		return "set comprehensions are not in the language: write set([x for x in items])"
	case got == "'-'" && strings.HasSuffix(message, "want ':'"):
		return "type annotations are not in the language: leave -> and the type out"
	case got == "','" && strings.HasSuffix(message, "want ':'"):
		return "set literals are not in the language: write set([a, b])"
	}
	return ""
}

func endsInPrefix(before string) bool {
	for _, prefix := range []string{"f", "F", "rf", "fr"} {
		if rest, ok := strings.CutSuffix(before, prefix); ok && (rest == "" || !isWordRune([]rune(rest)[len([]rune(rest))-1])) {
			return true
		}
	}
	return false
}

// wordHints by the reserved word at which parsing stopped.
var wordHints = map[string]string{
	"import":   "json, math and sum are already there: leave the import out",
	"from":     "json, math and sum are already there: leave the import out",
	"try":      "write r = attempt(f, …), and test r.ok",
	"except":   "write r = attempt(f, …), and test r.ok",
	"finally":  "write r = attempt(f, …), and test r.ok",
	"raise":    "end the program with fail(\"why\")",
	"assert":   "write if not condition: fail(\"why\")",
	"class":    "classes are not in the language: use dicts and functions",
	"with":     "with is not in the language: call the function and use its value",
	"del":      "remove an item with d.pop(key)",
	"global":   "a function cannot assign outer variables: return the value, or change a list or dict",
	"nonlocal": "a function cannot assign outer variables: return the value, or change a list or dict",
	"yield":    "generators are not in the language: build a list and return it",
	"async":    "calls answer at once: leave async and await out",
	"await":    "calls answer at once: leave async and await out",
	"is":       "write == None or != None",
}

// pythonNames are names a program may expect from Python.
var pythonNames = map[string]string{
	"isinstance": `write type(x) == "list"`,
	"round":      "write math.round(x)",
	"map":        "write [f(x) for x in items]",
	"filter":     "write [x for x in items if f(x)]",
	"pow":        "write math.pow(x, y)",
	"divmod":     "write (a // b, a % b)",
	"next":       "index the list: items[0]",
	"open":       "a program has no files: use a capability",
	"input":      "a program has no input: write the values into it",
	"__name__":   "only if __name__ == \"__main__\": at the top level is understood; leave it out",
	"Exception":  "exceptions cannot be raised: end the program with fail(\"why\")",
	"ValueError": "exceptions cannot be raised: end the program with fail(\"why\")",
}

// pythonModules are what a program may expect to be imported already.
var pythonModules = map[string]string{
	"re":          "there are no regular expressions: use in, find, split, startswith and the like",
	"os":          "a program has no operating system: use a capability; split paths with rpartition(\"/\")",
	"pathlib":     "a program has no files: use a capability; split paths with rpartition(\"/\")",
	"sys":         "a program has no process: return its result from main",
	"subprocess":  "a program starts no processes: use a capability",
	"requests":    "a program has no network: use a capability",
	"collections": "use a dict: counts[k] = counts.get(k, 0) + 1, groups.setdefault(k, []).append(v)",
	"itertools":   "write loops and comprehensions",
	"functools":   "write loops and functions",
	"datetime":    "a program has no clock and no dates: compare their texts",
	"time":        "a program has no clock",
	"random":      "a program has no random numbers",
}

// runtimeHint says what usually helps against a failure of the interpreter.
func runtimeHint(message string) string {
	switch {
	case strings.Contains(message, "referenced before assignment"):
		return "a name assigned anywhere in a function is local to all of it: choose another name"
	case strings.HasPrefix(message, "NoneType has no"):
		return "the value is None: test it before using it"
	case strings.HasPrefix(message, "unknown binary op:") && strings.Contains(message, "string"):
		return "convert with str(…) or int(…) first"
	case strings.HasPrefix(message, "key ") && strings.Contains(message, " not in dict"):
		return "read it with d.get(key), or test `key in d`"
	case strings.HasPrefix(message, "list has no .sort "):
		return "write items = sorted(items, key=…, reverse=True)"
	case strings.HasPrefix(message, "list has no .copy "):
		return "write list(items)"
	case strings.HasPrefix(message, "format spec features not supported"):
		return "only {} and {name} are there: round with math.round(x * 100) / 100 first, pad with \" \" * n"
	case strings.HasPrefix(message, "unknown conversion %"):
		return "only %s, %d, %f and the like are there, without width and precision: round or pad the value first"
	case strings.HasPrefix(message, "string has no ."):
		return stringHint(message)
	case strings.HasPrefix(message, "record < record") || strings.HasPrefix(message, "record > record"):
		return "say what to compare: sorted(items, key=lambda r: r.name)"
	case strings.HasPrefix(message, "unknown binary op: list + "):
		return "write items.append(x), or items + [x]"
	case strings.HasPrefix(message, "dict has no ."):
		return "read a dict's item with d[\"key\"]"
	}
	return ""
}

// stringHint tells a method that Python's str has from a field that was looked
// for in the wrong place.
func stringHint(message string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(message, "string has no ."), " ")
	switch name {
	case "zfill", "ljust", "rjust", "center":
		return "pad by hand: \" \" * (width - len(s)) + s"
	case "casefold":
		return "write s.lower()"
	case "encode", "decode", "expandtabs", "format_map", "isascii", "isdecimal", "isidentifier", "isnumeric", "isprintable", "swapcase", "translate":
		return ""
	}
	return "the value is a str; a loop over a record or dict gives its keys: loop over the list inside it"
}
