package program

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// The operators of the language, bounded. Each takes any values, is what the
// interpreter's own operator is, and differs only where that would take too
// long or too much: it sizes its result before it builds it, and charges steps
// for what it copies or looks at.

// add is x + y.
func (e *engine) add(x, y starlark.Value) (starlark.Value, error) {
	switch x := x.(type) {
	case starlark.Int:
		if y, ok := y.(starlark.Int); ok {
			return x.Add(y), nil
		}
	case starlark.String:
		if y, ok := y.(starlark.String); ok {
			if err := e.roomBytes(len(x) + len(y)); err != nil {
				return nil, err
			}
			return x + y, nil
		}
	case starlark.Bytes:
		if err := e.roomBytes(len(x) + max(0, starlark.Len(y))); err != nil {
			return nil, err
		}
	case *starlark.List, starlark.Tuple:
		if err := e.roomCopy(starlark.Len(x) + max(0, starlark.Len(y))); err != nil {
			return nil, err
		}
	}
	return starlark.Binary(syntax.PLUS, x, y)
}

// roomCopy is roomItems and the charge for copying that many.
func (e *engine) roomCopy(n int) error {
	if err := e.roomItems(n); err != nil {
		return err
	}
	return e.chargeCopy(n)
}

// addTo is x += y, which extends a list in place.
func (e *engine) addTo(x, y starlark.Value) (starlark.Value, error) {
	if list, ok := x.(*starlark.List); ok {
		if items, ok := y.(starlark.Iterable); ok {
			return list, e.extend(list, items)
		}
	}
	return e.add(x, y)
}

// multiply is x * y.
func (e *engine) multiply(x, y starlark.Value) (starlark.Value, error) {
	a, isInt := x.(starlark.Int)
	b, too := y.(starlark.Int)
	switch {
	case isInt && too:
		return e.product(a, b)
	case isInt:
		return e.repeat(y, a)
	case too:
		return e.repeat(x, b)
	}
	return starlark.Binary(syntax.STAR, x, y)
}

func (e *engine) product(x, y starlark.Int) (starlark.Value, error) {
	_, small := x.Int64()
	if _, too := y.Int64(); !small || !too {
		m, n := bits(x), bits(y)
		if err := roomBits(m + n - 1); err != nil {
			return nil, err
		}
		// Schoolbook multiplication of words, which is the most it can take.
		if err := e.chargeBytes(m / 64 * (n / 64)); err != nil {
			return nil, err
		}
	}
	return x.Mul(y), nil
}

// repeat is sequence * n.
func (e *engine) repeat(sequence starlark.Value, n starlark.Int) (starlark.Value, error) {
	bytes := false
	switch sequence.(type) {
	case starlark.String, starlark.Bytes:
		bytes = true
	case *starlark.List, starlark.Tuple:
	default:
		return starlark.Binary(syntax.STAR, sequence, n)
	}
	length := starlark.Len(sequence)
	if n.Sign() > 0 && length > 0 {
		most := maxItems
		if bytes {
			most = maxStringBytes
		}
		times, ok := n.Int64()
		if !ok || times > int64(most/length) {
			times, length = int64(most)+1, 1
		}
		var err error
		if bytes {
			err = e.roomBytes(length * int(times))
		} else {
			err = e.roomCopy(length * int(times))
		}
		if err != nil {
			return nil, err
		}
	}
	return starlark.Binary(syntax.STAR, sequence, n)
}

// modulo is x % y: of numbers, or of a format and what it formats.
func (e *engine) modulo(x, y starlark.Value) (starlark.Value, error) {
	switch x := x.(type) {
	case starlark.String:
		return e.percent(string(x), y)
	case starlark.Int:
		if y, ok := y.(starlark.Int); ok && y.Sign() != 0 {
			if _, small := x.Int64(); !small {
				if err := e.chargeBytes(bits(x) / 64 * (bits(y)/64 + 1)); err != nil {
					return nil, err
				}
			}
			return x.Mod(y), nil
		}
	}
	return starlark.Binary(syntax.PERCENT, x, y)
}

// shiftLeft is x << y.
func (e *engine) shiftLeft(x, y starlark.Value) (starlark.Value, error) {
	a, ok := x.(starlark.Int)
	b, too := y.(starlark.Int)
	if ok && too && a.Sign() != 0 {
		n, small := b.Int64()
		if !small || n > maxIntBits {
			n = maxIntBits
		}
		m := bits(a)
		if err := roomBits(m + int(max(n, 0))); err != nil {
			return nil, err
		}
		if err := e.chargeBytes(m / 8); err != nil {
			return nil, err
		}
	}
	return starlark.Binary(syntax.LTLT, x, y)
}

// union is x | y of ints, sets and dicts.
func (e *engine) union(x, y starlark.Value) (starlark.Value, error) {
	if err := e.chargeBoth(x, y); err != nil {
		return nil, err
	}
	return starlark.Binary(syntax.PIPE, x, y)
}

