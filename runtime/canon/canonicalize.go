package canon

import (
	"math"
	"slices"
	"strconv"
)

// CanonicalizeJSON appends the RFC 8785 form of one JSON text, at most
// maxDepth containers deep. It takes what NewJSONReader takes, and refuses a
// member that stands twice and an integer outside ±MaxInteger, which the form
// would round; that includes a number whose canonical text would be such an
// integer, so that the result is accepted again and stays as it is. A fraction
// is rounded to the nearest double. After an error the result is dst.
//
// It takes time and memory in proportion to the input times its depth.
func CanonicalizeJSON(dst, src []byte, maxDepth int) ([]byte, error) {
	c := canonicalizer{r: NewJSONReader(src, maxDepth)}
	text := c.value(dst)
	if err := c.r.End(); err != nil {
		return dst, err
	}
	return text, nil
}

type canonicalizer struct {
	r       *Reader
	exact   bool              // keep integers of 64 bits, as Opaque's results do
	written bool              // a canonical writer's: integers outside ±MaxInteger are floats
	wide    bool              // take floats that are written as integers of any size
	members []canonicalMember // of the open objects, innermost last
	sorted  []byte            // scratch
}

// canonicalMember is one member as it was appended, in the input's order.
type canonicalMember struct {
	key        string
	offset     int // in the input
	start, end int // in the output
}

// value recurses once per level of depth, which the reader bounds.
func (c *canonicalizer) value(dst []byte) []byte {
	r := c.r
	switch r.Peek() {
	case KindNull:
		r.Null()
		return append(dst, "null"...)
	case KindBool:
		return strconv.AppendBool(dst, r.Bool())
	case KindNumber:
		return c.number(dst)
	case KindInt:
		return strconv.AppendInt(dst, r.Int(-MaxInteger, MaxInteger), 10)
	case KindFloat:
		return c.float(dst, "")
	case KindString:
		text, _, _ := r.text()
		return appendJSONString(dst, text)
	case KindArray:
		r.BeginArray(0, math.MaxInt)
		dst = append(dst, '[')
		for first := true; r.NextElement(); first = false {
			if !first {
				dst = append(dst, ',')
			}
			dst = c.value(dst)
		}
		return append(dst, ']')
	case KindObject:
		return c.object(dst)
	}
	r.Skip() // no value: says why
	return dst
}

func (c *canonicalizer) number(dst []byte) []byte {
	r := c.r
	r.space()
	lit, integral, ok := r.number()
	if !ok {
		return dst
	}
	if integral && c.written {
		if f, err := strconv.ParseFloat(string(lit), 64); err == nil && math.Abs(f) > MaxInteger {
			return c.float(dst, "")
		}
	}
	if integral && c.exact {
		return strconv.AppendInt(dst, r.Int(math.MinInt64, math.MaxInt64), 10)
	}
	if integral {
		f := r.Float()
		if math.Abs(f) > MaxInteger {
			r.Fail(CodeRange, expectedInteger(-MaxInteger, MaxInteger, cutLiteral(lit)))
			return dst
		}
		return appendNumber(dst, f)
	}
	return c.float(dst, cutLiteral(lit))
}

// float reads what is no integer's literal; got is the literal, if there is one.
func (c *canonicalizer) float(dst []byte, got string) []byte {
	f := c.r.Float()
	if c.r.err != nil {
		return dst
	}
	if c.wide || !readsAsWideInteger(f) {
		return appendNumber(dst, f)
	}
	if c.exact {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	if got == "" {
		got = numberText(f)
	}
	c.r.Fail(CodeRange, expectedInteger(-MaxInteger, MaxInteger, got))
	return dst
}

// object appends the members as they come and then puts them in order.
func (c *canonicalizer) object(dst []byte) []byte {
	r := c.r
	mark, from := len(c.members), len(dst)+1
	r.BeginObject()
	dst = append(dst, '{')
	for r.NextMember() {
		m := canonicalMember{key: string(r.Key()), offset: r.start, start: len(dst)}
		dst = appendJSONString(dst, m.key)
		dst = append(dst, ':')
		dst = c.value(dst)
		m.end = len(dst)
		c.members = append(c.members, m)
	}
	members := c.members[mark:]
	c.members = c.members[:mark]
	if r.err != nil {
		return dst
	}
	slices.SortFunc(members, func(a, b canonicalMember) int {
		if n := CompareKeys(a.key, b.key); n != 0 {
			return n
		}
		return a.offset - b.offset
	})
	c.sorted = c.sorted[:0]
	for i, m := range members {
		if i > 0 {
			if members[i-1].key == m.key {
				c.duplicate(m)
				return dst
			}
			c.sorted = append(c.sorted, ',')
		}
		c.sorted = append(c.sorted, dst[m.start:m.end]...)
	}
	dst = append(dst[:from], c.sorted...)
	return append(dst, '}')
}

func (c *canonicalizer) duplicate(m canonicalMember) {
	path := finishPath(appendMember([]byte(c.r.path()), m.key))
	c.r.err = &Error{Path: path, Code: CodeDuplicate, Message: "given twice", Offset: m.offset}
}
