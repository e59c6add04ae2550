package codegen

import "github.com/dave/jennifer/jen"

// emitKnown
//
//	// Known tells whether v is one of the values above: others may come.
//	func (v Kind) Known() bool {
//		switch v {
//		case KindFile, KindDir:
//			return true
//		}
//		return false
//	}
func emitKnown(f *jen.File, d *decl) {
	var known []jen.Code
	for _, c := range d.consts {
		known = append(known, jen.Id(c.name))
	}
	f.Comment("// Known tells whether v is one of the values above: others may come.")
	f.Func().Params(jen.Id("v").Id(d.name)).Id("Known").Params().Bool().Block(
		jen.Switch(jen.Id("v")).Block(jen.Case(known...).Block(jen.Return(jen.True()))),
		jen.Return(jen.False()),
	)
	f.Line()
}
