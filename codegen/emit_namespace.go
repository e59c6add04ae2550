package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/schema"
)

// emitConstructor
//
//	func listCapability(h Handlers) runtime.Capability {
//		return runtime.NewCapability(runtime.Info{
//			ID: "files.list",
//			…
//		}, h.List)
//	}
func emitConstructor(f *jen.File, c *capability) {
	f.Func().Id(c.constructor).Params(jen.Id("h").Id("Handlers")).Qual(runtimePath, "Capability").Block(newCapability(c, jen.Id("h").Dot(c.method)))
}

func newCapability(c *capability, handle jen.Code) jen.Code {
	return jen.Return(jen.Qual(runtimePath, "NewCapability").Call(
		jen.Qual(runtimePath, "Info").Add(multiline("{", "}", infoMembers(c))),
		handle,
	))
}

func infoMembers(c *capability) []jen.Code {
	member := func(name string, value jen.Code) jen.Code { return jen.Id(name).Op(":").Add(value) }
	out := []jen.Code{
		member("ID", text(c.ID)),
		member("Name", text(c.Name)),
		member("Summary", text(c.Summary)),
		member("Description", text(c.Description)),
	}
	out = append(out, member("Search", searchEntry(c.Capability)))
	out = append(out,
		member("Effect", infoConstant("Effect", c.Effect)),
		member("Idempotency", infoConstant("Idempotency", c.Idempotency)),
		member("World", infoConstant("World", c.World)),
	)
	if len(c.Scopes) > 0 {
		out = append(out, member("Scopes", jen.Index().String().Values(texts(c.Scopes)...)))
	}
	out = append(out, lifecycleMembers(c.Capability)...)
	out = append(out, member("Signature", text(Signature(c.Capability))))
	out = append(out, shapingMembers(c)...)
	out = append(out,
		member("Binding", text(bindingJSON(c.Capability))),
		member("Input", text(describeInput(c.Parameters()))),
		member("Output", text(describeResult(c.Capability))),
	)
	out = append(out, directToolMembers(c.Capability)...)
	out = append(out, errorMembers(c)...)
	if example := describeExample(c.Capability); example != "" {
		out = append(out, member("Example", text(example)))
	}
	if c.Step == schema.StepStart {
		out = append(out, member("Job", jen.True()))
	}
	return out
}

// infoConstant is one of the runtime's constants: runtime.EffectRead.
func infoConstant(kind, value string) jen.Code { return jen.Qual(runtimePath, kind+goName(value)) }

// inputProperties are the properties of an input, which is an object.
func inputProperties(t *schema.Type) []*schema.Property { return resolved(t).Properties }

func resolved(t *schema.Type) *schema.Type {
	for t.Kind == schema.Ref {
		t = t.Ref.Type
	}
	return t
}

func texts(values []string) []jen.Code {
	out := make([]jen.Code, len(values))
	for i, v := range values {
		out[i] = text(v)
	}
	return out
}

// multiline writes items one a line, each with a comma.
func multiline(open, end string, items []jen.Code) jen.Code {
	return jen.Custom(jen.Options{Open: open, Close: end, Separator: ",", Multi: true}, items...)
}

// emitRuntimeCheck
//
//	const _ = runtime.GeneratedCode1
func emitRuntimeCheck(f *jen.File) {
	f.Comment("// If this line does not compile, the capgen that wrote this code and the")
	f.Comment("// runtime in go.mod are of different generations: run go generate with the")
	f.Comment("// capgen of that runtime.")
	f.Const().Id("_").Op("=").Qual(runtimePath, "GeneratedCode1")
	f.Line()
}

// emitHandlers
//
//	// Handlers are what a host implements of files.
//	type Handlers interface {
//		// List is files.list, effect read: List the entries of a directory.
//		List(ctx context.Context, in ListInput) (ListOutput, error)
//	}
func emitHandlers(f *jen.File, n *namespace) {
	f.Add(doc("Handlers are what a host implements of " + n.name + ". Methods are called concurrently."))
	f.Type().Id("Handlers").InterfaceFunc(func(g *jen.Group) {
		for _, c := range n.capabilities {
			if c.of != nil {
				if c.Step == schema.StepPrepare {
					emitGovernedMethods(g, c.of)
				}
				continue
			}
			g.Add(doc(c.method + " is " + c.Name + ", effect " + c.Effect + ": " + c.Summary))
			emitDeprecated(g, c.Deprecated)
			g.Id(c.method).Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("in").Add(typeExpr(c.input))).
				Params(typeExpr(c.output), jen.Error())
		}
	})
}

// emitRegister
//
//	// Register adds the capabilities of files to b.
//	func Register(b *runtime.Builder, h Handlers) {
//		if h == nil {
//			b.Fail("files", "no handlers given")
//			return
//		}
//		b.Register(listCapability(h))
//	}
//
// Where people approve something there is a third parameter, g *govern.Service.
func emitRegister(f *jen.File, n *namespace) {
	f.Comment("// Register adds the capabilities of " + n.name + " to b.")
	parameters, arguments := []jen.Code{jen.Id("b").Op("*").Qual(runtimePath, "Builder")}, []string{}
	if n.handled() {
		parameters, arguments = append(parameters, jen.Id("h").Id("Handlers")), append(arguments, "h")
	}
	if n.service {
		parameters, arguments = append(parameters, jen.Id("g").Op("*").Qual(governPath, "Service")), append(arguments, "g")
	}
	f.Func().Id("Register").Params(parameters...).BlockFunc(func(g *jen.Group) {
		for _, argument := range arguments {
			g.If(jen.Id(argument).Op("==").Nil()).Block(
				jen.Id("b").Dot("Fail").Call(text(n.name), text(pick(argument == "h", "no handlers given", "no service given that people's approvals go through"))),
				jen.Return(),
			)
		}
		for _, c := range n.capabilities {
			g.Id("b").Dot("Register").Call(jen.Id(c.constructor).CallFunc(func(g *jen.Group) {
				if c.asks() {
					g.Id("h")
				}
				if c.Step != "" {
					g.Id("g")
				}
			}))
		}
	})
	f.Line()
}
