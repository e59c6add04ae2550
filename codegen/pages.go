package codegen

import (
	"path"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/schema"
)

// pager is the iterator over a capability's pages.
type pager struct {
	name    string // of the function
	items   string // field with the list
	item    *goType
	in, out *cursorField
	// cursor is what cursors are converted to: string or int64.
	cursor string
}

// cursorField is a field that holds a cursor.
type cursorField struct {
	name               string
	typ                *goType // of the value
	optional, nullable bool
}

// planPages plans the iterator of c, or none.
func (p *planner) planPages(c *schema.Capability, n *namespace, name string, s *scope) *pager {
	page := c.Pagination
	if page == nil {
		return nil
	}
	s.claim(name+"Pages", "the pages of "+c.Name, c.Pos)
	pkg := path.Join(p.pkg, n.dir)
	out := &pager{
		name: name + "Pages", items: goName(page.Items), cursor: "string",
		in:  p.cursorField(pkg, name+"Input", c.Input, page.CursorIn),
		out: p.cursorField(pkg, name+"Output", c.Output, page.CursorOut),
	}
	if out.in.typ.basic == "int64" || out.out.typ.basic == "int64" {
		out.cursor = "int64"
	}
	list, place := member(c.Output, page.Items).Type, name+"Output"
	if c.Output.Kind == schema.Ref {
		pkg, place = p.typesPath(), p.typeNames[c.Output.Ref]
	}
	place += goName(page.Items)
	if list.Kind == schema.Ref {
		pkg, place, list = p.typesPath(), p.typeNames[list.Ref], list.Ref.Type
	}
	out.item = p.typ(pkg, place+"Item", list.Items, false)
	return out
}

func (p *planner) cursorField(pkg, place string, object *schema.Type, name string) *cursorField {
	if object.Kind == schema.Ref {
		pkg, place = p.typesPath(), p.typeNames[object.Ref]
	}
	prop := member(object, name)
	f := &cursorField{name: goName(name), optional: !prop.Required && prop.Default == ""}
	t := prop.Type
	place += f.name
	if t.Kind == schema.Nullable {
		f.nullable, t = true, t.Items
		place += "Value"
	}
	f.typ = p.typ(pkg, place, t, false)
	if k := resolved(t).Kind; k == schema.Integer || k == schema.Int64 {
		f.typ.basic = "int64" // which a reference does not say
	}
	return f
}

// member finds a property of an object or of the type it refers to.
func member(object *schema.Type, name string) *schema.Property {
	all := resolved(object).Properties
	return all[slices.IndexFunc(all, func(p *schema.Property) bool { return p.Name == name })]
}

// emitPages
//
//	// ListPages iterates over the items of records.list …
//	func ListPages(ctx context.Context, call func(context.Context, ListInput) (ListOutput, error), in ListInput) iter.Seq2[types.Record, error] {
//		return runtime.Pages(ctx, call, in, func(in *ListInput, cursor string) {
//			in.Cursor = canon.Some(cursor)
//		}, func(out *ListOutput) ([]types.Record, string, bool) {
//			next := out.Next.Value
//			return out.Items, next, out.Next.Present && next != ""
//		})
//	}
func emitPages(f *jen.File, c *capability) {
	p := c.pages
	ctx := jen.Qual("context", "Context")
	f.Add(doc(p.name + " iterates over the items of " + c.Name + ", page after page, as call answers them; see runtime.Pages."))
	f.Func().Id(p.name).Params(
		jen.Id("ctx").Add(ctx),
		jen.Id("call").Func().Params(ctx, typeExpr(c.input)).Params(typeExpr(c.output), jen.Error()),
		jen.Id("in").Add(typeExpr(c.input)),
	).Qual("iter", "Seq2").Types(typeExpr(p.item), jen.Error()).Block(
		jen.Return(jen.Qual(runtimePath, "Pages").Call(
			jen.Id("ctx"), jen.Id("call"), jen.Id("in"),
			jen.Func().Params(jen.Id("in").Op("*").Add(typeExpr(c.input)), jen.Id("cursor").Id(p.cursor)).Block(
				jen.Id("in."+p.in.name).Op("=").Qual(canonPath, "Some").Call(converted(p.in.typ, "cursor")),
			),
			jen.Func().Params(jen.Id("out").Op("*").Add(typeExpr(c.output))).
				Params(jen.Index().Add(typeExpr(p.item)), jen.Id(p.cursor), jen.Bool()).BlockFunc(p.emitGet),
		)),
	)
	f.Line()
}

// emitGet takes a page apart.
func (p *pager) emitGet(g *jen.Group) {
	value := "out." + p.out.name
	var there []jen.Code
	if p.out.optional {
		there = append(there, jen.Id(value+".Present"))
		value += ".Value"
	}
	if p.out.nullable {
		there = append(there, jen.Id(value+".Valid"))
		value += ".Value"
	}
	if p.cursor == "string" {
		there = append(there, jen.Id("next").Op("!=").Lit(""))
	}
	next := jen.Id(value)
	if p.out.typ.name != "" {
		next = jen.Id(p.cursor).Call(next)
	}
	g.Id("next").Op(":=").Add(next)
	more := jen.Add(there[0])
	for _, t := range there[1:] {
		more.Op("&&").Add(t)
	}
	g.Return(jen.Id("out."+p.items), jen.Id("next"), more)
}

// converted is a value as the declared type that t is, if it is one.
func converted(t *goType, value string) jen.Code {
	if t.name == "" {
		return jen.Id(value)
	}
	return jen.Add(typeExpr(t)).Call(jen.Id(value))
}
