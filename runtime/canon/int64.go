package canon

import (
	"strconv"
)

// MaxInt64Text is the most bytes the decimal text of an int64 takes.
const MaxInt64Text = 20

// A 64-bit integer is a string of decimal digits in every form but Go's and a
// program's: RFC 8785 rounds numbers above 2^53, and two ids one apart must
// not have the same canonical bytes.

// Int64 reads a string of decimal digits as an integer from min to max, both
// included: -?[1-9][0-9]* or 0, nothing else.
func (r *Reader) Int64(min, max int64) int64 {
	text, _, ok := r.text()
	if !ok {
		return 0
	}
	if !isDecimal(text) {
		r.failAt(CodePattern, r.start, "expected the decimal digits of an integer, got "+quoted(string(text)))
		return 0
	}
	if len(text) <= MaxInt64Text {
		v, err := strconv.ParseInt(string(text), 10, 64)
		if err == nil && min <= v && v <= max {
			return v
		}
	}
	r.failAt(CodeRange, r.start, expectedInteger(min, max, cutLiteral(text)))
	return 0
}

// isDecimal tells whether text is an integer in its one form.
func isDecimal(text []byte) bool {
	digits := text
	if len(digits) > 1 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || digits[0] == '0' && len(text) > 1 {
		return false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// Int64 writes an integer from min to max, both included, as a string of
// decimal digits.
func (w *Writer) Int64(v, min, max int64) {
	if !w.value(MaxInt64Text + stringOverhead) {
		return
	}
	if (v < min || v > max) && w.breach(CodeRange, expectedInteger(min, max, strconv.FormatInt(v, 10))) {
		return
	}
	w.text(strconv.FormatInt(v, 10))
}
