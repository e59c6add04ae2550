package mcpimport

import (
	"slices"
)

// allOf lowers the one schema of a list of one. More would have to be merged,
// and what each refuses with it.
func (l *lowerer) allOf(v, m *value, p place) (*alternatives, *flaw) {
	if m.kind != listKind || len(m.items) != 1 || v.get("type") != nil {
		return nil, l.flaw(m, p.to("allOf"), "allOf of several schemas")
	}
	return l.part(m.items[0], place{at: index(p.at+"/allOf", 0), strict: p.strict})
}

// part is alternatives of a schema inside of another, with what is said of it.
func (l *lowerer) part(v *value, p place) (*alternatives, *flaw) {
	if l.named[p.at] != "" {
		return l.referTo(p.at, v, p)
	}
	a, bad := l.alternatives(v, p)
	if bad != nil {
		return nil, bad
	}
	// What is said of several together has no place in the outer list.
	if len(a.all) == 1 {
		a.all[0].out = l.annotate(a.all[0].out, v, p)
	}
	return a, nil
}

// variants gathers those of anyOf or oneOf.
func (l *lowerer) variants(v, m *value, construct string, p place) (*alternatives, *flaw) {
	if m.kind != listKind || len(m.items) == 0 {
		return nil, l.flaw(m, p.to(construct), "%s is a list of schemas", construct)
	}
	base := v.get("type")
	out := &alternatives{exclusive: construct == "oneOf"}
	for i, item := range m.items {
		at := place{at: index(p.to(construct).at, i)}
		if at.strict = p.strict || out.exclusive; base.is(stringKind) && item.kind == objectKind && !slices.ContainsFunc([]string{"type", "$ref", "anyOf", "oneOf", "allOf"}, func(k string) bool { return item.get(k) != nil }) {
			item = item.with("type", base)
		}
		a, bad := l.part(item, at)
		switch {
		case bad != nil && bad.never:
			continue
		case bad != nil && at.strict:
			return nil, bad
		case bad != nil:
			bad.reason = "a variant of anyOf is left out: " + bad.reason
			l.left = append(l.left, bad.problem)
			continue
		case a.any && out.exclusive:
			return nil, l.flaw(item, at, "a variant of oneOf that takes every value")
		case a.any:
			out.any = true
			continue
		}
		if slices.ContainsFunc(a.all, unclear) && (at.strict || base != nil) {
			return nil, l.flaw(item, at, "a variant that refers to a schema of no one type")
		}
		if a.exclusive {
			// Its own variants have to be told apart among themselves.
			if a.all, bad = l.tellApart(a, item, at); bad != nil {
				return nil, bad
			}
			if a.nulls > 1 {
				return nil, l.flaw(item, at, "null satisfies two schemas of oneOf")
			}
		}
		out.nulls += a.nulls
		out.all = append(out.all, a.all...)
	}
	if base != nil {
		return l.ofBase(out, base, v, p)
	}
	return out, nil
}

// ofBase keeps the alternatives that have one of the types beside anyOf or
// oneOf.
func (l *lowerer) ofBase(a *alternatives, base, v *value, p place) (*alternatives, *flaw) {
	types, bad := l.typesOf(v, p, nil)
	if bad != nil {
		return nil, bad
	}
	if a.any {
		return nil, l.flaw(base, p.to("type"), "type beside a variant that takes every value")
	}
	if !slices.Contains(types, "null") {
		a.nulls = 0
	}
	var kept []alternative
	for _, alt := range a.all {
		switch {
		case slices.Contains(types, alt.jsonType), alt.jsonType == "integer" && slices.Contains(types, "number"):
			kept = append(kept, alt)
		case alt.jsonType == "number" && slices.Contains(types, "integer"):
			return nil, l.flaw(base, p.to("type"), "type integer beside a variant of numbers")
		}
	}
	a.all = kept
	return a, nil
}

