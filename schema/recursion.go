package schema

import "slices"

// maxCycle is how many types may refer to each other in a circle.
const maxCycle = 256

// isCycle tells whether the types of a group hold themselves.
func isCycle(group []*NamedType, uses map[*NamedType][]reference) bool {
	if len(group) > 1 {
		return true
	}
	for _, r := range uses[group[0]] {
		if r.target == group[0] {
			return true
		}
	}
	return false
}

// recursive marks a group of types that hold themselves and reports those that
// no value can satisfy, because each needs another one inside.
func (l *loader) recursive(group []*NamedType) bool {
	first := group[0]
	for _, t := range group {
		t.Recursive = true
		if t.Pos.compare(first.Pos) < 0 {
			first = t
		}
	}
	if len(group) > maxCycle {
		l.errorf(first.Pos, ruleLimit, "%d types refer to each other in a circle, the limit is %d", len(group), maxCycle).
			hint("refer to some of them by key")
		return false
	}
	pending := make(map[*NamedType]bool, len(group))
	for _, t := range group {
		pending[t] = true
	}
	for changed := true; changed; {
		changed = false
		for _, t := range group {
			if pending[t] && ends(t.Type, pending) {
				delete(pending, t)
				changed = true
			}
		}
	}
	for t := range pending { // findings are sorted later
		l.errorf(t.Pos, ruleEndlessType, "type %s can never end: each value needs another one inside", quote(t.Name)).
			hint("leave a property on the way out of required, or take a list that may be empty")
	}
	return len(pending) == 0
}

// ends tells whether there is a value of t without one of the pending types.
func ends(t *Type, pending map[*NamedType]bool) bool {
	if t == nil {
		return true // reported already
	}
	switch t.Kind {
	case Ref:
		return !pending[t.Ref]
	case Nullable:
		return true
	case Union:
		return slices.ContainsFunc(t.Variants, func(v *Type) bool { return ends(v, pending) })
	case Array, Map:
		return t.MinItems == 0 || ends(t.Items, pending)
	case Object:
		for _, p := range t.Properties {
			if p.Required && !ends(p.Type, pending) {
				return false
			}
		}
	}
	return true
}
