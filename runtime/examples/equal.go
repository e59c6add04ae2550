package examples

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// equal tells whether two JSON texts are the same value, whatever the order of
// members and the form of numbers: 1.0 is 1, and a wide integer is not its
// neighbour.
func equal(a, b string) (bool, error) {
	x, err := parse(a)
	if err != nil {
		return false, err
	}
	y, err := parse(b)
	if err != nil {
		return false, err
	}
	return same(x, y), nil
}

func parse(text string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("examples: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("examples: something stands behind the value")
	}
	return v, nil
}

func same(x, y any) bool {
	switch x := x.(type) {
	case json.Number:
		y, ok := y.(json.Number)
		return ok && sameNumber(x.String(), y.String())
	case []any:
		y, ok := y.([]any)
		return ok && slices.EqualFunc(x, y, same)
	case map[string]any:
		y, ok := y.(map[string]any)
		return ok && maps.EqualFunc(x, y, same)
	}
	switch y.(type) {
	case []any, map[string]any:
		return false
	}
	return x == y
}

// sameNumber compares exactly. Both are of a program's result or of a
// manifest, whose floats have three digits of exponent.
func sameNumber(x, y string) bool {
	if x == y {
		return true
	}
	const widest = 800
	if len(x) > widest || len(y) > widest {
		return false
	}
	a, okA := new(big.Rat).SetString(x)
	b, okB := new(big.Rat).SetString(y)
	return okA && okB && a.Cmp(b) == 0
}
