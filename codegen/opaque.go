package codegen

import (
	"maps"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/runtime/canon"
)

// opaqueLiteral is a default that nothing is known of, as a value of expr. In
// place that is canon.Opaque itself, else a type defined as it.
//
//	canon.MustOpaque(`{"a":1}`)
func opaqueLiteral(expr jen.Code, inPlace bool, v any) (jen.Code, error) {
	canonical, err := canon.CanonicalizeJSON(nil, []byte(jsonText(v)), maxNesting)
	if err != nil {
		return nil, errDefault
	}
	value := jen.Qual(canonPath, "MustOpaque").Call(text(string(canonical)))
	if inPlace {
		return value, nil
	}
	return jen.Add(expr).Call(value), nil
}

// freeLiteral is a default of an object of any members, in canonical order.
//
//	canon.FreeObject{"a": canon.MustOpaque("1")}
func freeLiteral(expr jen.Code, v map[string]any) (jen.Code, error) {
	var members []jen.Code
	for _, key := range slices.SortedFunc(maps.Keys(v), canon.CompareKeys) {
		value, err := opaqueLiteral(nil, true, v[key])
		if err != nil {
			return nil, err
		}
		members = append(members, jen.Add(text(key)).Op(":").Add(value))
	}
	return jen.Add(expr).Values(members...), nil
}
