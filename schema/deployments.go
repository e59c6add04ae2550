package schema

import (
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime/binding"
)

const (
	maxDeployments    = 32
	maxDeploymentName = 32
	maxSelectors      = 256
)

func requireWords() []string {
	return []string{RequireAuthorizer, RequireApproval, RequireSandbox, RequireVerifier}
}

// deployments reads which builds there are and what each holds, out of the
// sorted capabilities of m. n is nil where the manifest says nothing.
func (l *loader) deployments(n *node, m *Manifest) {
	if n == nil {
		m.Deployments = []*Deployment{{Name: DefaultDeployment, Capabilities: m.Capabilities}}
		return
	}
	// What stands in another capability with a mistake may be what a selector
	// means: then only its form is checked.
	s := selection{loader: l, all: m.Capabilities, complete: !l.failed}
	if !l.kind(n, mappingNode, "deployments") {
		return
	}
	if len(n.members) > maxDeployments {
		l.errorf(n.members[maxDeployments].pos, ruleLimit, "%d deployments, the limit is %d", len(n.members), maxDeployments).
			hint("a deployment is a set of capabilities, not a place: two that hold the same are one")
		return
	}
	if n.get(DefaultDeployment) == nil {
		l.errorf(n.pos, ruleMissingField, "deployments needs %s", quote(DefaultDeployment)).
			hint("write default: {}, or default: none where every build shall name its deployment")
	}
	for _, entry := range n.members {
		if entry.key == DefaultDeployment && entry.value.kind == stringNode && entry.value.text == "none" {
			m.DefaultNone = true
			continue
		}
		if d := s.deployment(entry); d != nil {
			m.Deployments = append(m.Deployments, d)
		}
	}
	slices.SortFunc(m.Deployments, func(a, b *Deployment) int { return strings.Compare(a.Name, b.Name) })
	if len(m.Deployments) == 0 && !l.failed {
		l.errorf(n.pos, ruleMissingField, "deployments declares none").hint("with default: none there has to be another one")
	}
	if s.complete && !l.failed {
		l.reached(m)
	}
}

// reached reports capabilities that no build holds, and those that send to one
// that is not in the same build.
func (l *loader) reached(m *Manifest) {
	byName := make(map[string]*Capability, len(m.Capabilities))
	for _, c := range m.Capabilities {
		byName[c.Name] = c
	}
	for _, c := range m.Capabilities {
		if len(m.Reach(c)) == 0 {
			l.errorf(c.Pos, ruleUnreached, "no deployment holds %s", quote(c.Name)).hint("let one hold it, or remove it")
		}
		if c.Deprecated == nil || c.Deprecated.Use == "" {
			continue
		}
		use := byName[c.Deprecated.Use]
		for _, d := range m.Deployments {
			if d.Holds(c) && !d.Holds(use) {
				l.errorf(c.Pos, ruleBadRef, "%s is to be replaced by %s, which deployment %s does not hold", quote(c.Name), quote(use.Name), quote(d.Name)).
					hint("leave deprecated.use out, or let the two stand in the same deployments")
			}
		}
	}
}

// selection picks capabilities for deployments.
type selection struct {
	*loader
	all      []*Capability // sorted by name
	complete bool          // all are there, none was dropped for a mistake
}

// deployment reads one entry.
func (s *selection) deployment(entry member) *Deployment {
	what := "deployment " + quote(entry.key)
	switch {
	case !isSegment(entry.key) || len(entry.key) > maxDeploymentName:
		s.errorf(entry.pos, ruleBadName, "%s is no name for a deployment", quote(entry.key)).
			hint("a-z, then a-z, 0-9 and _, at most %d: it becomes the build tag capgen_NAME", maxDeploymentName)
		return nil
	case entry.key == Untagged || entry.key == "none":
		s.errorf(entry.pos, ruleReservedName, "no deployment is called %s: that is a build without one", quote(entry.key)).hint("choose another name")
		return nil
	}
	n := entry.value
	if !s.mapping(n, &s.words.deployment, what) {
		return nil
	}
	d := &Deployment{Name: entry.key, Pos: entry.pos}
	held := s.all
	if v := n.get("include"); v != nil {
		held = s.pick(v, "include", true)
	}
	if v := n.get("exclude"); v != nil {
		out := s.pick(v, "exclude", false)
		held = slices.DeleteFunc(slices.Clone(held), func(c *Capability) bool { return slices.Contains(out, c) })
	}
	d.Capabilities = slices.Clone(held)
	if len(held) == 0 && s.complete && !s.failed {
		s.errorf(entry.pos, ruleBadSelector, "%s holds no capability", what).hint("a server has at least one")
	}
	if v := n.get("credentials"); v != nil {
		d.Credentials = s.credentials(v)
	}
	if v := n.get("require"); v != nil {
		d.Require = s.require(v, d)
	}
	return d
}

