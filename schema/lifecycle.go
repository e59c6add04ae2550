package schema

import (
	"slices"
	"strings"
	"time"
)

const (
	maxWas  = 16
	maxTags = 32
)

// lifecycle reads was, tags and deprecated. What they say of other capabilities
// is checked by history, when all names are known.
func (l *loader) lifecycle(n *node, c *Capability) {
	if v := n.get("was"); v != nil {
		c.Was = l.oldNames(v)
	}
	if v := n.get("tags"); v != nil {
		c.Tags = l.tags(v)
	}
	if v := n.get("deprecated"); v != nil {
		c.Deprecated = l.deprecation(v)
	}
}

// oldNames reads the names that a capability had before. They only have to
// have the form of a name: an older version may have reserved less. A list
// with a mistake gives nil.
func (l *loader) oldNames(n *node) []string {
	if !l.kind(n, listNode, "was") {
		return nil
	}
	if len(n.items) == 0 || len(n.items) > maxWas {
		l.errorf(n.pos, ruleLimit, "%d names in was, not 1 to %d", len(n.items), maxWas).hint("list the names that programs may still use, oldest first")
		return nil
	}
	var names []string
	for _, item := range n.items {
		s, ok := l.str(item, "a name in was")
		if !ok {
			return nil
		}
		if segments := strings.Split(s, "."); len(s) > maxName || len(segments) < 2 || !allOf(segments, isSegment) {
			l.errorf(item.pos, ruleBadName, "%s was never the name of a capability", quote(s)).hint("write the old name in full: namespace.verb")
			return nil
		}
		names = append(names, s)
	}
	return names
}

// tags reads the words that deployments select by.
func (l *loader) tags(n *node) []string {
	if !l.kind(n, listNode, "tags") {
		return nil
	}
	if len(n.items) == 0 || len(n.items) > maxTags {
		l.errorf(n.pos, ruleLimit, "%d tags, not 1 to %d", len(n.items), maxTags).hint("leave tags out where there are none")
		return nil
	}
	var tags []string
	for _, item := range n.items {
		s, ok := l.str(item, "a tag")
		switch {
		case !ok:
		case !isSegment(s) || len(s) > maxName:
			l.errorf(item.pos, ruleBadName, "%s is no tag", quote(s)).hint("a-z, then a-z, 0-9 and _, at most %d", maxName)
		case slices.Contains(tags, s):
			l.errorf(item.pos, ruleBadValue, "tag %s stands twice", quote(s)).hint("remove one of the two")
		default:
			tags = append(tags, s)
		}
	}
	slices.Sort(tags)
	return tags
}

// deprecation reads {since, remove_after, use}.
func (l *loader) deprecation(n *node) *Deprecation {
	if n.kind == boolNode {
		l.errorf(n.pos, ruleWrongType, "deprecated has to be a mapping, not a boolean").
			hint(`deprecated: {since: "2026-11-29", use: namespace.verb}`)
		return nil
	}
	if !l.mapping(n, &l.words.deprecated, "deprecated") {
		return nil
	}
	d := &Deprecation{}
	if v := l.need(n, "since", "deprecated", `since: "2026-11-29", the day from which programs should not use it`); v != nil {
		d.Since = l.day(v, "since")
	}
	if v := n.get("remove_after"); v != nil {
		d.RemoveAfter = l.day(v, "remove_after")
		if d.RemoveAfter != "" && d.RemoveAfter < d.Since {
			l.errorf(v.pos, ruleEmptyRange, "remove_after %s is before since %s", d.RemoveAfter, d.Since).hint("programs need time to change")
		}
	}
	if v := n.get("use"); v != nil {
		d.Use, _ = l.str(v, "use")
	}
	return d
}

// day reads a date. Of the form it has, texts sort like days.
func (l *loader) day(n *node, what string) string {
	s, ok := l.str(n, what)
	if !ok {
		return ""
	}
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		l.errorf(n.pos, ruleBadValue, "%s: %s is no date", what, quote(s)).hint(`%s: "2026-11-29"`, what)
		return ""
	}
	return s
}

// history reports old names that are in use, and replacements that are not
// there.
func (l *loader) history(all []named) {
	live := make(map[string]*named, len(all))
	names := make([]string, 0, len(all))
	for i := range all {
		live[all[i].Name] = &all[i]
		names = append(names, all[i].Name)
	}
	slices.Sort(names)
	l.retired(all, live)
	for _, c := range all {
		if c.Deprecated == nil || c.Deprecated.Use == "" {
			continue
		}
		switch use := c.Deprecated.Use; {
		case use == c.Name:
			l.errorf(c.node.get("deprecated").get("use").pos, ruleBadRef, "%s is to be used instead of itself", quote(use)).hint("name another capability, or leave use out")
		case live[use] == nil:
			f := l.errorf(c.node.get("deprecated").get("use").pos, ruleBadRef, "no capability %s", quote(use)).hint("use is the name of the capability to take instead")
			l.nearest(f, use, names)
		}
	}
}

// retired reports names in was that are in use, or were another's. Of a
// capability with an approval programs called the parts.
func (l *loader) retired(all []named, live map[string]*named) {
	parts := make(map[string]*named)
	for i := range all {
		if all[i].Approval != nil {
			for _, name := range all[i].calledAs(all[i].Name) {
				parts[name] = &all[i]
			}
		}
	}
	old, called := make(map[string]Position), make(map[string]Position)
	for _, c := range all {
		for i, name := range c.Was {
			at := c.node.get("was").items[i].pos
			inUse := func(other *named, format string, args ...any) {
				l.errorf(at, ruleNameCollision, format, append(args, other.nameAt)...).
					hint("was lists names that are not in use any more").related(other.nameAt)
			}
			first, twice := old[name]
			switch {
			case live[name] != nil:
				inUse(live[name], "%s is the name of a capability, at %s", quote(name))
				continue
			case parts[name] != nil:
				inUse(parts[name], "%s is a part of the capability at %s", quote(name))
				continue
			case twice:
				l.errorf(at, ruleNameCollision, "%s stands twice in was, first at %s", quote(name), first).
					hint("a name was one capability's").related(first)
				continue
			}
			old[name] = at
			for _, call := range c.calledAs(name) {
				if live[call] != nil {
					inUse(live[call], "%s, a part of what was %s, is the name of a capability, at %s", quote(call), quote(name))
				} else if first, twice := called[call]; twice {
					l.errorf(at, ruleNameCollision, "%s was a part of one capability and the name of another, so says was, first at %s", quote(call), first).
						hint("a name was one capability's").related(first)
				}
				called[call] = at
			}
		}
	}
}
