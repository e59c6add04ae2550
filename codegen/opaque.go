package codegen

import (
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
