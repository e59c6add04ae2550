package schema

import "slices"

// typeOrNull reads a list under `type`: one type beside null.
func (l *loader) typeOrNull(v *node, words []string) (Kind, bool) {
	var other *node
	for _, item := range v.items {
		if item.kind != stringNode || item.text != "null" {
			other = item
		}
	}
	if len(v.items) != 2 || other == nil || v.items[0] == v.items[1] || !hasNull(v) {
		l.errorf(v.pos, ruleUnsupported, "a list under type other than one type and null is not supported yet by this version").
			hint(`write one type, or type: [string, "null"]`)
		return "", false
	}
	s, ok := l.word(other, "type", words, nil)
	return Kind(s), ok
}

// hasNull tells whether a list under `type` names null.
func hasNull(v *node) bool {
	for _, item := range v.items {
		if item.kind == stringNode && item.text == "null" {
			return true
		}
	}
	return false
}

// takesNull tells whether the schema n lists null among its types.
func takesNull(n *node) bool {
	v := n.get("type")
	return v != nil && v.kind == listNode && hasNull(v)
}

// nullable is t or null. What is said of t is said of both.
func nullable(t *Type) *Type {
	out := &Type{Kind: Nullable, Title: t.Title, Description: t.Description, DescriptionAt: t.DescriptionAt, Items: t, Pos: t.Pos}
	t.Title, t.Description, t.DescriptionAt = "", "", Position{}
	return out
}

// isNull tells whether n is the schema {type: "null"}.
func isNull(n *node) bool {
	if n.kind != mappingNode || len(n.members) != 1 {
		return false
	}
	v := n.get("type")
	return v != nil && v.kind == stringNode && v.text == "null"
}

// only reports keywords beside a construct that stands without them.
func (l *loader) only(n *node, construct string, beside ...string) {
	for _, m := range n.members {
		if m.key != construct && !slices.Contains(beside, m.key) && slices.Contains(l.words.schema.known, m.key) {
			l.errorf(m.pos, ruleWrongKeyword, "%s beside %s", quote(m.key), construct).
				hint("it belongs into one of the schemas of %s", construct)
		}
	}
}

// nullTwice refuses null beside a type that takes it already: there would be
// two values that look the same. Types have to be lowered.
func (l *loader) nullTwice() {
	for _, t := range l.nullables {
		inner := t.Items
		if inner.Kind == Ref && inner.Ref.Type != nil {
			inner = inner.Ref.Type
		}
		if inner.Kind == Nullable || inner.Kind == Opaque {
			l.errorf(t.Pos, ruleNullTwice, "null stands beside a schema that takes it already").
				hint("leave out one of the two")
		}
	}
}
