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
//		w.BeginObject(1 + canon.Count(v.Glob.Present))
//		…
//		w.EndObject()
//	}
func emitEncodeObject(f *jen.File, d *decl) {
	emitEncodeMethod(f, d, func(g *jen.Group) {
		emitGuard(g, d)
		members := canonicalOrder(d.fields)
		count := jen.Lit(len(slices.DeleteFunc(slices.Clone(members), (*field).optional)))
		var optional []jen.Code
		for _, field := range members {
			if field.optional() {
				optional = append(optional, jen.Id("v."+field.name+".Present"))
			}
		}
		if optional != nil {
			count.Op("+").Qual(canonPath, "Count").Call(optional...)
		}
		g.Id("w").Dot("BeginObject").Call(count)
		for _, field := range members {
			emitEncodeMember(g, field)
		}
		g.Id("w").Dot("EndObject").Call()
	})
}

// emitGuard begins Encode of a type that may hold itself.
//
//	if !w.Guard(v == nil) {
//		return
//	}
func emitGuard(g *jen.Group, d *decl) {
	if d.recursive {
		g.If(jen.Op("!").Id("w").Dot("Guard").Call(jen.Id("v").Op("==").Nil())).Block(jen.Return())
	}
}

// canonicalOrder is RFC 8785's: by UTF-16 code units, which for the ASCII
// names of members is by bytes.
func canonicalOrder(fields []*field) []*field {
	return slices.SortedFunc(slices.Values(fields), func(a, b *field) int { return cmp.Compare(a.member, b.member) })
}

// emitEncodeMember
//
//	if v.Glob.Present {
//		w.Key("glob").String(v.Glob.Value, 0, 64)
//	}
func emitEncodeMember(g *jen.Group, field *field) {
	to := jen.Id("w").Dot("Key").Call(text(field.member))
	if !field.optional() {
		emitEncode(g, to, "v."+field.name, field.typ, 1)
		return
	}
	g.If(jen.Id("v." + field.name + ".Present")).BlockFunc(func(g *jen.Group) {
		emitEncode(g, to, "v."+field.name+".Value", field.typ, 1)
	})
}

// emitEncode writes value to the writer that to is.
//
//	w.Key("tags").BeginArray(len(v.Tags), 0, 10)
//	for i := range v.Tags {
//		w.Element(i).String(v.Tags[i], 0, 64)
//	}
//	w.EndArray()
func emitEncode(g *jen.Group, to *jen.Statement, value string, t *goType, depth int) {
	switch t.form {
	case named:
		g.Id(value).Dot("Encode").Call(to)
	case array:
		i := local("i", depth)
		g.Add(to).Dot("BeginArray").Call(append([]jen.Code{jen.Len(jen.Id(value))}, exprs(t.args)...)...)
		g.For(jen.Id(i).Op(":=").Range().Id(value)).BlockFunc(func(g *jen.Group) {
			emitEncode(g, jen.Id("w").Dot("Element").Call(jen.Id(i)), value+"["+i+"]", t.items, depth+1)
		})
		g.Id("w").Dot("EndArray").Call()
		emitUnique(g, "w", value, t, depth)
	case mapping:
		emitEncodeMap(g, to, value, t, depth)
	case nullable:
		emitEncodeNullable(g, to, value, t, depth)
	default:
		text := value
		if t.name != "" { // an enum or a format
			text = "string(" + value + ")"
		}
		g.Add(to).Dot(t.op).Call(append([]jen.Code{jen.Id(text)}, exprs(t.args)...)...)
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
		emitGuard(g, d)
		if d.under.form == named {
			g.Parens(jen.Op("*").Add(typeExpr(d.under))).Call(jen.Id("v")).Dot("Encode").Call(jen.Id("w"))
			return
		}
		g.Id("e").Op(":=").Add(typeExpr(d.under)).Call(jen.Op("*").Id("v"))
		emitEncode(g, jen.Id("w"), "e", d.under, 1)
	})
}

func emitEncodeMethod(f *jen.File, d *decl, body func(*jen.Group)) {
	emitMethod(f, d, "Encode writes v in canonical member order and checks it.", "Encode",
		jen.Id("w").Op("*").Qual(canonPath, "Writer"), nil, body)
}
