package schema

import (
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime/binding"
)

// EffectChange is the effect of a capability that replaces a directory.
const EffectChange = "change"

// The steps in which programs use a capability with an approval, each a
// capability of its own below its name.
const (
	// StepPrepare takes the capability's input and answers a plan.
	StepPrepare = "prepare"
	// StepApply lands a plan that people have approved.
	StepApply = "apply"
)

// Steps are those of every capability with an approval. Approving is none of
// them, nor of the family: that is people's, outside of what a program reaches.
func Steps() []string { return []string{StepApply, StepPrepare} }

// keyParameter is what prepare takes beside the capability's own parameters.
const keyParameter = "key"

// IsGoverned tells whether c is a capability with an approval as the manifest
// declares it. Programs have its parts instead.
func (c *Capability) IsGoverned() bool { return c.Approval != nil && c.Step == "" }

// Declared are the capabilities as the manifest declares them, sorted by name:
// those with an approval themselves instead of their parts, and without what
// approval brings.
func (m *Manifest) Declared() []*Capability {
	if len(m.Governed) == 0 {
		return m.Capabilities
	}
	declared := slices.DeleteFunc(slices.Clone(m.Capabilities), func(c *Capability) bool { return c.Step != "" })
	declared = append(declared, m.Governed...)
	slices.SortFunc(declared, byName)
	return declared
}

// DeclaredIn are the declared capabilities that a deployment of m holds.
func (m *Manifest) DeclaredIn(d *Deployment) []*Capability {
	return slices.DeleteFunc(slices.Clone(m.Declared()), func(c *Capability) bool { return !d.Holds(c) })
}

// Parts are what programs have of c: those of a capability with an approval,
// else c itself.
func (m *Manifest) Parts(c *Capability) []*Capability {
	if !c.IsGoverned() {
		return []*Capability{c}
	}
	return slices.DeleteFunc(slices.Clone(m.Capabilities), func(p *Capability) bool { return p.Of != c })
}

// Called is the name by which a program begins to use c.
func (c *Capability) Called() string {
	if c.IsGoverned() {
		return c.Name + dot(StepPrepare)
	}
	return c.Name
}

func byName(a, b *Capability) int { return strings.Compare(a.Name, b.Name) }

// expand puts the parts of capabilities with an approval into their place, in
// the manifest and in its deployments, and the family beside them. Everything
// has to be checked.
func expand(m *Manifest) {
	parts := make(map[*Capability][]*Capability)
	isGoverned := make(map[string]bool)
	for _, c := range m.Capabilities {
		if c.IsGoverned() {
			m.Governed = append(m.Governed, c)
			isGoverned[c.Name] = true
		}
	}
	if len(m.Governed) == 0 {
		return
	}
	built := Family()
	for _, c := range m.Governed {
		if c.Effect == EffectChange {
			c.Output = built[StepApply].Output
		}
		parts[c] = []*Capability{applyOf(c, built, isGoverned), prepareOf(c, built, isGoverned)}
	}
	for _, c := range m.Capabilities {
		if d := c.Deprecated; d != nil && !c.IsGoverned() && isGoverned[d.Use] {
			c.Deprecated = &Deprecation{d.Since, d.RemoveAfter, d.Use + dot(StepPrepare)}
		}
	}
	var family []*Capability
	for _, name := range binding.FamilyNames() {
		c := *built[name[strings.IndexByte(name, '.')+1:]]
		c.Pos, c.At = m.Governed[0].Pos, nil
		c.Step = c.Leaf()
		family = append(family, &c)
	}
	spread := func(list []*Capability) []*Capability {
		var out []*Capability
		governed := false
		for _, c := range list {
			if of := parts[c]; of != nil {
				out, governed = append(out, of...), true
			} else {
				out = append(out, c)
			}
		}
		if governed {
			out = append(out, family...)
		}
		slices.SortFunc(out, byName)
		return out
	}
	// A manifest without deployments has the list itself in its only one.
	for _, d := range m.Deployments {
		d.Capabilities = spread(d.Capabilities)
	}
	m.Capabilities = spread(m.Capabilities)
}

// partOf is what both parts of c have of it.
func partOf(c *Capability, step string, isGoverned map[string]bool) *Capability {
	p := &Capability{
		ID: c.ID + dot(step), Name: c.Name + dot(step),
		Idempotency: "key", World: "closed", Scopes: c.Scopes, Tags: c.Tags,
		Deprecated: c.Deprecated, Source: c.Source, Claimed: c.Claimed,
		Shaping:  Shaping{Timeout: c.Timeout},
		Approval: c.Approval, Of: c, Step: step,
		At: c.At, Pos: c.Pos,
	}
	for _, old := range c.Was {
		p.Was = append(p.Was, old+dot(step))
	}
	if d := c.Deprecated; d != nil && isGoverned[d.Use] {
		p.Deprecated = &Deprecation{d.Since, d.RemoveAfter, d.Use + dot(step)}
	}
	return p
}

// prepareOf plans: it takes the input of c and a key.
func prepareOf(c *Capability, built map[string]*Capability, isGoverned map[string]bool) *Capability {
	p := partOf(c, StepPrepare, isGoverned)
	p.Effect, p.Summary, p.Search = "write", "Plan, for people to approve: "+c.Summary, c.Search
	if c.Description != c.Summary {
		p.Description = strings.TrimRight(c.Description, "\n") + "\n\n"
	}
	p.Description += "Changes nothing yet: land the plan by " + c.Name + dot(StepApply) + "."
	if c.Effect == EffectChange || c.Approval.Preview {
		p.Errors = c.Errors // its handler is asked
	}
	input := *c.Input
	key := *built[StepPrepare].Input.Properties[0]
	key.Pos = c.Pos
	input.Properties = append(slices.Clone(input.Properties), &key)
	p.Input, p.Output = &input, built[StepPrepare].Output
	return p
}

// applyOf lands a plan of c.
func applyOf(c *Capability, built map[string]*Capability, isGoverned map[string]bool) *Capability {
	p := partOf(c, StepApply, isGoverned)
	p.Effect, p.World = "destroy", c.World
	p.Summary = "Land a plan of " + c.Name + dot(StepPrepare) + "."
	p.Description = "Fails with approval_required, and the command for people to run, until they have approved."
	p.Input, p.Output = built[StepApply].Input, built[StepApply].Output
	if c.Effect != EffectChange {
		p.Errors = c.Errors
		output := *p.Output
		output.Properties = slices.DeleteFunc(slices.Clone(output.Properties), func(p *Property) bool { return p.Name == "tree" })
		output.Properties = append(output.Properties, &Property{Name: "output", Type: c.Output, Pos: c.Pos})
		p.Output = &output
	}
	return p
}
