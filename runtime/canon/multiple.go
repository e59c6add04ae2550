package canon

import (
	"math"
	"strconv"
)

// isMultiple tells whether v is an integral multiple of n, both taken by the
// shortest decimals that stand for them (0.3 is a multiple of 0.1, as the
// author of a schema means it). It is exact and does a few hundred 64-bit
// operations at most. Nothing is a multiple of zero or of what is not finite.
func isMultiple(v, n float64) bool {
	if n == 0 || !isFinite(n) || !isFinite(v) {
		return false
	}
	if v == 0 {
		return true
	}
	vd, ve := shortestDecimal(v)
	nd, ne := shortestDecimal(n)
	shift := ve - ne
	if shift < 0 {
		// vd must be divisible by nd × 10^-shift, and vd has 17 digits.
		for ; shift < 0; shift++ {
			if vd%10 != 0 {
				return false
			}
			vd /= 10
		}
		return vd%nd == 0
	}
	// vd × 10^shift modulo nd; nd has 17 digits, so ten times a residue fits.
	rest := vd % nd
	for ; shift > 0 && rest != 0; shift-- {
		rest = rest * 10 % nd
	}
	return rest == 0
}

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// shortestDecimal returns |f| as digits × 10^exponent; f is finite, not zero.
func shortestDecimal(f float64) (digits uint64, exponent int) {
	var buf [32]byte
	text := strconv.AppendFloat(buf[:0], math.Abs(f), 'e', -1, 64)
	for i, c := range text {
		switch {
		case c == '.':
		case c == 'e':
			return digits, exponent + int(parseExponent(text[i:]))
		default:
			digits = digits*10 + uint64(c-'0')
			if i > 0 {
				exponent--
			}
		}
	}
	return digits, exponent
}
