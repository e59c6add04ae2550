package schema

// lowerObject lowers properties, required and additionalProperties. Unknown
// members are always refused, so that saying it is allowed and not needed.
func (l *loader) lowerObject(t *Type, n *node, what string) {
	if v := n.get("additionalProperties"); v != nil && v.kind == boolNode && v.text == "true" {
		l.notMap(n, "additionalProperties: true")
		l.lowerFree(t, n)
		return
	}
	if v := n.get("additionalProperties"); v != nil && v.kind == mappingNode {
		l.lowerMap(t, n, v, what)
		return
	}
	l.notMap(n, "declared properties")
	if v := n.get("additionalProperties"); v != nil && (v.kind != boolNode || v.text != "false") {
		l.errorf(v.pos, ruleWrongType, "additionalProperties has to be a boolean or a mapping, not %s", v.kind).
			hint("write false, or the schema of the values of a map")
	}
	required := l.required(n)
	v := l.need(n, "properties", what, "properties: {} for an object without any")
	if v == nil || !l.kind(v, mappingNode, "properties") {
		return
	}
	if max := l.limits.properties; len(v.members) > max {
		l.errorf(v.members[max].pos, ruleLimit, "%d properties, the limit is %d", len(v.members), max).
			hint("group them in objects")
		return
	}
	names := make([]string, 0, len(v.members))
	for _, m := range v.members {
		names = append(names, m.key)
	}
	for i := range v.members {
		m := &v.members[i]
		_, isRequired := required[m.key]
		delete(required, m.key)
		t.Properties = append(t.Properties, l.property(m, isRequired))
	}
	// What is left names nothing. The map's order does not matter: findings
	// are sorted, and nearest costs the same for each.
	for _, r := range l.requiredInOrder(n) {
		if at, ok := required[r]; ok {
			f := l.errorf(at, ruleBadRequired, "required names %s, which is no property", quote(r)).
				hint("declare it under properties, or remove it")
			l.nearest(f, r, names)
		}
	}
}

func (l *loader) property(m *member, required bool) *Property {
	p := &Property{Name: m.key, Required: required, Pos: m.pos}
	if !isPropertyName(m.key) || len(m.key) > maxName {
		l.errorf(m.pos, ruleBadName, "%s is no name for a property", quote(m.key)).
			hint("letters, digits and _, not a digit first, at least one letter, at most %d: programs and Go use it as a name", maxName)
	}
	p.Type = l.lower(m.value, "property "+quote(m.key), true)
	if v := m.value.get("deprecated"); v != nil && l.kind(v, boolNode, "deprecated") {
		p.Deprecated = v.text == "true"
	}
	if p.Type == nil || p.Type.Kind == Ref {
		return p
	}
	if d := m.value.member("default"); d != nil {
		switch {
		case required:
			l.errorf(d.pos, ruleBadDefault, "property %s is required and has a default", quote(m.key)).
				hint("remove it from required: with a default it is always filled")
		case d.value.kind == nullNode && p.Type.Kind != Nullable && p.Type.Kind != Opaque:
			l.errorf(d.value.pos, ruleBadDefault, "null is no value of property %s", quote(m.key)).
				hint("leave the default out: an optional property is absent, not null")
		case d.value.kind != invalidNode:
			l.defaultOf[p] = d.value
			l.defaults = append(l.defaults, p)
		}
	}
	return p
}

// required returns the names in `required` with their places.
func (l *loader) required(n *node) map[string]Position {
	v := n.get("required")
	if v == nil || !l.kind(v, listNode, "required") {
		return nil
	}
	names := make(map[string]Position, len(v.items))
	for _, item := range v.items {
		s, ok := l.str(item, "a name in required")
		if !ok {
			continue
		}
		if first, twice := names[s]; twice {
			l.errorf(item.pos, ruleBadRequired, "required names %s twice, first at %s", quote(s), first).
				hint("remove one of the two").related(first)
			continue
		}
		names[s] = item.pos
	}
	return names
}

// requiredInOrder keeps the report the same from run to run.
func (l *loader) requiredInOrder(n *node) []string {
	v := n.get("required")
	if v == nil {
		return nil
	}
	names := make([]string, 0, len(v.items))
	for _, item := range v.items {
		if item.kind == stringNode {
			names = append(names, item.text)
		}
	}
	return names
}
