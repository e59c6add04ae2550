package schema

import (
	"fmt"
	"slices"
	"strings"
)

// capabilityItems are the entries of one file's list of capabilities.
func (l *loader) capabilityItems(n *node) []*node {
	if !l.kind(n, listNode, "capabilities") {
		return nil
	}
	if len(n.items) == 0 {
		l.errorf(n.pos, ruleMissingField, "capabilities is empty").
			hint("a server has at least one capability")
	}
	return n.items
}

// capabilities lowers the capabilities of all files.
func (l *loader) capabilities(items []*node) []*Capability {
	if max := l.limits.capabilities; len(items) > max {
		l.errorf(items[max].pos, ruleLimit, "%d capabilities, the limit is %d", len(items), max).
			hint("split the manifest into several servers")
		return nil
	}
	all := make([]*Capability, 0, len(items))
	var withNames []named
	for _, item := range items {
		c, nameAt, idAt := l.capability(item)
		if c == nil {
			continue
		}
		all = append(all, c)
		if c.Name != "" && c.ID != "" {
			withNames = append(withNames, named{Capability: c, nameAt: nameAt, idAt: idAt, node: item})
		}
	}
	l.uniqueNames(withNames)
	l.history(withNames)
	return all
}

// capability lowers one entry. A name or id that is no good is left empty.
func (l *loader) capability(n *node) (c *Capability, nameAt, idAt Position) {
	n = l.frozen(n)
	if !l.mapping(n, &l.words.capability, "a capability") {
		return nil, nameAt, idAt
	}
	c = &Capability{Pos: n.pos, At: make(map[string]Position, len(n.members))}
	for _, m := range n.members {
		c.At[m.key] = m.value.pos
	}
	what := "a capability"
	if v := l.need(n, "name", what, "name: namespace.verb"); v != nil {
		nameAt = v.pos
		if c.Name, _ = l.capabilityName(v); c.Name != "" {
			what = "capability " + quote(c.Name)
		}
	}
	c.ID, idAt = c.Name, nameAt
	l.lifecycle(n, c)
	if len(c.Was) > 0 {
		c.ID, idAt = c.Was[0], n.get("was").items[0].pos
	}
	if v := n.get("id"); v != nil {
		idAt = v.pos
		c.ID, _ = l.capabilityID(v)
	}
	if v := l.need(n, "summary", what, "one line that says what it does"); v != nil {
		c.Summary, _ = l.line(v, "summary", maxSummary)
	}
	c.Description = c.Summary
	if v := n.get("description"); v != nil {
		c.Description, _ = l.text(v, "description", maxDescription)
	}
	if v := n.get("search"); v != nil {
		c.Search = l.searchPhrases(v)
	}
	l.effect(n, c, what)
	l.run(n, c, what)
	l.approval(n, c, what)
	l.provenance(n, c, what)
	if v := n.get(directToolKey); v != nil && l.kind(v, boolNode, directToolKey) {
		c.DirectTool = v.text == "true"
	}
	if v := l.need(n, "scopes", what, "scopes: [records:read], or scopes: none"); v != nil {
		c.Scopes = l.scopes(v)
	}
	if v := l.need(n, "input", what, "input: {type: object, properties: {}} for a capability without parameters"); v != nil {
		c.Input = l.lower(l.inline(v), "the input of "+what, false)
		l.lowerDefinitions()
		l.parameters(c.Input, v, what)
	}
	var keep *node
	if v := n.get("output"); v != nil && c.Effect == EffectChange {
		l.errorf(v.pos, ruleBadApproval, "%s has an output, and a change returns nothing of its own", what).
			hint("remove it: what its apply answers is always the same")
	} else if c.Effect == EffectChange {
		c.Output = &Type{Kind: Object, Pos: n.pos}
	} else if v := l.need(n, "output", what, "output is the schema of the result"); v != nil {
		v, keep = takeKeep(v)
		c.Output = l.lower(l.inline(v), "the output of "+what, false)
		l.lowerDefinitions()
	}
	if v := n.get("errors"); v != nil {
		c.Errors = l.declaredErrors(v)
	}
	l.shaping(n, keep, c, what)
	if v := n.get("examples"); v != nil {
		l.declaredExamples(v, c)
	}
	if c.Approval != nil {
		l.governed(n, keep, c, what)
	}
	return c, nameAt, idAt
}

// effects are the words for effect.
func effects() []string { return []string{"read", "write", "destroy", EffectChange, EffectRun} }

