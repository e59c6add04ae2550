package codegen

import (
	"strconv"

	"github.com/dave/jennifer/jen"
)

// emitDecodeObject
//
//	// Decode reads v strictly from JSON text or wire bytes.
//	func (v *ListInput) Decode(r *canon.Reader) error {
//		*v = ListInput{Limit: 100}
//		var seen canon.Seen
//		r.BeginObject()
//		for r.NextMember() {
//			…
//		}
//		r.Require(&seen, 0, "path")
//		if !seen.Has(1) { // the default of an array or object
//			v.Tags = []string{"a"}
//		}
//		return r.Err()
//	}
func emitDecodeObject(f *jen.File, d *decl) {
	emitMethod(f, d, "Decode reads v strictly from JSON text or wire bytes.", "Decode", jen.Id("r").Op("*").Qual(canonPath, "Reader"), jen.Error(), func(g *jen.Group) {
		g.Op("*").Id("v").Op("=").Id(d.name).Values(scalarDefaults(d)...)
		if len(d.fields) > 0 {
			g.Var().Id("seen").Qual(canonPath, "Seen")
		}
		g.Id("r").Dot("BeginObject").Call()
		g.For(jen.Id("r").Dot("NextMember").Call()).BlockFunc(func(g *jen.Group) { emitMembers(g, d) })
		for i, field := range d.fields {
			if field.required {
				g.Id("r").Dot("Require").Call(jen.Op("&").Id("seen"), jen.Lit(i), text(field.member))
			}
			if field.def != nil && field.typ.form != scalar {
				g.If(jen.Op("!").Id("seen").Dot("Has").Call(jen.Lit(i))).Block(jen.Id("v").Dot(field.name).Op("=").Add(field.def))
			}
		}
		g.Return(jen.Id("r").Dot("Err").Call())
	})
}

// scalarDefaults are set before anything is read: Limit: 100.
func scalarDefaults(d *decl) []jen.Code {
	var out []jen.Code
	for _, field := range d.fields {
		if field.def != nil && field.typ.form == scalar {
			out = append(out, jen.Id(field.name).Op(":").Add(field.def))
		}
	}
	return out
}

// emitMembers
//
//	switch string(r.Key()) {
//	case "path":
//		v.Path = seen.Mark(r, 0).String(0, 4096)
//	default:
//		r.UnknownMember()
//	}
func emitMembers(g *jen.Group, d *decl) {
	if len(d.fields) == 0 {
		g.Id("r").Dot("UnknownMember").Call()
		return
	}
	g.Switch(jen.String().Call(jen.Id("r").Dot("Key").Call())).BlockFunc(func(g *jen.Group) {
		for i, field := range d.fields {
			g.Case(text(field.member)).BlockFunc(func(g *jen.Group) {
				from := jen.Id("seen").Dot("Mark").Call(jen.Id("r"), jen.Lit(i))
				if field.optional() {
					emitDecodeOptional(g, from, field)
				} else {
					emitDecode(g, from, "v."+field.name, field.typ, 1)
				}
			})
		}
		g.Default().Block(jen.Id("r").Dot("UnknownMember").Call())
	})
}

// emitDecodeOptional
//
//	v.Glob = canon.Some(seen.Mark(r, 2).String(0, 64))
//
// or, of what is read in place,
//
//	v.Filter.Present = true
//	v.Filter.Value.Decode(seen.Mark(r, 3))
func emitDecodeOptional(g *jen.Group, from *jen.Statement, field *field) {
	target := "v." + field.name
	if field.typ.form == scalar {
		g.Id(target).Op("=").Qual(canonPath, "Some").Call(readExpr(from, field.typ))
		emitChecks(g, "r", target+".Value", field.typ)
		return
	}
	g.Id(target + ".Present").Op("=").True()
	emitDecode(g, from, target+".Value", field.typ, 1)
}

// emitDecode reads into target, which holds its zero value, from the reader that
// from is. depth numbers the local variables of arrays in arrays.
//
//	v.Tags                       of an array:
//	seen.Mark(r, 1).BeginArray(0, 10)
//	for r.NextElement() {
//		v.Tags = canon.Append(r, v.Tags, r.String(0, 64))
//	}
func emitDecode(g *jen.Group, from *jen.Statement, target string, t *goType, depth int) {
	switch t.form {
	case named:
		if t.pointer {
			g.Id(target).Op("=").New(jen.Qual(t.pkg, t.name))
		}
		g.Id(target).Dot("Decode").Call(from)
	case array:
		g.Add(from).Dot("BeginArray").Call(exprs(t.args)...)
		g.For(jen.Id("r").Dot("NextElement").Call()).BlockFunc(func(g *jen.Group) {
			emitDecodeElement(g, target, t.items, depth)
		})
		emitUnique(g, "r", target, t, depth)
	case mapping:
		emitDecodeMap(g, from, target, t, depth)
	case nullable:
		emitDecodeNullable(g, from, target, t, depth)
	default:
		g.Id(target).Op("=").Add(readExpr(from, t))
		emitChecks(g, "r", target, t)
	}
}

