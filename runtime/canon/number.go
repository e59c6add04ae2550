package canon

import (
	"math"
	"strconv"
)

// MaxInteger is the largest magnitude of an integer in canonical form,
// 2^53 − 1: RFC 8785 writes numbers as IEEE 754 doubles, and beyond it two
// integers that differ by one could be written alike.
const MaxInteger = 1<<53 - 1

// scanNumber checks the JSON number literal (RFC 8259 section 6) at data[pos].
// integral tells that it has neither fraction nor exponent.
func scanNumber(data []byte, pos int) (end int, integral, ok bool) {
	i := pos
	if i < len(data) && data[i] == '-' {
		i++
	}
	switch {
	case i < len(data) && data[i] == '0':
		i++
	case i < len(data) && isDigit(data[i]):
		i = skipDigits(data, i)
	default:
		return i, false, false
	}
	integral = true
	if i < len(data) && data[i] == '.' {
		integral = false
		from := i + 1
		if i = skipDigits(data, from); i == from {
			return i, false, false
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		integral = false
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		from := i
		if i = skipDigits(data, from); i == from {
			return i, false, false
		}
	}
	// 01, 1x and 1.2.3 are malformed numbers rather than a number and
	// something after it.
	if i < len(data) && continuesNumber(data[i]) {
		return i, false, false
	}
	return i, integral, true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func continuesNumber(c byte) bool {
	return isDigit(c) || c == '.' || c == '+' || c == '-' || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func skipDigits(data []byte, i int) int {
	for i < len(data) && isDigit(data[i]) {
		i++
	}
	return i
}

// integerStatus says what parseInteger made of a literal.
type integerStatus uint8

const (
	integerExact integerStatus = iota
	integerFraction
	integerTooLarge
)

// smallInteger is parseInteger of what most integers are: up to 18 digits and
// nothing else.
func smallInteger(lit []byte) (int64, bool) {
	digits := lit
	if lit[0] == '-' {
		digits = lit[1:]
	}
	if len(digits) > 18 {
		return 0, false
	}
	var v int64
	for _, c := range digits {
		if !isDigit(c) {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	if len(digits) < len(lit) {
		v = -v
	}
	return v, true
}

// parseInteger reads a number literal that scanNumber accepted as an exact
// integer: 1.0, 1e2 and 100e-2 are integers. Its work is linear in the
// literal's length, whatever the exponent says.
func parseInteger(lit []byte) (int64, integerStatus) {
	i, negative := 0, false
	if lit[0] == '-' {
		i, negative = 1, true
	}
	// Number the digits of the literal from 0 through the decimal point;
	// first and last are the outermost that are not zero.
	digits, whole, first, last := 0, -1, -1, -1
	j := i
	for ; j < len(lit) && (isDigit(lit[j]) || lit[j] == '.'); j++ {
		if lit[j] == '.' {
			whole = digits
			continue
		}
		if lit[j] != '0' {
			if first < 0 {
				first = digits
			}
			last = digits
		}
		digits++
	}
	if whole < 0 {
		whole = digits
	}
	if first < 0 {
		return 0, integerExact
	}
	// The value is the digits first…last times ten to the power of scale.
	scale := parseExponent(lit[j:]) + int64(whole-1-last)
	if scale < 0 {
		return 0, integerFraction
	}
	if int64(last-first+1)+scale > 19 {
		return 0, integerTooLarge
	}
	var v uint64
	n := 0
	for ; n <= last; i++ {
		if lit[i] == '.' {
			continue
		}
		v = v*10 + uint64(lit[i]-'0')
		n++
	}
	for ; scale > 0; scale-- {
		v *= 10
	}
	switch {
	case negative && v <= 1<<63:
		return -int64(v), integerExact
	case !negative && v <= math.MaxInt64:
		return int64(v), integerExact
	}
	return 0, integerTooLarge
}

// parseExponent reads the exponent of a checked literal, from its e; it stops
// counting far beyond any exponent that matters.
func parseExponent(s []byte) int64 {
	if len(s) == 0 {
		return 0
	}
	s = s[1:]
	negative := s[0] == '-'
	if negative || s[0] == '+' {
		s = s[1:]
	}
	var e int64
	for _, c := range s {
		if e < 1<<40 {
			e = e*10 + int64(c-'0')
		}
	}
	if negative {
		return -e
	}
	return e
}

// appendNumber appends f, which is finite, as RFC 8785 section 3.2.2.3 and
// ECMA-262 Number::toString write it: the shortest digits that read back as f.
func appendNumber(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0') // −0 too
	}
	format := byte('f')
	if a := math.Abs(f); a < 1e-6 || a >= 1e21 {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	// Go writes at least two digits of exponent, ECMA-262 as few as needed.
	if n := len(dst); format == 'e' && n >= 4 && dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// numberText is appendNumber for messages.
func numberText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return "infinity"
	}
	return string(appendNumber(nil, f))
}
