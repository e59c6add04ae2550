package codegen

import (
	"path"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/schema"
)

// namespaceVariant is a namespace as some builds have it.
type namespaceVariant struct {
	*namespace
	buildForm
}

// variants are the forms of a namespace. Where none of its capabilities is in
// a build, that build has no such package.
func (n *namespace) variants(b *builds) []namespaceVariant {
	held := make([]buildSet, len(n.capabilities))
	for i, c := range n.capabilities {
		held[i] = c.held
	}
	var out []namespaceVariant
	for _, f := range b.forms(held) {
		if len(f.items) == 0 {
			continue
		}
		part := *n
		part.capabilities = nil
		for _, i := range f.items {
			part.capabilities = append(part.capabilities, n.capabilities[i])
		}
		part.service, part.runs = part.serviceHeld() != 0, part.runsHeld() != 0
		out = append(out, namespaceVariant{&part, f})
	}
	return out
}

// held are the builds with a capability of n.
func (n *namespace) held() (s buildSet) {
	for _, c := range n.capabilities {
		s |= c.held
	}
	return s
}

// serviceHeld are the builds in which something of n goes through the service.
func (n *namespace) serviceHeld() (s buildSet) {
	for _, c := range n.capabilities {
		if c.Step != "" {
			s |= c.held
		}
	}
	return s
}

// runsHeld are the builds with a run of n.
func (n *namespace) runsHeld() (s buildSet) {
	for _, c := range n.capabilities {
		if c.Step == schema.StepStart {
			s |= c.held
		}
	}
	return s
}

// planVariant is a plan as some builds have it.
type planVariant struct {
	*plan
	buildForm
}

// variants are the forms of what lists namespaces.
func (p *plan) variants() []planVariant { return p.variantsWith(nil) }

// variantsWith are the forms of what lists namespaces, and behind them programs
// that are held by those sets. How a namespace is registered differs with
// whether something of it goes through the service, and is a run.
func (p *plan) variantsWith(programs []buildSet) []planVariant {
	var held []buildSet
	for _, n := range p.namespaces {
		held = append(held, n.held(), n.serviceHeld(), n.runsHeld())
	}
	var out []planVariant
	for _, f := range p.builds.forms(append(held, programs...)) {
		part := *p
		part.namespaces, part.fake = nil, &fake{}
		for _, i := range f.items {
			switch last := len(part.namespaces) - 1; {
			case i >= len(held):
				part.fake.programs = append(part.fake.programs, p.fake.programs[i-len(held)])
			case i%3 == 1:
				part.namespaces[last].service = true
			case i%3 == 2:
				part.namespaces[last].runs = true
			default:
				n := *p.namespaces[i/3]
				n.service, n.runs = false, false
				part.namespaces = append(part.namespaces, &n)
			}
		}
		out = append(out, planVariant{&part, f})
	}
	return out
}

// emitDeployment
//
//	// Deployment is the deployment that this build holds.
//	const Deployment = "prod"
func emitDeployment(f *jen.File, name string) {
	f.Comment("// Deployment is the deployment that this build holds.")
	f.Const().Id("Deployment").Op("=").Lit(name)
	f.Line()
}

// deploymentFile is what differs between deployments with the same
// capabilities: two of these files do not compile together.
func (p *plan) deploymentFile(d *schema.Deployment) *jen.File {
	f := constrained(file(path.Join(p.pkg, "catalog"), "catalog", nil), d.Tag())
	emitDeployment(f, d.Name)
	emitDeclare(f, d)
	return f
}

// untaggedFile is the same of a build without a tag. Where the manifest wants
// every build to name its deployment, its one error tells so:
//
//	const Deployment = a_build_needs_one_of_the_tags__capgen_dev__capgen_prod
func (p *plan) untaggedFile() *jen.File {
	all := p.builds.all() &^ p.builds.untagged()
	f := constrained(file(path.Join(p.pkg, "catalog"), "catalog", nil), strings.Join(tags(p.builds.deployments, all, "!"), " && "))
	if !p.builds.mustName {
		emitDeployment(f, p.builds.common.Name)
		emitDeclare(f, p.builds.common)
		return f
	}
	const shown = 5
	names := tags(p.builds.deployments, all, "__")
	if len(names) > shown {
		names = append(names[:shown], "__and_others")
	}
	f.Comment("// Deployment is missing: the manifest has no deployment for a build without a")
	f.Comment("// tag. Build with -tags and one of those in the first line.")
	f.Const().Id("Deployment").Op("=").Id("a_build_needs_one_of_the_tags" + strings.Join(names, ""))
	f.Line()
	f.Func().Id("declare").Params(jen.Op("*").Qual(runtimePath, "Builder")).Block()
	return f
}

// emitDeclare
//
//	// declare tells b what this build is, and what a server of it needs.
//	func declare(b *runtime.Builder) {
//		b.Deployment(Deployment)
//		b.Require(runtime.RequireAuthorizer, runtime.RequireSandbox)
//	}
func emitDeclare(f *jen.File, d *schema.Deployment) {
	f.Comment("// declare tells b what this build is, and what a server of it needs.")
	f.Func().Id("declare").Params(jen.Id("b").Op("*").Qual(runtimePath, "Builder")).BlockFunc(func(g *jen.Group) { declarations(g, d) })
}

func declarations(g *jen.Group, d *schema.Deployment) {
	g.Id("b").Dot("Deployment").Call(jen.Id("Deployment"))
	if len(d.Require) > 0 {
		g.Id("b").Dot("Require").CallFunc(func(g *jen.Group) {
			for _, word := range d.Require {
				g.Qual(runtimePath, requirement(word))
			}
		})
	}
	if len(d.Credentials) == 0 {
		return
	}
	var list []jen.Code
	for _, c := range d.Credentials {
		list = append(list, jen.Qual(runtimePath, "CredentialSource").Values(
			jen.Id("Credential").Op(":").Add(text(c.Name)), jen.Id("From").Op(":").Add(text(c.From)),
			jen.Id("Name").Op(":").Add(text(c.Source)), jen.Id("Host").Op(":").Add(text(c.Host)),
		))
	}
	g.Id("b").Dot("Credentials").Add(multiline("(", ")", list))
}
