package codegen

import "github.com/dave/jennifer/jen"

// emitUnique refuses an array of which two items are equal.
//
//	r.Unique(len(v.Tags), func(w *canon.Writer, i int) {
//		w.String(v.Tags[i], 0, 64)
//	})
func emitUnique(g *jen.Group, on, value string, t *goType, depth int) {
	if !t.unique {
		return
	}
	i := local("i", depth)
	g.Id(on).Dot("Unique").Call(
		jen.Len(jen.Id(value)),
		jen.Func().Params(jen.Id("w").Op("*").Qual(canonPath, "Writer"), jen.Id(i).Int()).BlockFunc(func(g *jen.Group) {
			emitEncode(g, jen.Id("w"), value+"["+i+"]", t.items, depth+1)
		}),
	)
}
