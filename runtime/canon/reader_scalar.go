package canon

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// Null consumes a null and reports true. For any other value it consumes
// nothing and reports false.
func (r *Reader) Null() bool {
	if r.Peek() != KindNull || !r.open(KindNull) {
		return false
	}
	if r.wire {
		return r.took(1)
	}
	return r.word("null")
}

// Bool reads a boolean.
func (r *Reader) Bool() bool {
	if !r.open(KindBool) {
		return false
	}
	if r.wire {
		return r.wireBool()
	}
	if r.data[r.pos] == 't' {
		return r.word("true")
	}
	r.word("false")
	return false
}

// word consumes one of JSON's literal names.
func (r *Reader) word(w string) bool {
	end := r.pos + len(w)
	if end > len(r.data) || string(r.data[r.pos:end]) != w {
		r.failAt(CodeSyntax, r.pos, "expected the literal "+w)
		return false
	}
	return r.took(len(w))
}

// took consumes the n bytes of a scalar.
func (r *Reader) took(n int) bool {
	r.pos += n
	r.ready = false
	return true
}

// number scans the JSON number at pos without consuming it.
func (r *Reader) number() (lit []byte, integral, ok bool) {
	end, integral, ok := scanNumber(r.data, r.pos)
	if !ok {
		r.failAt(CodeSyntax, end, "malformed number")
		return nil, false, false
	}
	return r.data[r.pos:end], integral, true
}

// Int reads an integer from min to max, both included. In JSON text a number
// counts by its exact value: 1.0 and 1e2 are integers. On the wire a float is
// never one.
func (r *Reader) Int(min, max int64) int64 {
	v, ok := r.readInt(min, max)
	if !ok {
		return 0
	}
	if v < min || v > max {
		r.failAt(CodeRange, r.start, expectedInteger(min, max, strconv.FormatInt(v, 10)))
		return 0
	}
	return v
}

// readInt reads any 64-bit integer; the bounds are for its message.
func (r *Reader) readInt(min, max int64) (int64, bool) {
	if !r.open(KindInt) {
		return 0, false
	}
	if r.wire {
		if r.Peek() != KindInt {
			r.failType("integer")
			return 0, false
		}
		return r.wireInt()
	}
	lit, _, ok := r.number()
	if !ok {
		return 0, false
	}
	if v, ok := smallInteger(lit); ok {
		return v, r.took(len(lit))
	}
	v, status := parseInteger(lit)
	switch status {
	case integerFraction:
		r.failAt(CodeType, r.start, "expected integer, got number")
		return 0, false
	case integerTooLarge:
		r.failAt(CodeRange, r.start, expectedInteger(min, max, cutLiteral(lit)))
		return 0, false
	}
	return v, r.took(len(lit))
}

// cutLiteral is a number literal for a message.
func cutLiteral(lit []byte) string {
	const most = 32
	if len(lit) > most {
		return string(lit[:most]) + ellipsis
	}
	return string(lit)
}

// Float reads a finite number; −0 reads as 0. A JSON number is rounded to the
// nearest double, as JSON does; an integer on the wire must be one exactly.
func (r *Reader) Float() float64 {
	f := r.SignedFloat()
	if f == 0 {
		return 0
	}
	return f
}

// SignedFloat is Float, except that −0 keeps its sign. It is for results, as
// they reach a program; in arguments the sign of zero would be a difference
// that no policy sees.
func (r *Reader) SignedFloat() float64 {
	if !r.open(KindFloat) {
		return 0
	}
	if r.wire {
		return r.wireNumber()
	}
	lit, _, ok := r.number()
	if !ok {
		return 0
	}
	f, err := strconv.ParseFloat(string(lit), 64)
	if err != nil {
		r.failAt(CodeRange, r.start, "expected a number in the range of a 64-bit float, got "+cutLiteral(lit))
		return 0
	}
	r.took(len(lit))
	return f
}

