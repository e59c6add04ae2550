package breaking

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/capgen/capgen/schema"
)

// Finding is one difference.
type Finding struct {
	Rule
	// Capability is the name in the head, or of what is gone in the base;
	// empty for what belongs to no capability, such as a named type.
	Capability string
	// Pointer is a JSON pointer (RFC 6901) into the capability or, without
	// one, the manifest. It ends in the keyword or, of a list, in the entry
	// that differs, so that no two findings of a rule have the same.
	Pointer string
	// Before and After are what differs, as text or JSON; empty for what is
	// not there.
	Before, After string
	// Position is in the head: of what differs, or of what was around it.
	// Base is in the base; Line is 0 for what is new.
	schema.Position
	Base schema.Position
	// Reaches are the capabilities that hold a named type, sorted; nil for
	// other findings.
	Reaches []string
}

// Target names what a finding is about: the capability, a number sign and the
// pointer, as in files.list#/input/properties/limit/maximum, or #/types/Entry.
func (f *Finding) Target() string { return f.Capability + "#" + f.Pointer }

// Pair is a capability on both sides.
type Pair struct{ Base, Head *schema.Capability }

// Report is what a comparison found.
type Report struct {
	// Findings are sorted: breaking ones first, authority before the rest,
	// then by target and rule. No two have the same rule and target.
	Findings []*Finding
	// Pairs, Added and Removed are the capabilities, sorted by name.
	Pairs   []Pair
	Added   []*schema.Capability
	Removed []*schema.Capability
}

// Compare finds what differs from base to head on that day, which has the form
// 2026-11-29 and decides whether a removal was announced. Both manifests are
// of schema.Load and stay as they are; the time is linear in their size, and
// the result depends on nothing else. It may be called from several goroutines.
func Compare(base, head *schema.Manifest, today string) *Report {
	rules := map[string]Rule{}
	for _, r := range Rules() {
		rules[r.ID] = r
	}
	c := newComparer(rules)
	c.base, c.head, c.today = declared(base), declared(head), today
	c.pair()
	c.server()
	c.deployments()
	for _, p := range c.report.Pairs {
		c.capability(p.Base, p.Head)
	}
	c.types()
	c.programs()
	c.allowances()
	c.reaches()
	c.sort()
	return &c.report
}

// declared is m with its capabilities as they are written: one with an approval
// is one thing to a reviewer, whatever its parts are.
func declared(m *schema.Manifest) *schema.Manifest {
	c := *m
	c.Capabilities = m.Declared()
	return &c
}

// comparer is one comparison.
type comparer struct {
	base, head *schema.Manifest
	today      string
	rules      map[string]Rule
	report     Report
	found      map[key]bool
	// walked are the pairs of types that were compared: types may hold
	// themselves.
	walked map[walk]bool
	// shaped tells that what is compared is no Go type: what keep and limits
	// leave of a result.
	shaped bool
}

func newComparer(rules map[string]Rule) *comparer {
	return &comparer{rules: rules, found: map[key]bool{}, walked: map[walk]bool{}}
}

type key struct{ rule, target string }

type walk struct {
	base, head *schema.Type
	direction  direction
}

// place is where a comparison is.
type place struct {
	capability, pointer string
	pos, base           schema.Position
}

// at is the place below p, under those tokens.
func (p place) at(tokens ...string) place {
	for _, token := range tokens {
		p.pointer += "/" + escapeToken(token)
	}
	return p
}

