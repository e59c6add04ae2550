package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/schema"
)

// emitGovernedMethods
//
//	// Publish is site.publish, effect change: Publish a site. It only plans:
//	// what it returns lands once people have approved it.
//	Publish(ctx context.Context, in PublishInput) (govern.Change, error)
//
// for a run the same with a govern.Run, and for a write or destroy
//
//	// Remove is site.remove, effect destroy: Remove a site. It is called once
//	// people have approved it.
//	Remove(ctx context.Context, in govern.Approved[RemoveInput]) (RemoveOutput, error)
//	// PreviewRemove tells people what Remove will do, and changes nothing.
//	PreviewRemove(ctx context.Context, in RemoveInput) (govern.Preview, error)
func emitGovernedMethods(f *jen.Group, g *governed) {
	method := func(name string, input, output jen.Code) {
		f.Id(name).Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("in").Add(input)).Params(output, jen.Error())
	}
	what := g.method + " is " + g.Name + ", effect " + g.Effect + ": " + g.Summary
	if plans := g.plans(); plans != "" {
		f.Add(doc(what, "It only plans: what it returns "+pick(g.Run == nil, "lands", "runs")+" once people have approved it."))
		emitDeprecated(f, g.Deprecated)
		method(g.method, typeExpr(g.input), jen.Qual(governPath, plans))
		return
	}
	f.Add(doc(what, "It is called once people have approved it, once for each plan."))
	emitDeprecated(f, g.Deprecated)
	method(g.method, jen.Qual(governPath, "Approved").Types(typeExpr(g.input)), typeExpr(g.output))
	if g.preview != "" {
		f.Comment("// " + g.preview + " tells people what " + g.method + " will do, and changes nothing. It says the")
		f.Comment("// same again right before that, or nothing is done.")
		method(g.preview, typeExpr(g.input), jen.Qual(governPath, "Preview"))
	}
}

// emitGoverned writes the file of a capability with an approval.
func emitGoverned(f *jen.File, g *governed) {
	for _, d := range g.decls {
		emitDecl(f, d)
	}
	emitErrors(f, g.shown())
	emitTerms(f, g)
	emitPrepare(f, g)
	switch g.Effect {
	case schema.EffectChange:
		emitLanding(f, g, "Landed", "ApplyChange")
	case schema.EffectRun:
		emitLanding(f, g, "Started", "StartRun")
	default:
		emitApplyCall(f, g)
	}
}

// emitTerms
//
//	// publishTerms are what the manifest says of site.publish.
//	func publishTerms() govern.Terms {
//		return govern.Terms{
//			ID:       "site.publish",
//			Name:     "site.publish",
//			Effect:   "change",
//			Contract: "9f86…",
//			Min:      2,
//			TTL:      900 * time.Second,
//		}
//	}
func emitTerms(f *jen.File, g *governed) {
	members := []jen.Code{
		jen.Id("ID").Op(":").Add(text(g.ID)),
		jen.Id("Name").Op(":").Add(text(g.Name)),
		jen.Id("Effect").Op(":").Add(text(g.Effect)),
		jen.Id("Contract").Op(":").Add(text(Digest(g.Capability))),
		jen.Id("Min").Op(":").Lit(g.Approval.Min),
	}
	if g.Approval.SelfAllowed {
		members = append(members, jen.Id("SelfAllowed").Op(":").True())
	}
	members = append(members, jen.Id("TTL").Op(":").Add(duration(g.Approval.TTL)))
	members = append(members, runMembers(g.Run)...)
	f.Comment("// " + g.terms + " are what the manifest says of " + g.Name + ".")
	f.Func().Id(g.terms).Params().Qual(governPath, "Terms").Block(
		jen.Return(jen.Qual(governPath, "Terms").Add(multiline("{", "}", members))),
	)
	f.Line()
}

// partFunc is what the runtime calls for a part:
//
//	func(ctx context.Context, in PublishPrepareInput) (wire.PrepareOutput, error) { … }
func partFunc(c *capability, body ...jen.Code) jen.Code {
	return jen.Func().Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("in").Add(typeExpr(c.input))).
		Params(typeExpr(c.output), jen.Error()).Block(body...)
}

func partConstructor(f *jen.File, c *capability, body ...jen.Code) {
	var parameters []jen.Code
	if c.asks() {
		parameters = append(parameters, jen.Id("h").Id("Handlers"))
	}
	parameters = append(parameters, jen.Id("g").Op("*").Qual(governPath, "Service"))
	f.Func().Id(c.constructor).Params(parameters...).Qual(runtimePath, "Capability").Block(newCapability(c, partFunc(c, body...)))
	f.Line()
}

