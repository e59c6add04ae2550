package codegen

import (
	"path"

	"github.com/dave/jennifer/jen"
)

// emitServer
//
//	// Server is what the manifest says of the server.
//	func Server() runtime.ServerInfo {
//		return runtime.ServerInfo{
//			Name: "workspace",
//			…
//		}
//	}
func emitServer(f *jen.File, p *plan) {
	var members []jen.Code
	for _, m := range []struct{ name, value string }{
		{"Name", p.server.Name},
		{"Title", p.server.Title},
		{"Version", p.server.Version},
		{"Instructions", p.server.Instructions},
	} {
		if m.value != "" {
			members = append(members, jen.Id(m.name).Op(":").Add(text(m.value)))
		}
	}
	f.Comment("// Server is what the manifest says of the server.")
	f.Func().Id("Server").Params().Qual(runtimePath, "ServerInfo").Block(
		jen.Return(jen.Qual(runtimePath, "ServerInfo").Add(multiline("{", "}", members))),
	)
	f.Line()
}

// emitCatalogHandlers
//
//	// Handlers are what a host implements, a field a namespace.
//	type Handlers struct {
//		Files files.Handlers
//	}
func emitCatalogHandlers(f *jen.File, p *plan) {
	f.Comment("// Handlers are what a host implements, a field a namespace.")
	f.Type().Id("Handlers").StructFunc(func(g *jen.Group) {
		for _, n := range p.namespaces {
			if n.handled() {
				g.Id(n.field).Qual(path.Join(p.pkg, n.dir), "Handlers")
			}
		}
		if p.governed() {
			g.Comment("// " + governField + " is what people's approvals go through.")
			g.Id(governField).Op("*").Qual(governPath, "Service")
		}
	})
	f.Line()
}

// emitCatalogRegister
//
//	// Register adds every capability to b, and says which deployment they are of.
//	func Register(b *runtime.Builder, h Handlers) {
//		b.Deployment(Deployment)
//		files.Register(b, h.Files)
//	}
//
// With tags the deployment's own file has what comes before the namespaces:
//
//	declare(b)
func emitCatalogRegister(f *jen.File, p *plan) {
	f.Comment("// Register adds every capability to b, and says which deployment they are of.")
	f.Func().Id("Register").Params(jen.Id("b").Op("*").Qual(runtimePath, "Builder"), jen.Id("h").Id("Handlers")).BlockFunc(func(g *jen.Group) {
		if p.builds.tagged {
			g.Id("declare").Call(jen.Id("b"))
		} else {
			declarations(g, p.builds.deployments[0])
		}
		for _, n := range p.namespaces {
			g.Qual(path.Join(p.pkg, n.dir), "Register").CallFunc(func(g *jen.Group) {
				g.Id("b")
				if n.handled() {
					g.Id("h").Dot(n.field)
				}
				if n.service {
					g.Id("h").Dot(governField)
				}
			})
		}
	})
}
