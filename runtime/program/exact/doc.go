// Package exact computes powers, exponentials and logarithms of floats, rounded
// once: the C library that CPython calls is right to the last digit nearly
// always, and Go's package math is not. It must never know of values, steps or
// programs: numbers go in and come out.
//
//	exact.Pow(27, 1.0/3) // 3, where math.Pow has 2.9999999999999996
//
// Each function takes some ten microseconds. The special cases are those of
// package math, which are those of C (C17, annex F.10).
package exact
