package schema

import "slices"

// fixed takes parameters out of the hands of programs. The input becomes a copy
// of its own, in which they always have the value that is written here: for the
// rest of the compiler a default that nobody can override.
func (l *loader) fixed(n *node, c *Capability, what string) {
	if !l.kind(n, mappingNode, "fixed") {
		return
	}
	if len(n.members) == 0 {
		l.errorf(n.pos, ruleMissingField, "fixed is empty").hint("fixed: {tenant: acme}, or leave it out")
	}
	object := Resolve(c.Input)
	if object == nil || object.Kind != Object {
		return // reported already
	}
	input := *object
	input.Properties = slices.Clone(object.Properties)
	input.Pos = c.Input.Pos
	if c.Input.Description != "" {
		input.Description, input.DescriptionAt = c.Input.Description, c.Input.DescriptionAt
	}
	var names []string
	for _, p := range object.Properties {
		names = append(names, p.Name)
	}
	for _, m := range n.members {
		i := slices.Index(names, m.key)
		if i < 0 {
			f := l.errorf(m.pos, ruleBadFixed, "%s has no parameter %s to fix", what, quote(m.key)).hint("fix a property of its input")
			l.nearest(f, m.key, names)
			continue
		}
		before := object.Properties[i]
		p := &Property{Name: before.Name, Type: before.Type, Deprecated: before.Deprecated, Fixed: true, Pos: before.Pos}
		input.Properties[i] = p
		l.defaults = append(l.defaults, p)
		l.defaultOf[p] = m.value
	}
	c.Input = &input
}

// Parameters is the input as programs see it: without what is fixed.
func (c *Capability) Parameters() *Type {
	object := Resolve(c.Input)
	isFixed := func(p *Property) bool { return p.Fixed }
	if object == nil || !slices.ContainsFunc(object.Properties, isFixed) {
		return c.Input
	}
	visible := *object
	visible.Properties = slices.DeleteFunc(slices.Clone(object.Properties), isFixed)
	return &visible
}

// Fixed are the parameters that the manifest sets, in declaration order.
func (c *Capability) Fixed() []*Property {
	var out []*Property
	for _, p := range Resolve(c.Input).Properties {
		if p.Fixed {
			out = append(out, p)
		}
	}
	return out
}