// emitPrepare
//
//	x := PublishInput{Path: in.Path}
//	return wire.Prepared(govern.PrepareChange(ctx, g, publishTerms(), x.AppendCanonical(nil), in.Key, func(ctx context.Context) (govern.Change, error) {
//		return h.Publish(ctx, x)
//	}))
func emitPrepare(f *jen.File, g *governed) {
	takes := jen.Dict{}
	for _, field := range g.takes {
		takes[jen.Id(field.name)] = jen.Id("in").Dot(field.name)
	}
	call, method, result := "Prepare"+g.plans(), g.method, g.plans()
	if result == "" {
		call, method, result = "PrepareCall", g.preview, "Preview"
	}
	asks := jen.Nil()
	if method != "" {
		asks = jen.Func().Params(jen.Id("ctx").Qual("context", "Context")).Params(jen.Qual(governPath, result), jen.Error()).
			Block(jen.Return(jen.Id("h").Dot(method).Call(jen.Id("ctx"), jen.Id("x"))))
	}
	partConstructor(f, g.prepare,
		jen.Id("x").Op(":=").Add(typeExpr(g.input)).Values(takes),
		jen.Return(jen.Qual(wirePath, "Prepared").Call(jen.Qual(governPath, call).Call(
			jen.Id("ctx"), jen.Id("g"), jen.Id(g.terms).Call(), jen.Id("x").Dot("AppendCanonical").Call(jen.Nil()), jen.Id("in").Dot("Key"), asks,
		))),
	)
}

// emitLanding
//
//	return wire.Landed(govern.ApplyChange(ctx, g, publishTerms(), in.Claim()))
func emitLanding(f *jen.File, g *governed, answer, land string) {
	partConstructor(f, g.landing, jen.Return(jen.Qual(wirePath, answer).Call(
		jen.Qual(governPath, land).Call(jen.Id("ctx"), jen.Id("g"), jen.Id(g.terms).Call(), jen.Id("in").Dot("Claim").Call()),
	)))
}

// emitApplyCall
//
//	landed, err := govern.ApplyCall(ctx, g, removeTerms(), in.Claim(), wire.Decode[RemoveInput], h.PreviewRemove,
//		func(ctx context.Context, in govern.Approved[RemoveInput]) ([]byte, error) {
//			return wire.Encode(h.Remove(ctx, in))
//		})
//	output, err := wire.Output[RemoveOutput](landed, err)
//	return RemoveApplyOutput{Plan: landed.Plan, State: landed.State, Output: output}, err
func emitApplyCall(f *jen.File, g *governed) {
	preview := jen.Nil()
	if g.preview != "" {
		preview = jen.Id("h").Dot(g.preview)
	}
	ctx := jen.Id("ctx").Qual("context", "Context")
	call := jen.Func().Params(ctx, jen.Id("in").Qual(governPath, "Approved").Types(typeExpr(g.input))).Params(jen.Index().Byte(), jen.Error()).
		Block(jen.Return(jen.Qual(wirePath, "Encode").Call(jen.Id("h").Dot(g.method).Call(jen.Id("ctx"), jen.Id("in")))))
	partConstructor(f, g.landing,
		jen.List(jen.Id("landed"), jen.Err()).Op(":=").Qual(governPath, "ApplyCall").Call(
			jen.Id("ctx"), jen.Id("g"), jen.Id(g.terms).Call(), jen.Id("in").Dot("Claim").Call(),
			jen.Qual(wirePath, "Decode").Types(typeExpr(g.input)), preview, call,
		),
		jen.List(jen.Id("output"), jen.Err()).Op(":=").Qual(wirePath, "Output").Types(typeExpr(g.output)).Call(jen.Id("landed"), jen.Err()),
		jen.Return(typeExpr(g.landing.output).Values(jen.Dict{
			jen.Id("Plan"): jen.Id("landed").Dot("Plan"), jen.Id("State"): jen.Id("landed").Dot("State"), jen.Id("Output"): jen.Id("output"),
		}), jen.Err()),
	)
}

// emitFamily
//
//	func showCapability(g *govern.Service) runtime.Capability {
//		return runtime.NewCapability(runtime.Info{…}, wire.Show(g))
//	}
func emitFamily(f *jen.File, c *capability) {
	f.Func().Id(c.constructor).Params(jen.Id("g").Op("*").Qual(governPath, "Service")).Qual(runtimePath, "Capability").Block(
		newCapability(c, jen.Qual(wirePath, c.method).Call(jen.Id("g"))),
	)
}
