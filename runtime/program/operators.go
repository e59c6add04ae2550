package program

import (
	"fmt"
	"math/big"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/lower"
	"github.com/capgen/capgen/runtime/program/text"
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
			return x.Add(y), e.chargeInts(syntax.PLUS, x, y)
		}
	case starlark.String:
		if y, ok := y.(starlark.String); ok {
			if err := e.roomBytes(len(x) + len(y)); err != nil {
				return nil, err
			}
			return x + y, nil
		}
	case starlark.Bytes:
		if y, ok := y.(starlark.Bytes); ok {
			if err := e.roomBytes(len(x) + len(y)); err != nil {
				return nil, err
			}
			return x + y, nil
		}
	case *starlark.List, starlark.Tuple:
		if err := e.roomCopy(starlark.Len(x) + max(0, starlark.Len(y))); err != nil {
			return nil, err
		}
	}
	if v, ok, err := floatOperator(syntax.PLUS, x, y); ok {
		return v, err
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
func (e *engine) addTo() binary {
	add := e.operator(lower.Add)
	return func(x, y starlark.Value) (starlark.Value, error) {
		if list, ok := x.(*starlark.List); ok {
			return list, e.extend(list, y)
		}
		return add(x, y)
	}
}

// multiply is x * y.
func (e *engine) multiply(x, y starlark.Value) (starlark.Value, error) {
	a, isInt := x.(starlark.Int)
	b, too := y.(starlark.Int)
	switch {
	case isInt && too:
		return e.product(a, b)
	case isNumber(x) && isNumber(y):
		v, _, err := floatOperator(syntax.STAR, x, y)
		return v, err
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
		if err := e.chargeWords(m, n); err != nil {
			return nil, err
		}
	}
	return x.Mul(y), nil
}

// chargeWords debits the product or quotient of ints of m and n bits:
// schoolbook arithmetic of words, which is the most it can take.
func (e *engine) chargeWords(m, n int) error {
	return e.chargeBytes(m/8 + n/8 + m/64*(n/64))
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
	if _, small := n.Int64(); !small {
		return nil, raise("OverflowError", "cannot fit 'int' into an index-sized integer")
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
			if a, ok := x.Int64(); ok && a >= 0 { // as most are
				if b, ok := y.Int64(); ok && b > 0 {
					return starlark.MakeInt64(a % b), nil
				}
			}
			if _, small := x.Int64(); !small {
				if err := e.chargeWords(bits(x), bits(y)); err != nil {
					return nil, err
				}
			}
			return x.Mod(y), nil
		}
	}
	v, ok, err := inFloats(x, y, func(x, y float64) (starlark.Value, error) {
		if y == 0 {
			return nil, raise("ZeroDivisionError", "float modulo")
		}
		_, rest := floatDivmod(x, y)
		return starlark.Float(rest), nil
	})
	if ok {
		return v, err
	}
	return starlark.Binary(syntax.PERCENT, x, y)
}

// shift is x << y, and x >> y.
func (e *engine) shift(left bool) binary {
	return func(x, y starlark.Value) (starlark.Value, error) {
		a, ok := x.(starlark.Int)
		b, too := y.(starlark.Int)
		if !ok || !too {
			return starlark.Binary(syntax.LTLT, x, y) // an error of its operands
		}
		if b.Sign() < 0 {
			return nil, raise("ValueError", "negative shift count")
		}
		m := bits(a)
		if err := e.chargeBytes(m / 8); err != nil {
			return nil, err
		}
		n, small := b.Int64()
		if !small || n > maxIntBits {
			n = maxIntBits + 1
		}
		if !left {
			return starlark.MakeBigInt(new(big.Int).Rsh(a.BigInt(), uint(n))), nil
		}
		if a.Sign() == 0 {
			return a, nil
		}
		if err := roomBits(m + int(n)); err != nil {
			return nil, err
		}
		return starlark.MakeBigInt(new(big.Int).Lsh(a.BigInt(), uint(n))), nil
	}
}