// pick is what the selectors of a list match, in the order of all.
func (s *selection) pick(n *node, field string, needed bool) []*Capability {
	if !s.kind(n, listNode, field) {
		return nil
	}
	if len(n.items) > maxSelectors || needed && len(n.items) == 0 {
		s.errorf(n.pos, ruleLimit, "%s has %d selectors, not between 1 and %d", field, len(n.items), maxSelectors).
			hint("select by tag: {tag: danger}; left out, include is everything")
		return nil
	}
	picked := make(map[*Capability]bool)
	seen := make(map[string]Position)
	for _, item := range n.items {
		text, match := s.selector(item)
		if match == nil {
			continue
		}
		if first, twice := seen[text]; twice {
			s.errorf(item.pos, ruleBadSelector, "this selector stands twice, first at %s", first).hint("remove one of the two").related(first)
			continue
		}
		seen[text] = item.pos
		found := false
		for _, c := range s.all {
			if match(c) {
				picked[c], found = true, true
			}
		}
		if !found && s.complete {
			s.matchesNothing(item)
		}
	}
	var out []*Capability
	for _, c := range s.all {
		if picked[c] {
			out = append(out, c)
		}
	}
	return out
}

// selector reads a name or id, {tag: t} or {effect: e}. text is what makes it
// the same as another one.
func (s *selection) selector(n *node) (text string, match func(*Capability) bool) {
	if n.kind == stringNode {
		return n.text, func(c *Capability) bool { return c.Name == n.text || c.ID == n.text }
	}
	if n.kind != mappingNode {
		if n.kind != invalidNode {
			s.errorf(n.pos, ruleWrongType, "a selector has to be a string or a mapping, not %s", n.kind).
				hint("the name or id of a capability, {tag: danger} or {effect: destroy}")
		}
		return "", nil
	}
	if !s.mapping(n, &s.words.selector, "a selector") {
		return "", nil
	}
	tag, effect := n.get("tag"), n.get("effect")
	switch {
	case len(n.members) != 1:
		s.errorf(n.pos, ruleMissingField, "a selector needs one of tag and effect, and only one").hint("write two selectors")
	case tag != nil:
		word, ok := s.str(tag, "tag")
		if ok && !isSegment(word) {
			s.errorf(tag.pos, ruleBadName, "%s is no tag", quote(word)).hint("a-z, then a-z, 0-9 and _")
			ok = false
		}
		if ok {
			return "tag:" + word, func(c *Capability) bool { return slices.Contains(c.Tags, word) }
		}
	case effect != nil:
		if word, ok := s.word(effect, "effect", effects(), nil); ok {
			return "effect:" + word, func(c *Capability) bool { return c.Effect == word }
		}
	}
	return "", nil
}

// matchesNothing says so of a selector, with what it may have meant.
func (s *selection) matchesNothing(n *node) {
	if n.kind == stringNode {
		f := s.errorf(n.pos, ruleBadSelector, "no capability has the name or id %s", quote(n.text)).hint("a selector matches something")
		if s.governedPart(f, n.text) {
			return
		}
		var known []string
		for _, c := range s.all {
			if slices.Contains(c.Was, n.text) {
				f.hint("it was renamed to %s", c.Name)
			}
			known = append(known, c.Name)
			if c.ID != c.Name {
				known = append(known, c.ID)
			}
		}
		s.nearest(f, n.text, known)
		return
	}
	m := n.members[0]
	f := s.errorf(n.pos, ruleBadSelector, "no capability has the %s %s", m.key, quote(m.value.text)).hint("a selector matches something")
	if m.key != "tag" {
		return
	}
	var known []string
	for _, c := range s.all {
		known = append(known, c.Tags...)
	}
	slices.Sort(known)
	s.nearest(f, m.value.text, slices.Compact(known))
}

// governedPart tells whether a selector names what approval made, and how it
// is selected.
func (s *selection) governedPart(f *finding, name string) bool {
	if slices.Contains(binding.FamilyNames(), name) {
		what := "a capability with approval"
		if strings.HasPrefix(name, "run.") {
			what = "a run"
		}
		f.hint("remove it: a deployment that holds %s has %s", what, name)
		return true
	}
	for _, c := range s.all {
		if isStep(name) && c.Approval != nil && (name[:strings.LastIndexByte(name, '.')] == c.Name || name[:strings.LastIndexByte(name, '.')] == c.ID) {
			f.hint("select %s: its parts stand together", c.Name)
			return true
		}
	}
	return false
}

// require reads the words of a deployment, which d has.
func (s *selection) require(n *node, d *Deployment) []string {
	if !s.kind(n, listNode, "require") {
		return nil
	}
	var words []string
	for _, item := range n.items {
		word, ok := s.word(item, "require", requireWords(), nil)
		switch {
		case !ok:
		case slices.Contains(words, word):
			s.errorf(item.pos, ruleBadValue, "%s stands twice in require", quote(word)).hint("remove one of the two")
		default:
			words = append(words, word)
			if word == RequireApproval {
				s.approvals(item.pos, d)
			}
		}
	}
	slices.Sort(words)
	return words
}

// approvals reports what would land without somebody else's approval.
func (s *selection) approvals(at Position, d *Deployment) {
	for _, c := range d.Capabilities {
		switch {
		case c.Approval == nil && c.plans():
			s.errorf(at, ruleNeedsApproval, "deployment %s requires approval, and %s with effect %s has none", quote(d.Name), quote(c.Name), quote(c.Effect)).
				hint("write approval: {required: true} there, or leave the capability out of the deployment").related(c.Pos)
		case c.Approval != nil && c.Approval.SelfAllowed:
			s.errorf(at, ruleNeedsApproval, "deployment %s requires approval, and that of %s may be its author's own", quote(d.Name), quote(c.Name)).
				hint("write self: forbid there, or leave the capability out of the deployment").related(c.Pos)
		}
	}
}
