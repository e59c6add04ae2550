package schema

import (
	"strconv"
)

// lowerInteger lowers the bounds of an integer to one inclusive pair inside
// ±(2^53−1).
func (l *loader) lowerInteger(t *Type, n *node) {
	t.Minimum, t.Maximum = -MaxInteger, MaxInteger
	if v, ok := l.integerBound(n, "minimum"); ok {
		t.Minimum = v
	}
	if v, ok := l.integerBound(n, "exclusiveMinimum"); ok {
		t.Minimum = max(t.Minimum, v+1)
	}
	if v, ok := l.integerBound(n, "maximum"); ok {
		t.Maximum = v
	}
	if v, ok := l.integerBound(n, "exclusiveMaximum"); ok {
		t.Maximum = min(t.Maximum, v-1)
	}
	if t.Minimum > t.Maximum {
		l.errorf(l.boundAt(n), ruleEmptyRange, "no integer lies between %d and %d", t.Minimum, t.Maximum).
			hint("the lower bound is above the upper one")
	}
	if v := n.get("multipleOf"); v != nil && l.kind(v, numberNode, "multipleOf") {
		i, ok := parseInteger(v.text)
		if !ok || i < 1 || i > MaxInteger {
			l.errorf(v.pos, ruleBadBound, "multipleOf of an integer has to be a whole number from 1 up").
				hint("type: number takes fractions")
			return
		}
		t.MultipleOf = strconv.FormatInt(i, 10)
		if t.Minimum <= t.Maximum && !holdsMultiple(t.Minimum, t.Maximum, i) {
			l.errorf(v.pos, ruleEmptyRange, "no multiple of %d lies between %d and %d", i, t.Minimum, t.Maximum).
				hint("widen the bounds")
		}
	}
}

// holdsMultiple tells whether a multiple of n ≥ 1 lies in [low, high].
func holdsMultiple(low, high, n int64) bool {
	m := high - high%n // towards zero
	if high < 0 && high%n != 0 {
		m -= n
	}
	return m >= low
}

func (l *loader) integerBound(n *node, key string) (int64, bool) {
	v := n.get(key)
	if v == nil || !l.kind(v, numberNode, key) {
		return 0, false
	}
	i, ok := parseInteger(v.text)
	if !ok || i < -MaxInteger || i > MaxInteger {
		f := l.errorf(v.pos, ruleBadBound, "%s of an integer has to be a whole number within ±(2^53−1)", key)
		if isWhole(v.text) {
			f.hint("leave it out: ±9007199254740991 applies anyway; 64-bit integers come with a later version")
		} else {
			f.hint("type: number takes fractions")
		}
		return 0, false
	}
	return i, true
}

// boundAt is the place of the first bound in the file.
func (l *loader) boundAt(n *node) Position {
	for _, m := range n.members {
		switch m.key {
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
			return m.pos
		}
	}
	return n.pos
}

// lowerNumber lowers the bounds of a number to at most one on each side.
func (l *loader) lowerNumber(t *Type, n *node) {
	low, lowOpen, hasLow := l.tighter(n, "minimum", "exclusiveMinimum", func(a, b float64) bool { return a > b })
	high, highOpen, hasHigh := l.tighter(n, "maximum", "exclusiveMaximum", func(a, b float64) bool { return a < b })
	if hasLow {
		t.NumberMin, t.ExclusiveMin = formatNumber(low), lowOpen
	}
	if hasHigh {
		t.NumberMax, t.ExclusiveMax = formatNumber(high), highOpen
	}
	if hasLow && hasHigh && (low > high || low == high && (lowOpen || highOpen)) {
		l.errorf(l.boundAt(n), ruleEmptyRange, "no number lies between %s and %s", bound(t.NumberMin, lowOpen), bound(t.NumberMax, highOpen)).
			hint("the lower bound is not below the upper one")
	}
	if v := n.get("multipleOf"); v != nil && l.kind(v, numberNode, "multipleOf") {
		f, ok := l.exactNumber(v, "multipleOf")
		switch {
		case !ok:
		case f <= 0:
			l.errorf(v.pos, ruleBadBound, "multipleOf has to be above 0").hint("multipleOf: 0.01")
		default:
			t.MultipleOf = formatNumber(f)
		}
	}
}

func bound(text string, open bool) string {
	if open {
		return text + " (excluded)"
	}
	return text
}

// tighter reads an inclusive and an exclusive bound of the same side and
// returns the one that excludes more.
func (l *loader) tighter(n *node, inclusive, exclusive string, beyond func(a, b float64) bool) (value float64, open, ok bool) {
	if v := n.get(inclusive); v != nil && l.kind(v, numberNode, inclusive) {
		value, ok = l.exactNumber(v, inclusive)
	}
	if v := n.get(exclusive); v != nil && l.kind(v, numberNode, exclusive) {
		if x, good := l.exactNumber(v, exclusive); good && (!ok || !beyond(value, x)) {
			return x, true, true
		}
	}
	return value, false, ok
}

// exactNumber reads a number that a 64-bit float holds as it is written: the
// shortest decimal of the float has the same value as the literal.
func (l *loader) exactNumber(n *node, what string) (float64, bool) {
	f, ok, exact := parseNumber(n.text)
	if ok && exact {
		return f, true
	}
	e := l.errorf(n.pos, ruleInexactNumber, "%s %s is not what a 64-bit float holds", what, plain(n.text, maxQuoted))
	if ok {
		e.hint("write %s", formatNumber(f))
	} else {
		e.hint("write a number of at most %g", maxFloat)
	}
	return 0, false
}