// effect reads effect, idempotency and world, from which the MCP hints come.
func (l *loader) effect(n *node, c *Capability, what string) {
	if v := l.need(n, "effect", what, "effect: read changes nothing, write adds or changes what can be put back, destroy may overwrite or delete, change replaces a directory and run executes code once people have approved"); v != nil {
		c.Effect, _ = l.word(v, "effect", effects(), nil)
	}
	c.Idempotency = "none"
	if c.Effect == "read" {
		c.Idempotency = "natural"
	}
	if v := n.get("idempotency"); v != nil {
		c.Idempotency, _ = l.word(v, "idempotency", []string{"natural", "key", "none"}, nil)
	}
	c.World = "closed"
	if v := n.get("world"); v != nil {
		c.World, _ = l.word(v, "world", []string{"closed", "open"}, nil)
	}
}

func (l *loader) searchPhrases(n *node) []string {
	if !l.kind(n, listNode, "search") {
		return nil
	}
	if len(n.items) > maxSearch {
		l.errorf(n.items[maxSearch].pos, ruleLimit, "%d search phrases, the limit is %d", len(n.items), maxSearch).
			hint("keep those that the summary does not say already")
		return nil
	}
	var phrases []string
	total := 0
	for _, item := range n.items {
		s, ok := l.line(item, "a search phrase", maxSearchBytes)
		if !ok {
			continue
		}
		if slices.Contains(phrases, s) {
			l.errorf(item.pos, ruleBadValue, "search phrase %s stands twice", quote(s)).hint("remove one of the two")
			continue
		}
		before := total
		total += len(s)
		if before <= maxSearchBytes && total > maxSearchBytes {
			l.errorf(item.pos, ruleLimit, "the search phrases have more than %d bytes", maxSearchBytes).hint("shorten them")
		}
		phrases = append(phrases, s)
	}
	return phrases
}

// scopes reads the list of scopes, or the word none.
func (l *loader) scopes(n *node) []string {
	const none = "none"
	if n.kind == stringNode {
		if n.text != none {
			l.errorf(n.pos, ruleWrongType, "scopes has to be a list, or the word none").hint("scopes: [%s]", plain(n.text, maxQuoted))
		}
		return nil
	}
	if !l.kind(n, listNode, "scopes") {
		return nil
	}
	if len(n.items) == 0 {
		l.errorf(n.pos, ruleMissingField, "scopes is empty").hint("a capability that needs none says so: scopes: none")
	}
	if len(n.items) > maxScopes {
		l.errorf(n.items[maxScopes].pos, ruleLimit, "%d scopes, the limit is %d", len(n.items), maxScopes).
			hint("every scope listed is required: fewer say more")
		return nil
	}
	var scopes []string
	for _, item := range n.items {
		s, ok := l.str(item, "a scope")
		switch {
		case !ok:
		case s == none:
			l.errorf(item.pos, ruleBadScope, "none is a word, not a scope").hint("scopes: none, without a list")
		case !isScope(s):
			l.errorf(item.pos, ruleBadScope, "%s is no scope", quote(s)).
				hint("1 to %d printable ASCII characters without space, quotation mark and backslash", maxScope)
		case slices.Contains(scopes, s):
			l.errorf(item.pos, ruleBadScope, "scope %s stands twice", quote(s)).hint("remove one of the two")
		default:
			scopes = append(scopes, s)
		}
	}
	slices.Sort(scopes)
	return scopes
}

// isScope is scope-token of RFC 6749 section 3.3, with a cap.
func isScope(s string) bool {
	return s != "" && len(s) <= maxScope && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '"' || r == '\\'
	})
}

// parameters checks what is special about an input: it is an object, and its
// properties can be written as keyword arguments.
func (l *loader) parameters(t *Type, n *node, what string) {
	if t == nil {
		return
	}
	object, via := t, ""
	if t.Kind == Ref {
		if object = t.Ref.Type; object == nil {
			return
		}
		via = fmt.Sprintf(" (parameters of %s)", what)
	}
	if object.Kind != Object {
		l.errorf(n.pos, ruleInputNotObject, "the input of %s has to be an object, not %s", what, article(object.Kind)).
			hint("its properties are the parameters: {type: object, properties: {…}}")
		return
	}
	for _, p := range object.Properties {
		if slices.Contains(l.names.keywords, p.Name) {
			l.errorf(p.Pos, ruleReservedName, "parameter %s is a keyword of the program language%s", quote(p.Name), via).
				hint("choose another name, such as %s_", p.Name)
		}
	}
}

func article(k Kind) string {
	switch k {
	case Integer, Array, Object:
		return "an " + string(k)
	case Bytes:
		return "a string of base64"
	case Int64:
		return "an integer"
	case FreeObject:
		return "a free object"
	case Opaque:
		return "an opaque value"
	}
	return "a " + string(k)
}
