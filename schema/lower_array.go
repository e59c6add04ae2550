package schema

// lowerArray lowers items, minItems and maxItems.
func (l *loader) lowerArray(t *Type, n *node, what string) {
	t.MinItems, t.MaxItems = l.sizes(n, "minItems", "maxItems", MaxItems)
	if v := l.need(n, "items", what, "items is the schema of each item"); v != nil {
		l.indirect++
		t.Items = l.lower(v, "items of "+what, false)
		l.indirect--
	}
	if v := n.get("uniqueItems"); v != nil && l.kind(v, boolNode, "uniqueItems") && v.text == "true" {
		t.Unique = true
		l.uniques = append(l.uniques, unique{t, v.pos})
	}
}

// unique is an array whose items differ, with the place that says so.
type unique struct {
	*Type
	at Position
}

// uniqueWithoutDefaults refuses uniqueItems of items that have defaults inside:
// two that look different would be the same once they are filled in, which
// neither a worker nor a validator sees. Types have to be lowered.
func (l *loader) uniqueWithoutDefaults() {
	for _, u := range l.uniques {
		if p := l.defaultInside(u.Items, make(map[*NamedType]bool)); p != nil {
			l.errorf(u.at, ruleBadUnique, "items that differ, but property %s in them (%s) has a default", quote(p.Name), p.Pos).
				hint("with the default filled in, two items that look different may be the same: leave one of the two out").related(p.Pos)
		}
	}
}

// defaultInside is a property with a default inside of t. Defaults need not be
// checked yet.
func (l *loader) defaultInside(t *Type, seen map[*NamedType]bool) *Property {
	if t == nil {
		return nil
	}
	if t.Kind == Ref {
		if seen[t.Ref] {
			return nil
		}
		seen[t.Ref] = true
		return l.defaultInside(t.Ref.Type, seen)
	}
	if p := l.defaultInside(t.Items, seen); p != nil {
		return p
	}
	for _, v := range t.Variants {
		if p := l.defaultInside(v, seen); p != nil {
			return p
		}
	}
	for _, p := range t.Properties {
		if l.defaultOf[p] != nil {
			return p
		}
		if inner := l.defaultInside(p.Type, seen); inner != nil {
			return inner
		}
	}
	return nil
}

// sizes reads a pair of bounds on a length, from 0 to cap.
func (l *loader) sizes(n *node, minKey, maxKey string, cap int) (least, most int) {
	least, most = 0, cap
	least = l.size(n, minKey, cap, least)
	most = l.size(n, maxKey, cap, most)
	if least > most {
		at := n.member(minKey)
		l.errorf(at.pos, ruleEmptyRange, "%s %d is above %s %d", minKey, least, maxKey, most).
			hint("no value could satisfy both")
	}
	return least, most
}

func (l *loader) size(n *node, key string, cap, otherwise int) int {
	v := n.get(key)
	if v == nil || !l.kind(v, numberNode, key) {
		return otherwise
	}
	i, ok := parseInteger(v.text)
	switch {
	case !ok || i < 0:
		l.errorf(v.pos, ruleBadBound, "%s has to be a whole number from 0 up", key).hint("%s: %d", key, otherwise)
	case i > int64(cap):
		l.errorf(v.pos, ruleBadBound, "%s %d is above the cap of %d", key, i, cap).
			hint("lower it, or leave it out: the cap applies anyway")
	default:
		return int(i)
	}
	return otherwise
}
