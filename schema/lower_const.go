package schema

// lowerConst lowers const on an integer, a number or a boolean; of the first
// two it is both bounds. t is lowered but for it.
func (l *loader) lowerConst(t *Type, n *node) {
	c := n.member("const")
	if c == nil {
		return
	}
	for _, key := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		if m := n.member(key); m != nil {
			l.errorf(m.pos, ruleWrongKeyword, "%s says nothing beside const", quote(key)).hint("remove it")
		}
	}
	if takesNull(n) {
		l.errorf(c.pos, ruleBadEnum, "const beside null").hint("write one type: null is no such value")
	}
	v := c.value
	switch t.Kind {
	case Boolean:
		if l.kind(v, boolNode, "const on type boolean") {
			t.Const = v.text
		}
	case Integer, Int64:
		if !l.kind(v, numberNode, "const on type integer") {
			return
		}
		i, ok := parseInteger(v.text)
		if !ok || i < t.Minimum || i > t.Maximum {
			l.errorf(v.pos, ruleBadBound, "const %s is no integer from %d to %d", plain(v.text, maxQuoted), t.Minimum, t.Maximum).
				hint("const: %d", min(max(0, t.Minimum), t.Maximum))
			return
		}
		t.Minimum, t.Maximum = i, i
	case Number:
		if !l.kind(v, numberNode, "const on type number") {
			return
		}
		if f, ok := l.exactNumber(v, "const"); ok {
			t.NumberMin, t.NumberMax = formatNumber(f), formatNumber(f)
		}
	}
}