// unionTo is x |= y, which updates a dict in place.
func (e *engine) unionTo(x, y starlark.Value) (starlark.Value, error) {
	if to, ok := x.(*starlark.Dict); ok {
		if from, ok := y.(*starlark.Dict); ok {
			return to, e.updateDict(to, from)
		}
	}
	return e.union(x, y)
}

// chargeBoth debits an operation that copies both sets or dicts.
func (e *engine) chargeBoth(x, y starlark.Value) error {
	switch x.(type) {
	case *starlark.Dict, *starlark.Set:
		n := starlark.Len(x) + max(0, starlark.Len(y))
		if err := e.roomKeys(n); err != nil {
			return err
		}
		return e.charge(n)
	}
	return nil
}

// index is x[y].
func (e *engine) index(x, y starlark.Value) (starlark.Value, error) {
	switch x := x.(type) {
	case *starlark.List:
		if i, ok := place(y, x.Len()); ok {
			return x.Index(i), nil
		}
	case *starlark.Dict:
		v, found, err := e.lookup(x, y)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, fmt.Errorf("key %s not in dict", e.brief(y))
		}
		return v, nil
	case *record:
		v, _, err := x.Get(y)
		return v, err
	case starlark.Mapping:
		v, found, err := x.Get(y)
		if err == nil && !found {
			err = fmt.Errorf("key %s not in %s", e.brief(y), x.Type())
		}
		return v, err
	case starlark.Indexable: // str, bytes, tuple, range
		if i, ok := place(y, x.Len()); ok {
			return x.Index(i), nil
		}
	default:
		return nil, fmt.Errorf("unhandled index operation %s[%s]", x.Type(), y.Type())
	}
	return nil, badIndex(x, y)
}

// setItem is x[y] = z.
func (e *engine) setItem(x, y, z starlark.Value) error {
	switch x := x.(type) {
	case *starlark.Dict:
		return e.setKey(x, y, z)
	case starlark.HasSetKey:
		return x.SetKey(y, z)
	case starlark.HasSetIndex:
		if i, ok := place(y, x.Len()); ok {
			return x.SetIndex(i, z)
		}
		return badIndex(x, y)
	}
	return fmt.Errorf("%s value does not support item assignment", x.Type())
}

// place is the offset of index v in a sequence of n.
func place(v starlark.Value, n int) (int, bool) {
	i, ok := v.(starlark.Int)
	if !ok {
		return 0, false
	}
	at, ok := i.Int64()
	if !ok {
		return 0, false
	}
	if at < 0 {
		at += int64(n)
	}
	return int(at), at >= 0 && at < int64(n)
}

func badIndex(x, y starlark.Value) error {
	i, ok := y.(starlark.Int)
	if !ok {
		return fmt.Errorf("%s index: got %s, want int", x.Type(), y.Type())
	}
	n := starlark.Len(x)
	text, err := digits(i)
	switch {
	case err != nil:
		return fmt.Errorf("%s index out of range", x.Type())
	case n == 0:
		return fmt.Errorf("index %s out of range: empty %s", text, x.Type())
	}
	return fmt.Errorf("%s index %s out of range [%d:%d]", x.Type(), text, -n, n-1)
}

// slice is x[lo:hi:step]; None stands for what is left out.
func (e *engine) slice(x, lo, hi, step starlark.Value) (starlark.Value, error) {
	sequence, ok := x.(starlark.Sliceable)
	if !ok {
		return nil, fmt.Errorf("invalid slice operand %s", x.Type())
	}
	by := 1
	if step != starlark.None {
		var err error
		if by, err = starlark.AsInt32(step); err != nil {
			return nil, fmt.Errorf("invalid slice step: %s", err)
		}
		if by == 0 {
			return nil, fmt.Errorf("zero is not a valid slice step")
		}
	}
	n := sequence.Len()
	least, most := 0, n
	from, to := 0, n
	if by < 0 {
		least, most = -1, n-1
		from, to = n-1, -1
	}
	var err error
	if from, err = bound("start", lo, from, n, least, most); err != nil {
		return nil, err
	}
	if to, err = bound("end", hi, to, n, least, most); err != nil {
		return nil, err
	}
	if by > 0 {
		to = max(to, from)
	} else {
		to = min(to, from)
	}
	if _, isString := x.(starlark.String); !isString || by != 1 {
		if err := e.chargeCopy((to - from) / by); err != nil {
			return nil, err
		}
	}
	return sequence.Slice(from, to, by), nil
}

// bound is one end of a slice: v, counted from the end if it is negative, and
// at the nearest end there is if it is beyond.
func bound(what string, v starlark.Value, missing, n, least, most int) (int, error) {
	if v == starlark.None {
		return missing, nil
	}
	i, ok := v.(starlark.Int)
	if !ok {
		return 0, fmt.Errorf("invalid %s index: got %s, want int", what, v.Type())
	}
	at, small := i.Int64()
	switch {
	case !small && i.Sign() < 0:
		return least, nil
	case !small:
		return most, nil
	case at < 0:
		at += int64(n)
	}
	return int(min(max(at, int64(least)), int64(most))), nil
}