// escapeToken writes a token of a JSON pointer (RFC 6901 section 3).
func escapeToken(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

// in is p with the positions of what is there.
func (p place) in(base, head schema.Position) place {
	if head.Line > 0 {
		p.pos = head
	}
	if base.Line > 0 {
		p.base = base
	}
	return p
}

// add records a finding, once for a rule and a target.
func (c *comparer) add(p place, id, before, after string) {
	r, known := c.rules[id]
	if !known {
		panic("breaking: no rule " + id) // a mistake in this package, which its tests meet
	}
	f := &Finding{Rule: r, Capability: p.capability, Pointer: p.pointer, Before: before, After: after, Position: p.pos, Base: p.base}
	k := key{id, f.Target()}
	if c.found[k] {
		return
	}
	c.found[k] = true
	c.report.Findings = append(c.report.Findings, f)
}

// differs records a finding when two texts differ.
func (c *comparer) differs(p place, id, before, after string) {
	if before != after {
		c.add(p, id, before, after)
	}
}

// pair finds for each capability the one that it is on the other side: by its
// id, else its name, else a name that it had.
func (c *comparer) pair() {
	var byID, byName = map[string]*schema.Capability{}, map[string]*schema.Capability{}
	for _, b := range c.base.Capabilities {
		byID[b.ID], byName[b.Name] = b, b
	}
	taken, paired := map[*schema.Capability]bool{}, map[*schema.Capability]bool{}
	take := func(h, b *schema.Capability) {
		if b != nil && !taken[b] && !paired[h] {
			taken[b], paired[h] = true, true
			c.report.Pairs = append(c.report.Pairs, Pair{b, h})
		}
	}
	for _, h := range c.head.Capabilities {
		take(h, byID[h.ID])
	}
	for _, h := range c.head.Capabilities {
		take(h, byName[h.Name])
	}
	for _, h := range c.head.Capabilities {
		for _, old := range slices.Backward(h.Was) {
			take(h, byName[old])
		}
	}
	slices.SortFunc(c.report.Pairs, func(a, b Pair) int { return strings.Compare(a.Head.Name, b.Head.Name) })
	for _, h := range c.head.Capabilities {
		if !paired[h] {
			c.report.Added = append(c.report.Added, h)
			c.add(place{capability: h.Name, pos: h.Pos}, "capability-added", "", h.Effect)
		}
	}
	for _, b := range c.base.Capabilities {
		if taken[b] {
			continue
		}
		c.report.Removed = append(c.report.Removed, b)
		id := "capability-removed"
		if d := b.Deprecated; d != nil && d.RemoveAfter != "" && d.RemoveAfter < c.today {
			id = "capability-retired"
		}
		c.add(place{capability: b.Name, base: b.Pos}, id, b.Effect, "")
	}
}

// server compares what stands at the top of a manifest.
func (c *comparer) server() {
	b, h := c.base.Server, c.head.Server
	at := place{}.at("server")
	c.differs(at.at("name"), "server-name-changed", b.Name, h.Name)
	c.differs(at.at("title").in(b.TitleAt, h.TitleAt), "server-title-changed", b.Title, h.Title)
	c.differs(at.at("version"), "server-version-changed", b.Version, h.Version)
	c.differs(at.at("instructions").in(b.InstructionsAt, h.InstructionsAt), "instructions-changed", b.Instructions, h.Instructions)
	c.differs(place{}.at("go", "package"), "go-package-changed", c.base.Package, c.head.Package)
}

// types reports the named types of one side only.
func (c *comparer) types() {
	base, head := typesByName(c.base), typesByName(c.head)
	for _, name := range slices.Sorted(maps.Keys(base)) {
		if head[name] == nil {
			p := place{base: base[name].Pos}.at("types", name)
			c.add(p, "type-removed", string(schema.EffectiveSchema(base[name].Type)), "")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(head)) {
		if base[name] == nil {
			p := place{pos: head[name].Pos}.at("types", name)
			c.add(p, "type-added", "", string(schema.EffectiveSchema(head[name].Type)))
		}
	}
}

func typesByName(m *schema.Manifest) map[string]*schema.NamedType {
	out := make(map[string]*schema.NamedType, len(m.Types))
	for _, t := range m.Types {
		out[t.Name] = t
	}
	return out
}

// programs compares the examples that are whole programs, by their titles.
func (c *comparer) programs() {
	base := map[string]*schema.Program{}
	for _, b := range c.base.Programs {
		base[b.Title] = b
	}
	for _, h := range c.head.Programs {
		p := place{pos: h.Pos}.at("programs", h.Title)
		b := base[h.Title]
		delete(base, h.Title)
		switch {
		case b == nil:
			c.add(p, "program-added", "", h.Source)
		case b.Source != h.Source || b.Result != h.Result:
			c.add(p.in(b.Pos, h.Pos), "program-changed", b.Source+"→ "+b.Result, h.Source+"→ "+h.Result)
		}
	}
	for _, title := range slices.Sorted(maps.Keys(base)) {
		c.add(place{base: base[title].Pos}.at("programs", title), "program-removed", base[title].Source, "")
	}
}

// allowances compares what of lint's findings is accepted.
func (c *comparer) allowances() {
	base := map[string]schema.Allowance{}
	for _, b := range c.base.Allowances {
		base[AllowanceName(b)] = b
	}
	for _, h := range c.head.Allowances {
		name := AllowanceName(h)
		p, b := place{}.at("lint", "allow", name), base[name]
		delete(base, name)
		if b.Rule == "" {
			c.add(p.in(b.Pos, h.Pos), "allowance-added", "", h.Reason)
		} else {
			c.differs(p.in(b.Pos, h.Pos), "allowance-changed", b.Reason, h.Reason)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(base)) {
		c.add(place{base: base[name].Pos}.at("lint", "allow", name), "allowance-removed", base[name].Reason, "")
	}
}

// AllowanceName tells an allowance from others: its rule and its target.
func AllowanceName(a schema.Allowance) string { return a.Rule + " " + a.Target }

// sort brings the findings into the order that Report promises.
func (c *comparer) sort() {
	level := map[Level]int{Breaking: 0, Warning: 1, Note: 2}
	category := map[Category]int{Authz: 0, Wire: 1, Canon: 2, Name: 3, Go: 4, Prompt: 5}
	slices.SortFunc(c.report.Findings, func(a, b *Finding) int {
		return cmp.Or(
			cmp.Compare(level[a.Level], level[b.Level]),
			cmp.Compare(category[a.Category], category[b.Category]),
			strings.Compare(a.Target(), b.Target()),
			strings.Compare(a.ID, b.ID),
		)
	})
}
