package codegen

import (
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/schema"
)

// builds are those that there are of a manifest: one for each deployment, and
// one without a tag of any.
type builds struct {
	deployments []*schema.Deployment // sorted by name
	common      *schema.Deployment   // of the build without a tag
	// tagged tells whether there are others than default, so that tags decide.
	tagged bool
	// mustName: a build without a tag does not compile.
	mustName bool
	held     map[*schema.Capability]buildSet
}

// buildSet has a bit for each deployment, and behind them one for the build
// without a tag.
type buildSet uint64

// maxDeployments is what fits into a buildSet.
const maxDeployments = 63

var deploymentName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// newBuilds is of a manifest; one made by hand may have no deployments, which
// is default with everything.
func newBuilds(m *schema.Manifest) *builds {
	c := *m
	if len(c.Deployments) == 0 {
		c.Deployments = []*schema.Deployment{{Name: schema.DefaultDeployment, Capabilities: m.Capabilities}}
	}
	b := &builds{
		deployments: c.Deployments, common: c.Common(), tagged: c.Tagged(), mustName: c.DefaultNone,
		held: make(map[*schema.Capability]buildSet, len(m.Capabilities)),
	}
	for i, d := range append(slices.Clone(b.deployments), b.common) {
		for _, c := range d.Capabilities {
			b.held[c] |= 1 << i
			if c.Of != nil {
				b.held[c.Of] |= 1 << i
			}
		}
	}
	return b
}

// checkDeployments refuses what could not be written as tags, and capabilities
// that are in no build.
func (p *planner) checkDeployments(m *schema.Manifest) {
	if len(m.Deployments) > maxDeployments {
		p.fail(m.Deployments[maxDeployments].Pos, "too-many-deployments", "", "%d deployments, the limit is %d", len(m.Deployments), maxDeployments)
		return
	}
	for i, d := range m.Deployments {
		if !deploymentName.MatchString(d.Name) || d.Name == schema.Untagged || i > 0 && m.Deployments[i-1].Name >= d.Name {
			p.fail(d.Pos, "deployment-name", "", "%s is no name of a deployment, or not in order", strconv.Quote(d.Name))
		}
		for _, word := range d.Require {
			if requirement(word) == "" {
				p.fail(d.Pos, "unknown-requirement", "", "deployment %s: %s is no requirement of this version", d.Name, strconv.Quote(word))
			}
		}
		for _, c := range d.Credentials {
			p.checkTexts(c.Pos, c.Name, c.From, c.Source, c.Host)
		}
	}
	if len(p.diags) > 0 {
		return
	}
	p.builds = newBuilds(m)
	for _, c := range m.Capabilities {
		if p.builds.held[c] == 0 {
			p.fail(c.Pos, "unreached", "", "no deployment holds %s", c.Name)
		}
	}
}

// requirement is the runtime's constant for a word; empty for an unknown one.
func requirement(word string) string {
	switch word {
	case schema.RequireAuthorizer, schema.RequireApproval, schema.RequireSandbox, schema.RequireVerifier:
		return "Require" + goName(word)
	}
	return ""
}

func (b *builds) all() buildSet      { return 1<<(len(b.deployments)+1) - 1 }
func (b *builds) untagged() buildSet { return 1 << len(b.deployments) }

// names are those of the deployments in s.
func (b *builds) names(s buildSet) []string {
	var out []string
	for i, d := range b.deployments {
		if s&(1<<i) != 0 {
			out = append(out, d.Name)
		}
	}
	return out
}

// constraint is the build constraint of what the builds in s hold; empty for
// none. What the build without a tag holds, all hold.
func (b *builds) constraint(s buildSet) string {
	if !b.tagged || s&b.untagged() != 0 {
		return ""
	}
	return strings.Join(tags(b.deployments, s, ""), " || ")
}

// exactly is the build constraint of what the builds in s have and no others:
// one of several forms of the same declarations.
func (b *builds) exactly(s buildSet) string {
	switch {
	case s == b.all():
		return ""
	case s&b.untagged() != 0:
		return strings.Join(tags(b.deployments, b.all()&^s, "!"), " && ")
	}
	return strings.Join(tags(b.deployments, s, ""), " || ")
}

func tags(deployments []*schema.Deployment, s buildSet, prefix string) []string {
	var out []string
	for i, d := range deployments {
		if s&(1<<i) != 0 {
			out = append(out, prefix+d.Tag())
		}
	}
	return out
}

// buildForm is one of those that a list of declarations has: for the builds that
// hold the same of its items.
type buildForm struct {
	builds buildSet
	// items are indices into the list.
	items []int
	// suffix goes into the names of its files: empty where the build without a
	// tag is among the builds, or .NAME, the first deployment.
	suffix, constraint string
}

// forms tells which forms there are of a list whose items are held by those
// sets, at least one.
func (b *builds) forms(held []buildSet) []buildForm {
	var out []buildForm
	for i := range len(b.deployments) + 1 {
		bit := buildSet(1) << i
		var items []int
		for j, s := range held {
			if s&bit != 0 {
				items = append(items, j)
			}
		}
		if at := slices.IndexFunc(out, func(f buildForm) bool { return slices.Equal(f.items, items) }); at >= 0 {
			out[at].builds |= bit
		} else {
			out = append(out, buildForm{builds: bit, items: items})
		}
	}
	for i := range out {
		f := &out[i]
		f.constraint = b.exactly(f.builds)
		if f.builds&b.untagged() == 0 {
			f.suffix = "." + b.deployments[bits.TrailingZeros64(uint64(f.builds))].Name
		}
	}
	return out
}

// constrained puts a build constraint into a file that begins; an empty one is
// none.
func constrained(f *jen.File, constraint string) *jen.File {
	if constraint != "" {
		f.HeaderComment("//go:build " + constraint)
	}
	return f
}

// typeSets are the builds that hold each named type: those with a capability
// whose input or output leads to it, or whose run's result. One that nothing
// leads to is in all.
func (b *builds) typeSets(m *schema.Manifest) map[*schema.NamedType]buildSet {
	sets := make(map[*schema.NamedType]buildSet, len(m.Types))
	var queue []*schema.NamedType
	reach := func(t *schema.Type, s buildSet) {
		for _, to := range references(t) {
			if sets[to]|s != sets[to] {
				sets[to] |= s
				queue = append(queue, to)
			}
		}
	}
	for _, c := range m.Capabilities {
		reach(c.Input, b.held[c])
		reach(c.Output, b.held[c])
		if c.Of != nil {
			reach(c.Of.Output, b.held[c]) // of a run no part has it
		}
	}
	for len(queue) > 0 {
		t := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		reach(t.Type, sets[t])
	}
	for _, t := range m.Types {
		if sets[t] == 0 {
			sets[t] = b.all()
		}
	}
	return sets
}

// references are the named types that t refers to itself.
func references(t *schema.Type) []*schema.NamedType {
	switch {
	case t == nil:
		return nil
	case t.Kind == schema.Ref:
		return []*schema.NamedType{t.Ref}
	}
	out := append(references(t.Items), references(t.Keys)...)
	for _, p := range t.Properties {
		out = append(out, references(p.Type)...)
	}
	for _, v := range t.Variants {
		out = append(out, references(v)...)
	}
	return out
}
