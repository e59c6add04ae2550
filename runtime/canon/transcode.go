package canon

import (
	"math"
	"strconv"
)

// WireToJSON appends the JSON text of one untyped wire value, at most maxDepth
// containers deep; a scalar is depth 0. The order of
// members is kept. An integer outside ±MaxInteger is written as a decimal
// string, and wide reports that one was: JSON clients that read numbers as
// doubles would change it. A float is written with its shortest digits, with
// ".0" where it is integral, and −0.0 keeps its sign, so that floats and
// integers stay apart. After an error text is dst.
func WireToJSON(dst, wire []byte, maxDepth int) (text []byte, wide bool, err error) {
	t := transcoder{r: NewWireReader(wire, maxDepth)}
	text = t.value(dst)
	if err := t.r.End(); err != nil {
		return dst, false, err
	}
	return text, t.wide, nil
}

type transcoder struct {
	r    *Reader
	wide bool
}

// value recurses once per level of depth, which the reader bounds.
func (t *transcoder) value(dst []byte) []byte {
	r := t.r
	switch r.Peek() {
	case KindNull:
		r.Null()
		return append(dst, "null"...)
	case KindBool:
		return strconv.AppendBool(dst, r.Bool())
	case KindInt:
		v := r.Int(math.MinInt64, math.MaxInt64)
		if v >= -MaxInteger && v <= MaxInteger {
			return strconv.AppendInt(dst, v, 10)
		}
		t.wide = true
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, v, 10)
		return append(dst, '"')
	case KindFloat:
		return appendFloatText(dst, r.SignedFloat())
	case KindString:
		text, _, _ := r.text()
		return appendJSONString(dst, text)
	case KindArray:
		return t.array(dst)
	case KindObject:
		return t.object(dst)
	}
	r.Skip() // no value: says why
	return dst
}

func (t *transcoder) array(dst []byte) []byte {
	t.r.BeginArray(0, math.MaxInt)
	dst = append(dst, '[')
	for first := true; t.r.NextElement(); first = false {
		if !first {
			dst = append(dst, ',')
		}
		dst = t.value(dst)
	}
	return append(dst, ']')
}

func (t *transcoder) object(dst []byte) []byte {
	r := t.r
	r.BeginObject()
	mark := r.keys.len()
	dst = append(dst, '{')
	for first := true; r.NextMember(); first = false {
		key := r.Key()
		r.keys.add(key, r.start, false)
		if !first {
			dst = append(dst, ',')
		}
		dst = appendJSONString(dst, key)
		dst = append(dst, ':')
		dst = t.value(dst)
	}
	r.checkKeys(mark)
	return append(dst, '}')
}
