package codegen

import (
	"strings"

	"github.com/dave/jennifer/jen"
)

// shown is g as one capability, for its examples.
func (g *governed) shown() *capability {
	return &capability{Capability: g.Capability, errors: g.errors, pkgPath: g.prepare.pkgPath}
}

// landingCall is an example of a capability with an approval as a program
// writes it: what its plan returns once it has landed. call is as if nobody
// had to approve.
//
//	(lambda p: site.remove.apply(plan=p.plan, token=p.token, key="example").output)(site.remove.prepare(names=["a"], key="example"))
//
// A run's result is read by another call:
//
//	run.result(job=(lambda p: site.check.start(plan=p.plan, token=p.token, key="example").job)(site.check.prepare(key="example"))).result
func landingCall(c *capability, call string) string {
	name := c.Name
	arguments := strings.TrimSuffix(strings.TrimPrefix(call, name+"("), ")")
	if arguments != "" {
		arguments += ", "
	}
	if c.Run != nil {
		return "run.result(job=(lambda p: " + name + `.start(plan=p.plan, token=p.token, key="example").job)(` + name + ".prepare(" + arguments + `key="example"))).result`
	}
	return "(lambda p: " + name + `.apply(plan=p.plan, token=p.token, key="example").output)(` + name + ".prepare(" + arguments + `key="example"))`
}

// rehearsal
//
//	Govern: govern.Rehearse(func(capability string, arguments []byte) ([]byte, error) {
//		return examples.Outcome(Examples(), capability, arguments)
//	}),
func rehearsal() jen.Code {
	answer := jen.Func().Params(jen.Id("capability").String(), jen.Id("arguments").Index().Byte()).Params(jen.Index().Byte(), jen.Error()).
		Block(jen.Return(jen.Qual(examplesPath, "Outcome").Call(jen.Id("Examples").Call(), jen.Id("capability"), jen.Id("arguments"))))
	return jen.Id(governField).Op(":").Qual(governPath, "Rehearse").Call(answer)
}

// emitRehearsedMethods are those of a capability with an approval, which a
// rehearsal never calls:
//
//	func (siteHandlers) Remove(context.Context, govern.Approved[site.RemoveInput]) (out site.RemoveOutput, err error) {
//		return out, runtime.CodeNoExample
//	}
func emitRehearsedMethods(f *jen.File, g *governed, handlers string) {
	method := func(name string, input, output jen.Code) {
		f.Func().Params(jen.Id(handlers)).Id(name).Params(jen.Qual("context", "Context"), input).
			Params(jen.Id("out").Add(output), jen.Err().Error()).
			Block(jen.Return(jen.Id("out"), jen.Qual(runtimePath, "CodeNoExample")))
		f.Line()
	}
	if plans := g.plans(); plans != "" {
		method(g.method, typeExpr(g.input), jen.Qual(governPath, plans))
		return
	}
	method(g.method, jen.Qual(governPath, "Approved").Types(typeExpr(g.input)), typeExpr(g.output))
	if g.preview != "" {
		method(g.preview, typeExpr(g.input), jen.Qual(governPath, "Preview"))
	}
}