// setOperator is x op y of sets and of views that are like sets, and | of
// dicts; ok is false for other operands.
func (e *engine) setOperator(symbol string, x, y starlark.Value) (v starlark.Value, ok bool, err error) {
	if symbol == "|" && isMapping(x) && isMapping(y) {
		d := new(starlark.Dict)
		if err := e.updateDict(d, x.(starlark.IterableMapping)); err != nil {
			return nil, true, err
		}
		return d, true, e.updateDict(d, y.(starlark.IterableMapping))
	}
	a, isSet := e.asSet(x)
	b, too := e.asSet(y)
	if _, isView := x.(*view); isView && isSet && !too {
		if _, err := e.iter(y); err == nil { // views take any iterable
			if b, err = e.setFrom(y); err != nil {
				return nil, true, err
			}
			too = true
		}
	}
	if !isSet || !too {
		return nil, false, nil
	}
	set, err := e.combine(map[string]string{"|": "union", "&": "intersection", "-": "difference", "^": "symmetric_difference"}[symbol], a, b)
	if err != nil {
		return nil, true, err
	}
	v, err = e.likeSet(x, set)
	return v, true, err
}

// unionTo is x |= y, which updates a dict or set in place.
func (e *engine) unionTo(x, y starlark.Value) (starlark.Value, error) {
	switch to := x.(type) {
	case *starlark.Dict:
		return to, e.fill("update", to, starlark.Tuple{y}, nil)
	case *record:
		return to, e.fill("update", to.dict(), starlark.Tuple{y}, nil)
	case *starlark.Set:
		if from, ok := e.asSet(y); ok {
			return to, e.insert(to, from)
		}
	}
	return e.operator("$|")(x, y)
}

// setTo is x op= y for sets, in place, and op for all else.
func (e *engine) setTo(symbol string) binary {
	name := map[string]string{"&": "intersection", "-": "difference", "^": "symmetric_difference"}[symbol]
	return func(x, y starlark.Value) (starlark.Value, error) {
		set, ok := x.(*starlark.Set)
		other, too := e.asSet(y)
		if !ok || !too {
			return e.operator("$"+symbol)(x, y)
		}
		result, err := e.combine(name, set, other)
		if err != nil {
			return nil, err
		}
		if err := set.Clear(); err != nil {
			return nil, err
		}
		return set, e.insert(set, result)
	}
}

// inPlace is op with the operator's own name in errors: += for +.
func (e *engine) inPlace(name string, op binary) binary {
	symbol := name[1:]
	if symbol == "**" {
		symbol = "** or pow()"
	}
	plain := "unsupported operand type(s) for " + symbol + ":"
	return func(x, y starlark.Value) (starlark.Value, error) {
		v, err := op(x, y)
		if r, ok := err.(*raised); ok && r.exception == nil && r.class == "TypeError" {
			if rest, ok := strings.CutPrefix(r.message, plain); ok {
				return nil, raise("TypeError", "unsupported operand type(s) for %s=:%s", name[1:], rest)
			}
		}
		return v, err
	}
}

// multiplyTo is x *= y, which repeats a list in place.
func (e *engine) multiplyTo(x, y starlark.Value) (starlark.Value, error) {
	v, err := e.operator("$*")(x, y)
	if list, ok := x.(*starlark.List); ok && err == nil {
		if more, ok := v.(*starlark.List); ok {
			items, err := e.collect(more)
			if err != nil {
				return nil, err
			}
			return list, e.refill(list, items)
		}
	}
	return v, err
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
		if err == nil && !found {
			err = raiseKey(y)
		}
		return v, err
	case *record:
		v, _, err := x.Get(y)
		return v, err
	case starlark.String:
		if len(x) < pointsFrom && text.IsASCII(string(x)) { // the usual case, without a count
			if at, ok := place(y, len(x)); ok {
				return e.character(x[at]), nil
			}
			break
		}
		if i, ok := number(y).(starlark.Int); ok {
			p, err := e.points(string(x))
			if err != nil {
				return nil, err
			}
			if at, ok := place(i, p.n); ok {
				return starlark.String(p.slice(at, at+1)), nil
			}
		}
	case starlark.Bytes:
		if i, ok := place(y, len(x)); ok {
			return starlark.MakeInt(int(x[i])), nil
		}
	case starlark.Mapping:
		v, found, err := x.Get(y)
		if err == nil && !found {
			err = raiseKey(y)
		}
		return v, err
	case starlark.Indexable: // tuple, range
		if i, ok := place(y, x.Len()); ok {
			return x.Index(i), nil
		}
	case *class:
		return e.parameterized(x, y)
	case *alias:
		return x, nil
	default:
		return nil, raise("TypeError", "'%s' object is not subscriptable", className(x))
	}
	if s, ok := y.(*sliceValue); ok {
		return e.slice(x, s.start, s.stop, s.step)
	}
	return nil, badIndex(x, y)
}

