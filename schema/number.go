package schema

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

const maxFloat = math.MaxFloat64

// maxLiteral is the longest number literal that is looked into, in bytes. No
// float needs more digits than this, and exact arithmetic stays small.
const maxLiteral = 800

// decimal is an exact decimal: digits × 10^exponent, digits without zeros at
// either end, empty for zero.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// parseDecimal takes apart a literal in JSON's grammar. ok is false for one
// with an exponent or a length that no float has.
func parseDecimal(s string) (d decimal, ok bool) {
	if len(s) > maxLiteral {
		return d, false
	}
	s, d.negative = strings.CutPrefix(s, "-")
	exponent := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil || e < -2*maxLiteral || e > 2*maxLiteral {
			// Zero stays zero whatever the exponent, but nobody means it.
			return d, false
		}
		exponent, s = e, s[:i]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	if trimmed == "" {
		return decimal{}, true
	}
	d.digits, d.exponent = trimmed, exponent
	return d, true
}

// parseInteger reads a literal whose value is a whole number of 64 bits: 3,
// 3.0 and 3e0 are the same.
func parseInteger(s string) (int64, bool) {
	d, ok := parseDecimal(s)
	if !ok || d.exponent < 0 || len(d.digits)+d.exponent > 19 {
		return 0, false
	}
	if d.digits == "" {
		return 0, true
	}
	text := d.digits + strings.Repeat("0", d.exponent)
	if d.negative {
		text = "-" + text
	}
	i, err := strconv.ParseInt(text, 10, 64)
	return i, err == nil
}

// isWhole tells whether a literal's value is a whole number of any size.
func isWhole(s string) bool {
	d, ok := parseDecimal(s)
	return ok && d.exponent >= 0
}

// parseNumber reads a literal as a 64-bit float. exact tells whether the
// shortest decimal of the float is the literal's value; minus zero is zero.
func parseNumber(s string) (f float64, ok, exact bool) {
	d, ok := parseDecimal(s)
	if !ok {
		return 0, false, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) {
		return 0, false, false
	}
	if f == 0 {
		f = 0 // drops the sign of minus zero
		return f, true, d.digits == ""
	}
	short, ok := parseDecimal(strconv.FormatFloat(f, 'e', -1, 64))
	return f, ok, ok && short == d
}

// formatNumber writes a finite float as RFC 8785 section 3.2.2.3 does: the
// shortest digits that read back to it, in ECMAScript's layout.
func formatNumber(f float64) string {
	if f == 0 {
		return "0"
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	sign := exponent[:1]
	return mantissa + "e" + sign + strings.TrimLeft(exponent[1:], "0")
}

// isMultiple tells whether v is a multiple of the decimal text n, both taken
// by their shortest decimals.
func isMultiple(v float64, n string) bool {
	a, okA := new(big.Rat).SetString(formatNumber(v))
	b, okB := new(big.Rat).SetString(n)
	if !okA || !okB || b.Sign() == 0 {
		return false
	}
	return a.Quo(a, b).IsInt()
}
