package schema

// lowerArray lowers items, minItems and maxItems.
func (l *loader) lowerArray(t *Type, n *node, what string) {
	t.MinItems, t.MaxItems = l.sizes(n, "minItems", "maxItems", MaxItems)
	if v := l.need(n, "items", what, "items is the schema of each item"); v != nil {
		l.indirect++
		t.Items = l.lower(v, "items of "+what, false)
		l.indirect--
	}
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
