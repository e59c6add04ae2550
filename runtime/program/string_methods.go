package program

import (
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/program/text"
)

// stringMethod is a method of str (package text), sized and charged; nil if str
// has none of that name.
func stringMethod(name string) method {
	if f := predicate(name); f != nil {
		return stringCall(name, 0, 0, func(e *engine, s string, _ []starlark.Value) (starlark.Value, error) {
			if err := e.chargeCopy(len(s)); err != nil { // each character is looked up
				return nil, err
			}
			return starlark.Bool(f(s)), nil
		})
	}
	if f := transformation(name); f != nil {
		return stringCall(name, 0, 0, func(e *engine, s string, _ []starlark.Value) (starlark.Value, error) {
			// A letter becomes three at most, and each is looked up.
			if err := e.roomBytes(3 * len(s)); err != nil {
				return nil, err
			}
			if err := e.chargeBytes(5 * len(s)); err != nil {
				return nil, err
			}
			return starlark.String(f(s)), nil
		})
	}
	switch name {
	case "find", "rfind", "index", "rindex", "count":
		return parsedCall(name, searchMethod(name))
	case "startswith", "endswith":
		return parsedCall(name, affixMethod(name))
	case "strip", "lstrip", "rstrip":
		return stringCall(name, 0, 1, stripMethod(name))
	case "split", "rsplit":
		return splitMethod(name)
	case "splitlines":
		return linesMethod
	case "partition", "rpartition":
		return stringCall(name, 1, 1, partitionMethod(name))
	case "center", "ljust", "rjust":
		return stringCall(name, 1, 2, padMethod(name))
	case "zfill":
		return stringCall(name, 1, 1, zfill)
	case "encode":
		return encodeMethod
	case "expandtabs":
		return expandTabs
	case "replace":
		return stringCall(name, 2, 3, replaceMethod)
	case "removeprefix":
		return stringCall(name, 1, 1, removeMethod(name, strings.TrimPrefix))
	case "removesuffix":
		return stringCall(name, 1, 1, removeMethod(name, strings.TrimSuffix))
	case "join":
		return stringCall(name, 1, 1, joinMethod)
	case "format":
		return formatMethod
	case "format_map":
		return formatMapMethod
	case "translate":
		return stringCall(name, 1, 1, translateMethod)
	case "maketrans":
		return stringCall(name, 1, 3, makeTrans)
	}
	return nil
}

func predicate(name string) func(string) bool {
	switch name {
	case "isalnum":
		return text.IsAlnum
	case "isalpha":
		return text.IsAlpha
	case "isascii":
		return text.IsASCII
	case "isdecimal":
		return text.IsDecimal
	case "isdigit":
		return text.IsDigit
	case "isidentifier":
		return text.IsIdentifier
	case "islower":
		return text.IsLower
	case "isnumeric":
		return text.IsNumeric
	case "isprintable":
		return text.IsPrintable
	case "isspace":
		return text.IsSpaceText
	case "istitle":
		return text.IsTitle
	case "isupper":
		return text.IsUpper
	}
	return nil
}

func transformation(name string) func(string) string {
	switch name {
	case "capitalize":
		return text.Capitalize
	case "casefold":
		return text.Fold
	case "lower":
		return text.Lower
	case "swapcase":
		return text.SwapCase
	case "title":
		return text.Title
	case "upper":
		return text.Upper
	}
	return nil
}

// stringCall is a method with positional arguments only.
func stringCall(name string, least, most int, f func(e *engine, s string, args []starlark.Value) (starlark.Value, error)) method {
	return func(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(kwargs) > 0 {
			return nil, raise("TypeError", "str.%s() takes no keyword arguments", name)
		}
		if err := argumentCount("str."+name, len(args), least, most); err != nil {
			return nil, err
		}
		return f(e, string(receiver.(starlark.String)), args)
	}
}

// parsedCall is stringCall of one to three arguments in the words of functions
// whose arguments CPython parses by a format.
func parsedCall(name string, f func(e *engine, s string, args []starlark.Value) (starlark.Value, error)) method {
	return func(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := noKeywords("str."+name, kwargs); err != nil {
			return nil, err
		}
		if err := parsedCount(name, len(args), 1, 3); err != nil {
			return nil, err
		}
		return f(e, string(receiver.(starlark.String)), args)
	}
}