// character is a text of one ASCII character, made once.
func (e *engine) character(c byte) starlark.Value {
	if e.singles[c] == nil {
		e.singles[c] = starlark.String([]byte{c})
	}
	return e.singles[c]
}

// setItem is x[y] = z.
func (e *engine) setItem(x, y, z starlark.Value) error {
	switch x := x.(type) {
	case *starlark.Dict:
		return e.setKey(x, y, z)
	case *record:
		return e.setKey(x.dict(), y, z)
	case *starlark.List:
		at, ok := place(y, x.Len())
		if s, isSlice := y.(*sliceValue); isSlice {
			_, err := e.setSlice(nil, nil, starlark.Tuple{x, s.start, s.stop, s.step, z}, nil)
			return err
		}
		if !ok {
			return listIndexError(y, "list assignment index out of range")
		}
		return x.SetIndex(at, z)
	}
	return raise("TypeError", "'%s' object does not support item assignment", className(x))
}

// place is the offset of index v in a sequence of n.
func place(v starlark.Value, n int) (int, bool) {
	i, ok := number(v).(starlark.Int)
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
	name := className(x)
	if i, ok := number(y).(starlark.Int); ok {
		if _, small := i.Int64(); !small && name != "range" {
			return raise("IndexError", "cannot fit 'int' into an index-sized integer")
		}
		if name == "str" {
			name = "string"
		}
		if name == "range" {
			name = "range object"
		}
		if name == "bytes" {
			return raise("IndexError", "index out of range")
		}
		return raise("IndexError", "%s index out of range", name)
	}
	if name == "bytes" {
		return raise("TypeError", "byte indices must be integers or slices, not %s", className(y))
	}
	if name == "str" {
		return raise("TypeError", "string indices must be integers, not '%s'", className(y))
	}
	return raise("TypeError", "%s indices must be integers or slices, not %s", name, className(y))
}

// slice is x[lo:hi:step]; None stands for what is left out.
func (e *engine) slice(x, lo, hi, step starlark.Value) (starlark.Value, error) {
	sequence, ok := x.(starlark.Sliceable)
	if !ok {
		if isMapping(x) {
			return nil, raise("TypeError", "unhashable type: 'slice'")
		}
		return nil, raise("TypeError", "'%s' object is not subscriptable", className(x))
	}
	s, isString := x.(starlark.String)
	n := sequence.Len()
	var p points
	if isString {
		var err error
		if p, err = e.points(string(s)); err != nil {
			return nil, err
		}
		n = p.n
	}
	from, to, by, err := sliceBounds(n, lo, hi, step)
	if err != nil {
		return nil, err
	}
	if className(x) == "range" {
		return sequence.Slice(from, to, by), nil
	}
	if by > 0 {
		to = max(to, from)
	} else {
		to = min(to, from)
	}
	if isString && by == 1 {
		return starlark.String(p.slice(from, to)), nil
	}
	if err := e.chargeCopy((to - from) / by); err != nil {
		return nil, err
	}
	if isString {
		if err := e.chargeBytes(len(s)); err != nil {
			return nil, err
		}
		return starlark.String(text.Slice(string(s), from, to, by)), nil
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
