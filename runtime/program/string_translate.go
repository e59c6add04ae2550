package program

import (
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// translateMethod is s.translate(table) of a dict, or what else is indexed, from code
// points to code points, texts or None.
func translateMethod(e *engine, s string, args []starlark.Value) (starlark.Value, error) {
	var b strings.Builder
	for _, r := range s {
		if err := e.charge(1); err != nil {
			return nil, err
		}
		v, err := e.index(args[0], starlark.MakeInt(int(r)))
		if lookup, ok := err.(*raised); ok && (lookup.class == "KeyError" || lookup.class == "IndexError") {
			b.WriteRune(r)
			continue
		}
		if err != nil {
			return nil, err
		}
		switch to := v.(type) {
		case starlark.NoneType:
		case starlark.String:
			if err := e.roomMore(b.Len(), len(to)); err != nil {
				return nil, err
			}
			b.WriteString(string(to))
		case starlark.Int:
			n, small := to.Int64()
			if !small || n < 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
				return nil, raise("ValueError", "character mapping must be in range(0x110000)")
			}
			b.WriteRune(rune(n))
		default:
			return nil, raise("TypeError", "character mapping must return integer, None or str")
		}
	}
	return starlark.String(b.String()), nil
}

// makeTrans is str.maketrans.
func makeTrans(e *engine, _ string, args []starlark.Value) (starlark.Value, error) {
	table := new(starlark.Dict)
	if len(args) == 1 {
		from, ok := args[0].(starlark.IterableMapping)
		if !ok {
			return nil, raise("TypeError", "if you give only one argument to maketrans it must be a dict")
		}
		for _, item := range from.Items() {
			key := item[0]
			if s, ok := starlark.AsString(key); ok {
				if utf8.RuneCountInString(s) != 1 {
					return nil, raise("ValueError", "string keys in translate table must be of length 1")
				}
				r, _ := utf8.DecodeRuneInString(s)
				key = starlark.MakeInt(int(r))
			}
			if err := e.setKey(table, key, item[1]); err != nil {
				return nil, err
			}
		}
		return table, e.charge(table.Len())
	}
	var parts [3][]rune
	for i, v := range args {
		s, err := textArgument("maketrans", v)
		if err != nil {
			return nil, err
		}
		parts[i] = []rune(s)
		if err := e.charge(len(parts[i])); err != nil {
			return nil, err
		}
	}
	if len(parts[0]) != len(parts[1]) {
		return nil, raise("ValueError", "the first two maketrans arguments must have equal length")
	}
	for i, r := range parts[0] {
		if err := e.setKey(table, starlark.MakeInt(int(r)), starlark.MakeInt(int(parts[1][i]))); err != nil {
			return nil, err
		}
	}
	for _, r := range parts[2] {
		if err := e.setKey(table, starlark.MakeInt(int(r)), starlark.None); err != nil {
			return nil, err
		}
	}
	return table, nil
}
