package canon

import "strings"

// Tag looks ahead into the next value, an object, for the member called name
// and returns which of the allowed strings it holds; nothing is consumed. A
// value that is no object, or has no such member or another one in it, is
// refused and -1 returned. Each level of nested unions looks ahead once, so
// that work is bounded by the input times its depth.
func (r *Reader) Tag(name string, allowed ...string) int {
	if r.err != nil {
		return -1
	}
	ahead := *r
	ahead.BeginObject()
	for ahead.NextMember() {
		if string(ahead.Key()) != name {
			ahead.Skip()
			continue
		}
		got := ahead.Enum(allowed...)
		for i, s := range allowed {
			if ahead.err == nil && s == got {
				return i
			}
		}
		break
	}
	var none Seen
	ahead.Require(&none, 0, name)
	r.err = ahead.err
	return -1
}

// KindOf returns which of the allowed kinds the next value is of; nothing is
// consumed. KindNumber stands for numbers of every form. A value of another
// kind is refused and -1 returned.
func (r *Reader) KindOf(allowed ...Kind) int {
	got := r.Peek()
	if got == KindInt || got == KindFloat {
		got = KindNumber
	}
	names := make([]string, len(allowed))
	for i, k := range allowed {
		if k == got {
			return i
		}
		names[i] = k.String()
	}
	r.space()
	switch {
	case r.err != nil:
	case got == KindInvalid:
		r.open(KindNull) // says why
	default:
		r.failType(strings.Join(names, " or "))
	}
	return -1
}
