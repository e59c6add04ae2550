package schema

// lowerFree lowers {type: object, additionalProperties: true}: an object of
// any members. Declared properties beside it would be an object that is half
// checked.
func (l *loader) lowerFree(t *Type, n *node) {
	t.Kind = FreeObject
	for _, key := range []string{"properties", "required"} {
		m := n.member(key)
		if m == nil || key == "properties" && m.value.kind == mappingNode && len(m.value.members) == 0 {
			continue
		}
		l.errorf(m.pos, ruleWrongKeyword, "%s beside additionalProperties: true", quote(key)).
			hint("declare every property, or none: put what is free into a property of its own")
	}
}

// checkFree reports where n is no object that arguments can hold.
func (l *loader) checkFree(n *node, what string) bool {
	if len(n.members) > MaxMembers {
		l.errorf(n.pos, l.use.rule(), "%s: %d members, at most %d are allowed", what, len(n.members), MaxMembers).hint("change the %s", l.use)
		return false
	}
	return l.checkOpaque(n, what)
}
