package codegen

import (
	"path"
	"slices"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/schema"
)

// governField is what the catalog's Handlers call the service.
const governField = "Govern"

// governed is a capability with an approval: one file with the Go of both of
// its parts, and the method by which a host implements it.
type governed struct {
	*schema.Capability
	method        string // of Handlers
	preview       string // as well; empty for none
	terms         string // function
	input, output *goType
	decls         []*decl
	errors        []declaredError
	prepare       *capability
	landing       *capability // apply, or start of a run
	// takes are the fields that prepare's input and the capability's share.
	takes []*field
}

// plans is what the handler of a change or a run returns, a type of govern: it
// only plans. It is empty for a write or destroy.
func (g *governed) plans() string {
	return map[string]string{schema.EffectChange: "Change", schema.EffectRun: "Run"}[g.Effect]
}

// asks tells whether c calls a method of Handlers.
func (c *capability) asks() bool {
	switch {
	case c.of == nil:
		return c.Step == ""
	case c.of.plans() != "":
		return c.Step == schema.StepPrepare
	}
	return c.Step == schema.StepApply || c.of.preview != ""
}

// handled tells whether a host implements something of n.
func (n *namespace) handled() bool {
	return slices.ContainsFunc(n.capabilities, func(c *capability) bool { return !c.family() })
}

func (p *plan) governed() bool {
	return slices.ContainsFunc(p.namespaces, func(n *namespace) bool { return n.service })
}

// checkGoverned refuses what the expansion of a manifest would not have made.
func (p *planner) checkGoverned(m *schema.Manifest) {
	for _, c := range m.Capabilities {
		known := c.Of != nil && slices.Contains(m.Governed, c.Of) && slices.Contains([]string{c.Of.Landing(), schema.StepPrepare}, c.Step) && c.Name == c.Of.Name+"."+c.Step ||
			c.Of == nil && c.Approval == nil && (c.Step == "" || slices.Contains(binding.FamilyNames(), c.Name))
		if !known {
			p.fail(c.Pos, "approval", "", "%s is neither a capability without approval nor a part of one with it", c.Name)
		}
	}
	for _, c := range m.Governed {
		if len(m.Parts(c)) != 2 || c.Approval == nil || c.Input == nil || c.Input.Kind != schema.Object || c.Output == nil || (c.Run != nil) != (c.Effect == schema.EffectRun) {
			p.fail(c.Pos, "approval", "", "%s has not been expanded", c.Name)
			continue
		}
		if len(p.diags) == 0 {
			p.checkExamples(c)
		}
	}
}

// planGoverned plans what both parts of c share.
func (p *planner) planGoverned(c *schema.Capability, n *namespace, leaf string, s *scope) *governed {
	name := goName(leaf)
	g := &governed{Capability: c, method: name, terms: unexported(name) + "Terms"}
	// No other capability has the methods of this one.
	s.claim(unexported(name)+"Capability", "capability "+c.Name, c.Pos)
	s.claim(g.terms, "the terms of "+c.Name, c.Pos)
	if c.Approval.Preview {
		g.preview = "Preview" + name
		s.claim(unexported(g.preview)+"Capability", "the preview of "+c.Name, c.Pos)
	}
	b := &builder{planner: p, scope: s, pkg: path.Join(p.pkg, n.dir)}
	g.input = b.rootOrReference(name+"Input", "the input of "+c.Name, c.Input)
	g.takes = b.decls[0].fields
	if c.Effect != schema.EffectChange {
		g.output = b.rootOrReference(name+"Output", "the output of "+c.Name, c.Output)
	}
	g.decls = b.decls
	g.errors = p.planErrors(c, name, s)
	return g
}

// planPart plans one part of g.
func (p *planner) planPart(c *schema.Capability, g *governed, n *namespace, s *scope) *capability {
	name := g.method + goName(c.Step)
	out := &capability{
		Capability: c, file: n.dir + "/" + g.Leaf() + "_gen.go", method: g.method, constructor: unexported(name) + "Capability",
		pkgPath: path.Join(p.pkg, n.dir), of: g,
		held: p.builds.held[c], constraint: p.builds.constraint(p.builds.held[c]),
	}
	if len(c.Errors) > 0 {
		out.errors = g.errors
	}
	s.claim(out.constructor, "capability "+c.Name, c.Pos)
	b := &builder{planner: p, scope: s, pkg: out.pkgPath}
	if c.Step == schema.StepPrepare {
		out.input = b.extended(name+"Input", "the input of "+c.Name, c.Input, g.takes)
		out.output = wireType(c.Step, "Output")
		g.prepare = out
	} else {
		out.input = wireType(c.Step, "Input")
		out.output = wireType(c.Step, "Output")
		if g.plans() == "" {
			out.output = b.extended(name+"Output", "the output of "+c.Name, c.Output, nil, &field{name: "Output", member: "output", typ: g.output})
		}
		g.landing = out
	}
	g.decls = append(g.decls, b.decls...)
	return out
}

// extended declares an object of fields that are declared elsewhere and those
// that t has beside them, which are plain.
func (b *builder) extended(name, what string, t *schema.Type, shared []*field, last ...*field) *goType {
	b.scope.claim(name, what, t.Pos)
	d := &decl{name: name, lead: name + " is " + what + ".", root: true, object: true, fields: slices.Clone(shared)}
	for _, prop := range t.Properties {
		has := func(f *field) bool { return f.member == prop.Name }
		if !slices.ContainsFunc(shared, has) && !slices.ContainsFunc(last, has) {
			d.fields = append(d.fields, &field{
				name: goName(prop.Name), member: prop.Name, text: prop.Type.Description, required: prop.Required,
				typ: b.typ(b.pkg, name+goName(prop.Name), prop.Type, false),
			})
		}
	}
	d.fields = append(d.fields, last...)
	members := newScope("type "+name, &b.diags)
	for _, f := range d.fields {
		members.claim(f.name, "property "+f.member, t.Pos)
	}
	b.decls = append(b.decls, d)
	return &goType{form: named, name: name, pkg: b.pkg}
}

// planFamily plans what stands beside the parts.
func (p *planner) planFamily(c *schema.Capability, n *namespace, s *scope) *capability {
	name := wireName(c.Name)
	out := &capability{
		Capability: c, file: n.dir + "/" + c.Leaf() + "_gen.go", method: goName(name), constructor: unexported(goName(c.Leaf())) + "Capability",
		pkgPath: path.Join(p.pkg, n.dir), input: wireType(name, "Input"), output: wireType(name, "Output"),
		held: p.builds.held[c], constraint: p.builds.constraint(p.builds.held[c]),
	}
	s.claim(out.constructor, "capability "+c.Name, c.Pos)
	return out
}