// emitDecodeElement
//
//	var e FindOutputItem
//	e.Decode(r)
//	v.Items = canon.Append(r, v.Items, e)
func emitDecodeElement(g *jen.Group, target string, t *goType, depth int) {
	name := local("e", depth)
	element := jen.Code(jen.Id(name))
	switch {
	case t.form != scalar:
		g.Var().Id(name).Add(typeExpr(t))
		emitDecode(g, jen.Id("r"), name, t, depth+1)
	case len(t.checks) > 0:
		g.Id(name).Op(":=").Add(readExpr(jen.Id("r"), t))
		emitChecks(g, "r", name, t)
	default:
		element = readExpr(jen.Id("r"), t)
	}
	g.Id(target).Op("=").Qual(canonPath, "Append").Call(jen.Id("r"), jen.Id(target), element)
}

// emitDecodeDefined is Decode of a declaration that is not an object. It reads
// through a local variable of the type it is defined as.
//
//	func (v *Tags) Decode(r *canon.Reader) error {
//		var e []string
//		r.BeginArray(0, 10)
//		…
//		*v = e
//		return r.Err()
//	}
func emitDecodeDefined(f *jen.File, d *decl) {
	emitMethod(f, d, "Decode reads v strictly from JSON text or wire bytes.", "Decode", jen.Id("r").Op("*").Qual(canonPath, "Reader"), jen.Error(), func(g *jen.Group) {
		if d.under.form == named {
			g.Return(jen.Parens(jen.Op("*").Add(typeExpr(d.under))).Call(jen.Id("v")).Dot("Decode").Call(jen.Id("r")))
			return
		}
		if d.under.form != scalar {
			g.Var().Id("e").Add(typeExpr(d.under))
			emitDecode(g, jen.Id("r"), "e", d.under, 2)
		} else {
			g.Id("e").Op(":=").Add(readExpr(jen.Id("r"), d.under))
			emitChecks(g, "r", "e", d.under)
		}
		g.Op("*").Id("v").Op("=").Id(d.name).Call(jen.Id("e"))
		g.Return(jen.Id("r").Dot("Err").Call())
	})
}

// emitMethod writes a method of *d.name with one parameter.
func emitMethod(f *jen.File, d *decl, comment, name string, param, result jen.Code, body func(*jen.Group)) {
	f.Comment("// " + comment)
	s := f.Func().Params(jen.Id("v").Op("*").Id(d.name)).Id(name).Params(param)
	if result != nil {
		s.Add(result)
	}
	s.BlockFunc(body)
	f.Line()
}

// readExpr is r.String(0, 64), or Kind(r.Enum("a", "b")) of an enum.
func readExpr(from *jen.Statement, t *goType) jen.Code {
	read := jen.Add(from).Dot(t.op).Call(exprs(t.args)...)
	if t.name != "" {
		return jen.Qual(t.pkg, t.name).Call(read)
	}
	return read
}

// emitChecks
//
//	r.Match(v.Path, &listInputPathPattern)
//	r.AtLeast(v.Ratio, 0.5)
func emitChecks(g *jen.Group, on, value string, t *goType) {
	if t.name != "" { // a format
		value = "string(" + value + ")"
	}
	emitChecksOf(g, on, value, t.checks)
}

func emitChecksOf(g *jen.Group, on, value string, checks []check) {
	for _, c := range checks {
		v := jen.Id(value)
		if c.float {
			v = jen.Float64().Call(v)
		}
		g.Id(on).Dot(c.method).Call(v, jen.Op(c.arg))
	}
}

func exprs(args []string) []jen.Code {
	out := make([]jen.Code, len(args))
	for i, a := range args {
		out[i] = jen.Op(a)
	}
	return out
}

// local is e, e2, e3 … by depth.
func local(name string, depth int) string {
	if depth < 2 {
		return name
	}
	return name + strconv.Itoa(depth)
}
