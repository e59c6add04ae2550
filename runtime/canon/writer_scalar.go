package canon

import (
	"strconv"
	"unicode/utf8"

	"github.com/tinylib/msgp/msgp"
)

// Null writes null.
func (w *Writer) Null() {
	if !w.value(len("null")) {
		return
	}
	if w.wire {
		w.buf = msgp.AppendNil(w.buf)
	} else {
		w.buf = append(w.buf, "null"...)
	}
}

// Bool writes a boolean.
func (w *Writer) Bool(v bool) {
	if !w.value(len("false")) {
		return
	}
	if w.wire {
		w.buf = msgp.AppendBool(w.buf, v)
	} else {
		w.buf = strconv.AppendBool(w.buf, v)
	}
}

// Int writes an integer from min to max, both included; in canonical form it
// must also lie within ±MaxInteger.
func (w *Writer) Int(v, min, max int64) {
	if !w.value(maxNumberText) {
		return
	}
	if !w.wire && (v > MaxInteger || v < -MaxInteger) {
		if min < -MaxInteger {
			min = -MaxInteger
		}
		if max > MaxInteger {
			max = MaxInteger
		}
	}
	if (v < min || v > max) && w.breach(CodeRange, expectedInteger(min, max, strconv.FormatInt(v, 10))) {
		return
	}
	if w.wire {
		w.buf = msgp.AppendInt64(w.buf, v)
	} else {
		w.buf = strconv.AppendInt(w.buf, v, 10)
	}
}

// maxNumberText is the most bytes a number takes in either form, which is what
// Limit counts for one: -1.2345678901234567e-300.
const maxNumberText = 25

// Float writes a finite number. In canonical form −0 is 0; the wire keeps its
// sign, which Reader.Float drops and Reader.SignedFloat keeps.
func (w *Writer) Float(v float64) {
	if !w.value(maxNumberText) {
		return
	}
	if !isFinite(v) {
		w.fail(CodeRange, "expected a finite number, got "+numberText(v))
		return
	}
	if w.wire {
		w.buf = msgp.AppendFloat64(w.buf, v)
	} else {
		w.buf = appendNumber(w.buf, v)
	}
}

// String writes a string of min to max code points, both included.
func (w *Writer) String(s string, min, max int) {
	if !w.value(len(s) + stringOverhead) {
		return
	}
	points, plain := len(s), isPlain(s)
	if !plain {
		if !w.validText(s) {
			return
		}
		points = utf8.RuneCountInString(s)
	}
	if points < min || points > max {
		if w.breach(CodeLength, checkLength(points, min, max, "character")) {
			return
		}
	}
	if plain && !w.wire {
		w.buf = append(append(append(w.buf, '"'), s...), '"')
		return
	}
	w.text(s)
}

// stringOverhead is the quotes, or the header of most strings.
const stringOverhead = 2

// Enum writes one of the allowed strings.
func (w *Writer) Enum(s string, allowed ...string) {
	if !w.value(len(s) + stringOverhead) {
		return
	}
	for _, a := range allowed {
		if s == a {
			if w.validText(s) {
				w.text(s)
			}
			return
		}
	}
	if !w.breach(CodeEnum, expectedOneOf(allowed, s)) && w.validText(s) {
		w.text(s)
	}
}

func (w *Writer) text(s string) {
	if w.wire {
		w.buf = msgp.AppendString(w.buf, s)
		return
	}
	w.buf = appendJSONString(w.buf, s)
	// Escapes make a string up to six times longer than was counted for it.
	w.fits(0)
}

// validText refuses what is not UTF-8: no form of it exists.
func (w *Writer) validText(s string) bool {
	if utf8.ValidString(s) {
		return true
	}
	w.fail(CodeSyntax, "invalid UTF-8 in a string")
	return false
}

// Match checks s, just written, against a pattern. This check and those below
// fail at the path of the value written last.
func (w *Writer) Match(s string, p *Pattern) {
	if w.err == nil && !p.MatchString(s) {
		w.breach(CodePattern, noMatch(p))
	}
}

// Is checks that a boolean is want.
func (w *Writer) Is(v, want bool) {
	if v != want {
		w.breach(CodeEnum, expectedBool(want))
	}
}

// AtLeast checks that v ≥ min.
func (w *Writer) AtLeast(v, min float64) { w.check(checkAtLeast, v, min) }

// AtMost checks that v ≤ max.
func (w *Writer) AtMost(v, max float64) { w.check(checkAtMost, v, max) }

// Above checks that v > min.
func (w *Writer) Above(v, min float64) { w.check(checkAbove, v, min) }

// Below checks that v < max.
func (w *Writer) Below(v, max float64) { w.check(checkBelow, v, max) }

// MultipleOf checks that v is an integral multiple of n, both taken by their
// shortest decimals.
func (w *Writer) MultipleOf(v float64, n float64) { w.check(checkMultiple, v, n) }

func (w *Writer) check(check func(v, bound float64) string, v, bound float64) {
	if w.err != nil {
		return
	}
	if problem := check(v, bound); problem != "" {
		w.breach(CodeRange, problem)
	}
}

// IntMultipleOf checks that v is an integral multiple of n.
func (w *Writer) IntMultipleOf(v, n int64) {
	if w.err != nil {
		return
	}
	if problem := checkIntMultiple(v, n); problem != "" {
		w.breach(CodeRange, problem)
	}
}
