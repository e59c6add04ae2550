package canon

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/tinylib/msgp/msgp"
)

// The wire encoding is the part of MessagePack that package msgp's
// AppendNil, AppendBool, AppendInt64, AppendFloat64, AppendString,
// AppendArrayHeader and AppendMapHeader write, byte for byte. A value has one
// encoding: integers stand in their shortest signed form, headers in their
// shortest form, floats in 64 bits. Everything else is refused: unsigned
// integer forms, 32-bit floats, binary, extensions, keys that are not strings.

func wireKind(c byte) Kind {
	switch {
	case c <= 0x7F, c >= 0xE0, c >= 0xCC && c <= 0xD3:
		return KindInt
	case c <= 0x8F, c == 0xDE, c == 0xDF:
		return KindObject
	case c <= 0x9F, c == 0xDC, c == 0xDD:
		return KindArray
	case c <= 0xBF, c >= 0xD9 && c <= 0xDB:
		return KindString
	case c == 0xC0:
		return KindNull
	case c == 0xC2, c == 0xC3:
		return KindBool
	case c == 0xCB:
		return KindFloat
	}
	return KindInvalid
}

// wireProblem says why no value begins with c.
func wireProblem(c byte) string {
	switch {
	case c >= 0xC4 && c <= 0xC6:
		return "binary on the wire"
	case c == 0xCA:
		return "32-bit float on the wire"
	case c >= 0xC7 && c <= 0xC9, c >= 0xD4 && c <= 0xD8:
		return "extension on the wire"
	}
	return "unused type byte on the wire"
}

// wireTook consumes what msgp has read and refuses a header or number that is
// longer than want bytes, its minimal form.
func (r *Reader) wireTook(rest []byte, want int, err error) bool {
	if err != nil {
		r.failAt(CodeSyntax, r.pos, "truncated value on the wire")
		return false
	}
	if len(r.data)-r.pos-len(rest) != want {
		r.failAt(CodeSyntax, r.pos, "non-minimal form on the wire")
		return false
	}
	r.pos += want
	r.ready = false
	return true
}

func (r *Reader) wireBool() bool {
	v, rest, err := msgp.ReadBoolBytes(r.data[r.pos:])
	return r.wireTook(rest, 1, err) && v
}

func (r *Reader) wireInt() (int64, bool) {
	if c := r.data[r.pos]; c >= 0xCC && c <= 0xCF {
		r.failAt(CodeSyntax, r.pos, "unsigned integer form on the wire")
		return 0, false
	}
	v, rest, err := msgp.ReadInt64Bytes(r.data[r.pos:])
	return v, r.wireTook(rest, wireIntSize(v), err)
}

func wireIntSize(v int64) int {
	switch {
	case v >= -32 && v <= math.MaxInt8:
		return 1
	case v >= math.MinInt8 && v < 0:
		return 2
	case v >= math.MinInt16 && v <= math.MaxInt16:
		return 3
	case v >= math.MinInt32 && v <= math.MaxInt32:
		return 5
	}
	return 9
}

// wireNumber reads a float, or an integer that a float holds exactly.
func (r *Reader) wireNumber() float64 {
	if r.Peek() == KindInt {
		v, ok := r.wireInt()
		if ok && !exactInteger(v) {
			r.failAt(CodeRange, r.start, "integer "+strconv.FormatInt(v, 10)+" is no 64-bit float exactly")
			return 0
		}
		return float64(v)
	}
	return r.wireFloat()
}

func (r *Reader) wireFloat() float64 {
	v, rest, err := msgp.ReadFloat64Bytes(r.data[r.pos:])
	if !r.wireTook(rest, msgp.Float64Size, err) {
		return 0
	}
	if !isFinite(v) {
		r.failAt(CodeRange, r.start, "expected a finite number, got "+numberText(v))
		return 0
	}
	return v
}

// wireString reads a string or a key; what is of another kind is reported as
// a key, because values have been looked at before.
func (r *Reader) wireString() ([]byte, bool) {
	if r.pos < len(r.data) && wireKind(r.data[r.pos]) != KindString {
		r.failAt(CodeSyntax, r.pos, "object key on the wire that is not a string")
		return nil, false
	}
	text, rest, err := msgp.ReadStringZC(r.data[r.pos:])
	start := r.pos
	if !r.wireTook(rest, wireStringHeader(len(text))+len(text), err) {
		return nil, false
	}
	if !utf8.Valid(text) {
		r.failAt(CodeSyntax, start, "invalid UTF-8 in a string")
		return nil, false
	}
	return text, true
}

func wireStringHeader(n int) int {
	switch {
	case n <= 31:
		return 1
	case n <= math.MaxUint8:
		return 2
	case n <= math.MaxUint16:
		return 3
	}
	return 5
}

// wireArrayHeader reads how many elements follow. Each needs a byte at least,
// so that a header cannot promise more than the input holds.
func (r *Reader) wireArrayHeader() (int, bool) {
	n, rest, err := msgp.ReadArrayHeaderBytes(r.data[r.pos:])
	if !r.wireTook(rest, wireContainerHeader(n), err) {
		return 0, false
	}
	return r.wireItems(uint64(n))
}

// wireMapHeader reads how many members follow; a member needs two bytes.
func (r *Reader) wireMapHeader() (int, bool) {
	n, rest, err := msgp.ReadMapHeaderBytes(r.data[r.pos:])
	if !r.wireTook(rest, wireContainerHeader(n), err) {
		return 0, false
	}
	if _, ok := r.wireItems(2 * uint64(n)); !ok {
		return 0, false
	}
	return int(n), true
}

func (r *Reader) wireItems(n uint64) (int, bool) {
	if n > uint64(len(r.data)-r.pos) {
		r.failAt(CodeSyntax, r.start, "truncated value on the wire")
		return 0, false
	}
	return int(n), true
}

func wireContainerHeader(n uint32) int {
	switch {
	case n <= 15:
		return 1
	case n <= math.MaxUint16:
		return 3
	}
	return 5
}

// appendWireNumber reads a number of either kind and appends its decimal text:
// an integer's digits, a float with ".0" or an exponent.
func (r *Reader) appendWireNumber(dst []byte) []byte {
	if r.Peek() == KindInt {
		v, ok := r.wireInt()
		if !ok {
			return dst
		}
		return strconv.AppendInt(dst, v, 10)
	}
	v := r.wireFloat()
	if r.err != nil {
		return dst
	}
	return appendFloatText(dst, v)
}

// appendFloatText appends a float so that its text does not read as an
// integer's; −0 keeps its sign.
func appendFloatText(dst []byte, v float64) []byte {
	if v == 0 && math.Signbit(v) {
		return append(dst, "-0.0"...)
	}
	from := len(dst)
	dst = appendNumber(dst, v)
	for _, c := range dst[from:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, ".0"...)
}