// argumentCount is CPython's check of how many arguments a method takes.
func argumentCount(name string, n, least, most int) error {
	_, short, ok := strings.Cut(name, ".")
	if !ok {
		short = name
	}
	switch {
	case n >= least && n <= most:
		return nil
	case most == 0:
		return raise("TypeError", "%s() takes no arguments (%d given)", name, n)
	case least == most && most == 1:
		return raise("TypeError", "%s() takes exactly one argument (%d given)", name, n)
	case least == most:
		return raise("TypeError", "%s expected %d argument%s, got %d", short, most, plural(most), n)
	case n < least:
		return raise("TypeError", "%s expected at least %d argument%s, got %d", short, least, plural(least), n)
	}
	return raise("TypeError", "%s expected at most %d argument%s, got %d", short, most, plural(most), n)
}

// textArgument is an argument that has to be a str.
func textArgument(method string, v starlark.Value) (string, error) {
	s, ok := starlark.AsString(v)
	if !ok {
		return "", raise("TypeError", "must be str, not %s", className(v))
	}
	return s, nil
}

// intArgument is an argument that has to be an int; it is cut to 32 bits.
func intArgument(v starlark.Value) (int, error) {
	if i, ok := number(v).(starlark.Int); ok {
		if _, small := i.Int64(); !small {
			return 0, raise("OverflowError", "Python int too large to convert to C ssize_t")
		}
	}
	return offset(v)
}

// offset is an int of any size, cut to 32 bits.
func offset(v starlark.Value) (int, error) {
	i, ok := number(v).(starlark.Int)
	if !ok {
		return 0, raise("TypeError", "'%s' object cannot be interpreted as an integer", className(v))
	}
	n, small := i.Int64()
	const most = 1 << 31
	switch {
	case !small && i.Sign() < 0 || small && n < -most:
		return -most, nil
	case !small || n > most:
		return most, nil
	}
	return int(n), nil
}

// offsets are the start and end of a search.
func offsets(args []starlark.Value) (start, end int, err error) {
	start, end = 0, text.End
	for i, p := range []*int{&start, &end} {
		if i >= len(args) || args[i] == starlark.None {
			continue
		}
		if *p, err = offset(args[i]); err != nil {
			return 0, 0, raise("TypeError", "slice indices must be integers or None or have an __index__ method")
		}
	}
	return start, end, nil
}

func searchMethod(name string) func(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
	return func(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
		sub, err := textArgument(name, args[0])
		if err != nil {
			return nil, err
		}
		start, end, err := offsets(args[1:])
		if err != nil {
			return nil, err
		}
		n, seen := -1, 0
		if p, err := e.points(s); err != nil {
			return nil, err
		} else if part, from, ok := p.window(start, end); ok {
			seen = len(part)
			switch name {
			case "find", "index":
				if n = strings.Index(part, sub); n >= 0 {
					seen = n + len(sub)
				}
			case "rfind", "rindex":
				if n = strings.LastIndex(part, sub); n >= 0 {
					seen -= n
				}
			default:
				return starlark.MakeInt(strings.Count(part, sub)), e.chargeBytes(seen)
			}
			if n >= 0 {
				n = p.number(from + n)
			}
		} else if name == "count" {
			n = 0
		}
		if err := e.chargeBytes(seen); err != nil {
			return nil, err
		}
		if n < 0 && strings.HasSuffix(name, "index") {
			return nil, raise("ValueError", "substring not found")
		}
		return starlark.MakeInt(n), nil
	}
}

