package exact

import (
	"math"
	"math/big"
)

// precision is that of all that is computed on the way, in bits: enough for
// the 53 of the result after the cancellation of the largest exponent.
const precision = 200

// number is x as a big float.
func number(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func zero() *big.Float { return new(big.Float).SetPrec(precision) }

// ln2 is the logarithm of 2 to more digits than precision holds.
func ln2() *big.Float {
	const digits = "0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560586332699641868754200148"
	f, _ := zero().SetString(digits)
	return f
}

// exp is e to the power of x, for |x| below 2^20.
func exp(x *big.Float) *big.Float {
	// x = k ln 2 + r, and e^r = (e^(r/2^8))^(2^8).
	quotient, _ := zero().Quo(x, ln2()).Float64()
	k := int(math.RoundToEven(quotient))
	r := zero().Sub(x, zero().Mul(number(float64(k)), ln2()))
	const halvings = 8
	r.SetMantExp(r, -halvings)
	sum, term := number(1), number(1)
	for n := 1; n < 40; n++ {
		term.Mul(term, r)
		term.Quo(term, number(float64(n)))
		if term.Sign() == 0 || term.MantExp(nil) < -precision {
			break
		}
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, k)
}

// ln is the logarithm of x, which is positive and finite.
func ln(x float64) *big.Float {
	mantissa, exponent := math.Frexp(x)
	// One step of Halley's method from 53 bits to three times as many.
	m, y := number(mantissa), number(math.Log(mantissa))
	e := exp(y)
	step := zero().Quo(zero().Sub(m, e), zero().Add(m, e))
	y.Add(y, step.Mul(step, number(2)))
	return y.Add(y, zero().Mul(number(float64(exponent)), ln2()))
}

func rounded(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

// Log is the natural logarithm of x.
func Log(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) || x == 1 {
		return math.Log(x)
	}
	return rounded(ln(x))
}

// Log10 is the decimal logarithm of x.
func Log10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) || x == 1 {
		return math.Log10(x)
	}
	return rounded(zero().Quo(ln(x), ln(10)))
}

// Exp is e to the power of x.
func Exp(x float64) float64 {
	if math.IsNaN(x) || x == 0 || x > 710 || x < -746 {
		return math.Exp(x)
	}
	return rounded(exp(number(x)))
}

// Pow is x to the power of y, with the special cases of C, which are those of
// math.Pow.
func Pow(x, y float64) float64 {
	special := math.Pow(x, y)
	switch {
	case x == 0 || y == 0 || math.Abs(x) == 1 || math.IsNaN(special) || math.IsInf(x, 0) || math.IsInf(y, 0):
		return special
	case y == 1:
		return x
	case y == 2:
		return x * x
	case y == -1:
		return 1 / x
	case y == 0.5:
		return math.Sqrt(x)
	}
	t := zero().Mul(number(y), ln(math.Abs(x)))
	if f, _ := t.Float64(); f > 720 || f < -760 {
		return special // an infinity or zero, of the right sign
	}
	return math.Copysign(rounded(exp(t)), special)
}
