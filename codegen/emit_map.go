package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/schema"
)

// emitDecodeMap
//
//	seen.Mark(r, 1).BeginMap(0, 10)
//	for r.NextMember() {
//		k := r.MapKey(0, 64)
//		canon.Put(r, &v.Env, k, r.String(0, 64))
//	}
func emitDecodeMap(g *jen.Group, from *jen.Statement, target string, t *goType, depth int) {
	k, x := local("k", depth), local("x", depth)
	g.Add(from).Dot("BeginMap").Call(exprs(t.args)...)
	g.For(jen.Id("r").Dot("NextMember").Call()).BlockFunc(func(g *jen.Group) {
		g.Id(k).Op(":=").Id("r").Dot("MapKey").Call(exprs(t.keyArgs)...)
		emitChecksOf(g, "r", k, t.keyChecks)
		value := jen.Code(jen.Id(x))
		switch {
		case t.items.form != scalar:
			g.Var().Id(x).Add(typeExpr(t.items))
			emitDecode(g, jen.Id("r"), x, t.items, depth+1)
		case len(t.items.checks) > 0:
			g.Id(x).Op(":=").Add(readExpr(jen.Id("r"), t.items))
			emitChecks(g, "r", x, t.items)
		default:
			value = readExpr(jen.Id("r"), t.items)
		}
		g.Qual(canonPath, "Put").Call(jen.Id("r"), jen.Op("&").Id(target), jen.Id(k), value)
	})
}

// emitEncodeMap
//
//	w.Key("env").BeginMap(len(v.Env), 0, 10)
//	for _, k := range canon.SortedKeys(v.Env) {
//		x := v.Env[k]
//		w.MapKey(k, 0, 64)
//		w.String(x, 0, 64)
//	}
//	w.EndMap()
func emitEncodeMap(g *jen.Group, to *jen.Statement, value string, t *goType, depth int) {
	k, x := local("k", depth), local("x", depth)
	g.Add(to).Dot("BeginMap").Call(append([]jen.Code{jen.Len(jen.Id(value))}, exprs(t.args)...)...)
	g.For(jen.List(jen.Id("_"), jen.Id(k)).Op(":=").Range().Qual(canonPath, "SortedKeys").Call(jen.Id(value))).BlockFunc(func(g *jen.Group) {
		g.Id(x).Op(":=").Id(value + "[" + k + "]")
		g.Id("w").Dot("MapKey").Call(append([]jen.Code{jen.Id(k)}, exprs(t.keyArgs)...)...)
		emitChecksOf(g, "w", k, t.keyChecks)
		emitEncode(g, jen.Id("w"), x, t.items, depth+1)
	})
	g.Id("w").Dot("EndMap").Call()
}

// mapLiteral
//
//	map[string]int64{"a": 1}
func (p *planner) mapLiteral(expr jen.Code, pkg, name string, t *schema.Type, v map[string]any) (jen.Code, error) {
	if len(v) == 0 {
		return jen.Nil(), nil // as decoding leaves an empty map
	}
	var members []jen.Code
	for _, key := range canon.SortedKeys(v) {
		code, err := p.literal(pkg, name+"Value", t.Items, v[key])
		if err != nil {
			return nil, err
		}
		members = append(members, jen.Add(text(key)).Op(":").Add(code))
	}
	return jen.Add(expr).Values(members...), nil
}