func affixMethod(name string) func(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
	has := text.HasPrefix
	if name == "endswith" {
		has = text.HasSuffix
	}
	return func(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
		start, end, err := offsets(args[1:])
		if err != nil {
			return nil, err
		}
		if affix, ok := args[0].(starlark.String); ok {
			if err := e.chargeBytes(min(len(s), len(affix))); err != nil {
				return nil, err
			}
		}
		if start != 0 || end != text.End {
			if err := e.chargeBytes(len(s)); err != nil {
				return nil, err
			}
		}
		wrong := func(v starlark.Value) error {
			return raise("TypeError", "%s first arg must be str or a tuple of str, not %s", name, className(v))
		}
		switch v := args[0].(type) {
		case starlark.String:
			return starlark.Bool(has(s, string(v), start, end)), nil
		case starlark.Tuple:
			for _, item := range v {
				affix, ok := starlark.AsString(item)
				if !ok {
					return nil, raise("TypeError", "tuple for %s must only contain str, not %s", name, className(item))
				}
				if err := e.charge(1 + min(len(s), len(affix))/bytesPerStep); err != nil {
					return nil, err
				}
				if has(s, affix, start, end) {
					return starlark.True, nil
				}
			}
			return starlark.False, nil
		}
		return nil, wrong(args[0])
	}
}

func stripMethod(name string) func(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
	return func(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
		var characters *string
		if len(args) > 0 && args[0] != starlark.None {
			c, ok := starlark.AsString(args[0])
			if !ok {
				return nil, raise("TypeError", "%s arg must be None or str", name)
			}
			characters = &c
		}
		cost := 8 // for each byte that is stripped
		if characters != nil {
			cost += len(*characters)
		}
		if cost > 64 {
			if err := e.chargeBytes(cost * (len(s) + 1)); err != nil {
				return nil, err
			}
		}
		stripped := text.Strip(s, characters, name != "rstrip", name != "lstrip")
		return starlark.String(stripped), e.chargeBytes(cost * (len(s) - len(stripped)))
	}
}

func splitMethod(name string) method {
	return func(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		s := string(receiver.(starlark.String))
		var separator, times starlark.Value = starlark.None, starlark.MakeInt(-1)
		if err := unpackArguments(name, args, kwargs, "sep?", &separator, "maxsplit?", &times); err != nil {
			return nil, err
		}
		most, err := intArgument(times)
		if err != nil {
			return nil, err
		}
		if separator == starlark.None {
			if err := e.roomParts(s, words(s)); err != nil {
				return nil, err
			}
			if name == "split" {
				return textList(text.Fields(s, most)), nil
			}
			return textList(text.RFields(s, most)), nil
		}
		by, ok := starlark.AsString(separator)
		if !ok {
			return nil, raise("TypeError", "must be str or None, not %s", className(separator))
		}
		if by == "" {
			return nil, raise("ValueError", "empty separator")
		}
		parts := strings.Count(s, by) + 1
		if most >= 0 {
			parts = min(parts, most+1)
		}
		if err := e.roomParts(s, parts); err != nil {
			return nil, err
		}
		if name == "split" {
			return textList(text.Split(s, by, most)), nil
		}
		return textList(text.RSplit(s, by, most)), nil
	}
}

// words is how many parts white space makes of s at most.
func words(s string) int {
	n, space := 0, true
	for _, r := range s {
		is := text.IsSpace(r)
		if space && !is {
			n++
		}
		space = is
	}
	return n
}

// roomParts refuses to cut s into n parts when they are too many.
func (e *engine) roomParts(s string, n int) error {
	if err := e.roomItems(n); err != nil {
		return err
	}
	if err := e.charge(n); err != nil {
		return err
	}
	return e.chargeBytes(len(s))
}

func textList(parts []string) starlark.Value {
	items := make([]starlark.Value, len(parts))
	for i, s := range parts {
		items[i] = starlark.String(s)
	}
	return starlark.NewList(items)
}

func linesMethod(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	s := string(receiver.(starlark.String))
	var keep starlark.Value = starlark.False
	if err := unpackArguments("splitlines", args, kwargs, "keepends?", &keep); err != nil {
		return nil, err
	}
	if _, err := intArgument(keep); err != nil {
		return nil, err
	}
	if err := e.roomParts(s, len(s)/2+1); err != nil {
		return nil, err
	}
	return textList(text.Lines(s, bool(keep.Truth()))), nil
}

