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
	// StepStart is its name where landing starts a run.
	StepStart = "start"
)

// Steps are those that capabilities with an approval have: prepare, and one of
// the others. Approving is none of them, nor of the family: that is people's,
// outside of what a program reaches.
func Steps() []string { return []string{StepApply, StepPrepare, StepStart} }

// Landing is the step that lands a plan of c.
func (c *Capability) Landing() string {
	if c.Effect == EffectRun {
		return StepStart
	}
	return StepApply
}

// steps are those of c, a capability with an approval.
func (c *Capability) steps() []string { return []string{c.Landing(), StepPrepare} }

// plans tells whether c is a change or a run, whose handler only plans.
func (c *Capability) plans() bool { return c.Effect == EffectChange || c.Effect == EffectRun }

// familyNames are those of what approval brings, with or without runs.
func familyNames(runs bool) []string {
	return slices.DeleteFunc(binding.FamilyNames(), func(name string) bool { return !runs && strings.HasPrefix(name, "run.") })
}

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

// calledAs are the names by which programs use c where it is called name: its
// parts', of which there are none where no capability with an approval has such
// a long name.
func (c *Capability) calledAs(name string) []string {
	switch {
	case c.Approval == nil:
		return []string{name}
	case len(name) > maxGoverned:
		return nil
	}
	var parts []string
	for _, step := range c.steps() {
		parts = append(parts, name+dot(step))
	}
	return parts
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
// the manifest and in its deployments, and the families beside them. Everything
// has to be checked.
func expand(m *Manifest) {
	parts := make(map[*Capability][]*Capability)
	governed := make(map[string]*Capability)
	for _, c := range m.Capabilities {
		if c.IsGoverned() {
			m.Governed = append(m.Governed, c)
			governed[c.Name] = c
		}
	}
	if len(m.Governed) == 0 {
		return
	}
	built := Family()
	for _, c := range m.Governed {
		if c.Effect == EffectChange {
			c.Output = built["change."+StepApply].Output
		}
		parts[c] = []*Capability{landingOf(c, built, governed), prepareOf(c, built, governed)}
	}
	for _, c := range m.Capabilities {
		if d := c.Deprecated; d != nil && !c.IsGoverned() && governed[d.Use] != nil {
			c.Deprecated = &Deprecation{d.Since, d.RemoveAfter, d.Use + dot(StepPrepare)}
		}
	}
	family := make(map[string]*Capability)
	for _, name := range binding.FamilyNames() {
		c := *built[name]
		c.Pos, c.At = m.Governed[0].Pos, nil
		c.Step = c.Leaf()
		family[name] = &c
	}
	spread := func(list []*Capability) []*Capability {
		var out []*Capability
		any, runs := false, false
		for _, c := range list {
			if of := parts[c]; of != nil {
				out, any, runs = append(out, of...), true, runs || c.Run != nil
			} else {
				out = append(out, c)
			}
		}
		if any {
			for _, name := range familyNames(runs) {
				out = append(out, family[name])
			}
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
func partOf(c *Capability, step string, governed map[string]*Capability) *Capability {
	p := &Capability{
		ID: c.ID + dot(step), Name: c.Name + dot(step),
		Idempotency: "key", World: "closed", Scopes: c.Scopes, Tags: c.Tags,
		Deprecated: c.Deprecated, Source: c.Source, Claimed: c.Claimed,
		Shaping:    Shaping{Timeout: c.Timeout},
		DirectTool: c.DirectTool, // of runs alone
		Approval:   c.Approval, Run: c.Run, Of: c, Step: step,
		At: c.At, Pos: c.Pos,
	}
	for _, old := range c.Was {
		if len(old) <= maxGoverned { // nobody has called a part of a longer one
			p.Was = append(p.Was, old+dot(step))
		}
	}
	if d := c.Deprecated; d != nil && governed[d.Use] != nil {
		if step != StepPrepare {
			step = governed[d.Use].Landing()
		}
		p.Deprecated = &Deprecation{d.Since, d.RemoveAfter, d.Use + dot(step)}
	}
	return p
}

// prepareOf plans: it takes the input of c and a key.
func prepareOf(c *Capability, built, governed map[string]*Capability) *Capability {
	p := partOf(c, StepPrepare, governed)
	p.Effect, p.Summary, p.Search = "write", "Plan, for people to approve: "+c.Summary, c.Search
	if c.Description != c.Summary {
		p.Description = strings.TrimRight(c.Description, "\n") + "\n\n"
	}
	if c.Run == nil {
		p.Description += "Changes nothing yet: land the plan by " + c.Name + dot(StepApply) + "."
	} else {
		p.Description += "Runs nothing yet: start the plan by " + c.Name + dot(StepStart) + "."
	}
	if c.plans() || c.Approval.Preview {
		p.Errors = c.Errors // its handler is asked
	}
	input := *c.Input
	key := *built["change."+StepPrepare].Input.Properties[0]
	key.Pos = c.Pos
	input.Properties = append(slices.Clone(input.Properties), &key)
	p.Input, p.Output = &input, built["change."+StepPrepare].Output
	return p
}

// landingOf lands a plan of c, or starts it. A run that is confined destroys
// nothing: what it writes is its own, and gone with it.
func landingOf(c *Capability, built, governed map[string]*Capability) *Capability {
	p := partOf(c, c.Landing(), governed)
	p.World = c.World
	p.Description = "Fails with approval_required, and the command for people to run, until they have approved."
	if c.Run != nil {
		p.Effect, p.Summary = "write", "Start a plan of "+c.Name+dot(StepPrepare)+"."
		if c.Run.Sandbox == SandboxNone {
			p.Effect = "destroy"
		}
		p.Description += " run.status and run.result follow the job."
		p.Input, p.Output = built["run."+StepStart].Input, built["run."+StepStart].Output
		return p
	}
	p.Effect, p.Summary = "destroy", "Land a plan of "+c.Name+dot(StepPrepare)+"."
	p.Input, p.Output = built["change."+StepApply].Input, built["change."+StepApply].Output
	if c.Effect != EffectChange {
		p.Errors = c.Errors
		output := *p.Output
		output.Properties = slices.DeleteFunc(slices.Clone(output.Properties), func(p *Property) bool { return p.Name == "tree" })
		output.Properties = append(output.Properties, &Property{Name: "output", Type: c.Output, Pos: c.Pos})
		p.Output = &output
	}
	return p
}
