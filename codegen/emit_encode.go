package codegen

import (
	"cmp"
	"slices"

	"github.com/dave/jennifer/jen"
)

// emitEncodeObject
//
//	// Encode writes v in canonical member order and checks it.
//	func (v *ListInput) Encode(w *canon.Writer) {
//		n := 1
//		if v.Glob.Present {
//			n++
//		}
//		w.BeginObject(n)
//		…
//		w.EndObject()
//	}
func emitEncodeObject(f *jen.File, d *decl) {
	emitEncodeMethod(f, d, func(g *jen.Group) {
		members := canonicalOrder(d.fields)
		optional := slices.ContainsFunc(members, (*field).optional)
		count := len(slices.DeleteFunc(slices.Clone(members), (*field).optional))
		if optional {
			g.Id("n").Op(":=").Lit(count)
			for _, field := range members {
				if field.optional() {
					g.If(jen.Id("v." + field.name + ".Present")).Block(jen.Id("n").Op("++"))
				}
			}
			g.Id("w").Dot("BeginObject").Call(jen.Id("n"))
		} else {
			g.Id("w").Dot("BeginObject").Call(jen.Lit(count))
		}
		for _, field := range members {
			emitEncodeMember(g, field)
		}
		g.Id("w").Dot("EndObject").Call()
	})
}

// canonicalOrder is RFC 8785's: by UTF-16 code units, which for the ASCII
// names of members is by bytes.
func canonicalOrder(fields []*field) []*field {
	return slices.SortedFunc(slices.Values(fields), func(a, b *field) int { return cmp.Compare(a.member, b.member) })
}

// emitEncodeMember
//
//	if v.Glob.Present {
//		w.Key("glob")
//		w.String(v.Glob.Value, 0, 64)
//	}
func emitEncodeMember(g *jen.Group, field *field) {
	if !field.optional() {
		g.Id("w").Dot("Key").Call(text(field.member))
		emitEncode(g, "v."+field.name, field.typ, 1)
		return
	}
	g.If(jen.Id("v." + field.name + ".Present")).BlockFunc(func(g *jen.Group) {
		g.Id("w").Dot("Key").Call(text(field.member))
		emitEncode(g, "v."+field.name+".Value", field.typ, 1)
	})
}

// emitEncode
//
//	w.BeginArray(len(v.Tags), 0, 10)
//	for i := range v.Tags {
//		w.Element(i)
//		w.String(v.Tags[i], 0, 64)
//	}
//	w.EndArray()
func emitEncode(g *jen.Group, value string, t *goType, depth int) {
	switch t.form {
	case named:
		g.Id(value).Dot("Encode").Call(jen.Id("w"))
	case array:
		i := local("i", depth)
		g.Id("w").Dot("BeginArray").Call(append([]jen.Code{jen.Len(jen.Id(value))}, exprs(t.args)...)...)
		g.For(jen.Id(i).Op(":=").Range().Id(value)).BlockFunc(func(g *jen.Group) {
			g.Id("w").Dot("Element").Call(jen.Id(i))
			emitEncode(g, value+"["+i+"]", t.items, depth+1)
		})
		g.Id("w").Dot("EndArray").Call()
	default:
		if t.name != "" { // an enum
			value = "string(" + value + ")"
		}
		g.Id("w").Dot(t.op).Call(append([]jen.Code{jen.Id(value)}, exprs(t.args)...)...)
		emitChecks(g, "w", value, t)
	}
}

// emitEncodeDefined is Encode of a declaration that is not an object.
//
//	func (v *Tags) Encode(w *canon.Writer) {
//		e := []string(*v)
//		…
//	}
func emitEncodeDefined(f *jen.File, d *decl) {
	emitEncodeMethod(f, d, func(g *jen.Group) {
		if d.under.form == named {
			g.Parens(jen.Op("*").Add(typeExpr(d.under))).Call(jen.Id("v")).Dot("Encode").Call(jen.Id("w"))
			return
		}
		g.Id("e").Op(":=").Add(typeExpr(d.under)).Call(jen.Op("*").Id("v"))
		emitEncode(g, "e", d.under, 1)
	})
}

func emitEncodeMethod(f *jen.File, d *decl, body func(*jen.Group)) {
	emitMethod(f, d, "Encode writes v in canonical member order and checks it.", "Encode",
		jen.Id("w").Op("*").Qual(canonPath, "Writer"), nil, body)
}