func partitionMethod(name string) func(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
	cut := text.Partition
	if name == "rpartition" {
		cut = text.RPartition
	}
	return func(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
		by, err := textArgument(name, args[0])
		if err != nil {
			return nil, err
		}
		if by == "" {
			return nil, raise("ValueError", "empty separator")
		}
		a, b, c := cut(s, by)
		return starlark.Tuple{starlark.String(a), starlark.String(b), starlark.String(c)}, e.chargeBytes(len(s))
	}
}

func padMethod(name string) func(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
	return func(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
		width, err := intArgument(args[0])
		if err != nil {
			return nil, err
		}
		fill := " "
		if len(args) > 1 {
			f, ok := starlark.AsString(args[1])
			if !ok {
				return nil, raise("TypeError", "The fill character must be a unicode character, not %s", className(args[1]))
			}
			if utf8.RuneCountInString(f) != 1 {
				return nil, raise("TypeError", "The fill character must be exactly one character long")
			}
			fill = f
		}
		if err := e.roomBytes(len(s) + max(width, 0)*len(fill)); err != nil {
			return nil, err
		}
		switch name {
		case "center":
			return starlark.String(text.Center(s, width, fill)), nil
		case "ljust":
			return starlark.String(text.LJust(s, width, fill)), nil
		}
		return starlark.String(text.RJust(s, width, fill)), nil
	}
}

func zfill(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
	width, err := intArgument(args[0])
	if err != nil {
		return nil, err
	}
	if err := e.roomBytes(len(s) + max(width, 0)); err != nil {
		return nil, err
	}
	return starlark.String(text.ZFill(s, width)), nil
}

func expandTabs(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	s := string(receiver.(starlark.String))
	var given starlark.Value = starlark.MakeInt(8)
	if err := unpackArguments("expandtabs", args, kwargs, "tabsize?", &given); err != nil {
		return nil, err
	}
	size, err := intArgument(given)
	if err != nil {
		return nil, err
	}
	if err := e.roomBytes(len(s) + text.Tabs(s, size)); err != nil {
		return nil, err
	}
	return starlark.String(text.ExpandTabs(s, size)), nil
}

func replaceMethod(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
	old, ok := starlark.AsString(args[0])
	if !ok {
		return nil, raise("TypeError", "replace() argument 1 must be str, not %s", typeName(args[0]))
	}
	by, ok := starlark.AsString(args[1])
	if !ok {
		return nil, raise("TypeError", "replace() argument 2 must be str, not %s", typeName(args[1]))
	}
	most := -1
	if len(args) > 2 {
		var err error
		if most, err = intArgument(args[2]); err != nil {
			return nil, err
		}
	}
	n := strings.Count(s, old)
	if most >= 0 {
		n = min(n, most)
	}
	if err := e.roomBytes(len(s) + n*max(len(by)-len(old), 0)); err != nil {
		return nil, err
	}
	return starlark.String(text.Replace(s, old, by, most)), nil
}

func removeMethod(name string, remove func(s, affix string) string) func(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
	return func(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
		affix, ok := starlark.AsString(args[0])
		if !ok {
			return nil, raise("TypeError", "%s() argument must be str, not %s", name, typeName(args[0]))
		}
		return starlark.String(remove(s, affix)), e.chargeBytes(min(len(s), len(affix)))
	}
}

func joinMethod(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
	if _, err := e.iter(args[0]); err != nil {
		return nil, raise("TypeError", "can only join an iterable")
	}
	items, err := e.collect(args[0])
	if err != nil {
		return nil, err
	}
	n := len(s) * max(len(items)-1, 0)
	for i, v := range items {
		part, ok := v.(starlark.String)
		if !ok {
			return nil, raise("TypeError", "sequence item %d: expected str instance, %s found", i, className(v))
		}
		n += len(part)
	}
	if err := e.roomBytes(n); err != nil {
		return nil, err
	}
	var b strings.Builder
	b.Grow(n)
	for i, v := range items {
		if i > 0 {
			b.WriteString(s)
		}
		b.WriteString(string(v.(starlark.String)))
	}
	return starlark.String(b.String()), nil
}
