package codegen

import (
	"github.com/dave/jennifer/jen"
)

// emitDecodeNullable
//
//	if !seen.Mark(r, 1).Null() {
//		v.Note.Valid = true
//		v.Note.Value = r.String(0, 64)
//	}
func emitDecodeNullable(g *jen.Group, from *jen.Statement, target string, t *goType, depth int) {
	g.If(jen.Op("!").Add(from).Dot("Null").Call()).BlockFunc(func(g *jen.Group) {
		g.Id(target + ".Valid").Op("=").True()
		emitDecode(g, jen.Id("r"), target+".Value", t.items, depth)
	})
}

// emitEncodeNullable
//
//	if v.Note.Valid {
//		w.Key("note").String(v.Note.Value, 0, 64)
//	} else {
//		w.Key("note").Null()
//	}
func emitEncodeNullable(g *jen.Group, to *jen.Statement, value string, t *goType, depth int) {
	g.If(jen.Id(value + ".Valid")).BlockFunc(func(g *jen.Group) {
		emitEncode(g, to, value+".Value", t.items, depth)
	}).Else().Block(jen.Add(to).Dot("Null").Call())
}
