package codegen

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/schema"
)

// union is what a declaration of one is made of.
type union struct {
	// sealed is the interface that the variants implement, marker its method.
	sealed, marker string
	variants       []variant
	// tag is the member that tells objects apart; empty for JSON types.
	tag string
}

// variant is one declared type of a union.
type variant struct {
	name string
	// tag is its value, kind the canon.Kind that tells it without one.
	tag, kind string
}

// union plans d as the holder of one of t's variants and declares each of
// them: a type that is defined as what it refers to, or in place.
func (b *builder) union(d *decl, t *schema.Type) {
	u := &union{sealed: d.name + "Variant", marker: "is" + d.name, tag: t.Tag}
	d.union = u
	b.scope.claim(u.sealed, "the variants of "+d.name, t.Pos)
	current := b.current
	for i, v := range t.Variants {
		w := variant{kind: kindConstant(v)}
		if t.Tag != "" {
			w.tag = t.Tags[i]
		}
		w.name = d.name + b.variantName(v, w.tag)
		u.variants = append(u.variants, w)
		b.scope.claim(w.name, "a variant of "+d.name, v.Pos)
		first := len(b.decls)
		b.root(w.name, "a variant of "+d.name, v)
		b.decls[first].recursive, b.decls[first].marker = true, u.marker
		b.decls[first].text = describe(v)
	}
	b.current = current
}

// variantName is the type's that v refers to, or made of the tag, or of the
// JSON type.
func (p *planner) variantName(v *schema.Type, tag string) string {
	switch {
	case v.Kind == schema.Ref:
		return p.typeNames[v.Ref]
	case tag != "":
		return enumName(tag)
	}
	return capitalized(schema.JSONType(v))
}

// unionLiteral
//
//	types.Pet{Value: new(types.PetCat(types.Cat{Kind: "cat"}))}
func (p *planner) unionLiteral(expr jen.Code, pkg, name string, t *schema.Type, v any) (jen.Code, error) {
	variant, tag := variantOf(t, v), ""
	if variant == nil || v == nil {
		return nil, errDefault
	}
	if t.Tag != "" {
		tag = t.Tags[slices.Index(t.Variants, variant)]
	}
	declared := name + p.variantName(variant, tag)
	value, err := p.literal(pkg, declared, variant, v)
	if err != nil {
		return nil, err
	}
	return jen.Add(expr).Values(jen.Id("Value").Op(":").New(jen.Qual(pkg, declared).Call(value))), nil
}

// kindConstant is the canon.Kind of the JSON type of v.
func kindConstant(v *schema.Type) string {
	switch schema.JSONType(schema.Resolve(v)) {
	case "string":
		return "KindString"
	case "number":
		return "KindNumber"
	case "boolean":
		return "KindBool"
	case "array":
		return "KindArray"
	}
	return "KindObject"
}

// emitUnion
//
//	// Shape is the manifest's type Shape.
//	type Shape struct {
//		// Value is a *ShapeCircle or *ShapeSquare.
//		Value ShapeVariant
//	}
//
//	// ShapeVariant is one of the variants of Shape.
//	type ShapeVariant interface {
//		Encode(w *canon.Writer)
//		isShape()
//	}
func emitUnion(f *jen.File, d *decl) {
	f.Add(doc(d.lead, d.text))
	f.Type().Id(d.name).Struct(
		jen.Comment("// Value is "+alternatives(d.union)+"."),
		jen.Id("Value").Id(d.union.sealed),
	)
	f.Line()
	f.Commentf("// %s is one of the variants of %s.", d.union.sealed, d.name)
	f.Type().Id(d.union.sealed).Interface(
		jen.Id("Encode").Params(jen.Id("w").Op("*").Qual(canonPath, "Writer")),
		jen.Id(d.union.marker).Params(),
	)
	f.Line()
}

func alternatives(u *union) string {
	out := ""
	for i, v := range u.variants {
		switch {
		case i > 0 && i == len(u.variants)-1:
			out += " or "
		case i > 0:
			out += ", "
		}
		out += "*" + v.name
	}
	return out
}

// emitDecodeUnion
//
//	switch r.Tag("kind", "circle", "square") {
//	case 0:
//		e := new(ShapeCircle)
//		e.Decode(r)
//		v.Value = e
//	…
//	}
func emitDecodeUnion(f *jen.File, d *decl) {
	emitMethod(f, d, "Decode reads v strictly from JSON text or wire bytes.", "Decode", jen.Id("r").Op("*").Qual(canonPath, "Reader"), jen.Error(), func(g *jen.Group) {
		g.Op("*").Id("v").Op("=").Id(d.name).Values()
		g.Switch(unionTest(d.union)).BlockFunc(func(g *jen.Group) {
			for i, w := range d.union.variants {
				g.Case(jen.Lit(i)).Block(
					jen.Id("e").Op(":=").New(jen.Id(w.name)),
					jen.Id("e").Dot("Decode").Call(jen.Id("r")),
					jen.Id("v").Dot("Value").Op("=").Id("e"),
				)
			}
		})
		g.Return(jen.Id("r").Dot("Err").Call())
	})
}

// unionTest is r.Tag("kind", "a", "b"), or r.KindOf(canon.KindString, …).
func unionTest(u *union) jen.Code {
	if u.tag == "" {
		var kinds []jen.Code
		for _, w := range u.variants {
			kinds = append(kinds, jen.Qual(canonPath, w.kind))
		}
		return jen.Id("r").Dot("KindOf").Call(kinds...)
	}
	args := []jen.Code{text(u.tag)}
	for _, w := range u.variants {
		args = append(args, text(w.tag))
	}
	return jen.Id("r").Dot("Tag").Call(args...)
}

// emitEncodeUnion
//
//	if w.Guard(v.Value == nil) {
//		v.Value.Encode(w)
//	}
func emitEncodeUnion(f *jen.File, d *decl) {
	emitEncodeMethod(f, d, func(g *jen.Group) {
		emitGuard(g, d)
		g.If(jen.Id("w").Dot("Guard").Call(jen.Id("v").Dot("Value").Op("==").Nil())).Block(
			jen.Id("v").Dot("Value").Dot("Encode").Call(jen.Id("w")),
		)
	})
}

// emitMarker
//
//	func (*ShapeCircle) isShape() {}
func emitMarker(f *jen.File, d *decl) {
	f.Func().Params(jen.Op("*").Id(d.name)).Id(d.marker).Params().Block()
	f.Line()
}
