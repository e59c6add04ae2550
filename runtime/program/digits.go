package program

import (
	"fmt"
	"math/big"
	"strings"

	"go.starlark.net/starlark"
)

// maxDigitBits is the length of no int of maxDigits decimal digits.
const maxDigitBits = maxDigits*3322/1000 + 1 // log2(10) rounded up

// digits is v in decimal. It is sized before the conversion, whose time is
// quadratic in the digits.
func digits(v starlark.Int) (string, error) {
	if n, ok := v.Int64(); ok {
		return fmt.Sprint(n), nil
	}
	b := v.BigInt()
	if b.BitLen() <= maxDigitBits {
		s := b.String()
		if len(strings.TrimPrefix(s, "-")) <= maxDigits {
			return s, nil
		}
	}
	return "", tooManyDigits()
}

func tooManyDigits() error {
	return raise("ValueError", "Exceeds the limit (%d digits) for integer string conversion", maxDigits)
}

// parseDecimal reads JSON's and Python's plain decimal integers.
func parseDecimal(s string) (starlark.Int, error) {
	if len(strings.TrimLeft(s, "+-")) > maxDigits {
		return starlark.Int{}, tooManyDigits()
	}
	b, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return starlark.Int{}, fmt.Errorf("not an integer: %s", excerpt(s))
	}
	return starlark.MakeBigInt(b), nil
}

// bits is the length of v, without a copy of a small one.
func bits(v starlark.Int) int {
	if n, ok := v.Int64(); ok {
		if n < 0 {
			n = -(n + 1)
		}
		count := 0
		for ; n > 0; n >>= 1 {
			count++
		}
		return count
	}
	return v.BigInt().BitLen()
}

// roomBits refuses an int of n bits that is too long to be computed.
func roomBits(n int) error {
	if n > maxIntBits {
		return raise("OverflowError", "an int of more than %d bits is too long", maxIntBits)
	}
	return nil
}
