package breaking

import (
	"slices"
	"strings"

	"github.com/capgen/capgen/schema"
)

// capability compares one capability with itself.
func (c *comparer) capability(b, h *schema.Capability) {
	p := place{capability: h.Name, pos: h.Pos, base: b.Pos}
	// of is the place of a field, with where it is written.
	of := func(field string) place { return p.at(field).in(b.At[field], h.At[field]) }
	c.identity(of, b, h)
	c.authority(of, b, h)
	c.approval(of("approval"), b.Approval, h.Approval)
	c.landing(of("effect"), b, h)
	c.run(of, b.Run, h.Run)
	c.deprecation(of("deprecated"), b.Deprecated, h.Deprecated)
	c.calls(of, b, h)
	c.errors(of("errors"), b.Errors, h.Errors)
	c.examples(of("examples"), b.Examples, h.Examples)
	c.words(of, b, h)
	c.value(p.at("input"), b.Input, h.Input, input)
	c.result(p.at("output"), b, h)
}

// identity compares the names of a capability.
func (c *comparer) identity(of func(string) place, b, h *schema.Capability) {
	if b.Name != h.Name {
		id := "capability-renamed"
		if !slices.Contains(h.Was, b.Name) {
			id = "rename-undeclared"
		}
		c.add(of("name"), id, b.Name, h.Name)
	}
	c.differs(of("id"), "id-changed", b.ID, h.ID)
	was := of("was")
	for _, name := range b.Was {
		if !slices.Contains(h.Was, name) && name != h.Name {
			c.add(was.at(name), "old-name-dropped", name, "")
		}
	}
	added := false
	for _, name := range h.Was {
		if !slices.Contains(b.Was, name) {
			c.add(was.at(name), "old-name-added", "", name)
			added = true
		}
	}
	if !added && len(b.Was) == len(h.Was) && !slices.Equal(b.Was, h.Was) {
		c.add(was, "old-name-added", strings.Join(b.Was, " "), strings.Join(h.Was, " "))
	}
}

// authority compares what a capability may do, and for whom.
func (c *comparer) authority(of func(string) place, b, h *schema.Capability) {
	c.ranked(of("effect"), []string{"read", "write", "destroy", schema.EffectChange, schema.EffectRun}, b.Effect, h.Effect, "effect-lowered", "effect-raised")
	c.ranked(of("idempotency"), []string{"none", "key", "natural"}, b.Idempotency, h.Idempotency, "idempotency-weakened", "idempotency-strengthened")
	c.ranked(of("world"), []string{"closed", "open"}, b.World, h.World, "world-closed", "world-opened")
	c.sets(of("scopes"), b.Scopes, h.Scopes, "scope-removed", "scope-added")
	c.sets(of("tags"), b.Tags, h.Tags, "tag-removed", "tag-added")
	switch before, now := b.ToolName(), h.ToolName(); {
	case before == "":
		c.differs(of("direct_tool"), "direct-tool-added", before, now)
	case now == "":
		c.add(of("direct_tool"), "direct-tool-removed", before, now)
	default:
		c.differs(of("direct_tool"), "direct-tool-renamed", before, now)
	}
	c.differs(of("source"), "source-changed", tool(b.Source), tool(h.Source))
	if b.Source != nil && h.Source != nil {
		c.differs(of("source").at("title"), "source-title-changed", b.Source.Title, h.Source.Title)
	}
	c.differs(of("claimed"), "claim-changed", claims(b.Claimed), claims(h.Claimed))
}

// ranked compares two words of a list from less to more.
func (c *comparer) ranked(p place, order []string, b, h, less, more string) {
	switch i, j := slices.Index(order, b), slices.Index(order, h); {
	case i < j:
		c.add(p, more, b, h)
	case i > j:
		c.add(p, less, b, h)
	}
}

// sets compares two sets, an entry at a time.
func (c *comparer) sets(p place, b, h []string, removed, added string) {
	for _, s := range b {
		if !slices.Contains(h, s) {
			c.add(p.at(s), removed, s, "")
		}
	}
	for _, s := range h {
		if !slices.Contains(b, s) {
			c.add(p.at(s), added, "", s)
		}
	}
}

func tool(s *schema.Source) string {
	if s == nil {
		return ""
	}
	return "mcp " + s.Tool
}

// claims writes hints as name=value, in the order of their names.
func claims(all []schema.Claim) string {
	var words []string
	for _, claim := range all {
		word := claim.Name + "=false"
		if claim.Value {
			word = claim.Name + "=true"
		}
		words = append(words, word)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func (c *comparer) deprecation(p place, b, h *schema.Deprecation) {
	switch {
	case b == nil && h == nil:
	case b == nil:
		c.add(p, "deprecated-added", "", deprecationText(h))
	case h == nil:
		c.add(p, "deprecated-removed", deprecationText(b), "")
	case b.RemoveAfter != "" && h.RemoveAfter != "" && h.RemoveAfter < b.RemoveAfter:
		c.add(p, "removal-earlier", deprecationText(b), deprecationText(h))
	default:
		c.differs(p, "deprecation-changed", deprecationText(b), deprecationText(h))
	}
}

func deprecationText(d *schema.Deprecation) string {
	text := "since " + d.Since
	if d.RemoveAfter != "" {
		text += ", to be removed after " + d.RemoveAfter
	}
	if d.Use != "" {
		text += ", use " + d.Use
	}
	return text
}

// words compares the texts that stand beside schemas.
func (c *comparer) words(of func(string) place, b, h *schema.Capability) {
	c.differs(of("summary"), "summary-changed", b.Summary, h.Summary)
	if b.Description != b.Summary || h.Description != h.Summary {
		c.differs(of("description"), "description-changed", b.Description, h.Description)
	}
	c.sets(of("search"), b.Search, h.Search, "search-removed", "search-added")
	if len(b.Search) == len(h.Search) && !slices.Equal(b.Search, h.Search) && sameSet(b.Search, h.Search) {
		c.add(of("search"), "search-reordered", strings.Join(b.Search, ", "), strings.Join(h.Search, ", "))
	}
}

// sameSet tells whether two lists without repetitions hold the same.
func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}