// RawNumber reads a number and returns its literal (JSON), or the decimal text
// that WireToJSON writes for it (wire).
func (r *Reader) RawNumber() string {
	if !r.open(KindFloat) {
		return ""
	}
	if r.wire {
		return string(r.appendWireNumber(nil))
	}
	lit, _, ok := r.number()
	if !ok {
		return ""
	}
	r.took(len(lit))
	return string(lit)
}

// String reads a string of min to max code points, both included.
func (r *Reader) String(min, max int) string {
	text, points, ok := r.text()
	if !ok {
		return ""
	}
	if problem := checkLength(points, min, max, "character"); problem != "" {
		r.failAt(CodeLength, r.start, problem)
		return ""
	}
	return string(text)
}

// Enum reads one of the allowed strings. It returns the element of allowed, so
// that nothing of the input is kept.
func (r *Reader) Enum(allowed ...string) string {
	text, _, ok := r.text()
	if !ok {
		return ""
	}
	for _, s := range allowed {
		if string(text) == s {
			return s
		}
	}
	r.failAt(CodeEnum, r.start, expectedOneOf(allowed, string(text[:min(len(text), 2*maxQuoted)])))
	return ""
}

// text reads a string and counts its code points. The bytes are valid until
// the next call.
func (r *Reader) text() (text []byte, points int, ok bool) {
	if r.stands('"') {
		r.start = r.pos
	} else if !r.open(KindString) {
		return nil, 0, false
	}
	if r.wire {
		text, ok = r.wireString()
		if !ok {
			return nil, 0, false
		}
		r.ready = false
		return text, utf8.RuneCount(text), true
	}
	if end := plainEnd(r.data, r.pos); end >= 0 {
		text = r.data[r.pos+1 : end]
		r.took(end + 1 - r.pos)
		return text, len(text), true
	}
	s := scanString(r.data, r.pos)
	if s.problem != "" {
		r.failAt(CodeSyntax, s.end, s.problem)
		return nil, 0, false
	}
	text = r.data[r.pos+1 : s.end-1]
	if s.escaped {
		r.scratch = appendUnescaped(r.scratch[:0], text)
		text = r.scratch
	}
	r.took(s.end - r.pos)
	return text, s.points, true
}

// Match checks s, just read, against a pattern. This check and those below
// fail at the path of the value read last.
func (r *Reader) Match(s string, p *Pattern) {
	if r.err == nil && !p.MatchString(s) {
		r.Fail(CodePattern, noMatch(p))
	}
}

// Is checks that a boolean is want.
func (r *Reader) Is(v, want bool) {
	if r.err == nil && v != want {
		r.failAt(CodeEnum, r.start, expectedBool(want))
	}
}

// AtLeast checks that v ≥ min.
func (r *Reader) AtLeast(v, min float64) { r.check(checkAtLeast, v, min) }

// AtMost checks that v ≤ max.
func (r *Reader) AtMost(v, max float64) { r.check(checkAtMost, v, max) }

// Above checks that v > min.
func (r *Reader) Above(v, min float64) { r.check(checkAbove, v, min) }

// Below checks that v < max.
func (r *Reader) Below(v, max float64) { r.check(checkBelow, v, max) }

// MultipleOf checks that v is an integral multiple of n, both taken by their
// shortest decimals.
func (r *Reader) MultipleOf(v float64, n float64) { r.check(checkMultiple, v, n) }

func (r *Reader) check(check func(v, bound float64) string, v, bound float64) {
	if r.err != nil {
		return
	}
	if problem := check(v, bound); problem != "" {
		r.Fail(CodeRange, problem)
	}
}

// IntMultipleOf checks that v is an integral multiple of n.
func (r *Reader) IntMultipleOf(v, n int64) {
	if r.err != nil {
		return
	}
	if problem := checkIntMultiple(v, n); problem != "" {
		r.Fail(CodeRange, problem)
	}
}

// exactInteger tells whether a double holds v exactly.
func exactInteger(v int64) bool {
	f := float64(v)
	// float64(MaxInt64) is 2^63, which converting back would overflow.
	return f < math.MaxInt64 && int64(f) == v
}
