package program

import (
	"fmt"
	"strings"
	"unicode"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

func stringMethod(name string) method {
	switch name {
	case "format":
		return formatMethod
	case "join":
		return join
	case "replace":
		return replace
	case "split", "rsplit":
		return split(name)
	case "splitlines":
		return after(name, func(e *engine, receiver starlark.Value, _ starlark.Tuple) error {
			s := string(receiver.(starlark.String))
			return e.roomParts(s, strings.Count(s, "\n")+1)
		})
	case "capitalize", "lower", "title", "upper":
		return after(name, func(e *engine, receiver starlark.Value, _ starlark.Tuple) error {
			return e.roomBytes(starlark.Len(receiver))
		})
	case "count", "find", "index", "rfind", "rindex":
		return after(name, func(e *engine, receiver starlark.Value, args starlark.Tuple) error {
			return e.chargeBytes(searched(starlark.Len(receiver), args))
		})
	}
	return nil
}

// searched is how many of n bytes a search from args[1] to args[2] looks at, at
// most. What cannot be read as an offset is refused later.
func searched(n int, args starlark.Tuple) int {
	from, to := 0, n
	for i, p := range []*int{&from, &to} {
		if i+1 < len(args) {
			if at, err := bound("offset", args[i+1], *p, n, 0, n); err == nil {
				*p = at
			}
		}
	}
	return max(to-from, 0)
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

func split(name string) method {
	return after(name, func(e *engine, receiver starlark.Value, args starlark.Tuple) error {
		s := string(receiver.(starlark.String))
		if len(args) > 1 {
			if most, err := starlark.AsInt32(args[1]); err == nil && most >= 0 && most < maxItems {
				// Cut at most so often; from the right, all are found first.
				if name == "split" {
					return e.roomParts(s, min(most, len(s))+1)
				}
			}
		}
		if len(args) > 0 {
			if separator, ok := starlark.AsString(args[0]); ok && separator != "" {
				return e.roomParts(s, strings.Count(s, separator)+1)
			}
		}
		words := len(s)/2 + 1
		if words > maxItems {
			words = 0
			space := true
			for _, r := range s {
				is := unicode.IsSpace(r)
				if space && !is {
					words++
				}
				space = is
			}
		}
		return e.roomParts(s, words)
	})
}

func join(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	items, err := one("join", args, kwargs, 1)
	if err != nil {
		return nil, err
	}
	separator := string(receiver.(starlark.String))
	list, size := make([]string, 0, max(0, min(starlark.Len(items), 1024))), 0
	err = e.each(items, func(item starlark.Value) error {
		s, ok := starlark.AsString(item)
		if !ok {
			return fmt.Errorf("join: in list, want string, got %s", item.Type())
		}
		if size += len(s); len(list) > 0 {
			size += len(separator)
		}
		list = append(list, s)
		if size > maxStringBytes {
			return e.roomBytes(size)
		}
		return e.roomItems(len(list))
	})
	if err != nil {
		return nil, err
	}
	if err := e.roomBytes(size); err != nil {
		return nil, err
	}
	return starlark.String(strings.Join(list, separator)), nil
}

func replace(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var old, by string
	most := -1
	if err := starlark.UnpackPositionalArgs("replace", args, kwargs, 2, &old, &by, &most); err != nil {
		return nil, err
	}
	s := string(receiver.(starlark.String))
	if err := e.chargeBytes(len(s)); err != nil {
		return nil, err
	}
	n := strings.Count(s, old)
	if most >= 0 {
		n = min(n, most)
	}
	// Both are at most maxStringBytes, so that this does not overflow.
	if err := e.roomBytes(len(s) + n*(len(by)-len(old))); err != nil {
		return nil, err
	}
	return starlark.String(strings.Replace(s, old, by, n)), nil
}

// rendered is the text of a value that was written within bounds, and stands
// for it in a format.
type rendered struct {
	starlark.NoneType
	text string
}

func (r rendered) String() string { return r.text }

// renderedMapping is the text of a mapping that is an operand of % itself: %
// does not mind one that no field uses.
type renderedMapping struct{ rendered }

func (renderedMapping) Get(starlark.Value) (starlark.Value, bool, error) { return nil, false, nil }

// render replaces a container by its text.
func (e *engine) render(v starlark.Value) (_ starlark.Value, size int, err error) {
	switch v := v.(type) {
	case starlark.String:
		return v, 2*len(v) + 2, nil // quoted at worst, of mostly printable text
	case starlark.NoneType, starlark.Bool, starlark.Float:
		return v, 32, nil
	case starlark.Int:
		text, err := digits(v)
		return v, len(text) + 1, err
	}
	text, err := e.repr(v)
	return rendered{text: text}, len(text), err
}

// formatMethod is s.format(…). No field is longer than the longest argument.
func formatMethod(e *engine, thread *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	format := string(receiver.(starlark.String))
	longest := 0
	argument := func(v starlark.Value) (starlark.Value, error) {
		v, size, err := e.render(v)
		longest = max(longest, size)
		return v, err
	}
	var err error
	values, named := make(starlark.Tuple, len(args)), make([]starlark.Tuple, len(kwargs))
	for i, v := range args {
		if values[i], err = argument(v); err != nil {
			return nil, err
		}
	}
	for i, pair := range kwargs {
		v, err := argument(pair[1])
		if err != nil {
			return nil, err
		}
		named[i] = starlark.Tuple{pair[0], v}
	}
	if err := e.roomFields(format, strings.Count(format, "{"), longest); err != nil {
		return nil, err
	}
	return own(thread, receiver, "format", values, named)
}

// roomFields refuses a format whose n fields may become too long together.
func (e *engine) roomFields(format string, n, longest int) error {
	if n > 0 && longest > maxStringBytes/n {
		return e.tooLarge("a text of that many bytes")
	}
	return e.roomBytes(len(format) + n*longest)
}

// percent is format % v.
func (e *engine) percent(format string, v starlark.Value) (starlark.Value, error) {
	fields, longest := strings.Count(format, "%"), 0
	argument := func(v starlark.Value) (starlark.Value, error) {
		v, size, err := e.render(v)
		longest = max(longest, size)
		return v, err
	}
	var operand starlark.Value
	var err error
	switch v := v.(type) {
	case starlark.Tuple:
		values := make(starlark.Tuple, len(v))
		for i := range v {
			if i > fields { // too many, as will be said
				values[i] = starlark.None
			} else if values[i], err = argument(v[i]); err != nil {
				return nil, err
			}
		}
		operand = values
	case starlark.Mapping:
		operand, err = e.percentNamed(format, v, argument)
	default:
		operand, err = argument(v)
	}
	if err != nil {
		return nil, err
	}
	if err := e.roomFields(format, fields, longest); err != nil {
		return nil, err
	}
	return starlark.Binary(syntax.PERCENT, starlark.String(format), operand)
}

// percentNamed is a dict of the values that %(name)s fields name. A dict may
// also be an operand of its own: "%s" % d.
func (e *engine) percentNamed(format string, from starlark.Mapping, argument func(starlark.Value) (starlark.Value, error)) (starlark.Value, error) {
	if !strings.Contains(format, "%(") {
		v, err := argument(from)
		if r, ok := v.(rendered); ok {
			return renderedMapping{r}, err
		}
		return v, err
	}
	to := new(starlark.Dict)
	for rest := format; ; {
		_, after, found := strings.Cut(rest, "%(")
		if !found {
			return to, nil
		}
		name, after, found := strings.Cut(after, ")")
		if !found {
			return to, nil
		}
		rest = after
		v, ok, err := from.Get(starlark.String(name))
		if err != nil || !ok {
			continue // the interpreter says so
		}
		if _, twice, _ := to.Get(starlark.String(name)); twice {
			continue
		}
		if v, err = argument(v); err != nil {
			return nil, err
		}
		if err := to.SetKey(starlark.String(name), v); err != nil {
			return nil, err
		}
	}
}
