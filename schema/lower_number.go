package schema

import (
	"math"
	"strconv"
)

// lowerInteger lowers the bounds of an integer to one inclusive pair inside
// ±(2^53−1), or inside 64 bits with format int64.
func (l *loader) lowerInteger(t *Type, n *node) {
	least, most := int64(-MaxInteger), int64(MaxInteger)
	if v := n.get("format"); v != nil {
		if _, ok := l.word(v, "format of an integer", []string{"int64"}, nil); ok {
			t.Kind, least, most = Int64, math.MinInt64, math.MaxInt64
		}
	}
	t.Minimum, t.Maximum = least, most
	empty := false
	if v, ok := l.integerBound(n, "minimum", least, most); ok {
		t.Minimum = v
	}
	if v, ok := l.integerBound(n, "exclusiveMinimum", least, most); ok {
		empty = v == math.MaxInt64
		t.Minimum = max(t.Minimum, v, v+1)
	}
	if v, ok := l.integerBound(n, "maximum", least, most); ok {
		t.Maximum = v
	}
	if v, ok := l.integerBound(n, "exclusiveMaximum", least, most); ok {
		empty = empty || v == math.MinInt64
		t.Maximum = min(t.Maximum, v, v-1)
	}
	if empty || t.Minimum > t.Maximum {
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
		if m < math.MinInt64+n {
			return false
		}
		m -= n
	}
	return m >= low
}

func (l *loader) integerBound(n *node, key string, least, most int64) (int64, bool) {
	v := n.get(key)
	if v == nil || !l.kind(v, numberNode, key) {
		return 0, false
	}
	i, ok := parseInteger(v.text)
	if !ok || i < least || i > most {
		f := l.errorf(v.pos, ruleBadBound, "%s of an integer has to be a whole number within %s", key, span(most))
		switch {
		case !isWhole(v.text):
			f.hint("type: number takes fractions")
		case most == MaxInteger:
			f.hint("leave it out: ±9007199254740991 applies anyway; format: int64 takes 64 bits")
		default:
			f.hint("leave it out: 64 bits apply anyway")
		}
		return 0, false
	}
	return i, true
}

// span names the integers up to most, which is what a kind allows at all.
func span(most int64) string {
	if most > MaxInteger {
		return "64 bits"
	}
	return "±(2^53−1)"
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