// tellApart makes sure that a value satisfies one alternative at most, and
// that a manifest can tell which: all are objects with another constant in a
// required property, or all are of different JSON types. Of an anyOf those
// that cannot be told from others are left out, which narrows; to leave one out
// of a oneOf could widen.
func (l *lowerer) tellApart(a *alternatives, v *value, p place) ([]alternative, *flaw) {
	var kept []alternative
	keys := l.tagged(a.all)
	for i, alt := range a.all {
		key := keys[i]
		first := slices.IndexFunc(kept, func(k alternative) bool {
			return keys[slices.IndexFunc(a.all, func(x alternative) bool { return x.out == k.out })] == key
		})
		switch {
		case unclear(alt) && len(a.all) > 1 && !a.exclusive && !p.strict:
			l.left = append(l.left, l.flaw(alt.from, alt.place, "a variant of anyOf is left out: it refers to a schema of no one type").problem)
		case first < 0:
			kept = append(kept, alt)
		case jsonText(alt.out) == jsonText(kept[first].out) && !a.exclusive:
		case a.exclusive || p.strict:
			return nil, l.flaw(alt.from, alt.place, "nothing tells this variant from another")
		default:
			l.left = append(l.left, l.flaw(alt.from, alt.place, "a variant of anyOf is left out: nothing tells it from another").problem)
		}
	}
	return kept, nil
}

// unclear tells whether nothing is known of the types of an alternative: it is
// a reference to a schema that has none, or several.
func unclear(alt alternative) bool { return alt.jsonType == "" }

// tagged gives each alternative the key by which it differs: a constant of the
// tag for objects that have one, else the JSON type.
func (l *lowerer) tagged(all []alternative) []string {
	keys := make([]string, len(all))
	objects := true
	for i, alt := range all {
		keys[i] = alt.jsonType
		if alt.jsonType == "integer" {
			keys[i] = "number"
		}
		objects = objects && alt.jsonType == "object"
	}
	if !objects || len(all) < 2 {
		return keys
	}
	best := 0
	for _, name := range l.constants(all[0]) {
		found := make([]string, len(all))
		var distinct []string
		for i, alt := range all {
			if c, ok := l.constant(alt, name.key); ok {
				found[i] = "tag " + c
				if !slices.Contains(distinct, c) {
					distinct = append(distinct, c)
				}
			}
		}
		if len(distinct) > best {
			best = len(distinct)
			for i := range found {
				if found[i] == "" {
					found[i] = found[0] // without the tag: not to be told from the first
				}
			}
			keys = found
		}
	}
	return keys
}

// constants are the properties of an alternative that can be its tag.
func (l *lowerer) constants(alt alternative) []member {
	var out []member
	if properties := l.written(alt).get("properties"); properties != nil {
		for _, m := range properties.members {
			if _, ok := l.constant(alt, m.key); ok {
				out = append(out, m)
			}
		}
	}
	return out
}

// constant is the text that a required property of an alternative must be.
func (l *lowerer) constant(alt alternative, name string) (string, bool) {
	v := l.written(alt)
	required, bad := l.requiredOf(v, alt.place)
	if bad != nil || !slices.Contains(required, name) {
		return "", false
	}
	properties := v.get("properties")
	if properties == nil || properties.get(name) == nil {
		return "", false
	}
	m := properties.get(name)
	c := m.get("const")
	if enum := m.get("enum"); c == nil && enum.is(listKind) && len(enum.items) == 1 {
		c = enum.items[0]
	}
	return textOf(c), c.is(stringKind)
}

// written is the schema of an alternative as the server wrote it, without the
// reference to it.
func (l *lowerer) written(alt alternative) *value {
	v := alt.from
	if v.get("$ref") != nil {
		if at, bad := l.follow(v); bad == "" {
			v, _ = l.resolve(at)
		}
	}
	return v
}

func textOf(v *value) string {
	if v == nil {
		return ""
	}
	return v.text
}
