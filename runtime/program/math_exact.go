package program

import (
	"math"
	"math/big"

	"go.starlark.net/starlark"
)

// norm is the length of a vector, rounded once.
func (e *engine) norm(xs []float64) (starlark.Value, error) {
	if err := e.charge(len(xs) + exactSteps/10); err != nil {
		return nil, err
	}
	sum := new(big.Float).SetPrec(exactBits)
	special := 0.0
	for _, x := range xs {
		if math.IsInf(x, 0) {
			return starlark.Float(math.Inf(1)), nil
		}
		if math.IsNaN(x) {
			special = x
			continue
		}
		exact := new(big.Float).SetFloat64(x)
		sum.Add(sum, new(big.Float).SetPrec(exactBits).Mul(exact, exact))
	}
	if special != 0 {
		return starlark.Float(special), nil
	}
	const precision = 200 // of a root: far more than a float has
	out, _ := new(big.Float).SetPrec(precision).Sqrt(sum).Float64()
	return starlark.Float(out), nil
}

func (e *engine) distance(args starlark.Tuple) (starlark.Value, error) {
	p, err := e.collect(args[0])
	if err != nil {
		return nil, err
	}
	q, err := e.collect(args[1])
	if err != nil {
		return nil, err
	}
	if len(p) != len(q) {
		return nil, raise("ValueError", "both points must have the same number of dimensions")
	}
	differences := make([]float64, len(p))
	for i := range p {
		x, err := real(p[i])
		if err != nil {
			return nil, err
		}
		y, err := real(q[i])
		if err != nil {
			return nil, err
		}
		differences[i] = x - y
	}
	return e.norm(differences)
}

// exactBits hold the sum of any floats exactly: from the least, 2**-1074, to
// 2**64 times the greatest.
const exactBits = 1074 + 1024 + 64

// exactSum is fsum: rounded once.
func (e *engine) exactSum(args starlark.Tuple) (starlark.Value, error) {
	if err := argumentCount("math.fsum", len(args), 1, 1); err != nil {
		return nil, err
	}
	exact := new(big.Float).SetPrec(exactBits)
	special := 0.0
	err := e.each(args[0], func(v starlark.Value) error {
		x, err := real(v)
		if err != nil {
			return err
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			special += x
			return nil
		}
		exact.Add(exact, new(big.Float).SetFloat64(x))
		return e.charge(4)
	})
	if err != nil || special != 0 {
		return starlark.Float(special), err
	}
	f, _ := exact.Float64()
	if math.IsInf(f, 0) {
		return nil, raise("OverflowError", "intermediate overflow in fsum")
	}
	return starlark.Float(f), nil
}
