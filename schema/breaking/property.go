package breaking

import (
	"slices"
	"strings"

	"github.com/capgen/capgen/schema"
)

// object compares the members of two objects.
func (c *comparer) object(p place, b, h *schema.Type, d direction) {
	base := make(map[string]*schema.Property, len(b.Properties))
	for _, old := range b.Properties {
		base[old.Name] = old
	}
	var stay []string
	for _, prop := range h.Properties {
		at := p.at("properties", prop.Name)
		old := base[prop.Name]
		if old == nil {
			c.added(at.in(schema.Position{}, prop.Pos), prop, d)
			continue
		}
		stay = append(stay, prop.Name)
		c.property(at.in(old.Pos, prop.Pos), old, prop, d)
	}
	var kept []string
	for _, old := range b.Properties {
		if slices.Contains(stay, old.Name) {
			kept = append(kept, old.Name)
			continue
		}
		at := p.at("properties", old.Name).in(old.Pos, schema.Position{})
		if old.Fixed {
			c.add(at, "fixed-removed", old.Default, "")
			continue
		}
		c.add(at, d.rule("property-removed"), propertyText(old), "")
	}
	if !slices.Equal(kept, stay) {
		c.add(p.at("properties"), "properties-reordered", strings.Join(kept, ", "), strings.Join(stay, ", "))
	}
}

// added reports a member that is new.
func (c *comparer) added(p place, prop *schema.Property, d direction) {
	id := d.rule("property-optional")
	switch {
	case prop.Fixed:
		c.add(p, "fixed-added", "", prop.Default)
		return
	case prop.Required:
		id = d.rule("property-required")
	case prop.Default != "" && d == input:
		id = "input-property-default"
	}
	c.add(p, id, "", propertyText(prop))
}

// propertyText is what a member is, as its effective schema.
func propertyText(p *schema.Property) string {
	text := string(schema.EffectiveSchema(p.Type))
	switch {
	case p.Required:
		return "required " + text
	case p.Default != "":
		return "default " + p.Default + " " + text
	}
	return "optional " + text
}

// property compares a member with itself.
func (c *comparer) property(p place, b, h *schema.Property, d direction) {
	switch {
	case b.Fixed && h.Fixed:
		c.differs(p, "fixed-changed", b.Default, h.Default)
	case h.Fixed:
		c.add(p, "fixed-added", propertyText(b), h.Default)
	case b.Fixed:
		c.add(p, "fixed-removed", b.Default, propertyText(h))
	default:
		c.presence(p, b, h, d)
	}
	if b.Deprecated != h.Deprecated {
		if h.Deprecated {
			c.add(p.at("deprecated"), "property-deprecated", "", "true")
		} else {
			c.add(p.at("deprecated"), "property-undeprecated", "true", "")
		}
	}
	c.value(p, b.Type, h.Type, d)
}

// presence compares whether a member has to be there, and what it is when it
// is left out.
func (c *comparer) presence(p place, b, h *schema.Property, d direction) {
	const (
		required  = "required"
		optional  = "optional"
		defaulted = "default"
	)
	state := func(x *schema.Property) string {
		switch {
		case x.Required:
			return required
		case x.Default != "":
			return defaulted
		}
		return optional
	}
	before, after := state(b), state(h)
	change := before + " " + after
	switch change {
	case required + " " + optional:
		c.add(p, d.rule("required-removed"), before, after)
	case required + " " + defaulted:
		c.add(p, d.rule("required-to-default"), before, after+" "+h.Default)
	case optional + " " + required:
		c.add(p, d.rule("required-added"), before, after)
	case defaulted + " " + required:
		id := "input-required-added"
		if d == output {
			id = "output-default-to-required"
		}
		c.add(p, id, before+" "+b.Default, after)
	case optional + " " + defaulted:
		c.add(p.at("default"), d.rule("default-added"), "", h.Default)
	case defaulted + " " + optional:
		c.add(p.at("default"), d.rule("default-removed"), b.Default, "")
	default:
		c.differs(p.at("default"), d.rule("default-changed"), b.Default, h.Default)
	}
}

// reaches tells of each named type that differs which capabilities hold it.
func (c *comparer) reaches() {
	wanted := map[string][]*Finding{}
	for _, f := range c.report.Findings {
		if rest, ok := strings.CutPrefix(f.Pointer, "/types/"); ok && f.Capability == "" {
			name, _, _ := strings.Cut(rest, "/")
			wanted[name] = append(wanted[name], f)
		}
	}
	if len(wanted) == 0 {
		return
	}
	holders := map[string]map[string]bool{}
	for _, m := range []*schema.Manifest{c.base, c.head} {
		for _, capability := range m.Capabilities {
			name := capability.Name
			held := map[string]bool{}
			for _, t := range []*schema.Type{capability.Input, capability.Output} {
				holds(t, held)
			}
			for of := range held {
				if holders[of] == nil {
					holders[of] = map[string]bool{}
				}
				holders[of][name] = true
			}
		}
	}
	for name, findings := range wanted {
		var names []string
		for n := range holders[name] {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, f := range findings {
			f.Reaches = names
		}
	}
}

// holds gathers the names of the types that a value holds.
func holds(t *schema.Type, held map[string]bool) {
	if t == nil {
		return
	}
	if t.Kind == schema.Ref {
		if !held[t.Ref.Name] {
			held[t.Ref.Name] = true
			holds(t.Ref.Type, held)
		}
		return
	}
	holds(t.Items, held)
	for _, v := range t.Variants {
		holds(v, held)
	}
	for _, p := range t.Properties {
		holds(p.Type, held)
	}
}
